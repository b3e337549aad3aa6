"""The equations as a model states them, at rows of a motion: what is left of them there, and how large their terms are.

From energies Lagrange's expressions d/dt ∂L/∂q̇ - ∂L/∂q + ∂D/∂q̇ - Q by the plain interpreter on the text of L, D and Q, from
bodies by the recursion of Newton and Euler; given equations, Hamilton's equations and rates as they stand. Of a constraint
h = 0 the force ∂h/∂q (with friction and drag, or along the direction of a control), and ḧ. Nothing is derived, shortened or
compiled: no other road to the rates of a motion shares a step with this one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from svyaz.arrays import Array
from svyaz.expr import ZERO
from svyaz.forms import plane_pairs
from svyaz.model import Canonical, Constraint, Energies, GivenEquations, PlainRates, System
from svyaz.motion.jets import Corners, Tape, jet, jets_of
from svyaz.motion.stated_tree import TreeMotion
from svyaz.program import Program, plain_programs, remembered

Sized = Array
"""(2, k): values and the sums of the sizes of their terms."""


@dataclass(frozen=True)
class MotionRows:
    """Rows (k) of a motion of a model: the time, its states and constants by name, and the rates of the states."""

    values: Mapping[str, Array]
    rates: Mapping[str, Array]
    kept: dict[str, dict[str, Array]] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True)
class Rubbing:
    """A friction: its slip (k,) with its sign or direction, its coefficients, and its force ``along`` (n, 2, k)."""

    slip: Array
    side: Array
    sliding: Array
    static: Array
    along: Array


@dataclass(frozen=True)
class Reaction:
    """Of a constraint: the force of a unit multiplier on the freedoms, what |λ| adds to it (n, 2, k), ḧ or ḟ (2, k); the jets
    of h and ḣ, or f.
    """

    along: Array
    by_size: Array
    second: Sized
    position: Array
    rate: Array
    frictions: tuple[Rubbing, ...] = ()


def _value(a: Array) -> Sized:
    return a[0]


def _rate(a: Array) -> Sized:
    return a[1]


def _minus(a: Sized) -> Sized:
    return np.array([-a[0], a[1]])


_NO_JET = jet(0.0)


def _entry(slopes: Mapping[str, Array], name: str) -> Sized:
    return _value(slopes.get(name, _NO_JET))


def _times(factor: Array, a: Sized) -> Sized:
    return np.array([factor * a[0], np.abs(factor) * a[1]])


class StatedEquations:
    """The equations of a system by their ``names``: one for each freedom, then one for each state whose rate is stated."""

    def __init__(self, system: System) -> None:
        self.system, law = system, system.law
        self.mechanical = isinstance(law, Energies) or bool(system.bodies)
        self.freedoms = len(system.freedoms) if self.mechanical or isinstance(law, GivenEquations) else 0
        moving = system.coordinate_rates if self.freedoms else {}
        whole = law.lagrangian if isinstance(law, Energies) else ZERO
        self._moving, self._energy, self._dissipation, self._forces, self._given, self._further = plain_programs(
            [
                list(moving.values()),
                [law.hamiltonian if isinstance(law, Canonical) else whole],
                [system.dissipation],
                [system.forces.get(q, ZERO) for q in system.freedoms] if self.mechanical else [],
                list(law.equations.values()) if isinstance(law, GivenEquations) else [],
                list(system.rates.values()),
            ]
        )
        canonical = (*system.coordinates, *law.momenta) if isinstance(law, Canonical) else ()
        self.rated = (*moving, *canonical, *system.rates)
        own = tuple(f"the equation of '{q}'" for q in system.freedoms) if self.freedoms else ()
        self.names = (*own, *(f"the rate of '{name}'" for name in self.rated))
        self._constraints: dict[tuple[str, str], tuple[Program, Program]] = {}

    @property
    def known(self) -> bool:
        """Is the law stated by energies, bodies, equations or rates?"""
        return self.mechanical or isinstance(self.system.law, Canonical | GivenEquations | PlainRates)

    def jets(self, rows: MotionRows) -> dict[str, Array]:
        """What stands in energies and constraints: q moves with q̇, q̇ with q̈; further states count as constants."""
        system = self.system
        if "jets" not in rows.kept:
            rates = {"t": np.ones(1), **{v: rows.rates[v] for v in system.velocities}}
            found = jets_of(rows.values, rates)
            if self.freedoms:
                moving = zip(system.coordinates, Tape(self._moving, found).outputs(), strict=True)
                speeds = {q: a[0, 0] for q, a in moving}
                found |= jets_of({q: rows.values[q] for q in speeds}, speeds)
            rows.kept["jets"] = found
        return rows.kept["jets"]

    def left(self, rows: MotionRows, corners: Corners) -> Array:
        """What is left of each equation without reactions (c, 2, k)."""
        system, law, jets = self.system, self.system.law, self.jets(rows)
        found: list[Sized] = []
        stated = _outputs(self._moving, jets, corners) if self.freedoms else []
        if self.mechanical:
            found = self._mechanical(rows, jets, corners)
        elif isinstance(law, GivenEquations):
            accelerations = {f"{v}'": jet(rows.rates[v]) for v in system.velocities}
            found = _outputs(self._given, {**jets, **accelerations}, corners)
        elif isinstance(law, Canonical):
            slopes = Tape(self._energy, jets, corners).gradient()
            stated = [_entry(slopes, p) for p in law.momenta]
            stated += [_minus(_entry(slopes, q)) for q in system.coordinates]
        stated += _outputs(self._further, jets, corners)
        for name, rate in zip(self.rated, stated, strict=True):
            own = rows.rates[name]
            found.append(np.array([own, np.abs(own)]) + _minus(rate))
        return np.array([np.broadcast_to(f, (2, len(rows.values["t"]))) for f in found])

    def _mechanical(self, rows: MotionRows, jets: Mapping[str, Array], corners: Corners) -> list[Sized]:
        """Inertia, weight, springs; ∂D/∂q̇; minus the forces."""
        system = self.system
        if system.bodies:
            found = self.tree(rows).forces()
        else:
            slopes = Tape(self._energy, jets, corners).gradient()
            pairs = zip(system.coordinates, system.velocities, strict=True)
            found = [_rate(slopes.get(v, _NO_JET)) + _minus(_entry(slopes, q)) for q, v in pairs]
        drag = Tape(self._dissipation, jets, corners).gradient()
        forces = _outputs(self._forces, jets, corners)
        return [f + _entry(drag, v) + _minus(q) for f, v, q in zip(found, system.velocities, forces, strict=True)]

    def tree(self, rows: MotionRows) -> TreeMotion:
        """The bodies at the rows."""
        return TreeMotion(self.system, rows.values, rows.rates)

    def _texts(self, c: Constraint) -> tuple[Program, Program]:
        """The equation of a constraint, and all else that is stated of its force."""
        key = c.name, c.text
        if key not in self._constraints:  # where a form has put another condition in its place, that one
            c = next((own for own in self.system.constraints if (own.name, own.text) == key), c)
            more = [*c.direction, *(e for d in c.drags for e in d.along)]
            more += [e for f in c.frictions for e in (f.slip, f.sliding, f.static, *f.along)]
            own, further = plain_programs([[c.stated], more])
            self._constraints[key] = own, further
        return self._constraints[key]

    def reaction(self, c: Constraint, rows: MotionRows) -> Reaction:
        """The force of a constraint, and its second derivative, at the rows."""
        own, more = self._texts(c)
        jets, count = self.jets(rows), len(self.system.freedoms)
        moving = Tape(self._moving, jets)
        speeds = {q: moving.output(k) for k, q in enumerate(self.system.coordinates)}
        tree = self.tree(rows) if self.system.bodies else None
        if tree is not None:
            places, paces = tree.points(own.inputs)
            jets, speeds = {**jets, **places}, {**speeds, **paces}
        tape = Tape(own, jets)
        slopes = tape.gradient()
        along = np.zeros((count, 2, len(rows.values["t"])))
        for k, v in enumerate(self.system.velocities):
            along[k] += _entry(slopes, v)
        for k, q in enumerate(self.system.coordinates):
            if q in slopes and not c.order:
                by = moving.gradient(k)
                for j, v in enumerate(self.system.velocities):
                    along[j] += _times(_entry(by, v)[0], _entry(slopes, q)) if v in by else 0.0
        if tree is not None:
            along += tree.reaction({n: _value(a) for n, a in slopes.items()}, "'" * c.order)
        second = _rate(tape.output()) if c.order else _second(slopes, jets, speeds)
        second = np.broadcast_to(second, along.shape[1:])
        further = np.array([np.broadcast_to(a, along.shape[1:]) for a in _outputs(more, jets, Corners())])
        whole = np.broadcast_to(tape.output(), (2, *along.shape[1:]))
        rate = whole if c.order else np.array([whole[1], second])
        return _composed(c, along, (second, whole, rate), further)


def _outputs(program: Program, jets: Mapping[str, Array], corners: Corners) -> list[Sized]:
    if not program.outputs:
        return []
    tape = Tape(program, jets, corners)
    return [_value(a) for a in tape.outputs()]


def _second(slopes: Mapping[str, Array], jets: Mapping[str, Array], speeds: Mapping[str, Array]) -> Sized:
    """ḧ of a position constraint, Σ (∂h/∂x)˙ ẋ + ∂h/∂x ẍ."""
    found = np.zeros((2, 1))
    for name, slope in slopes.items():
        found = found + _times(jets[name][1, 0], _rate(slope))
        if name in speeds:
            found = found + _times(speeds[name][1, 0], _value(slope))
    return found


def _composed(c: Constraint, along: Array, level: tuple[Sized, Array, Array], further: Array) -> Reaction:
    """The reaction with what is stated of its direction, of drag and of friction."""
    count, by_size = len(along), np.zeros_like(along)
    if c.direction:
        along, further = further[:count], further[count:]
    for drag in c.drags:
        part, further = further[:count], further[count:]
        along, by_size = (along, by_size + part) if drag.absolute else (along + part, by_size)
    parts = [further[k : k + 3 + count] for k in range(0, len(further), 3 + count)]
    sides = [np.sign(part[0][0]) for part in parts]
    for i, j in plane_pairs(c.frictions) if len(parts) > 1 else ():
        length = np.hypot(parts[i][0][0], parts[j][0][0]) + np.finfo(float).tiny
        sides[i], sides[j] = parts[i][0][0] / length, parts[j][0][0] / length
    rubs = tuple(
        Rubbing(part[0][0], side, part[1][0], part[2][0], part[3:]) for part, side in zip(parts, sides, strict=True)
    )
    return Reaction(along, by_size, *level, rubs)


@remembered
def stated_equations(system: System) -> StatedEquations:
    """Those of a system, made once."""
    return StatedEquations(system)
