"""Time against trajectory error on closed loops: dop853 with gains against EXUDYN and IDA, solving only.

Errors are largest distances of positions over the run from a reference by SciPy. Each tool is run over its range of
tolerances or steps; times at equal error are read off by interpolation in the logarithms. Draw the diagram from the
samples of a run by ``python -m bench.constraints.work_precision draw out/bench/constraints.json picture.png``.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median

import numpy as np
from bench.constraints.mechanisms import MECHANISMS, UNTIL, error, reference, times
from bench.constraints.setting import Floats, segment
from bench.tools.jobs import Answer, Job, Samples, answer, clock, series
from bench.tools.rows import Row, faster

MODULE = "bench.constraints.work_precision"
KAPPA = 5.0
TOLERANCES = tuple(10.0**-k for k in range(3, 13))
STEPS = tuple(250 * 2**k for k in range(10))
LEVELS = (1e-3, 1e-5, 1e-7)
TOOLS = {"svyaz": "svyaz dop853", "ida": "IDA", "exudyn": "EXUDYN"}
LEAST = 0.004
"""Seconds of work over which a solution is timed."""


def job(tool: str, name: str, quick: bool) -> Job:
    return Job(MODULE, (tool, name, "4" if quick else "10"), 1 if quick else 3, 3.0)


def jobs(quick: bool) -> list[Job]:
    return [job(tool, name, quick) for name in MECHANISMS for tool in TOOLS]


def rows(samples: Samples, quick: bool) -> list[Row]:
    found = []
    for name in MECHANISMS:
        own = [_at(curve) for curve in _curves(samples, job("svyaz", name, quick))]
        for tool in ("exudyn", "ida"):
            peer = [_at(curve) for curve in _curves(samples, job(tool, name, quick))]
            for level in LEVELS:
                ours, theirs = ([f(level) for f in found if not np.isnan(f(level))] for found in (own, peer))
                if ours and theirs:
                    found.append(faster(f"{name} to an error of {level:.0e}", ours, theirs, TOOLS[tool], 1))
    return found


def _curves(samples: Samples, done: Job) -> list[list[tuple[float, float]]]:
    """(error, seconds) of each run of a job."""
    count = int(done.arguments[2])
    pairs = [[series(samples, done, f"{key} {k}") for key in ("error", "seconds")] for k in range(count)]
    repetitions = min((len(errors) for errors, _ in pairs), default=0)
    return [[(pairs[k][0][r], pairs[k][1][r]) for k in range(count)] for r in range(repetitions)]


def _at(curve: Sequence[tuple[float, float]]) -> Callable[[float], float]:
    """error → the least time in which it is reached; not a number where the tool does not reach it, or is better always."""
    best: list[tuple[float, float]] = []
    for e, s in sorted(curve, key=lambda pair: pair[1]):
        if not best or e < best[-1][0]:
            best.append((e, s))
    logs = np.log([pair for pair in best if pair[0] > 0][::-1])

    def time(level: float) -> float:
        if not len(logs) or not logs[0, 0] <= np.log(level):
            return float("nan")
        return float(np.exp(np.interp(np.log(level), logs[:, 0], logs[:, 1])))

    return time


def _timed(solve: Callable[[], object]) -> float:
    """Seconds of a solution: the median of as many as make up a measurable time."""
    found = []
    while sum(found) < LEAST or len(found) < 3:
        begin = clock()
        solve()
        found.append(clock() - begin)
    return median(found)


def svyaz_job(name: str, count: str) -> Answer:
    from svyaz.integrate import solve

    code, state = segment(name, KAPPA, method="dop853", rtol=1e-9)
    moments, exact, found = times(), reference(name), {}

    def solution(tolerance: float) -> Floats:
        span = (0.0, UNTIL)
        path = solve(code.rates, state, span, method="dop853", rtol=tolerance, atol=tolerance, output=moments)
        return path.states[:, : exact.shape[1]]

    solution(1e-3)
    for k, tolerance in enumerate(TOLERANCES[: int(count)]):
        found[f"error {k}"] = error(solution(tolerance), exact)
        found[f"seconds {k}"] = _timed(lambda tolerance=tolerance: solution(tolerance))
    return found


def ida_job(name: str, count: str) -> Answer:
    from bench.constraints.ida_peer import solver

    solve, exact, found = solver(name), reference(name), {}
    solve(1e-3)
    for k, tolerance in enumerate(TOLERANCES[: int(count)]):
        found[f"error {k}"] = error(solve(tolerance), exact)
        found[f"seconds {k}"] = _timed(lambda tolerance=tolerance: solve(tolerance))
    return found


def exudyn_job(name: str, count: str) -> Answer:
    from bench.constraints.exudyn_peer import solver

    prepared, exact, found = solver(name), reference(name), {}
    for k, steps in enumerate(STEPS[: int(count)]):
        runs, answers = [], None
        while sum(runs) < LEAST or len(runs) < 3:
            solve, positions = prepared(steps)
            begin = clock()
            solve()
            runs.append(clock() - begin)
            answers = positions()
        assert answers is not None
        found[f"error {k}"], found[f"seconds {k}"] = error(answers, exact), median(runs)
    return found


def draw(record: str, picture: str) -> None:
    """The work-precision diagram of a record that ``svyaz bench constraints`` has written."""
    from matplotlib.figure import Figure

    samples = json.loads(Path(record).read_text(encoding="utf-8"))["samples"]
    figure = Figure(figsize=(12, 4.2), layout="constrained")
    panels = figure.subplots(1, len(MECHANISMS), sharey=True)
    for axes, name in zip(panels, MECHANISMS, strict=True):
        for (tool, title), look in zip(TOOLS.items(), ("o-", "s--", "^:"), strict=True):
            done = next(
                (job(tool, name, quick) for quick in (False, True) if job(tool, name, quick).name in samples), None
            )
            if done is None:
                continue
            middle = np.median(np.array(_curves(samples, done)), axis=0)
            axes.loglog(middle[:, 0], middle[:, 1], look, label=title, markersize=4)
        axes.set(title=name, xlabel="largest error of a position")
        axes.grid(True, alpha=0.3)
    panels[0].set_ylabel("seconds of work")
    panels[0].legend()
    figure.savefig(picture, dpi=140)


if __name__ == "__main__":
    if sys.argv[1:2] == ["draw"]:
        draw(*sys.argv[2:])
    else:
        answer({"svyaz": svyaz_job, "ida": ida_job, "exudyn": exudyn_job})
