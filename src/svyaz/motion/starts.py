"""Where a motion begins: which values were moved onto the constraints, which were kept, and how far off it may be."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isfinite

from svyaz.arrays import Array
from svyaz.dynamics import free_of_inertia
from svyaz.expr import ModelError, Problem
from svyaz.integrate import Status
from svyaz.model import System
from svyaz.stabilise import Options, Refusal

MOST_TOLD = 12
"""So many moved values are named in a note; the result has all."""

ROUNDING = 1e-15
"""Changes below this part of the largest value that was moved are not spoken of."""

Moves = Mapping[str, tuple[float, float]]
"""(before, after) of each value that was moved."""


def named(given: str | Sequence[str]) -> tuple[str, ...]:
    """Names in a list, or in a text with commas between them."""
    parts = given.split(",") if isinstance(given, str) else given
    return tuple(dict.fromkeys(name for part in parts if (name := part.strip())))


def moves(names: Sequence[str], before: Array, after: Array) -> dict[str, tuple[float, float]]:
    """The values that differ."""
    pairs = zip(names, map(float, before), map(float, after), strict=True)
    return {name: (a, b) for name, a, b in pairs if a != b}


def told_moves(moved: Moves, kept: Sequence[str]) -> str:
    """What was done to the initial state to bring it onto the constraints."""
    told = f" ({', '.join(kept)} kept)" if kept else ""
    size = max((abs(value) for pair in moved.values() for value in pair), default=0.0)
    seen = {name: pair for name, pair in moved.items() if abs(pair[1] - pair[0]) > ROUNDING * size}
    if not seen:
        return f"the initial state satisfies the constraints: nothing was moved beyond rounding{told}"
    shown = [f"{name}: {_pair(*pair)}" for name, pair in list(seen.items())[:MOST_TOLD]]
    more = f", and {len(seen) - MOST_TOLD} more" if len(seen) > MOST_TOLD else ""
    return f"the initial state was moved onto the constraints{told}: {', '.join(shown)}{more}"


def _pair(before: float, after: float) -> str:
    """Old → new; where nine digits do not tell them apart, the difference."""
    old, new = f"{before:.9g}", f"{after:.9g}"
    return f"{old} → {new}" if old != new else f"{old} changed by {after - before:.3g}"


def refuse_error(error: float, options: Options) -> None:
    """An error of the initial state that no bound can follow."""
    if not isfinite(error) or error < 0.0:
        raise ModelError(
            [Problem(f"the error of the initial state must be a number that is not negative, not {error:g}")]
        )
    if error and (options.method != "euler" or options.step is None):
        message = "an error of the initial state is followed by the bound for Euler's method with a fixed step"
        raise ModelError([Problem(f"{message}, not for '{options.method}'")])


def refuse_weightless(system: System, state: Array) -> Refusal | None:
    """Why no motion can begin in a state in which the coordinate of a joint meets no inertia."""
    found = free_of_inertia(system, state)
    if found is None:
        return None
    return Refusal(Status.SINGULAR, f"the inertia matrix is singular there: '{found}' meets no inertia")
