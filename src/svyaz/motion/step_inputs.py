"""What a ``Simulator`` is given and what it looks at: values of inputs within their limits, and limits of states."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from svyaz.arguments import fit_argument
from svyaz.arrays import Array
from svyaz.expr import ModelError, Problem
from svyaz.model import System, nearest
from svyaz.program import function


def fit_members(argument: str, name: str, value: ArrayLike, count: int | None) -> Array:
    """A number for all members or one for each (count,), checked."""
    found = np.asarray(value, dtype=float)
    if found.shape not in ((), (count,)):
        wanted = "a number" if count is None else f"a number or {count} numbers, one for each member"
        message = f"'{argument}', the value of {name!r}, must be {wanted}, not an array of shape {found.shape}"
        raise ModelError([Problem(message)])
    return found


class InputValues:
    """The inputs (members, m) of one or ``count`` members, each within its limits."""

    def __init__(self, system: System, count: int | None) -> None:
        given = system.inputs
        self._names, self._count = tuple(given), count
        self._places = {name: k for k, name in enumerate(given)}
        self._low = np.array([-np.inf if u.low is None else u.low for u in given.values()], dtype=float)
        self._high = np.array([np.inf if u.high is None else u.high for u in given.values()], dtype=float)
        self._sides = list(zip(self._low.tolist(), self._high.tolist(), strict=True))
        self._first = np.array([u.value for u in given.values()], dtype=float)
        self._values = np.tile(self._first, (count or 1, 1))

    def reset(self) -> Array:
        """The values of the model."""
        self._values[:] = self._first
        return self._values

    def table(self) -> dict[str, float | Array]:
        """By name, numbers or (count,)."""
        columns = self._values.T
        return {n: float(c[0]) if self._count is None else c.copy() for n, c in zip(self._names, columns, strict=True)}

    def take(self, u: Mapping[str, ArrayLike] | ArrayLike) -> Array:
        """The values (members, m) with others in place of some of them."""
        if type(u) is dict and self._count is None and self._take_plain(u):
            return self._values
        if not isinstance(u, Mapping):
            self._values[:] = np.clip(self._in_order(u), self._low, self._high)
            return self._values
        strange = next((name for name in u if name not in self._places), None)
        if strange is not None:
            known = f"there are {', '.join(self._names)}" if self._names else "the model has no [inputs]"
            raise ModelError([Problem(f"there is no input '{strange}'; {known}", hint=nearest(strange, self._names))])
        given = cast("Mapping[str, ArrayLike]", fit_argument("u", u, "Mapping[str, ArrayLike]"))
        fit = {self._places[name]: fit_members("u", name, value, self._count) for name, value in given.items()}
        for k, value in fit.items():
            self._values[:, k] = np.clip(value, *self._sides[k])
        return self._values

    def _take_plain(self, u: dict[str, float]) -> bool:
        """Take plain numbers by known names, if they are no others: no time is lost in loops."""
        row, places, sides = self._values[0], self._places, self._sides
        for name, value in u.items():
            if name not in places or type(value) is not float or not -np.inf < value < np.inf:
                return False
        for name, value in u.items():
            k = places[name]
            low, high = sides[k]
            row[k] = low if value < low else min(value, high)
        return True

    def _in_order(self, u: ArrayLike) -> Array:
        names, count = self._names, self._count
        values = np.atleast_1d(np.asarray(fit_argument("u", u, "ArrayLike"), dtype=float))
        if values.shape == (len(names),) or (count is not None and values.shape == (count, len(names))):
            return values
        got = str(values.shape[0]) if values.ndim == 1 else f"an array of shape {values.shape}"
        raise ModelError([Problem(f"'u': {len(names)} inputs expected ({', '.join(names)}); got {got}")])


class LimitCheck:
    """Which states lie beyond limits of the model."""

    def __init__(self, system: System) -> None:
        limits, known = system.limits, system.constants
        self.needed = bool(limits)
        if not limits:
            return
        margins = np.array([limit.margin(known) for limit in limits])
        low, high = np.array([limit.sides(known) for limit in limits]).T
        self._low, self._high = low - margins, high + margins
        self._values = function({"e": [limit.expression for limit in limits]}, ("t", *system.states), known)

    def __call__(self, time: float, states: Array) -> NDArray[np.bool_]:
        """Of states of the model (k, n)."""
        values = self._values(np.column_stack([np.full(len(states), time), states]))["e"]
        inside = (self._low <= values) & (values <= self._high)
        return np.asarray(~inside.all(axis=1))
