"""Long chains: time a link does not grow with the length, and a thousand links are ready to run soon.

Accelerations are timed in a native loop that calls them once a step, as a motion does.
"""

from __future__ import annotations

from time import perf_counter, process_time
from typing import Any

from bench.tools.jobs import Answer, Job, Samples, answer, series
from bench.tools.rows import Row, faster, within

MODULE = "bench.trees.chains"
READY = 10.0
STEP = 1e-6
SHORT, LONGER, A_LINK = 12, (17, 30, 60), 1.5
"""A link of longer chains may take so many times what it takes in the short one, whose equations are written out."""


def _job(what: str, links: int, quick: bool) -> Job:
    return Job(MODULE, (what, str(links)), 2 if quick else 5, 5.0)


def jobs(quick: bool) -> list[Job]:
    return [
        *(_job("svyaz", n, quick) for n in (SHORT, *LONGER, 100, 1000)),
        _job("python", 100, quick),
        _job("ready", 1000, quick),
    ]


def rows(samples: Samples, quick: bool) -> list[Row]:
    hundred, thousand = (series(samples, _job("svyaz", n, quick), "seconds") for n in (100, 1000))
    python = series(samples, _job("python", 100, quick), "seconds")
    ready = series(samples, _job("ready", 1000, quick), "seconds")
    link = [t / SHORT for t in series(samples, _job("svyaz", SHORT, quick), "seconds")]
    longer = {n: [t / n for t in series(samples, _job("svyaz", n, quick), "seconds")] for n in LONGER}
    return [
        *(within(f"a link of chain:{n}", taken, link, f"chain:{SHORT}", A_LINK) for n, taken in longer.items()),
        within("chain:1000 against ten times chain:100", thousand, [10 * t for t in hundred], "10 × chain:100", 1.5),
        faster("accelerations of chain:100 against aba from Python", hundred, python, "Pinocchio, Python", 1.0),
        within("chain:1000 from text to the first step", ready, [READY], "10 s", 1),
    ]


def rates_of(system: Any) -> Any:
    """The native rates of a tree, as ``simulate`` takes them by its size."""
    from svyaz import derive
    from svyaz.dynamics import closed_equations, plain_rates
    from svyaz.integrate import Flow
    from svyaz.motion.long_trees import LONGEST_WRITTEN
    from svyaz.stabilise import OFF, options_for, perturbation, prepare

    if len(system.tree.bodies) > LONGEST_WRITTEN:
        code = plain_rates(closed_equations(system, ()))
        return Flow(code.address, code.constants(system.constants), len(system.states), code)
    equations, options = derive(system), options_for(system, {"method": "euler", "step": STEP, "until": 1.0})
    return prepare(equations, perturbation(equations, OFF), (), options, 0.0, system.initial_state()).rates


def loop_seconds(system: Any) -> float:
    """Seconds of one evaluation of the rates, in a native loop of Euler's steps."""
    import numpy as np

    from svyaz.integrate import solve

    rates, start = rates_of(system), np.array(system.initial_state())
    steps = max(20, 200_000 // len(start))
    taken = []
    for _ in range(9):
        begin = process_time()
        solve(rates, start, (0.0, steps * STEP), method="euler", step=STEP, every=steps)
        taken.append((process_time() - begin) / steps)
    return min(taken)


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

    taken = []
    for _ in range(5):
        begin = process_time()
        for k in range(20):
            pin.aba(model, data, q[k], v[k], tau[k])
        taken.append((process_time() - begin) / 20)
    return {"seconds": min(taken)}


def ready(links: str) -> Answer:
    """From the text of the model to one step of the motion, compiling included."""
    begin = perf_counter()
    from bench.trees.robots import system

    system(f"chain:{links}").simulate(method="euler", step=1e-4, until=1e-4)
    return {"seconds": perf_counter() - begin}


if __name__ == "__main__":
    answer({"svyaz": ours, "python": python, "ready": ready})
