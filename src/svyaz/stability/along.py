"""Passing to coordinates along symmetries, so that steady motions along them can be looked for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from svyaz.expr import Advice, ModelError, Problem
from svyaz.forms import Symmetry, SymmetryPassage, along_symmetry, linear_symmetries, momentum_of, pseudo_cyclic
from svyaz.model import System, with_settings
from svyaz.stability.attitude_speeds import prescribed_turns, steady_chart
from svyaz.stability.attitudes import attitude_chart, describe_chart
from svyaz.stability.first_order import is_taken
from svyaz.stability.nonholonomic_rest import has_velocity_constraints

Sides = Mapping[str, tuple[float, float]]


def with_cyclic_coordinates(system: System, fix: Iterable[str], box: Sides) -> tuple[System, Sides, tuple[str, ...]]:
    """The system, the box, and words: in coordinates along its symmetries where it has no cyclic one, or where a speed or a
    momentum is named that it has along a symmetry only. A symmetry that moves a coordinate that is prescribed is left alone.
    """
    fixed, words = set(fix), []
    everything = not pseudo_cyclic(system)
    while everything or _strange(system, {*fixed, *box}):
        symmetries = linear_symmetries(system, [name for name in box if name in system.parameters])
        own = {name: side for name, side in box.items() if name in system.coordinates}
        found = _first_passage(replace(system.plain(), box={**system.box, **own}), symmetries, fixed)
        if found is None:
            if not pseudo_cyclic(system):
                raise _none_is_cyclic(symmetries)
            break
        symmetry, passage = found
        words += [f"{symmetry.text}: {passage.text}", *_lost(system, passage)]
        gone = {*system.coordinates} - {*passage.system.coordinates}
        box = {name: side for name, side in box.items() if name not in gone}
        system = passage.system
    return system, box, tuple(words)


def along_a_symmetry(system: System, fix: Mapping[str, float]) -> tuple[System, Mapping[str, float], tuple[str, ...]]:
    """The system in coordinates that have the speeds or momenta prescribed, where it has them by a symmetry only, or by the
    turn of a body on a ball or free joint; what is prescribed in its terms; and words.
    """
    if system.turns_freely:
        turning = {v for body in system.bodies if body.quaternion for v in body.velocities}
        if not any(name in turning or name.endswith("'") or name.startswith("p_") for name in fix):
            return system, fix, ()
        chart = steady_chart(system, fix, {})
        return chart.system, prescribed_turns(chart, fix, chart), (describe_chart(chart, "of the initial state"),)
    if has_velocity_constraints(system) or is_taken(system) or not _strange(system, set(fix)):
        return system, fix, ()
    passed, _, words = with_cyclic_coordinates(system, fix, {})
    return passed, fix, words


def starting_system(system: System, fix: Mapping[str, float]) -> System:
    """The system in whose states a closed loop starts, with what is prescribed to it."""
    found = along_a_symmetry(system, fix)[0]
    return attitude_chart(found, {}).system if found.turns_freely else found


def offered(system: System) -> tuple[str, ...]:
    """What may be prescribed besides: the speeds along symmetries of a system that has cyclic coordinates already."""
    told = []
    for symmetry in linear_symmetries(system):
        passage = along_symmetry(system, symmetry)
        if passage is not None:
            name = passage.cyclic
            told.append(
                f"{symmetry.text}; prescribe {name}' or {momentum_of(name)} to find what moves along it ({passage.text})"
            )
    return tuple(told)


def _strange(system: System, names: set[str]) -> bool:
    """Is a velocity or a momentum named that no cyclic coordinate of the system has?"""
    cyclic = {c.name for c in pseudo_cyclic(system)}
    own = {*(f"{q}'" for q in cyclic), *map(momentum_of, cyclic), *system.parameters, *system.inputs, *system.rates}
    return any(name.endswith("'") or name.startswith("p_") for name in names - own)


def _first_passage(
    system: System, symmetries: tuple[Symmetry, ...], fixed: set[str]
) -> tuple[Symmetry, SymmetryPassage] | None:
    """Shifts before turns: a turn does not commute with them, and they would not be left after it."""
    for symmetry in sorted(symmetries, key=lambda s: bool(s.matrix.any())):
        passage = along_symmetry(system, symmetry)
        if passage is None or fixed & set(symmetry.field):
            continue
        gone = set(symmetry.field) - {*passage.system.coordinates}
        if not fixed & {f"{q}'" for q in gone}:
            return symmetry, passage
    return None


def _lost(system: System, passage: SymmetryPassage) -> list[str]:
    """What the new coordinates do not see."""
    words = [] if passage.radius is None else [f"motions with {passage.radius} = 0 are not seen in these coordinates"]
    return [*words, *(["the limits of the model are not looked at in these coordinates"] if system.limits else [])]


def with_parameters(system: System, fix: Mapping[str, float]) -> tuple[System, dict[str, float]]:
    """The system with the parameters among what is prescribed, and the rest of it."""
    given = {name: x for name, x in fix.items() if name in system.parameters}
    rest = {name: x for name, x in fix.items() if name not in given}
    return (with_settings(system, given) if given else system), rest


def _none_is_cyclic(symmetries: tuple[Symmetry, ...]) -> ModelError:
    if not symmetries:
        text = "no coordinate is cyclic: L and the constraints contain all of them, and what rests is an equilibrium"
        return ModelError([Problem(text, hint=Advice("look for equilibria", "equilibria"))])
    told = "; ".join(symmetry.text for symmetry in symmetries)
    return ModelError(
        [Problem("no coordinate is cyclic by itself", hint=f"take one along what changes nothing: {told}")]
    )
