"""Chains of N parallelogram windows (2N + 2 coordinates, 2N + 1 constraints), 1 s with rk4 and 1000 steps, beside EXUDYN.

The motion passes a position at which all constraints branch.
"""

from __future__ import annotations

from itertools import pairwise
from math import cos, sin

from bench.scale.points import Points, curve, exudyn_motion, first_step, growth, whole_motion
from bench.tools.growth import Curve
from bench.tools.jobs import Answer, Job, Samples, answer, median, series
from bench.tools.rows import Row, within

MODULE = "bench.scale.windows"
HOLDING = ("off", "gains", "projection")
COUNTS, QUICK = (10, 100, 1000), (10,)
GROWING = (50, 100, 200, 500)
JUDGED = 100
STEADY, GROWTH, AUTOMATIC = 3.0, 1.2, 5.0
"""Seconds beside three times EXUDYN's, the largest exponents, and how many times given gains `auto` may take."""


def ours(count: int, holding: str) -> Job:
    return Job(MODULE, ("svyaz", str(count), holding), 1, 2 + 0.04 * count)


def step(count: int) -> Job:
    return Job(MODULE, ("step", str(count)), 1, 1 + 0.02 * count)


def peer(count: int) -> Job:
    return Job(MODULE, ("exudyn", str(count)), 1, 1 + 0.01 * count)


def jobs(quick: bool) -> list[Job]:
    if quick:
        return [ours(n, how) for n in QUICK for how in HOLDING] + [peer(n) for n in QUICK]
    found = [ours(n, how) for n in COUNTS for how in HOLDING] + [ours(JUDGED, "auto")]
    return found + [step(n) for n in GROWING] + [peer(n) for n in sorted({*COUNTS, *GROWING})]


def rows(samples: Samples, quick: bool) -> list[Row]:
    found = []
    for n in QUICK if quick else COUNTS:
        whole = series(samples, peer(n), "whole")
        for how in HOLDING:
            allowed = [3 * median(whole) + STEADY] if whole else []
            name, bar = f"{n} windows, {how}", 1.0 if n == JUDGED else None
            taken = series(samples, ours(n, how), "whole")
            note = f"{median(series(samples, ours(n, how), 'megabytes')):.0f} MB"
            found.append(within(name, taken, allowed, "3 EXUDYN + 3 s", bar, note=note))
    if quick:
        return found
    gains = [AUTOMATIC * t for t in series(samples, ours(JUDGED, "gains"), "whole")]
    automatic = series(samples, ours(JUDGED, "auto"), "whole")
    found.append(within(f"{JUDGED} windows, auto", automatic, gains, "5 × gains", 1.0))
    found.append(_run(samples))
    sizes = {n: step(n) for n in GROWING}
    found.append(growth("windows, exponent of the first step", samples, sizes, "first", GROWTH))
    found.append(growth("windows, exponent of a step", samples, sizes, "step", GROWTH))
    return found


def _run(samples: Samples) -> Row:
    """The loop of 1000 steps beside EXUDYN's, which may err more."""
    loop = [1000 * t for t in series(samples, step(JUDGED), "step")]
    errors = [median(series(samples, job, "error")) for job in (ours(JUDGED, "off"), peer(JUDGED))]
    note = f"errors {errors[0]:.1e}, EXUDYN's {errors[1]:.1e}"
    return within(f"{JUDGED} windows, the run", loop, series(samples, peer(JUDGED), "run"), "EXUDYN", 1.0, note=note)


def curves(samples: Samples, quick: bool) -> list[Curve]:
    if quick:
        return []
    sizes = {n: step(n) for n in GROWING}
    peers = {n: peer(n) for n in sorted({*COUNTS, *GROWING})}
    wholes = [
        curve(f"svyaz, {how}", "windows, whole", samples, {n: ours(n, how) for n in COUNTS}, "whole") for how in HOLDING
    ]
    return [
        *wholes,
        curve("EXUDYN", "windows, whole", samples, peers, "whole"),
        curve("svyaz, first step", "windows, first step and a step", samples, sizes, "first"),
        curve("svyaz, a step", "windows, first step and a step", samples, sizes, "step"),
        curve("EXUDYN, a step", "windows, first step and a step", samples, peers, "step"),
    ]


def points(count: int) -> Points:
    """The upper corners, each on a side that stands on the ground, moving to the right."""
    upper = range(count + 1)
    feet = [(i, (float(i), 0.0)) for i in upper]
    return Points([(float(i), 1.0) for i in upper], [(1.0, 0.0)] * len(upper), list(pairwise(upper)), feet)


def side(time: float = 1.0, steps: int = 20_000) -> float:
    """The angle of a side, θ'' = g sin θ from θ = 0 and θ' = 1, by the method of Störmer and Verlet extrapolated twice."""

    def verlet(count: int) -> float:
        h, angle, rate = time / count, 0.0, 1.0
        for _ in range(count):
            rate += h / 2 * 9.81 * sin(angle)
            angle += h * rate
            rate += h / 2 * 9.81 * sin(angle)
        return angle

    coarse, middle, fine = verlet(steps), verlet(2 * steps), verlet(4 * steps)
    first, second = middle + (middle - coarse) / 3, fine + (fine - middle) / 3
    return second + (second - first) / 15


def _error(x: float, y: float) -> float:
    """How far the first corner is from where one side alone would have taken it."""
    angle = side()
    return max(abs(x - sin(angle)), abs(y - cos(angle)))


def svyaz_job(count: str, holding: str) -> Answer:
    how = 10 if holding == "gains" else holding
    made = whole_motion(points(3).text(), points(int(count)).text(), stabilize=how, method="rk4", step=1e-3, until=1.0)
    return {**made, "error": _error(made["x0"], made["y0"])}


def exudyn_job(count: str) -> Answer:
    found = exudyn_motion(points(int(count)), 1000, 1.0)
    return {**found, "error": _error(found["x"], found["y"] + 1.0)}


if __name__ == "__main__":
    answer(
        {
            "svyaz": svyaz_job,
            "step": lambda count: first_step(points(3).text(), points(int(count)).text()),
            "exudyn": exudyn_job,
        }
    )
