"""Charts of attitudes: a tree with ball and free joints as one in which every velocity is the rate of a coordinate.

Near an attitude R₀ a body that turns freely has the coordinates rot_BODY_x, rot_BODY_y, rot_BODY_z,

    R = R₀ Rot(u₁, a₁) Rot(u₂, a₂) Rot(u₃, a₃) = R₀ (1 + [a₁u₁ + a₂u₂ + a₃u₃]× + …),

with u the axes of the body: to first order R₀ exp(rot), and ω = ṙot at rot = 0. In frames that are parallel to the ground where
rot = 0, these are turns about the columns of S = S_base R₀, one after another, and every vector of the body is turned by S.
What is said of the quaternion and of velocities in body axes is said of

    e = e₀ ∘ e(u₁, a₁) ∘ e(u₂, a₂) ∘ e(u₃, a₃),   ω = J(a) ȧ,   v = Rᵀ (x, y, z)˙,   and forces become   Jᵀ Q_ω,   R Q_v.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import symengine as se

from svyaz.arrays import Array
from svyaz.expr import ZERO, Expression, Later, add_up, evaluate, substitute, velocity
from svyaz.model import (
    GROUND,
    MOMENTS,
    Bodies,
    Body,
    BodyPoint,
    Constraint,
    System,
    Tree,
    all_joints,
    tree_of,
)
from svyaz.stability.attitude import (
    DUST,
    Attitude,
    apply_rotation,
    matrix_of,
    matrix_product,
    rotation_of,
    unit_vector,
    vector_of,
    without_dust,
)

AXES = "xyz"
ALONG = 1e-9
"""Sine of the angle between two directions that are one."""
NO_VECTOR = (ZERO, ZERO, ZERO)


@dataclass(frozen=True)
class AttitudeChart:
    """A ``model`` with ball or free joints near a position, and the same as a plain tree: ``system``."""

    model: System
    system: System
    attitudes: tuple[Attitude, ...]

    @property
    def turns(self) -> tuple[str, ...]:
        """Names of the turns of all bodies."""
        return tuple(name for attitude in self.attitudes for name in attitude.names)

    def is_middle(self, values: Mapping[str, float]) -> bool:
        """Are all turns zero?"""
        return all(abs(values[name]) <= DUST for name in self.turns)

    def position(self, values: Mapping[str, float]) -> dict[str, float]:
        """The coordinates and further states of the model at values of those of the chart; e with its first entry positive."""
        found = {name: values[name] for name in (*self.model.coordinates, *self.model.rates) if name in values}
        for attitude in self.attitudes:
            e = np.array([evaluate(x, values) for x in attitude.quaternion])
            e = without_dust(e / np.linalg.norm(e))
            e = e * np.sign(e[np.flatnonzero(np.abs(e) > ALONG)[0]])
            found |= dict(zip(attitude.body.quaternion, (e + 0.0).tolist(), strict=True))
        return {name: found[name] for name in (*self.model.coordinates, *self.model.rates)}

    def velocities(self, values: Mapping[str, float]) -> dict[str, float]:
        """The velocities of ball and free joints at values of coordinates and velocities of the chart."""
        known = {**self.system.constants, **dict.fromkeys(self.system.states, 0.0), **values}
        return {
            str(name): evaluate(e, known)
            for attitude in self.attitudes
            for name, e in attitude.known().items()
            if str(name) in attitude.body.velocities
        }


def attitude_chart(
    model: System,
    position: Mapping[str, float],
    *,
    upright: bool = False,
    about: Mapping[str, Array] | None = None,
) -> AttitudeChart:
    """The chart at a position of the model.

    A body on the ground turns first about the direction of gravity where that is one of its axes, or where the chart is
    ``upright``: then that turn, rot_BODY, is cyclic if nothing but gravity acts, and takes the place of the nearest axis.
    Without gravity bodies turn first ``about`` directions of the ground that are given by their names.
    """
    tree, gravity = tree_of(model), gravity_direction(model)
    start = {**{q: float(model.initial.get(q, 0.0)) for q in model.coordinates}, **position}
    frames: dict[int, Array] = {GROUND: np.eye(3)}
    bodies: list[Body] = []
    last = {GROUND: GROUND}
    attitudes: list[Attitude] = []
    for k, body in enumerate(tree.bodies):
        base, under = replace(body, base=last[body.base]), frames[body.base]
        if not body.quaternion:
            frames[k] = under
            bodies.append(_in_frame(base, under, under))
        else:
            e = np.array([start[name] for name in body.quaternion])
            e = e / np.linalg.norm(e)
            frames[k] = without_dust(under @ rotation_of(e))
            first = gravity if gravity.any() else (about or {}).get(body.name, gravity)
            vertical = first if body.base == GROUND else np.zeros(3)
            names, columns = _turn_axes(body, frames[k], vertical, upright=upright)
            attitudes.append(Attitude(body, e, names, without_dust(frames[k].T @ columns)))
            bodies += _links(_in_frame(base, under, frames[k]), attitudes[-1], under, columns, len(bodies))
        last[k] = len(bodies) - 1
    whole = Tree(tuple(bodies), tree.gravity)
    points = {
        name: BodyPoint(last[point.body], apply_rotation(frames[point.body], point.at))
        for name, point in model.points.items()
    }
    return AttitudeChart(model, _rewritten(model, whole, points, tuple(attitudes), start), tuple(attitudes))


def describe_chart(chart: AttitudeChart, origin: str = "found") -> str:
    """What the names of the turns mean, from which attitude R0."""
    about = [attitude.names[0] for attitude in chart.attitudes if attitude.names[0][-2:] not in ("_x", "_y", "_z")]
    names = ", ".join(sorted(name for name in chart.turns if name not in about))
    fixed = "".join(f"; {name} is the turn about a direction that stands still" for name in about)
    return (
        f"{names} are turns about the axes of the body from the attitude R0 {origin}, R = R0 exp(rot), to first order; "
        f"at rest their rates are the angular velocity in body axes{fixed}"
    )


def gravity_direction(model: System) -> Array:
    """Of length one; zero without gravity."""
    return unit_vector([evaluate(e, model.parameters) for e in tree_of(model).gravity])


def _turn_axes(body: Body, frame: Array, vertical: Array, *, upright: bool) -> tuple[tuple[str, ...], Array]:
    """Names and axes (columns, in the frame of the base) of three turns, that about the vertical first."""
    name = re.sub(r"\W", "_", body.name)
    names, columns = [f"rot_{name}_{axis}" for axis in AXES], frame.copy()
    nearest = int(np.argmax(np.abs(vertical @ frame)))
    if not vertical.any():
        return tuple(names), columns
    if np.linalg.norm(np.cross(vertical, frame[:, nearest])) <= ALONG:
        columns[:, nearest] = vertical * np.sign(vertical @ frame[:, nearest])
    elif upright:
        names[nearest], columns[:, nearest] = f"rot_{name}", -vertical
    else:
        return tuple(names), columns
    order = [nearest, *(k for k in range(3) if k != nearest)]
    return tuple(names[k] for k in order), columns[:, order]


def _links(body: Body, attitude: Attitude, under: Array, columns: Array, first: int) -> list[Body]:
    """Slides along the axes of the base, then the turns; the last link is the body, massless ones are between."""
    joints, found, base, pole = all_joints(), list[Body](), body.base, body.pole
    ways = len(attitude.places)
    kinds = [joints["prismatic"]] * ways + [joints["revolute"]] * len(AXES)
    axes = [*under.T[:ways], *columns.T]
    for k, (q, kind, axis) in enumerate(zip(attitude.coordinates, kinds, axes, strict=True)):
        name = f"{body.name} {q}" if k < len(axes) - 1 else body.name
        none = (ZERO,) * len(MOMENTS)
        found.append(Body(name, base, kind, (q,), (f"{q}'",), vector_of(axis), pole, ZERO, NO_VECTOR, none))
        base, pole = first + k, NO_VECTOR
    centred = ways > 0 and all(x == ZERO for x in body.center)
    if centred:  # a mass in the pole does not turn: the energy is then free of the first turn
        found[ways - 1] = replace(found[ways - 1], mass=body.mass)
    mass = ZERO if centred else body.mass
    found[-1] = replace(found[-1], mass=mass, center=body.center, inertia=body.inertia)
    return found


def _in_frame(body: Body, under: Array, frame: Array) -> Body:
    """The body with vectors of its base turned by ``under`` and its own by ``frame``."""
    xx, yy, zz, xy, xz, yz = body.inertia
    tensor = matrix_product(
        matrix_product(matrix_of(frame), [[xx, -xy, -xz], [-xy, yy, -yz], [-xz, -yz, zz]]), matrix_of(frame.T)
    )
    (a, ab, ac), (_, b, bc), (_, _, c) = tensor
    turned = body.inertia if (frame == np.eye(3)).all() else (a, b, c, -ab, -ac, -bc)
    pole, axis, center = (
        apply_rotation(under, body.pole),
        apply_rotation(under, body.axis),
        apply_rotation(frame, body.center),
    )
    return replace(body, pole=pole, axis=axis, center=center, inertia=turned, offset=ZERO)


def _rewritten(
    model: System,
    tree: Tree,
    points: Mapping[str, BodyPoint],
    attitudes: Sequence[Attitude],
    start: Mapping[str, float],
) -> System:
    """The model with this tree; what it says of quaternions and velocities of joints is said of turns."""
    put = {symbol: e for attitude in attitudes for symbol, e in attitude.known().items()}
    gone = {*map(str, put)}

    def said(e: Expression) -> Expression:
        return substitute(e, put)

    def maybe(e: Expression | None) -> Expression | None:
        return None if e is None else said(e)

    def by_freedoms(entries: Sequence[Expression]) -> list[Expression]:
        old = dict(zip(model.freedoms, map(said, entries), strict=True))
        for attitude in attitudes:
            own = [old.pop(name) for name in attitude.body.velocities]
            columns = zip(*attitude.jacobian, strict=True)
            old |= {
                q: add_up(k * f for k, f in zip(column, own, strict=True))
                for q, column in zip(attitude.coordinates, columns, strict=True)
            }
        return [old[q] for q in tree.coordinates]

    def constraint(c: Constraint) -> Constraint:
        return replace(
            c,
            expression=said(c.expression),
            dependent=c.dependent if not gone & {*c.dependent} else (),
            on=maybe(c.on),
            off=maybe(c.off),
            anchors=tuple((name, said(e)) for name, e in c.anchors),
            direction=tuple(by_freedoms(c.direction)) if c.direction else (),
            frictions=tuple(replace(f, slip=said(f.slip), along=tuple(by_freedoms(f.along))) for f in c.frictions),
            drags=tuple(replace(d, along=tuple(by_freedoms(d.along))) for d in c.drags),
            in_points=maybe(c.in_points),
            on_in_points=maybe(c.on_in_points),
            off_in_points=maybe(c.off_in_points),
        )

    forces = by_freedoms([model.forces.get(name, ZERO) for name in model.freedoms])
    own = [name for name in tree.coordinates if name not in model.coordinates]
    new = {name: se.Symbol(name) for name in own}
    scope = replace(
        model.scope,
        symbols={**{name: said(e) for name, e in model.scope.symbols.items()}, **new},
        derivatives={
            **{name: _later(e, put) for name, e in model.scope.derivatives.items() if name not in gone},
            **{name: velocity(name) for name in own},
        },
    )
    return replace(
        model.plain(),
        law=Bodies(tree, said(model.dissipation)),
        coordinates=tree.coordinates,
        states=(*tree.coordinates, *tree.velocities, *model.rates),
        initial=_initial(model, attitudes, start),
        forces={q: f for q, f in zip(tree.coordinates, forces, strict=True) if f != ZERO},
        rates={name: said(e) for name, e in model.rates.items()},
        quasi={},
        motors=(),
        constraints=tuple(map(constraint, model.constraints)),
        integrals=(),
        drawings=(),
        box={name: side for name, side in model.box.items() if name not in gone},
        limits=tuple(replace(x, expression=said(x.expression), in_points=maybe(x.in_points)) for x in model.limits),
        outputs={name: said(e) for name, e in model.outputs.items()},
        step_rule=None,
        words={"parameters": model.words.get("parameters", {})},  # some are given in terms of others
        scope=scope,
        points=points,
    )


def _initial(model: System, attitudes: Sequence[Attitude], start: Mapping[str, float]) -> dict[str, float]:
    """The initial state with these coordinates; in the middle of the chart velocities are J(0) times the rates."""
    found = {**dict.fromkeys(model.states, 0.0), **model.initial, **start}
    for attitude in attitudes:
        middle = dict.fromkeys(attitude.names, 0.0)
        slopes = np.array([[evaluate(e, middle) for e in row] for row in attitude.jacobian], dtype=float)
        rates = np.linalg.solve(slopes, [found.pop(v) for v in attitude.body.velocities])
        for e in attitude.body.quaternion:
            del found[e]
        found |= middle | {f"{q}'": float(x) for q, x in zip(attitude.coordinates, without_dust(rates), strict=True)}
    return found


def _later(e: Expression | Later, put: Mapping[se.Symbol, Expression]) -> Expression | Later:
    """A meaning with turns put in, when it is made."""
    return Later(lambda: substitute(e.make(), put)) if isinstance(e, Later) else substitute(e, put)
