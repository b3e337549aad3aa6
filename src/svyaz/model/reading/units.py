"""Reading [units]: units of names, and whether the expressions of the model agree with them.

An expression is judged where every name in it has a unit. The unit of the time is the second unless one is given for t; a
velocity has that of its coordinate over it. Energies agree with each other, a force is an energy over its coordinate.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from svyaz.expr import (
    Expression,
    Mismatch,
    Unit,
    UnitError,
    acceleration,
    describe_unit,
    read_unit,
    simplified,
    unit_of,
    velocity,
)
from svyaz.model.laws.bodies import Bodies
from svyaz.model.laws.canonical import Canonical
from svyaz.model.laws.energies import Energies
from svyaz.model.laws.equations import GivenEquations
from svyaz.model.reading import words as vocabulary
from svyaz.model.reading.common import Names, Path, Reader, Table
from svyaz.model.system import System

TIME = "t"
ENERGIES = ("kinetic", "potential", "energy")
"""Columns of a motion whose unit is that of the energies."""

WRITTEN = "units are written like m, kg*m^2, N*m, m/s^2, rad; 1 for a number"
IN_FORMULAS = "numbers in formulas are pure: one that has a unit is given a name in [parameters]"


def read_units(reader: Reader, words: Table, names: Names) -> dict[str, Unit]:
    """The units that the model gives, by name."""
    found: dict[str, Unit] = {}
    known = {TIME, *names.states, *names.known, *vocabulary.table(words, "outputs")}
    for name, text in vocabulary.table(words, "units").items():
        path = ("units", name)
        if name not in known:
            hint = vocabulary.nearest(name, known)
            reader.report(path, f"a unit is given for '{name}', which the model does not have", hint=hint, at_key=True)
        elif not isinstance(text, str | int) or isinstance(text, bool):
            reader.report(path, f"the unit of '{name}' is a text", hint=WRITTEN)
        else:
            try:
                found[name] = read_unit(str(text))
            except UnitError as error:
                reader.report(path, f"the unit of '{name}' cannot be read: {error}", hint=WRITTEN)
    return found


def with_units(reader: Reader, system: System, given: Mapping[str, Unit]) -> dict[str, Unit]:
    """The units of all that has one: given, of velocities, and of outputs as they follow; what does not agree is reported."""
    if not given:
        return {}
    time = given.get(TIME, read_unit("s"))
    speeds = {str(velocity(q)): given[q] / time for q in system.coordinates if q in given}
    pulls = {str(acceleration(q)): given[q] / time**2 for q in system.coordinates if q in given}
    judge = _Judge(reader, {TIME: time, **given, **speeds, **pulls}, time)
    energy = judge.law(system)
    for name, rate in system.rates.items():
        if name in given:
            judge.wants(("rates", name), rate, _Wanted(given[name] / time, f"the rate of '{name}'"))
    for k, constraint in enumerate(system.constraints):
        judge.unit(("constraint", k, "equation"), constraint.expression)
    for k, integral in enumerate(system.integrals):
        judge.unit(("integral", k, "expression"), integral.expression)
    found = {name: _energy_unit(energy) for name in ENERGIES if energy is not None and name not in system.scope.symbols}
    for name, expression in system.outputs.items():
        if name in given:
            judge.wants(("outputs", name), expression, _Wanted(given[name], f"the output '{name}'"))
        elif (unit := judge.unit(("outputs", name), expression)) is not None:
            found[name] = simplified(unit)
    return {**judge.units, **found}


def _energy_unit(unit: Unit) -> Unit:
    joule = read_unit("J")
    return joule if unit.fits(joule) else simplified(unit)


class _Wanted(NamedTuple):
    unit: Unit
    whose: str


class _Judge:
    """Reports expressions whose units do not agree."""

    def __init__(self, reader: Reader, units: Mapping[str, Unit], time: Unit) -> None:
        self.reader, self.units, self.time = reader, dict(units), time

    def unit(self, path: Path, expression: Expression) -> Unit | None:
        """The unit of an expression, None where a name has none or where it is reported."""
        try:
            return unit_of(expression, self.units) if expression != 0 else None
        except Mismatch as error:
            self.reader.report(path, f"units do not agree: {error}", hint=IN_FORMULAS)
            return None

    def wants(self, path: Path, expression: Expression, wanted: _Wanted | None) -> Unit | None:
        """The same, reported where it is not the unit that is wanted."""
        found = self.unit(path, expression)
        if found is not None and wanted is not None and not found.fits(wanted.unit):
            units = f"{wanted.whose} is in {describe_unit(wanted.unit)}, this is in {describe_unit(found)}"
            message = f"units do not agree: {units}"
            self.reader.report(path, message, hint=IN_FORMULAS)
        return found

    def law(self, system: System) -> Unit | None:
        """Energies with each other, and what follows from them; the unit of the energies."""
        law = system.law
        energy: Unit | None = None
        if isinstance(law, Energies):
            energy = self._energies(law)
        elif isinstance(law, Bodies):
            energy = self._bodies(law)
        elif isinstance(law, Canonical):
            self.unit(("hamiltonian",), law.hamiltonian)
        elif isinstance(law, GivenEquations):
            for name, expression in law.equations.items():
                self.unit(("accelerations" if "accelerations" in system.words else "equations", name), expression)
        for name, force in system.forces.items():
            whole = energy if name in self.units else None
            wanted = None if whole is None else _Wanted(whole / self.units[name], f"a force on '{name}'")
            self.wants(("forces", name), force, wanted)
        return energy

    def _energies(self, law: Energies) -> Unit | None:
        if law.kinetic is None or law.potential is None:
            energy = self.unit(("lagrangian",), law.lagrangian)
            wanted = None if energy is None else _Wanted(energy, "the Lagrangian")
        else:
            energy = self.unit(("kinetic",), law.kinetic)
            wanted = None if energy is None else _Wanted(energy, "the kinetic energy")
            potential = self.wants(("potential",), law.potential, wanted)
            energy = energy or potential
        power = None if energy is None else _Wanted(energy / self.time, "the power that is lost")
        self.wants(("dissipation",), law.dissipation, power)
        return energy

    def _bodies(self, law: Bodies) -> Unit | None:
        """Masses, lengths and moments of inertia of a tree; the energy is mass · length²/time²."""
        mass: _Wanted | None = None
        length: _Wanted | None = None
        for k, body in enumerate(law.tree.bodies):
            unit = self.wants(("body", k, "mass"), body.mass, mass)
            mass = mass or (_Wanted(unit, "a mass") if unit else None)
            for key, vector in (("pole", body.pole), ("center", body.center)):
                for entry in vector:
                    unit = self.wants(("body", k, key), entry, length) if entry.free_symbols else None
                    length = length or (_Wanted(unit, "a length") if unit else None)
        if mass is None or length is None:
            return None
        moment = _Wanted(mass.unit * length.unit**2, "a moment of inertia")
        for k, body in enumerate(law.tree.bodies):
            for entry in body.inertia:
                if entry.free_symbols:
                    self.wants(("body", k, "inertia"), entry, moment)
        weight = _Wanted(length.unit / self.time**2, "the acceleration of gravity")
        for entry in law.tree.gravity:
            if entry.free_symbols:
                self.wants(("gravity",), entry, weight)
        return mass.unit * length.unit**2 / self.time**2
