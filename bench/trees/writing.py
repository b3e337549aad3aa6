"""Writing out inertia matrices: operations against the composite recursion with common subexpressions, and seconds."""

from __future__ import annotations

from time import perf_counter

from bench.tools.jobs import Answer, Job, Samples, answer, series
from bench.tools.rows import Row, faster, within

MODULE = "bench.trees.writing"
COMPOSITE = {
    "planar-2r": (4, 4),
    "planar-3r": (13, 16),
    "planar-6r": (70, 70),
    "puma-560": (204, 181),
    "stanford": (143, 127),
}
"""Products and additions of M that depend on q: composite bodies, ten parameters a link, CasADi's common subexpressions."""
LONGEST = 5.0


def _job(robot: str, quick: bool) -> Job:
    return Job(MODULE, ("write", robot), 1 if quick else 3, 3.0)


def jobs(quick: bool) -> list[Job]:
    return [_job(robot, quick) for robot in COMPOSITE]


def rows(samples: Samples, quick: bool) -> list[Row]:
    found = []
    for robot, (mul, add) in COMPOSITE.items():
        counts = series(samples, _job(robot, quick), "operations")
        found.append(faster(f"operations of M of {robot}", counts, [mul + add], "composite + CSE", 1.0, unit=""))
    seconds = series(samples, _job("puma-560", quick), "seconds")
    found.append(within("writing out puma-560", seconds, [LONGEST], "5 s", 1))
    return found


def write(robot: str) -> Answer:
    from bench.trees.robots import system

    from svyaz.forms.tree.short_formulas.inertia import write_inertia

    read = system(robot)
    begin = perf_counter()
    counts = write_inertia(read.tree, tuple(read.parameters)).operations
    return {"seconds": perf_counter() - begin, "operations": counts["mul"] + counts["add"]}


if __name__ == "__main__":
    answer({"write": write})
