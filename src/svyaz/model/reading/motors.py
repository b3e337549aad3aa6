"""DC drives: inductance·I' = -resistance·I - back_emf·shaft + supply·voltage, with the force torque·I on a coordinate.

The current I is a further state of the model, the voltage an input. The voltage may stand among [inputs] as well, where
its value and its limits are given; alone it is zero.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import symengine as se

from svyaz.expr import ZERO, Expression, evaluate, names_in
from svyaz.model.reading import words as vocabulary
from svyaz.model.reading.common import Names, Path, Reader, Table
from svyaz.model.system import Input, Motor

COEFFICIENTS = ("inductance", "resistance", "back_emf", "supply", "torque")


def declare_motors(reader: Reader, names: Names, given: Sequence[Table]) -> tuple[str, ...]:
    """Declare the currents as states and the voltages as inputs; the currents are returned in order."""
    currents = []
    for k, table in enumerate(given):
        path = ("motor", k)
        for key in ("current", "voltage"):
            if key not in table:
                reader.report(path, f"the motor '{_name(table, k)}' has no {key}", at_key=True)
        current, voltage = table.get("current"), table.get("voltage")
        if isinstance(current, str) and reader.declare_one(names, current, "state", (*path, "current")):
            currents.append(current)
        if isinstance(voltage, str) and names.known.get(voltage) != "input":
            reader.declare_one(names, voltage, "input", (*path, "voltage"))
    return tuple(currents)


def add_voltages(names: Names, given: Sequence[Table]) -> None:
    """Voltages that are not among [inputs] are zero."""
    for table in given:
        voltage = table.get("voltage")
        if isinstance(voltage, str) and names.known.get(voltage) == "input":
            names.inputs.setdefault(voltage, Input(0.0))


def read_motors(reader: Reader, given: Sequence[Table], names: Names) -> tuple[Motor, ...]:
    """All motors that can be read. The rate of a current may then be written I' in forces."""
    motors = []
    for k, table in enumerate(given):
        motor = _read_motor(reader, k, table, names)
        if motor is not None:
            motors.append(motor)
    names.definition_rates.update({motor.current: motor.rate for motor in motors})
    return tuple(motors)


def _read_motor(reader: Reader, k: int, table: Table, names: Names) -> Motor | None:
    path: Path = ("motor", k)
    words = reader.known_words(table, vocabulary.MOTOR, path)
    name = _name(table, k)
    missing = [key for key in vocabulary.MOTOR if key != "name" and key not in table]
    for key in (key for key in missing if key not in ("current", "voltage")):
        reader.report(path, f"the motor '{name}' has no '{key}'", at_key=True)
    freedoms = names.coordinates if names.tree is None else names.tree.freedoms
    on = vocabulary.text(words, "on")
    if "on" in words and on not in freedoms:
        hint = vocabulary.nearest(on, freedoms)
        reader.report((*path, "on"), f"a motor acts on a coordinate; '{on}' is none", hint=hint)
    read = {key: _coefficient(reader, (*path, key), words[key], names) for key in COEFFICIENTS if key in words}
    shaft = ZERO
    if "shaft" in words:
        shaft = reader.expression((*path, "shaft"), words["shaft"], names.scope(velocities=True, inputs=False))
        reader.no_further(names, (*path, "shaft"), shaft, "the speed of a shaft")
    if "inductance" in read and _value(read["inductance"], names) == 0.0:
        message = f"the motor '{name}' has no inductance: its current is no state; write it into [forces]"
        reader.report((*path, "inductance"), message)
        return None
    if missing or len(words) < len(table) or on not in freedoms:
        return None
    current, voltage = vocabulary.text(words, "current"), vocabulary.text(words, "voltage")
    return Motor(name, current, voltage, on, shaft=shaft, **read)


def _coefficient(reader: Reader, path: Path, given: object, names: Names) -> Expression:
    return reader.expression(path, given, names.constant_scope())


def _value(expression: Expression, names: Names) -> float | None:
    known = names_in(expression) <= names.parameters.keys()
    return evaluate(expression, names.parameters) if known else None


def drive_forces(motors: Sequence[Motor], forces: Mapping[str, Expression]) -> dict[str, Expression]:
    """The forces together with those of the motors."""
    total = dict(forces)
    for motor in motors:
        total[motor.on] = total.get(motor.on, ZERO) + motor.torque * se.Symbol(motor.current)
    return total


def _name(table: Table, number: int) -> str:
    name = table.get("name")
    return name if isinstance(name, str) else f"motor {number + 1}"
