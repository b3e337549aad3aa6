"""What the doors promise to a type checker. This file is read by mypy and never run."""

from __future__ import annotations

from typing import assert_type

import svyaz
from svyaz.arrays import Array
from svyaz.model import Law


def a_system() -> svyaz.System:
    assert_type(svyaz.loads(""), svyaz.System)
    assert_type(svyaz.System(coordinates=["x"], kinetic="x'^2/2"), svyaz.System)
    system = svyaz.load("sleigh")
    assert_type(system, svyaz.System)
    assert_type(system.with_settings({"m": 2}), svyaz.System)
    assert_type(svyaz.System.from_words({}), svyaz.System)
    assert_type(system.law, Law)
    assert_type(system.tree, svyaz.Tree | None)
    return system


def its_verbs(system: svyaz.System) -> None:
    assert_type(system.derive("maggi"), svyaz.Equations)
    assert_type(system.check(), svyaz.Check)
    assert_type(system.simulate(until=1.0), svyaz.Motion)
    assert_type(system.simulate().times, Array)
    assert_type(system.equilibria(fix={"r": 0.2}), svyaz.Equilibria)
    assert_type(system.regulate(), svyaz.Regulation)
    assert_type(system.invert(), svyaz.Inverse)
    assert_type(system.helmholtz(), svyaz.Helmholtz)
    assert_type(system.sweep({"m": [1, 2]}), svyaz.Sweep)
    assert_type(system.inertia(), svyaz.Inertia)
    assert_type(system.balance(), svyaz.Balanced)


def numbers_and_pictures(system: svyaz.System) -> None:
    f = system.derive().function()
    assert_type(f, svyaz.NumericEquations)
    assert_type(f(0.0, [1.0, 2.0], {"F": 1.0}), Array)
    assert_type(system.with_(m=2, initial={"x": 1}), svyaz.System)
    motion = system.simulate()
    assert_type(motion["x"], Array)
    assert_type(motion.at(1.0), Array)
    assert_type(motion.resampled([0.0, 1.0]), svyaz.Motion)
    assert_type(motion.plot("x"), svyaz.Picture)
    assert_type(motion.animate(), svyaz.Player)


def functions_of_the_rooms(system: svyaz.System) -> None:
    assert_type(svyaz.derive(system), svyaz.Equations)
    assert_type(svyaz.simulate(svyaz.derive(system)), svyaz.Motion)
    assert_type(svyaz.check(system), svyaz.Check)
    assert_type(svyaz.equilibria(system), svyaz.Equilibria)
    assert_type(svyaz.regulate(system), svyaz.Regulation)
    assert_type(svyaz.sweep(system, {"m": [1, 2]}), svyaz.Sweep)
    assert_type(svyaz.form_names(), tuple[str, ...])
    assert_type(svyaz.method_names(), tuple[str, ...])


def programs(program: svyaz.Program, rows: Array) -> None:
    native = svyaz.compile_program(program)
    assert_type(native, svyaz.Native)
    assert_type(native.evaluate(rows, native.constants({})), Array)


def mistakes_are_found(system: svyaz.System) -> None:
    svyaz.System(kinetics="x'^2/2")  # type: ignore[call-arg]
    svyaz.System(coordinates=1)  # type: ignore[arg-type]
    system.simulate(untill=1.0)  # type: ignore[call-arg]
    system.derive().no_such_thing  # type: ignore[attr-defined]  # noqa: B018
    system.simulate().energy_of_the_sun  # type: ignore[attr-defined]  # noqa: B018
