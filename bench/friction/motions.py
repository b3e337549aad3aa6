"""Motions with friction by every road against an integration by SciPy of the law's own formula.

The seeds are new every time; ``python -m bench.friction.motions run SEED COUNT`` does the same groups again.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from random import Random, SystemRandom
from tempfile import TemporaryDirectory

import numpy as np
from bench.friction.laws import LAWS, Law
from bench.friction.reference import Ambiguous, Array
from bench.friction.roads import ROADS, Member, draw, ends, exported, fits, reference
from bench.tools.jobs import Answer, Job, Samples, answer, finds, series
from bench.tools.rows import Row

MODULE = "bench.friction.motions"
SEED = SystemRandom().randrange(10**9)
MODELS, EACH, MEMBERS = 2000, 200, 4
UNTIL = 2.0
TOLERANCE, ROUGH = 2e-6, 2e-5
"""What is allowed; and for laws with a root of the slip, whose slope is infinite where a slip begins: there w' is nearly √w."""

STEPPED = 2e-4
"""What fixed steps are allowed, which do not follow a thin layer of slow speeds."""

SENSITIVE = 1e3
"""Motions in which a change of the start grows so many times are compared no closer than that."""

GROUPS = [(name, road) for name in LAWS for road in ROADS if fits(name, road)]


def group(number: int) -> tuple[str, str]:
    """A law and a road; those after each other differ in both."""
    random = Random(number // len(GROUPS))
    return random.sample(GROUPS, len(GROUPS))[number % len(GROUPS)]


@dataclass(frozen=True)
class Comparison:
    """How many motions were compared, and what those are that differ."""

    count: int
    worst: float
    wrong: tuple[str, ...]


def compare(name: str, road: str, seed: int, members: int = MEMBERS, until: float = UNTIL) -> Comparison:
    """A group of motions with a law by a road: one model with some values and starts."""
    law, random = LAWS[name], Random(seed)
    moving = random.random() < 0.4 and road != "reaction"
    if road == "export":
        off = exported(law, draw(law, random, moving), moving, random)
        return Comparison(1, off, () if off <= 1e-9 else (f"{name} by {road}: off by {off:.1e}",))
    given, expected = _expected(law, road, random, moving, members, until)
    if not given:  # the law leaves open how any of them moves
        return Comparison(0, 0.0, ())
    found = ends(law, road, given, until, moving, random)
    allowed = STEPPED if road == "fixed steps" else ROUGH if "^0.5" in law.size else TOLERANCE
    wrong, worst = [], 0.0
    for member, told, right in zip(given, found, expected, strict=True):
        off = float(np.abs(told - right).max())
        if not off <= allowed and not off <= allowed * _growth(law, member, right, until):
            wrong.append(f"{name} by {road}: off by {off:.1e}")
        worst = max(worst, off)
    return Comparison(len(given), worst, tuple(wrong))


def _expected(
    law: Law, road: str, random: Random, moving: bool, members: int, until: float
) -> tuple[list[Member], list[Array]]:
    """Members, and the states in which their motions end."""
    first = draw(law, random, moving)
    given, expected = list[Member](), list[Array]()
    for _ in range(10 * members):
        member = draw(law, random, moving) if given else first
        if road == "sweep" and given:  # what is not varied is that of the first one
            member = Member(given[0].values, (given[0].start[0], member.start[1], *given[0].start[2:]))
        try:
            expected.append(reference(law, member).solution(until))
        except Ambiguous:
            continue
        given.append(member)
        if len(given) == members:
            break
    return given, expected


def _growth(law: Law, member: Member, right: Array, until: float) -> float:
    """How many times a small change of the start grows, at least 1."""
    moved = 1e-8
    grown = [1.0]
    for change in (moved, -moved):
        start = (member.start[0] + change, member.start[1] + (change if member.start[1] else 0.0), *member.start[2:])
        try:
            there = reference(law, replace(member, start=start)).solution(until)
        except Ambiguous:
            return SENSITIVE
        grown.append(float(np.abs(there - right).max()) / moved)
    return min(max(grown), SENSITIVE)


def jobs(quick: bool) -> list[Job]:
    count = 40 if quick else MODELS
    each = min(EACH, count)
    return [Job(MODULE, ("run", str(SEED + first), str(each)), 1, 0.4 * each) for first in range(0, count, each)]


def rows(samples: Samples, quick: bool) -> list[Row]:
    done = {key: sum(sum(series(samples, job, key)) for job in jobs(quick)) for key in ("models", "agree")}
    worst = max((x for job in jobs(quick) for x in series(samples, job, "worst")), default=float("nan"))
    wrong = [find for job in jobs(quick) for found in samples.get(job.name, ()) for find in finds(found)]
    note = f"seeds from {SEED}, {len(LAWS)} laws by {len(ROADS)} roads, the worst differs by {worst:.1e}"
    share = done["agree"] / max(done["models"], 1.0)
    name = "motions with friction agree"
    return [Row(name, done["agree"], done["models"], share, "models", "all", 1.0, note="; ".join([note, *wrong]))]


def run_job(seed: str, count: str) -> Answer:
    """How many motions were compared and agree, the worst difference, and where it is too large."""
    with TemporaryDirectory() as folder:
        os.environ["SVYAZ_CACHE"] = folder  # code of models that are met once would drive out the user's
        return _compared(int(seed), int(count))


def _compare_group(number: int) -> Comparison:
    """One group of a job; a run that raises differs, and the others are compared all the same."""
    name, road = group(number)
    try:
        return compare(name, road, number)
    except Exception as error:
        return Comparison(1, 0.0, (f"{name} by {road}: {type(error).__name__}: {str(error)[:200]}",))


def _compared(seed: int, count: int) -> Answer:
    found: Answer = {"models": 0.0, "agree": 0.0, "worst": 0.0}
    number = seed
    while found["models"] < count:
        made = _compare_group(number)
        found["models"] += made.count
        found["agree"] += made.count - len(made.wrong)
        found["worst"] = max(found["worst"], made.worst)
        found |= {f"seed {number}, {text}": 1.0 for text in made.wrong}
        number += 1
    return found


if __name__ == "__main__":
    answer({"run": run_job})
