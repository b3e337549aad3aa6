"""Steady motions of bodies that turn freely: about an axis that stands still in space and in the body.

With ω constant in body axes the body turns about the direction n = R ω/|ω| of the ground. Under gravity n is vertical; without
it, it may be any. The chart in which the turn about n comes first, R = Rot(n, γ) R₀ …, has γ cyclic, and

    ω = γ̇ Rᵀ n    while everything else rests.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from svyaz.arrays import Array
from svyaz.expr import ModelError, Problem
from svyaz.forms import momentum_of
from svyaz.model import GROUND, Body, System, tree_of
from svyaz.stability.attitude import Attitude, rotation_of, unit_vector
from svyaz.stability.attitudes import AttitudeChart, attitude_chart, gravity_direction


def steady_chart(model: System, fix: Mapping[str, float], position: Mapping[str, float]) -> AttitudeChart:
    """The chart at a position with a first turn about the vertical, or about the angular velocity prescribed or initial."""
    start = {**{q: float(model.initial.get(q, 0.0)) for q in model.coordinates}, **position}
    about: dict[str, Array] = {}
    for body in tree_of(model).bodies:
        if body.quaternion and body.base == GROUND and not gravity_direction(model).any():
            spin = angular_velocities(body)
            given = fix if any(name in fix for name in spin) else model.initial
            direction = unit_vector([float(given.get(name, 0.0)) for name in spin])
            about[body.name] = rotation_of(np.array([start[e] for e in body.quaternion])) @ direction
    return attitude_chart(model, position, upright=True, about=about)


def angular_velocities(body: Body) -> tuple[str, ...]:
    """Names of ω in body axes."""
    return body.velocities[-3:]


def prescribed_turns(chart: AttitudeChart, fix: Mapping[str, float], begin: AttitudeChart) -> dict[str, float]:
    """What is prescribed in terms of the chart: ω = γ̇ u with u the axis of the first turn in the body; speeds and momenta of
    turns are those of the chart at the ``begin``, whose first turns are about the same directions of the ground.
    """
    found = dict(fix)
    for attitude, first in zip(chart.attitudes, begin.attitudes, strict=True):
        sign = float(np.sign(_ground_axis(attitude) @ _ground_axis(first)))
        for write in (_speed_of, momentum_of):
            old, new = write(first.names[0]), write(attitude.names[0])
            if old in found:
                found[new] = found.pop(old) * sign
        for v, along in zip(angular_velocities(attitude.body), attitude.axes[:, 0].tolist(), strict=True):
            if v in found:
                value = found.pop(v)
                if abs(along) == 1.0:
                    found[f"{attitude.names[0]}'"] = value * along
                elif along != 0.0 or value != 0.0:
                    raise _not_steady(attitude, v)
        for v in attitude.body.velocities[:-3]:
            if v in found:
                places = ", ".join(f"{q}'" for q in attitude.places)
                raise ModelError([Problem(f"'{v}' is a velocity in body axes, which turn: prescribe {places}")])
    return found


def _speed_of(turn: str) -> str:
    return f"{turn}'"


def _ground_axis(attitude: Attitude) -> Array:
    """The axis of the first turn, in axes of the base."""
    return np.asarray(rotation_of(attitude.base) @ attitude.axes[:, 0])


def _not_steady(attitude: Attitude, name: str) -> ModelError:
    axis = ", ".join(f"{x:.6g}" for x in attitude.axes[:, 0])
    message = (
        f"'{name}' cannot be prescribed: '{attitude.body.name}' turns steadily about the direction ({axis}) of its own axes, "
        "which is none of them"
    )
    return ModelError([Problem(message, hint=f"prescribe the speed {attitude.names[0]}' of that turn")])
