"""Random systems: is every equilibrium that an independent search meets found, and is every verdict right?

The seeds are new every time; ``python -m bench.equilibria.random_systems agree SEED COUNT`` does the same systems again.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import SystemRandom

import numpy as np
from bench.equilibria.draws import KINDS, Draw, drawn
from bench.equilibria.oracle import Oracle, Rest
from bench.tools.jobs import Answer, Job, Samples, answer, finds, series
from bench.tools.rows import Row

from svyaz import System
from svyaz.stability import Equilibria, Equilibrium

MODULE = "bench.equilibria.random_systems"
SEED = SystemRandom().randrange(10**9)
SYSTEMS, EACH = 200, 20
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


def jobs(quick: bool) -> list[Job]:
    count = 20 if quick else SYSTEMS
    return [Job(MODULE, ("agree", str(SEED + first), str(EACH)), 1, 0.3 * EACH) for first in range(0, count, EACH)]


def rows(samples: Samples, quick: bool) -> list[Row]:
    keys = ("systems", "found", "decided", "proved", "right")
    done = {key: sum(sum(series(samples, job, key)) for job in jobs(quick)) for key in keys}
    known = f"{done['found']:.0f} equilibria, {done['decided']:.0f} decided, {done['proved']:.0f} lists proved"
    told = [find for job in jobs(quick) for found in samples.get(job.name, ()) for find in finds(found)]
    count = float(sum(int(job.arguments[2]) for job in jobs(quick)))
    note = "; ".join([f"seeds from {SEED}: {known}", *told])
    name = "random systems: nothing missed, nothing wrong"
    return [Row(name, done["right"], count, done["right"] / count, "systems", "all", 1.0, note=note)]


def agree_job(seed: str, count: str) -> Answer:
    """How many systems agree, what was found of them, and each disagreement with its seed."""
    found: Answer = dict.fromkeys(("systems", "found", "decided", "proved", "right"), 0.0)
    for number in range(int(seed), int(seed) + int(count)):
        one = compared(drawn(number, tuple(KINDS)), number)
        found["systems"] += 1
        found["found"] += one.found
        found["decided"] += one.decided
        found["proved"] += one.complete
        found["right"] += not (one.missed or one.wrong)
        found |= {f"seed {number}: {text}": 1.0 for text in (*one.missed, *one.wrong)}
    return found


if __name__ == "__main__":
    answer({"agree": agree_job})
