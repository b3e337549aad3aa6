"""A step of a ``Simulator`` of the double pendulum from Python: against MuJoCo's mj_step, and 4096 at once against one alone.

Ours makes a step of rk4 (the row without a bar: dop853 with rtol = 1e-9, the default), MuJoCo one of its default method,
semi-implicit Euler, of the same chain of rods; both give the state.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from bench.tools.jobs import Answer, Job, Samples, answer, clock, series
from bench.tools.rows import Row, faster, within

MODULE = "bench.ensembles.steps"
STEP, COUNT, PASSES = 0.01, 4096, 100
WAYS: dict[str, dict[str, Any]] = {"rk4": {"method": "rk4", "step": STEP}, "dop853": {}}


def _job(what: str, quick: bool) -> Job:
    return Job(MODULE, (what,), 2 if quick else 5, 3.0)


def jobs(quick: bool) -> list[Job]:
    return [_job(what, quick) for what in (*WAYS, "mujoco")]


def rows(samples: Samples, quick: bool) -> list[Row]:
    found: list[Row] = []
    peer = series(samples, _job("mujoco", quick), "seconds")
    for way in WAYS:
        one, many = (series(samples, _job(way, quick), key) for key in ("one", "many"))
        bars: tuple[float | None, float | None] = (1.0, 50.0) if way == "rk4" else (None, None)
        found.append(within(f"a step of a Simulator, {way}", one, peer, "mj_step", bars[0]))
        found.append(faster(f"a step of one of {COUNT} members, {way}", many, one, "one alone", bars[1]))
    return found


def ours(way: str) -> Answer:
    import svyaz

    system = svyaz.load("pendulum:2")
    one = svyaz.Simulator(system, STEP, **WAYS[way])
    many = svyaz.Simulator(system, STEP, count=COUNT, **WAYS[way])
    many.reset({"u1": np.linspace(0.0, 1.0, COUNT)})
    return {"one": _quickest(one.step, 300), "many": _quickest(many.step, 3) / COUNT}


def mujoco() -> Answer:
    import mujoco as mj

    rod = '<body pos="0 0 {z}"><joint axis="0 1 0"/><inertial pos="0 0 -1" mass="1" diaginertia="1e-6 1e-6 1e-6"/>'
    bodies = rod.format(z=0) + rod.format(z=-1) + "</body></body>"
    text = f'<mujoco><option timestep="{STEP}"/><worldbody>{bodies}</worldbody></mujoco>'
    model = mj.MjModel.from_xml_string(text)
    data = mj.MjData(model)
    data.qpos[:] = 0.5
    return {"seconds": _quickest(lambda: mj.mj_step(model, data), 300)}


def _quickest(step: Callable[[], object], calls: int) -> float:
    """Seconds of a call, by the quickest of some passes."""
    for _ in range(8):  # the first steps check themselves
        step()
    seconds = []
    for _ in range(PASSES):
        begin = clock()
        for _ in range(calls):
            step()
        seconds.append((clock() - begin) / calls)
    return min(seconds)


if __name__ == "__main__":
    answer({"rk4": lambda: ours("rk4"), "dop853": lambda: ours("dop853"), "mujoco": mujoco})
