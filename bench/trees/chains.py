"""Long chains: time a link does not grow with the length, and a thousand links are ready to run soon."""

from __future__ import annotations

import ctypes
from time import perf_counter
from typing import Any

from bench.tools.jobs import Answer, Job, Samples, answer, series
from bench.tools.rows import Row, faster, within
from bench.trees.matrix import clocked

MODULE = "bench.trees.chains"
READY = 10.0


def _job(what: str, links: int, quick: bool) -> Job:
    return Job(MODULE, (what, str(links)), 2 if quick else 5, 5.0)


def jobs(quick: bool) -> list[Job]:
    return [
        _job("svyaz", 100, quick),
        _job("svyaz", 1000, quick),
        _job("python", 100, quick),
        _job("ready", 1000, quick),
    ]


def rows(samples: Samples, quick: bool) -> list[Row]:
    hundred, thousand = (series(samples, _job("svyaz", n, quick), "seconds") for n in (100, 1000))
    python = series(samples, _job("python", 100, quick), "seconds")
    ready = series(samples, _job("ready", 1000, quick), "seconds")
    return [
        within("chain:1000 against ten times chain:100", thousand, [10 * t for t in hundred], "10 × chain:100", 1.5),
        faster("accelerations of chain:100 against aba from Python", hundred, python, "Pinocchio, Python", 1.0),
        within("chain:1000 from text to the first step", ready, [READY], "10 s", 1),
    ]


def loop_seconds(system: Any) -> float:
    """Seconds of one evaluation of the loop over the bodies, called by its address."""
    import numpy as np

    from svyaz.motion.long_trees import long_flow

    flow = long_flow(system)
    function = ctypes.CFUNCTYPE(ctypes.c_int32, *[ctypes.c_void_p] * 3)(flow.address)
    x = np.random.default_rng(1).uniform(-1, 1, 1 + flow.size)
    out = np.empty(flow.size)
    arguments = (x.ctypes.data, flow.constants.ctypes.data, out.ctypes.data)
    count = max(20, 200_000 // flow.size)

    def run() -> None:
        for _ in range(count):
            function(*arguments)

    return min(clocked(run) for _ in range(5)) / count


def ours(links: str) -> Answer:
    from bench.trees.robots import system

    return {"seconds": loop_seconds(system(f"chain:{links}"))}


def python(links: str) -> Answer:
    import pinocchio as pin
    from bench.trees.robots import pinocchio_model, states

    name = f"chain:{links}"
    model = pinocchio_model(name)
    data = model.createData()
    q, v, tau = states(name, 20)

    def run() -> None:
        for k in range(20):
            pin.aba(model, data, q[k], v[k], tau[k])

    return {"seconds": min(clocked(run) for _ in range(3)) / 20}


def ready(links: str) -> Answer:
    """From the text of the model to one step of the motion, compiling included."""
    begin = perf_counter()
    from bench.trees.robots import system

    system(f"chain:{links}").simulate(method="euler", step=1e-4, until=1e-4)
    return {"seconds": perf_counter() - begin}


if __name__ == "__main__":
    answer({"svyaz": ours, "python": python, "ready": ready})
