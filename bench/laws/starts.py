"""A thousand starts in the region that is proved: no run diverges, and V falls while the states stay where it is proved."""

from __future__ import annotations

import numpy as np
from bench.tools.jobs import Answer, Job, Samples, answer, series
from bench.tools.rows import Row

from svyaz import System
from svyaz.stabilise.deviation import deviations
from svyaz.stabilise.options import options_for
from svyaz.stabilise.perturbations import perturbation
from svyaz.stabilise.request import stabilisation
from svyaz.stabilise.segment import integrated, prepare

MODULE = "bench.laws.starts"
COUNT = 1000
LAWS = (
    "-6*deviation' - 9*deviation + 60*deviation^3",
    "-(5 + sin(x))*deviation' - 12*sin(3*deviation)*(1 + y^2/4) + deviation'^3",
    "-(4 + x*deviation)*deviation' - 8*deviation*exp(-deviation)",
)


def job(number: int, quick: bool) -> Job:
    return Job(MODULE, ("starts", str(number), "100" if quick else str(COUNT)), 1, 20.0)


def jobs(quick: bool) -> list[Job]:
    return [job(number, quick) for number in range(len(LAWS))]


def rows(samples: Samples, quick: bool) -> list[Row]:
    found = []
    for number, law in enumerate(LAWS):
        kept, count, left = (series(samples, job(number, quick), key)[0] for key in ("kept", "count", "left"))
        note = f"{left:.0f} left the states for which it is proved, and were followed up to there"
        found.append(Row(f"starts under {law}", kept, count, kept / count, "runs", "all", 1.0, note=note))
    return found


def starts_job(number: str, count: str) -> Answer:
    law = LAWS[int(number)]
    system = System(
        name="pendulum",
        coordinates=["x", "y"],
        kinetic="(x'^2 + y'^2)/2",
        potential="9.81*y",
        constraint=[{"name": "rod", "equation": "x^2 + y^2 = 1"}],
        initial={"x": 1.001, "y'": 0.1},
    )
    words = {"stabilize": {"law": law}, "method": "dop853", "rtol": 1e-10, "until": 2.0}
    motion = system.simulate(method="dop853", rtol=1e-10, until=2.0, stabilize={"law": law})
    assert motion.gains is not None, "a law is judged"
    (region,) = motion.gains.regions
    assert region.proved, region.reason
    equations, options = system.derive(), options_for(system, words)
    state = np.array(system.initial_state())
    segment = prepare(equations, perturbation(equations, stabilisation(words["stabilize"])), (), options, 0.0, state)
    measured, rng, root = (
        deviations(equations),
        np.random.default_rng(3),
        np.linalg.inv(np.linalg.cholesky(region.matrix).T),
    )
    names = list(equations.states)
    kept = left = 0
    for _ in range(int(count)):
        h, rate = np.sqrt(min(region.level, 1.0)) * root @ _in_ball(rng)
        angle, speed = rng.uniform(-np.pi, np.pi), rng.normal()
        r = np.sqrt(1 + max(h, -0.9))
        x, y = r * np.cos(angle), r * np.sin(angle)
        radial = rate / (2 * r)
        start = np.array(
            [x, y, radial * np.cos(angle) - speed * np.sin(angle), radial * np.sin(angle) + speed * np.cos(angle)]
        )
        path = integrated(segment, start, (0.0, 2.0), options, np.linspace(0.0, 2.0, 81), None)
        columns = {"t": path.times, **dict(zip(names, path.states.T, strict=True))}
        inside = np.logical_and.reduce(
            [(columns[n] >= a) & (columns[n] <= b) for n, (a, b) in region.where.items()] or [path.times >= 0]
        )
        end = len(inside) if inside.all() else int(np.argmin(inside))
        deviation = measured.at(path.times, path.states)[: max(end, 1)]
        size = np.einsum("ki,ij,kj->k", deviation, region.matrix, deviation)
        left += end < len(inside)
        kept += bool(np.all(np.diff(size) <= 1e-9 * size[0])) and (end < len(inside) or path.finished)
    return {"kept": float(kept), "count": float(count), "left": float(left)}


def _in_ball(rng: np.random.Generator) -> np.ndarray:
    z = rng.normal(size=2)
    return np.asarray(z / np.linalg.norm(z) * np.sqrt(rng.uniform()))


if __name__ == "__main__":
    answer({"starts": starts_job})
