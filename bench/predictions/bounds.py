"""Predicted deviation over the observed one: never below 1, and not above 20 where the deviation had time to settle.

Gains are parts of the limit of each method; every run that finishes counts, also one that loses its constraints. What
lies below 1e-13 of the own scale of a constraint is rounding and counts as that much.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from bench.tools.jobs import Answer, Job, Samples, answer, series
from bench.tools.nine import NINE, Rig, rig
from bench.tools.rows import Row

from svyaz.stabilise.pilot import predict, scheme_of
from svyaz.stabilise.verdicts import judge, largest_gain

MODULE = "bench.predictions.bounds"
METHODS = ("euler", "rk2", "rk4", "dopri5")
STEPS = (1e-2, 1e-3)
SHARES = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 0.6, 0.9)
ROUNDING = 1e-13
SETTLED = 10.0
"""κT from which a prediction must not be too large either."""


@dataclass(frozen=True)
class Case:
    """One run: worst observed/predicted, worst predicted/observed, and the steps of the pilots over those of the run."""

    method: str
    step: float
    kappa: float
    settled: bool
    exceeded: float
    loose: float
    cost: float
    seconds: float
    run_seconds: float


def cases(made: Rig, methods: Sequence[str], steps: Sequence[float], shares: Sequence[float]) -> Iterator[Case | None]:
    """All runs of one system; None for one that did not finish."""
    for method in methods:
        for step in steps:
            options = made.options(method=method, step=step, stabilize="off")
            limit = largest_gain(scheme_of(options))
            for share in shares:
                yield _case(made, method, step, share * limit)


def _case(made: Rig, method: str, step: float, kappa: float) -> Case | None:
    options = made.options(method=method, step=step, stabilize="off")
    law = made.critical(kappa)
    assert judge(law.matrix, scheme_of(options)).stable, "gains below the limit of the method are stable"
    path = made.run(law, options)
    if path.status != "finished":
        return None
    found = predict(made.segment.regained(law), options, made.state, made.span)
    assert found is not None, "fixed steps of explicit methods have predictions"
    observed, scales = made.residuals(path)
    floor = ROUNDING * scales
    bounds = np.array([found.bounds[name] for name in made.measured.names])
    seen = np.maximum(observed, floor)
    return Case(
        method,
        step,
        kappa,
        kappa * (made.span[1] - made.span[0]) >= SETTLED,
        float(np.max(observed / np.maximum(bounds, floor))),
        float(np.max(bounds / seen)),
        found.steps / path.steps,
        found.seconds,
        path.seconds,
    )


def job(name: str, quick: bool) -> Job:
    return Job(MODULE, ("system", name, "quick" if quick else "full"), 1, 4.0 if quick else 15.0)


def jobs(quick: bool) -> list[Job]:
    return [job(name, quick) for name in NINE]


def rows(samples: Samples, quick: bool) -> list[Row]:
    found = []
    for name in NINE:
        values = {
            key: series(samples, job(name, quick), key) for key in ("runs", "diverged", "exceeded", "loose", "cost")
        }
        if not values["runs"]:
            continue
        runs, diverged = int(values["runs"][0]), int(values["diverged"][0])
        note = f"{runs} runs, {diverged} diverged, pilots took {values['cost'][0]:.2g} of the steps of the run"
        found.append(_limit(f"{name}: observed / predicted", values["exceeded"][0], 1.0, note))
        found.append(_limit(f"{name}: predicted / observed", values["loose"][0], 20.0, ""))
    return found


def _limit(name: str, value: float, bar: float, note: str) -> Row:
    return Row(name, value, 1.0, value, "", "1", bar, limit=True, note=note)


def system_job(name: str, extent: str) -> Answer:
    quick = extent == "quick"
    made = rig(name)
    all_cases = list(cases(made, METHODS, STEPS[:1] if quick else STEPS, SHARES[::2] if quick else SHARES))
    done = [case for case in all_cases if case is not None]
    return {
        "runs": float(len(done)),
        "diverged": float(len(all_cases) - len(done)),
        "exceeded": max(case.exceeded for case in done),
        "loose": max((case.loose for case in done if case.settled), default=0.0),
        "cost": float(np.mean([case.cost for case in done])),
        "pilot_seconds": sum(case.seconds for case in done),
        "run_seconds": sum(case.run_seconds for case in done),
    }


if __name__ == "__main__":
    answer({"system": system_job})
