"""Hanging chains of N rods by the places x, y of their masses (2N coordinates, N constraints): first step, step, memory.

The motion of 200 rods is compared with that of the same pendulum in angles, by the recursion over a tree of bodies.
"""

from __future__ import annotations

from itertools import pairwise
from math import cos, pi, sin

from bench.scale.points import Points, curve, exudyn_motion, first_step, growth
from bench.tools.growth import Curve
from bench.tools.jobs import Answer, Job, Samples, answer, clock, median, series
from bench.tools.rows import Row, within

MODULE = "bench.scale.rods"
COUNTS, QUICK = (10, 50, 100, 200, 500, 1000), (10, 50)
FITTED = (50, 100, 200, 500)
GROWTH, FARTHEST = 1.1, 1e-8
"""The largest exponent of a step, and how far both motions may be apart after 0.2 s."""
ANGLE = pi / 3
COMPARED = 200


def ours(count: int) -> Job:
    return Job(MODULE, ("svyaz", str(count)), 1, 1 + 0.02 * count)


def peer(count: int) -> Job:
    return Job(MODULE, ("exudyn", str(count)), 1, 1 + 0.01 * count)


APART = Job(MODULE, ("apart", str(COMPARED)), 1, 20)


def jobs(quick: bool) -> list[Job]:
    counts = QUICK if quick else COUNTS
    return [job(n) for n in counts for job in (ours, peer)] + ([] if quick else [APART])


def rows(samples: Samples, quick: bool) -> list[Row]:
    found = []
    for n in QUICK if quick else COUNTS:
        note = f"first step {median(series(samples, ours(n), 'first')):.2f} s, "
        note += f"{median(series(samples, ours(n), 'megabytes')):.0f} MB"
        steps = [series(samples, job, "step") for job in (ours(n), peer(n))]
        found.append(within(f"{n} rods, a step", *steps, "EXUDYN", None, note=note))
    if quick:
        return found
    sizes = {n: ours(n) for n in FITTED}
    found.append(growth("rods, exponent of the first step", samples, sizes, "first", 1.2))
    found.append(growth("rods, exponent of a step", samples, sizes, "step", GROWTH))
    apart = series(samples, APART, "apart")
    found.append(within(f"{COMPARED} rods, from the recursion", apart, [FARTHEST], "1e-8", 1.0, unit=""))
    return found


def curves(samples: Samples, quick: bool) -> list[Curve]:
    if quick:
        return []
    sizes, peers = {n: ours(n) for n in COUNTS}, {n: peer(n) for n in COUNTS}
    panel = "rods, first step and a step"
    return [
        curve("svyaz, first step", panel, samples, sizes, "first"),
        curve("svyaz, a step", panel, samples, sizes, "step"),
        curve("EXUDYN, a step", panel, samples, peers, "step"),
    ]


def points(count: int) -> Points:
    """Rods of length 1 in a row, at rest."""
    places = [((i + 1) * sin(ANGLE), -(i + 1) * cos(ANGLE)) for i in range(count)]
    return Points(places, [(0.0, 0.0)] * count, list(pairwise(range(count))), [(0, (0.0, 0.0))])


def tree(count: int) -> str:
    """The same as a tree of bodies, masses at the ends of rods that turn about z."""
    lines = ['gravity = [0, "-9.81", 0]']
    for k in range(count):
        lines += ["[[body]]", f'name = "{k}"', f'base = "{k - 1 if k else "ground"}"', 'joint = "revolute"']
        lines += [f'coordinate = "q{k}"', "axis = [0, 0, 1]", f"pole = [0, {'-1' if k else '0'}, 0]"]
        lines += ["mass = 1", "center = [0, -1, 0]", "inertia = { xx = 1, yy = 0, zz = 1 }"]
    return "\n".join([*lines, "[initial]", f"q0 = {ANGLE!r}"])


def apart(count: str) -> Answer:
    """How far the masses are apart after 0.2 s: places by rk4, angles by dop853."""
    import numpy as np

    from svyaz import loads, simulate

    n, begin = int(count), clock()
    by_places = simulate(loads(points(n).text()), method="rk4", step=1e-3, until=0.2, stabilize="off")
    by_angles = simulate(loads(tree(n)), method="dop853", rtol=1e-12, until=0.2)
    assert by_places.finished
    assert by_angles.finished
    ends = [dict(zip(m.state_names, m.states[-1], strict=True)) for m in (by_places, by_angles)]
    turned = np.cumsum([ends[1][f"q{k}"] for k in range(n)])
    x, y = np.cumsum(np.sin(turned)), -np.cumsum(np.cos(turned))
    gaps = [max(abs(ends[0][f"x{k}"] - x[k]), abs(ends[0][f"y{k}"] - y[k])) for k in range(n)]
    return {"apart": float(max(gaps)), "seconds": clock() - begin}


if __name__ == "__main__":
    answer(
        {
            "svyaz": lambda count: first_step(points(3).text(), points(int(count)).text()),
            "exudyn": lambda count: exudyn_motion(points(int(count)), 200, 0.2),
            "apart": apart,
        }
    )
