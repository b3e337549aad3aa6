"""What is told of a motion: events, sizes of deviations, drifts of integrals, limits, slides; the names of its columns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from svyaz.arrays import Array


@dataclass(frozen=True)
class Event:
    """A moment at which constraints begin and cease to act, by name.

    Where an event of the motion, and not a time, divides the phases: the energies before and after it, the jumps of the
    velocities, and the impulses with the sign of the multipliers. ``impacts`` are the contacts that were struck at once, one
    set after another, ``accumulating`` those whose further impacts have no end before the moment given.
    """

    t: float
    on: tuple[str, ...]
    off: tuple[str, ...]
    active: tuple[str, ...]
    energy_before: float | None = None
    energy_after: float | None = None
    kinetic_before: float | None = None
    kinetic_after: float | None = None
    velocity_jump: Mapping[str, float] = field(default_factory=dict)
    impulses: Mapping[str, float] = field(default_factory=dict)
    impacts: tuple[tuple[str, ...], ...] = ()
    accumulating: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class ResidualSize:
    """A deviation or a control: largest size, root of the mean square, last, and when it was largest; NaN for none."""

    largest: float
    mean_square: float
    final: float
    time_of_largest: float


@dataclass(frozen=True)
class Distance:
    """How far an integral is from the value that the model gives it: at first, at last, and the largest size."""

    initial: float
    final: float
    largest: float


@dataclass(frozen=True)
class Drift:
    """First and last value of an integral, and how far it went on the way; ``deviation`` where the model gives its value."""

    initial: float
    final: float
    drift: float
    deviation: Distance | None = None


@dataclass(frozen=True)
class Reach:
    """A limit of the model, how far the motion went in its direction, and when it was first passed (``left``), if ever."""

    low: float
    high: float
    least: float
    greatest: float
    left: float | None


@dataclass(frozen=True)
class Slide:
    """From ``start`` to ``end`` the motion was held where an expression (``surface``) is zero and the rates jump."""

    surface: str
    start: float
    end: float


def deviation_of(integral: str) -> str:
    """The name of the column with the deviation of an integral from its value."""
    return f"deviation of {integral}"


def residual_of(constraint: str) -> str:
    """The name of the column with the residual of a constraint."""
    return f"residual {constraint}"


def multiplier_of(constraint: str) -> str:
    """The name of the column with the multiplier of a constraint."""
    return f"multiplier {constraint}"


def size_of(times: Array, values: Array) -> ResidualSize:
    """The sizes of a deviation or a control over the time in which it has values."""
    acting = np.isfinite(values)
    if not acting.any():
        return ResidualSize(np.nan, np.nan, np.nan, np.nan)
    moments, deviations = times[acting], values[acting]
    worst = int(np.argmax(np.abs(deviations)))
    return ResidualSize(
        largest=float(np.abs(deviations[worst])),
        mean_square=_mean_square(moments, deviations),
        final=float(deviations[-1]),
        time_of_largest=float(moments[worst]),
    )


def _mean_square(times: Array, values: Array) -> float:
    """√(1/T ∫ y² dt) by the trapezoidal rule."""
    span = float(times[-1] - times[0])
    if span <= 0:
        return float(abs(values[-1]))
    size = float(np.max(np.abs(values))) or 1.0  # squares of a run that diverged would overflow
    return float(np.sqrt(np.trapezoid((values / size) ** 2, times) / span)) * size


def last_finite(values: Array) -> float:
    """The last value that is a number."""
    good = values[np.isfinite(values)]
    return float(good[-1]) if len(good) else float("nan")
