"""How a motion is to be computed: what the caller asks for, completed by the model's [run] and by defaults."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import inf
from typing import TypeAlias, TypeVar

import numpy as np

from svyaz.arguments import fit_argument
from svyaz.arrays import Array
from svyaz.expr import Advice, ModelError
from svyaz.integrate import LEAST_RTOL
from svyaz.integrate import method as find_method
from svyaz.model import RUN, System, nearest
from svyaz.stabilise.request import AUTO, Stabilisation, bad, stabilisation

DEFAULT_METHOD = "dop853"
DEFAULT_RTOL = 1e-9
DEFAULT_UNTIL = 10.0
MOST_STEPS = 10**9
MOST_ROWS = 10**7
HOLDS = ("orthogonal", "bracket")
CHARTS = ("change", "keep")

Answer = TypeVar("Answer")

Tolerance: TypeAlias = float | Mapping[str, float]
"""The largest residual allowed: of every constraint, or by constraint."""


@dataclass(frozen=True)
class Options:
    """One of ``step`` and ``rtol`` is given. ``every`` is the interval of time between the rows of the result.

    ``atol`` is one number, or one for each state by name. ``charts``: whether a form without multipliers changes its
    chart where that degenerates, or keeps it. ``foresee``: whether a pilot predicts what given gains will allow.
    """

    method: str
    until: float
    step: float | None = None
    rtol: float | None = None
    atol: float | Mapping[str, float] | None = None
    tolerance: Tolerance | None = None
    stabilize: Stabilisation = AUTO
    every: float | None = None
    hold: str | None = None
    charts: str = "change"
    max_steps: int = MOST_STEPS
    foresee: bool = True

    def limits(self, names: Sequence[str]) -> Array:
        """The largest residuals allowed, by constraint; infinite where there is no limit."""
        given = self.tolerance
        each = given if isinstance(given, Mapping) else dict.fromkeys(names, inf if given is None else given)
        return np.array([each.get(name, inf) for name in names], dtype=float)

    def with_step(self, step: float) -> Options:
        """The same with another fixed step."""
        return replace(self, step=step, rtol=None, atol=None)


def options_for(system: System, asked: Mapping[str, object]) -> Options:
    """Complete what was asked for. A step asked for replaces an rtol of the model, and the other way round."""
    unknown = next((key for key in asked if key not in RUN), None)
    if unknown is not None:
        raise bad(f"a run has no option '{unknown}'", nearest(unknown, RUN))
    given = {key: value for key, value in asked.items() if value is not None}
    chosen: dict[str, object] = dict(system.run)
    if "step" in given:
        chosen.pop("rtol", None)
        chosen.pop("atol", None)
    if "rtol" in given:
        chosen.pop("step", None)
    chosen.update(given)

    def read_option(key: str, read: Callable[[object], Answer], default: object = None) -> Answer:
        """A word as it is read; a wrong one of the model is shown at its place."""
        try:
            return read(chosen.get(key, default))
        except ModelError as error:
            if key in given:
                raise
            here = system.place("run", key)
            raise ModelError([replace(problem, place=here) for problem in error.problems]) from error

    method = read_option("method", _method_name, DEFAULT_METHOD)
    if chosen.get("step") is not None and chosen.get("rtol") is not None:
        raise bad("give either 'step' (fixed) or 'rtol' (error-controlled), not both", None)
    keys = ("step", "rtol", "atol", "until", "every")
    step, rtol, atol, end, every = (_positive(key, chosen.get(key)) for key in keys)
    until = DEFAULT_UNTIL if end is None else float(end)
    _within_reach(until, step, rtol, every)
    if step is None and not find_method(method).embedded:
        raise bad(
            f"the method '{method}' has no error estimate: it needs a step",
            Advice("give a step, here or in [run]", "step"),
        )
    if step is None and rtol is None:
        rtol = DEFAULT_RTOL
    return Options(
        method=method,
        until=until,
        step=step,
        rtol=rtol,
        atol=atol,
        tolerance=read_option("tolerance", partial(_tolerance, system)),
        stabilize=read_option("stabilize", stabilisation, "auto"),
        every=every,
        hold=read_option("hold", partial(_one_of, "integrals are held", HOLDS)),
        charts=read_option("charts", partial(_one_of, "the charts of a form", CHARTS)) or CHARTS[0],
    )


def _method_name(name: object) -> str:
    try:
        return find_method(str(name)).name
    except ValueError as error:
        raise bad(str(error), None) from error


def _one_of(what: str, known: Sequence[str], word: object) -> str | None:
    if word is not None and word not in known:
        raise bad(f"{what}: {' or '.join(repr(k) for k in known)}, not {word!r}", None)
    return None if word is None else str(word)


def _positive(key: str, value: object) -> float | None:
    if value is None or (type(value) is float and 0.0 < value < float("inf")):
        return value
    found = fit_argument(key, value, "Positive")
    assert isinstance(found, int | float)
    return found


def _tolerance(system: System, value: object) -> Tolerance | None:
    if not isinstance(value, Mapping):
        return _positive("tolerance", value)
    names = [c.name for c in system.constraints]
    wrong = next((name for name in value if name not in names), None)
    if wrong is not None:
        raise bad(f"'tolerance' names '{wrong}', which is no constraint", nearest(wrong, names))
    limits = {name: _positive(f"tolerance of '{name}'", limit) for name, limit in value.items()}
    return {name: limit for name, limit in limits.items() if limit is not None} or None


def _within_reach(until: float, step: float | None, rtol: float | None, every: float | None) -> None:
    """Refuse tolerances below rounding, and steps or rows that nobody could wait for or keep."""
    if rtol is not None and not LEAST_RTOL <= rtol < 1:
        raise bad(f"'rtol' must lie between {LEAST_RTOL:g} (rounding) and 1, not {rtol:g}", None)
    for key, interval, most in (("step", step, MOST_STEPS), ("every", every, MOST_ROWS)):
        if interval is not None and until / interval > most:
            raise bad(f"'{key}' = {interval:g} up to t = {until:g} is more than {most:.0e} times", None)
    if step is not None and step > until * (1 + 1e-9):
        raise bad(
            f"the step {step:g} is longer than the run, which ends at t = {until:g}",
            Advice("give a shorter step", "shorter step"),
        )
