"""The inertia matrix in a batch of states: native code against Pinocchio's crba from Python and in C++."""

from __future__ import annotations

from time import perf_counter

from bench.tools.jobs import Answer, Job, Samples, answer, series
from bench.tools.rows import Row, faster

MODULE = "bench.trees.matrix"
ROBOTS = ("puma-560", "stanford", "planar-6r")
BATCH = 20_000


def _job(what: str, robot: str, quick: bool) -> Job:
    return Job(MODULE, (what, robot), 2 if quick else 5, 3.0)


def jobs(quick: bool) -> list[Job]:
    return [_job(what, robot, quick) for robot in ROBOTS for what in ("svyaz", "python", "cpp")]


def rows(samples: Samples, quick: bool) -> list[Row]:
    found = []
    for robot in ROBOTS:
        ours, python, cpp = (series(samples, _job(w, robot, quick), "seconds") for w in ("svyaz", "python", "cpp"))
        bars = (8.0, 1.0) if robot == "puma-560" else (None, None)
        found.append(faster(f"M of {robot} against crba from Python", ours, python, "Pinocchio, Python", bars[0]))
        found.append(faster(f"M of {robot} against crba in C++", ours, cpp, "Pinocchio, C++", bars[1]))
    return found


def ours(robot: str) -> Answer:
    from bench.trees.robots import states, system

    from svyaz.forms.tree.short_formulas.inertia import write_inertia
    from svyaz.program import compile_program

    read = system(robot)
    native = compile_program(write_inertia(read.tree, tuple(read.parameters), "time").program)
    constants = native.constants(read.parameters)
    q, _, _ = states(robot, BATCH)
    return {"seconds": min(clocked(lambda: native.evaluate(q, constants)) for _ in range(5)) / BATCH}


def python(robot: str) -> Answer:
    import pinocchio as pin
    from bench.trees.robots import pinocchio_model, states

    model = pinocchio_model(robot)
    data = model.createData()
    q, _, _ = states(robot, BATCH)

    def loop() -> None:
        for row in q:
            pin.crba(model, data, row)

    return {"seconds": min(clocked(loop) for _ in range(3)) / BATCH}


def cpp(robot: str) -> Answer:
    from bench.trees.cpp import times

    return {"seconds": min(times(robot, 5 * BATCH)["crba"] for _ in range(3))}


def clocked(work: object) -> float:
    begin = perf_counter()
    work()  # type: ignore[operator]
    return perf_counter() - begin


if __name__ == "__main__":
    answer({"svyaz": ours, "python": python, "cpp": cpp})
