"""The inertia matrix of robots at many positions: lanes against one row after another."""

from __future__ import annotations

import numpy as np
from bench.tools.jobs import Answer, Job, Samples, answer, clock, series
from bench.tools.rows import Row, faster

MODULE = "bench.ensembles.batches"
ROBOTS = ("puma-560", "stanford")
ROWS = 8_000
BAR = 2.5


def _job(name: str, quick: bool) -> Job:
    return Job(MODULE, ("svyaz", name), 2 if quick else 5, 2.0)


def jobs(quick: bool) -> list[Job]:
    return [_job(name, quick) for name in ROBOTS]


def rows(samples: Samples, quick: bool) -> list[Row]:
    found = []
    for name in ROBOTS:
        lanes, alone = (series(samples, _job(name, quick), key) for key in ("lanes", "alone"))
        bar = BAR if name == "puma-560" else None
        found.append(faster(f"M of {name} in a batch", lanes, alone, "one by one", bar, note="the same bits"))
    return found


def ours(name: str) -> Answer:
    import svyaz
    from svyaz.forms import write_inertia
    from svyaz.program import compile_program, lanes_of

    system = svyaz.load(name)
    native = compile_program(write_inertia(system.tree, tuple(system.parameters), "time").program)
    lanes = lanes_of(native)
    assert lanes is not None, "this processor has vector registers"
    constants = native.constants(system.parameters)
    x = np.random.default_rng(1).uniform(-3.0, 3.0, (ROWS, len(native.program.inputs)))
    seconds: dict[str, list[float]] = {"lanes": [], "alone": []}
    for _ in range(200):
        begin = clock()
        alone, _ = native.evaluate_rows(x, constants)
        middle = clock()
        together, _ = lanes.evaluate(x, constants)
        seconds["alone"].append(middle - begin)
        seconds["lanes"].append(clock() - middle)
    assert alone.tobytes() == together.tobytes(), "the lanes give the bits of one alone"
    return {what: min(times) / ROWS for what, times in seconds.items()}


if __name__ == "__main__":
    answer({"svyaz": ours})
