"""The cost of a step with gains over that of a step without them, for Euler's method and rk4.

Both kinds of run take turns in one process; only the ends are stored, so that what is timed is the native loop.
"""

from __future__ import annotations

from statistics import median

from bench.constraints.setting import segment
from bench.tools.jobs import Answer, Job, Samples, answer, clock, series
from bench.tools.rows import Row, within

MODULE = "bench.constraints.stabilised"
MODELS = ("sleigh", "pendulum-xy", "four-bar")
METHODS = ("euler", "rk4")
KAPPA, STEP, STEPS = 10.0, 1e-5, 100_000
LIMIT = 1.25


def job(name: str, method: str, quick: bool) -> Job:
    return Job(MODULE, ("pair", name, method, "3" if quick else "15"), 1 if quick else 3, 2.0)


def jobs(quick: bool) -> list[Job]:
    return [job(name, method, quick) for name in MODELS for method in METHODS]


def rows(samples: Samples, quick: bool) -> list[Row]:
    found = []
    for name in MODELS:
        for method in METHODS:
            done = job(name, method, quick)
            times = [series(samples, done, key) for key in ("with", "without")]
            found.append(within(f"a step of {name}, {method}, with gains", *times, "without gains", LIMIT))
    return found


def pair_job(name: str, method: str, turns: str) -> Answer:
    from svyaz.integrate import solve

    kinds = {"with": segment(name, KAPPA, step=STEP), "without": segment(name, "off", step=STEP)}
    seconds: dict[str, list[float]] = {kind: [] for kind in kinds}
    for _ in range(int(turns) + 1):
        for kind, (code, state) in kinds.items():
            begin = clock()
            solve(code.rates, state, (0.0, STEP * STEPS), method=method, step=STEP, every=STEPS)
            seconds[kind].append((clock() - begin) / STEPS)
    return {kind: median(times[1:]) for kind, times in seconds.items()}


if __name__ == "__main__":
    answer({"pair": pair_job})
