"""Piecewise smooth systems integrated by SciPy, with events where a side changes: what runs of svyaz are compared with.

A system tells its rates on given sides σ = ±1 of surfaces s = c·y - d, which are planes in the space of its states. On a
surface that both sides lead to it goes on with the combination of their rates that stays there (Filippov), up to ``ratio``
times as far beyond both as a static friction allows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import solve_ivp

Array = NDArray[np.float64]
Rates = Callable[[float, Array, Array], Array]
"""(t, y, sides) → ẏ."""

MOST_EVENTS = 400

PARTS = 60
"""In so many parts at least the step to a surface is made again where a layer before it is thin."""


class Ambiguous(Exception):
    """The motion meets two surfaces at once, or both sides lead away: no single answer is right."""


@dataclass(frozen=True)
class Plane:
    """A surface c·y = d, and how many times the jump there may hold a motion."""

    normal: tuple[float, ...]
    offset: float = 0.0
    ratio: float = 1.0


@dataclass(frozen=True)
class Piecewise:
    """Rates that jump at surfaces, and a state to begin with; ``thin``: near a surface the rates change so fast that a step
    which passes it does not see that.
    """

    rates: Rates
    planes: Sequence[Plane]
    start: Array
    thin: bool = False

    def solution(self, until: float, rtol: float = 1e-10) -> Array:
        """The state at the end."""
        t, y = 0.0, self.start.copy()
        values = self._values(y)
        sides, held = np.where(values < 0.0, -1.0, 1.0), None
        touched = np.flatnonzero(values == 0.0)
        if len(touched) > 1:
            raise Ambiguous
        if len(touched):
            sides, held = self._decide(t, y, sides, int(touched[0]), starts=True)
        for _ in range(MOST_EVENTS):
            events = [self._event(k, sides, held) for k in range(len(self.planes))]
            if held is not None:
                events += [self._release(held, sides, up) for up in (True, False)]
            # a motion that is held is no reason for short steps, its end is
            longest = np.inf if held is None else 0.05
            how = {"method": "DOP853", "rtol": rtol, "atol": 1e-2 * rtol, "events": events}
            flow = self._flow(sides, held)
            found = solve_ivp(flow, (t, until), y, max_step=longest, **how)
            if found.status == 1 and self.thin and held is None and len(found.t) > 1:
                before, when = found.t[-2], found.t[-1]
                longest = max((when - before) / PARTS, 1e-6)
                found = solve_ivp(flow, (before, until), found.y[:, -2], max_step=longest, **how)
            t, y = float(found.t[-1]), found.y[:, -1]
            if found.status != 1:
                return y
            fired = [k for k, times in enumerate(found.t_events) if len(times)]
            if len(fired) > 1:
                raise Ambiguous
            if fired[0] >= len(self.planes):
                assert held is not None
                sides[held], held = 1.0 if fired[0] == len(self.planes) else -1.0, None
            elif held is not None:
                raise Ambiguous
            else:
                sides, held = self._decide(t, y, sides, fired[0])
            if held is not None:
                y = self._onto(held, y)
        raise Ambiguous

    def _values(self, y: Array) -> Array:
        return np.array([np.dot(plane.normal, y) - plane.offset for plane in self.planes])

    def _onto(self, k: int, y: Array) -> Array:
        normal = np.array(self.planes[k].normal)
        moved = normal.copy()
        moved[0] = 0.0 if np.any(normal[1:]) else moved[0]
        return np.asarray(y - moved * (normal @ y - self.planes[k].offset) / (normal @ moved))

    def _pair(self, t: float, y: Array, sides: Array, k: int) -> tuple[Array, Array, float, float]:
        """ẏ on both sides of a surface, and how fast they lead through it."""
        above, below = sides.copy(), sides.copy()
        above[k], below[k] = 1.0, -1.0
        f, g = self.rates(t, y, above), self.rates(t, y, below)
        return f, g, float(np.dot(self.planes[k].normal, f)), float(np.dot(self.planes[k].normal, g))

    def _decide(self, t: float, y: Array, sides: Array, k: int, starts: bool = False) -> tuple[Array, int | None]:
        """Sides after a surface was met, and the surface if the motion is held there."""
        found, came = sides.copy(), sides[k]
        _, _, up, down = self._pair(t, y, sides, k)
        if up < 0.0 < down or (self.planes[k].ratio > 1.0 and up < down):
            sigma = (up + down) / (down - up)
            if abs(sigma) <= self.planes[k].ratio:
                return found, k
            found[k] = np.sign(sigma)
            return found, None
        if starts and up > 0.0 > down:
            raise Ambiguous
        found[k] = (1.0 if up > 0.0 else -1.0) if starts else -came
        return found, None

    def _flow(self, sides: Array, held: int | None) -> Callable[[float, Array], Array]:
        if held is None:
            return lambda t, y: self.rates(t, y, sides)

        def combined(t: float, y: Array) -> Array:
            f, g, up, down = self._pair(t, y, sides, held)
            sigma = (up + down) / (down - up)
            return 0.5 * (f + g) + 0.5 * sigma * (f - g)

        return combined

    def _event(self, k: int, sides: Array, held: int | None) -> Callable[[float, Array], float]:
        """Falls through zero where a surface is met."""

        def value(_: float, y: Array) -> float:
            return 1.0 if k == held else float(sides[k] * (np.dot(self.planes[k].normal, y) - self.planes[k].offset))

        value.terminal, value.direction = True, -1.0  # type: ignore[attr-defined]
        return value

    def _release(self, k: int, sides: Array, up: bool) -> Callable[[float, Array], float]:
        """Falls through zero where what holds the motion is used up."""

        def value(t: float, y: Array) -> float:
            _, _, above, below = self._pair(t, y, sides, k)
            sigma = (above + below) / (below - above)
            return self.planes[k].ratio - (sigma if up else -sigma)

        value.terminal, value.direction = True, -1.0  # type: ignore[attr-defined]
        return value
