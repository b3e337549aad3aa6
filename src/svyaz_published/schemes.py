"""Schemes of mechanisms as the sources draw them: a position, and marks whose places are expressions of the model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from svyaz import System
from svyaz.arrays import Array
from svyaz.expr import evaluate, parse, start_of
from svyaz.show import Angle, Length, Marks, Named, Position
from svyaz.stability import consistent_start

Text = str | float
"""An expression of the model, or a number."""


@dataclass(frozen=True)
class Scheme:
    """Where a mechanism is and what is marked: the ``state``, from which it is ``moved`` with the ``dependent`` coordinates
    following the constraints; points (name, x, y, side), lengths (name, x, y, x, y, aside), angles (name, x, y, from, to,
    radius), lines (name, x, y, x, y).
    """

    state: Mapping[str, Text]
    moved: Mapping[str, float] = field(default_factory=dict)
    dependent: Sequence[str] = ()
    points: Sequence[Sequence[Text]] = ()
    lengths: Sequence[Sequence[Text]] = ()
    angles: Sequence[Sequence[Text]] = ()
    lines: Sequence[Sequence[Text]] = ()


def placed(system: System, scheme: Scheme) -> tuple[Position, Marks]:
    """The position, and the marks at their places."""
    state = {name: _value(system, text, {}) for name, text in scheme.state.items()}
    state = {**dict.fromkeys(system.coordinates, 0.0), **state}
    if scheme.dependent:
        state = dict(consistent_start(system, state, scheme.dependent, scheme.moved).state)

    def at(*texts: Text) -> Array:
        return np.array([_value(system, text, state) for text in texts])

    points = [Named(str(name), at(x, y), float(side)) for name, x, y, side in scheme.points]
    lengths = [Length(str(n), at(*p).reshape(2, 2), float(at(aside)[0])) for n, *p, aside in scheme.lengths]
    angles = [Angle(str(name), at(x, y), *map(float, at(*turn))) for name, x, y, *turn in scheme.angles]
    lines = [(str(name), at(*ends).reshape(2, 2)) for name, *ends in scheme.lines]
    return Position("", system, state), Marks(points, lengths, angles, lines)


def _value(system: System, text: Text, state: Mapping[str, float]) -> float:
    """An expression at the state."""
    if not isinstance(text, str):
        return float(text)
    return float(evaluate(parse(text, system.scope, start_of(text)), {"t": 0.0, **system.constants, **state}))
