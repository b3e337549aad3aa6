"""How many times the best of 25 constant gains beats the chosen one, in trajectory error and in residual at once.

For each gain both quotients (chosen over constant) are formed, and the smaller one counts: 2 means that some gain is twice
as good in both. The error is the largest over the run, every state in its own scale, against dop853 with rtol 1e-12 and
projection; the residual is the largest in the own scale of its constraint. Below NOISE neither tells gains apart. Cases
in which every gain diverges, or in which even the best is farther off than the motion is large, are listed and not scored.

The score is √(error · residual) over that of the least error and the least residual of the 25, which need not belong to one
gain; it is told beside the least score of a constant, and where gains vary, by how much they are better than that.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from bench.tools.jobs import Answer, Job, Samples, answer, series
from bench.tools.nine import NINE, Rig, rig
from bench.tools.rows import Row

from svyaz.integrate import Path
from svyaz.stabilise import state_scale
from svyaz.stabilise.advancing import advance
from svyaz.stabilise.gain_choice import choose
from svyaz.stabilise.perturbations import perturbation
from svyaz.stabilise.pilot import scheme_of
from svyaz.stabilise.request import Stabilisation, one_gain
from svyaz.stabilise.segment import prepare
from svyaz.stabilise.verdicts import largest_gain

MODULE = "bench.gains.choice"
METHODS = ("euler", "rk2", "rk4")
STEPS = (1e-2, 5e-3, 1e-3)
CONSTANTS = 25
NOISE = 1e-12
BETTER, WORSE_RESIDUAL = 2.0, 1.2
SCORED, BEST_SCORE = ("rk2", "rk4"), 1.3
REFERENCE = 1e-12


@dataclass(frozen=True)
class Outcome:
    """Trajectory error and residual of one run; infinite when it did not finish."""

    kappa: float
    error: float
    residual: float

    @property
    def finished(self) -> bool:
        return bool(np.isfinite(self.error))


@dataclass(frozen=True)
class Case:
    """The chosen gain and the constant ones, with one method and step."""

    chosen: Outcome
    unstabilised: Outcome
    constants: tuple[Outcome, ...]
    seconds: float
    varied: bool = False

    @cached_property
    def scored(self) -> bool:
        """Does any gain finish?"""
        return any(o.finished for o in (*self.constants, self.unstabilised))

    @property
    def beaten(self) -> float:
        """By how many times some constant gain is better in both."""
        return max(
            min(_times(self.chosen.error, o.error), _times(self.chosen.residual, o.residual)) for o in self.constants
        )

    @property
    def score(self) -> float:
        """√(error · residual) over that of the least error and the least residual of the constant gains."""
        ended = [o for o in self.constants if o.finished]
        least = min(o.error for o in ended), min(o.residual for o in ended)
        return float(np.sqrt(_times(self.chosen.error, least[0]) * _times(self.chosen.residual, least[1])))

    @property
    def constant_score(self) -> float:
        """The least score of a constant gain."""
        return min(replace(self, chosen=o).score for o in self.constants if o.finished)

    @property
    def residual_ratio(self) -> float:
        """Residual over that without stabilisation."""
        return _times(self.chosen.residual, self.unstabilised.residual)


def _times(ours: float, theirs: float) -> float:
    if not np.isfinite(theirs):
        return 0.0
    return max(ours, NOISE) / max(theirs, NOISE)


def reference(made: Rig, step: float) -> Path:
    """An independent accurate motion at the nodes of a run."""
    options = made.options(method="dop853", rtol=REFERENCE, stabilize="projection")
    count = int((made.span[1] - made.span[0]) / step * (1 + 1e-12))
    path = advance(
        made.projected(options), made.state, made.span, options, made.span[0] + step * np.arange(count + 1), None
    )
    assert path.status == "finished", path.reason
    return path


def outcome(made: Rig, gains: Stabilisation, method: str, step: float, exact: Path) -> Outcome:
    options = made.options(method=method, step=step, stabilize="off")
    law, kappa = perturbation(made.equations, gains), gains.numbers.get("kappa", np.nan)
    if gains.kind == "law":
        segment = prepare(made.equations, law, (), options, made.span[0], made.state)
        path = advance(segment, made.state, made.span, options, None, None)
    else:
        path = made.run(law, options)
    if path.status != "finished":
        return Outcome(kappa, np.inf, np.inf)
    residual, scales = made.residuals(path)
    rows = len(exact.times)
    assert np.allclose(path.times[:rows], exact.times, rtol=0, atol=1e-9), "a run has the nodes of the reference"
    return Outcome(
        kappa,
        state_scale(made.equations, exact.times, exact.states).difference(path.states[:rows], exact.states),
        float(np.max(residual / scales)),
    )


def case(made: Rig, method: str, step: float, exact: Path) -> Case:
    options = made.options(method=method, step=step, stabilize="auto")
    choice = choose(made.segment, options, made.state, made.span)
    limit = largest_gain(scheme_of(options))
    constants = np.geomspace(0.1 / (made.span[1] - made.span[0]), 0.98 * limit, CONSTANTS)
    gains = [choice.gains, *(one_gain(float(k)) for k in (0.0, *constants))]
    runs = [outcome(made, one, method, step, exact) for one in gains]
    varied = replace(runs[0], kappa=choice.kappa)
    return Case(varied, runs[1], tuple(runs[2:]), choice.seconds, choice.gains.kind == "law")


def job(name: str, quick: bool) -> Job:
    return Job(MODULE, ("system", name, "quick" if quick else "full"), 1, 3.0 if quick else 20.0)


def jobs(quick: bool) -> list[Job]:
    return [job(name, quick) for name in NINE]


def rows(samples: Samples, quick: bool) -> list[Row]:
    found = []
    for name in NINE:
        for method in METHODS:
            for step in STEPS:
                found += _rows_of(name, method, step, samples, quick)
    return found


def _rows_of(name: str, method: str, step: float, samples: Samples, quick: bool) -> list[Row]:
    def told(key: str) -> list[float]:
        return series(samples, job(name, quick), f"{method} {step:g} {key}")

    title = f"{name}, {method}, step {step:g}"
    if (quick and step != STEPS[0]) or not told("scored"):
        return []
    if not told("scored")[0]:
        return [Row(f"{title}: every gain diverges", CONSTANTS, CONSTANTS, 1.0, "gains", "not scored")]
    keys = ("kappa", "error", "residual", "beaten", "residual_ratio", "diverged")
    done = {key: told(key) for key in keys}
    note = (
        f"κ = {done['kappa'][0]:.4g}, error {done['error'][0]:.2g}, residual {done['residual'][0]:.2g}, "
        f"{done['diverged'][0]:.0f} of {CONSTANTS} diverge"
    )
    beaten, ratio = done["beaten"][0], done["residual_ratio"][0]
    rows = [Row(f"{title}: beaten by", beaten, 1.0, beaten, "", "the best of 25", BETTER, limit=True, note=note)]
    if method in SCORED:
        score, constant = told("score")[0], told("constant_score")[0]
        how = "gains vary" if told("varied")[0] else "a constant"
        told_of = f"{how}; the best of 25 constants has {constant:.3g}"
        rows.append(
            Row(f"{title}: score", score, 1.0, score, "", "least of each", BEST_SCORE, limit=True, note=told_of)
        )
    if ratio > 0.0:  # else the unstabilised run did not finish
        rows.append(Row(f"{title}: residual", ratio, 1.0, ratio, "", "unstabilised", WORSE_RESIDUAL, limit=True))
    return rows


def system_job(name: str, extent: str) -> Answer:
    made = rig(name)
    found: Answer = {}
    for step in STEPS[:1] if extent == "quick" else STEPS:
        exact = reference(made, step)
        for method in METHODS:
            one = case(made, method, step, exact)
            values = {
                "scored": float(one.scored),
                "kappa": one.chosen.kappa,
                "diverged": float(sum(not o.finished for o in one.constants)),
                "seconds": one.seconds,
            }
            if one.scored:
                values |= {
                    "error": one.chosen.error,
                    "residual": one.chosen.residual,
                    "unstabilised": one.unstabilised.residual if one.unstabilised.finished else -1.0,
                    "beaten": one.beaten,
                    "residual_ratio": one.residual_ratio,
                    "score": one.score,
                    "constant_score": one.constant_score,
                    "varied": float(one.varied),
                }
            found.update({f"{method} {step:g} {key}": value for key, value in values.items()})
    return found


if __name__ == "__main__":
    answer({"system": system_job})
