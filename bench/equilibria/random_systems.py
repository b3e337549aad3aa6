"""Random systems: is every equilibrium that an independent search meets found, and is every verdict right?"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from secrets import randbits

import numpy as np
from bench.equilibria.draws import KINDS, Draw, drawn
from bench.equilibria.oracle import Oracle, Rest
from bench.tools.jobs import Answer, Job, Samples, answer, series
from bench.tools.rows import Row

from svyaz import System
from svyaz.stability import Equilibria, Equilibrium

MODULE = "bench.equilibria.random_systems"
SECONDS = 60.0


@dataclass(frozen=True)
class Compared:
    """What was found of a draw, and words for each disagreement."""

    draw: Draw
    found: int
    decided: int
    complete: bool
    missed: tuple[str, ...]
    wrong: tuple[str, ...]


def compared(draw: Draw, seed: int) -> Compared:
    """Equilibria and verdicts of a draw against the oracle's."""
    oracle = Oracle(draw)
    answered = System(**draw.words).equilibria(seconds=SECONDS)
    expected = oracle.found(seed)
    positions = {id(e): np.array([e.state[q] for q in draw.coordinates]) for e in answered.equilibria}
    missed, wrong = [], []
    for rest in expected:
        near = [e for e in answered.equilibria if oracle.same(positions[id(e)], rest.position)]
        if not near:
            missed.append(f"{draw.kind}: nothing at {rest.position}")
        wrong += [text for e in near for text in disagreements(rest, e)]
    wrong += [
        f"no equilibrium at {place}"
        for place in positions.values()
        if not oracle.residual(place) < 1e-6 * (1 + np.abs(place).max())
    ]
    decided = sum(e.word != "undecided" for e in answered.equilibria)
    return Compared(draw, len(answered.equilibria), decided, _proved(answered), tuple(missed), tuple(wrong))


def _proved(answered: Equilibria) -> bool:
    return answered.complete and not answered.family


def disagreements(rest: Rest, e: Equilibrium) -> list[str]:
    """Where roots or the word differ from those of the oracle."""
    if e.verdict is None:
        return [f"no verdict at {rest.position}"]
    told = [f"{e.word} where {rest.word} is right, at {rest.position}"] if rest.word and e.word != rest.word else []
    ours = e.verdict.roots[: len(e.verdict.roots) - e.verdict.constraint_roots]
    size = np.abs(rest.roots).max()
    off = max(float(np.abs(ours - z).min()) for z in rest.roots)
    return told + ([f"roots differ by {off:.2g} at {rest.position}"] if off > 1e-5 * size else [])


def job(quick: bool) -> Job:
    return Job(MODULE, ("agree", "20" if quick else "200"), 1, 20.0 if quick else 200.0)


def jobs(quick: bool) -> list[Job]:
    return [job(quick)]


def rows(samples: Samples, quick: bool) -> list[Row]:
    keys = ("seed", "systems", "found", "decided", "proved", "missed", "wrong")
    done = {key: series(samples, job(quick), key)[0] for key in keys}
    known = f"{done['found']:.0f} equilibria, {done['decided']:.0f} decided, {done['proved']:.0f} lists proved"
    note = f"seed {done['seed']:.0f}: {known}"
    all_of = done["systems"]
    right = all_of - done["missed"] - done["wrong"]
    name = "random systems: nothing missed, nothing wrong"
    return [Row(name, right, all_of, right / all_of, "systems", "all", 1.0, note=note)]


def agree_job(count: str) -> Answer:
    """New systems every time; the seed is told, and so are disagreements."""
    seed = randbits(31)
    done = [compared(drawn(seed + k, tuple(KINDS)), k) for k in range(int(count))]
    for k, one in enumerate(done):
        for text in (*one.missed, *one.wrong):
            print(f"seed {seed + k}: {text}", file=sys.stderr, flush=True)
    return {
        "seed": float(seed),
        "systems": float(len(done)),
        "found": float(sum(one.found for one in done)),
        "decided": float(sum(one.decided for one in done)),
        "proved": float(sum(one.complete for one in done)),
        "missed": float(sum(bool(one.missed) for one in done)),
        "wrong": float(sum(bool(one.wrong) and not one.missed for one in done)),
    }


if __name__ == "__main__":
    answer({"agree": agree_job})
