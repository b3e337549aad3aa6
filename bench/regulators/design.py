"""From a model to gains: the command end to end, and linearisation with LQR of a manipulator with two constraints."""

from __future__ import annotations

import subprocess
import sys
from time import perf_counter

from bench.tools.jobs import Answer, Job, Samples, answer, series
from bench.tools.rows import Row, within

MODULE = "bench.regulators.design"
COMMAND, GAINS = 3.0, 1.0


def _command(quick: bool) -> Job:
    return Job(MODULE, ("command", "ball-and-beam"), 1 if quick else 5, 4.0)


def _gains(quick: bool) -> Job:
    return Job(MODULE, ("gains", "parallel-manipulator"), 1 if quick else 5, 3.0)


def jobs(quick: bool) -> list[Job]:
    return [_command(quick), _gains(quick)]


def rows(samples: Samples, quick: bool) -> list[Row]:
    command = series(samples, _command(quick), "seconds")
    gains, whole = (series(samples, _gains(quick), key) for key in ("seconds", "whole"))
    return [
        within("svyaz regulate ball-and-beam, end to end", command, [COMMAND], f"{COMMAND:g} s", 1),
        within("linearisation and LQR, two constraints", gains, [GAINS], f"{GAINS:g} s", 1),
        within("the same with the search for the equilibrium", whole, [GAINS], f"{GAINS:g} s", None),
    ]


def command(model: str) -> Answer:
    """The program as a person starts it; the first time, which fills caches, is not counted."""
    asked = [sys.executable, "-m", "svyaz", "regulate", model, "--json", "-"]
    subprocess.run(asked, capture_output=True, check=True)
    begin = perf_counter()
    subprocess.run(asked, capture_output=True, check=True)
    return {"seconds": perf_counter() - begin}


def gains(model: str) -> Answer:
    from svyaz import gallery, loads
    from svyaz.control.design import designed
    from svyaz.stability.linearisation import first_approximation

    text = gallery.find(model, {})
    assert text is not None
    system = loads(text, model)
    begin = perf_counter()
    plant = system.regulate().plant
    whole = perf_counter() - begin
    fresh = loads(text, model)  # nothing of it is remembered
    begin = perf_counter()
    designed(first_approximation(fresh, plant.state, plant.inputs))
    return {"seconds": perf_counter() - begin, "whole": whole}


if __name__ == "__main__":
    answer({"command": command, "gains": gains})
