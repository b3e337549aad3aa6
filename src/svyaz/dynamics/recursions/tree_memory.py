"""A tree for the native loop over its bodies: its memory and functions, and what is observed of it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from itertools import accumulate

import numpy as np
import symengine as se
from numpy.typing import NDArray

from svyaz import forms
from svyaz.arrays import Array
from svyaz.dynamics.recursions.grounded import tied_names
from svyaz.dynamics.recursions.tree_records import NONE, BodyModel, BodyState, JointModel, TreeModel
from svyaz.expr import ZERO, Expression, differentiate, names_in
from svyaz.forms import keeps_energy
from svyaz.integrate import record_type
from svyaz.model import GROUND, Body, Joint, System, Tree, numbers, tree_of
from svyaz.program import Native, Program, build, compile_program, function, remembered

FORM = "articulated"


@dataclass(frozen=True)
class Drive:
    """What acts on the joints of a tree, Q - ∂D/∂v, and the rates of its further states, in order.

    ``given`` are names of numbers that stand behind the states where the loop is called.
    """

    forces: tuple[Expression, ...]
    rates: tuple[Expression, ...]
    given: tuple[str, ...] = ()


@remembered
def drive_of(system: System) -> Drive:
    """That of a system as it was stated."""
    slopes = [differentiate(system.dissipation, se.Symbol(v)) for v in system.velocities]
    forces = [system.forces.get(q, ZERO) - slope for q, slope in zip(system.freedoms, slopes, strict=True)]
    further = system.states[velocity_columns(system).stop :]
    return Drive(tuple(forces), tuple(system.rates[name] for name in further))


@remembered
def moving_tree(system: System) -> Tree:
    """The bodies that move, with numbers; what is fixed to them is part of them."""
    return forms.welded(numbers(tree_of(system), system.parameters), forms.FLOATS)


@remembered
def sliced_tree(system: System) -> Tree:
    """The same with one velocity for each body: joints of several velocities are as many of them."""
    return forms.sliced(moving_tree(system))


def free_of_inertia(system: System, state: Array) -> str | None:
    """A coordinate that meets no inertia in a state, so that no motion can begin there."""
    tree = moving_tree(system)
    place = dict(zip(system.coordinates, state[: len(system.coordinates)].tolist(), strict=True))
    found = forms.loose_joint(forms.placed(tree, place, forms.FLOATS))
    return None if found is None else str(tree.bodies[found].coordinates[0])


def tree_memory(system: System, drive: Drive | None = None) -> tuple[NDArray[np.void], object]:
    """The ``TreeModel`` of a tree, (1,), with a workspace of its own, and what must live on."""
    tree = sliced_tree(system)
    drive = drive or drive_of(system)
    applied, sines = _applied(system, drive), compile_program(forms.sines_program())
    constants = np.zeros(1) if applied is None else applied.constants(system.constants)
    numbers, links, slots = _states(tree)
    model = np.zeros(1, record_type(TreeModel))
    bodies, states = np.zeros(len(tree.bodies), record_type(BodyModel)), np.zeros(slots, record_type(BodyState))
    joints, alive = _joints(tree)
    programs = fill_routines(tree, forms.step_programs, [bodies[name] for name in ("outward", "inward", "motion")])
    bodies["base"], bodies["state"] = tree.parents, numbers
    bodies["coordinate"] = _coordinates(tree)
    bodies["further"], bodies["next"] = np.array(links).T
    of_bases = [0 if body.base == GROUND else numbers[body.base] for body in tree.bodies]
    bodies["source"] = [NONE if own == base + 1 else base for own, base in zip(numbers, of_bases, strict=True)]
    model["count"], model["bodies"] = len(bodies), bodies.ctypes.data
    model["slots"], model["states"] = slots, states.ctypes.data
    model["several"], model["joints"] = len(joints), joints.ctypes.data
    sizes = [len(names) for names in (system.coordinates, system.velocities, system.states)]
    model["coordinates"], model["velocities"], model["size"] = sizes
    model["sines"]["function"] = sines.address
    model["applied"] = (0 if applied is None else applied.address, constants.ctypes.data)
    model["gravity"] = [-g for g in tree.gravity]
    states[0]["motion"][3:] = model["gravity"][0]
    return model, (applied, sines, constants, bodies, states, joints, alive, programs)


def _coordinates(tree: Tree) -> list[int]:
    """For each body the place of its coordinate; a joint of several velocities is listed by itself."""
    return [
        NONE if not body.coordinates or _is_several(body.kind) else first
        for first, body in zip(_first_coordinates(tree), tree.bodies, strict=True)
    ]


def _first_coordinates(tree: Tree) -> list[int]:
    return [0, *accumulate(len(body.coordinates) for body in tree.bodies)][:-1]


def _is_several(kind: Joint) -> bool:
    """Does a body bring the place of a joint of several velocities?"""
    joint = forms.placing_joint(kind)
    return joint is not None and bool(joint.velocities)


def _joints(tree: Tree) -> tuple[NDArray[np.void], list[Native]]:
    """The joints of several velocities, and their functions."""
    found: list[tuple[int, ...]] = []
    alive: list[Native] = []
    for k, (first, body) in enumerate(zip(_first_coordinates(tree), tree.bodies, strict=True)):
        joint = forms.placing_joint(body.kind)
        if joint is not None and joint.velocities:
            programs = (forms.place_program(joint), forms.joint_rates_program(joint))
            alive += [compile_program(program) for program in programs]
            sizes = (forms.place_records(joint), len(joint.coordinates), len(joint.velocities))
            found.append((k, first, first + joint.quaternion.start, *(n.address for n in alive[-2:]), *sizes))
    return np.array(found, dtype=record_type(JointModel)), alive


def _states(tree: Tree) -> tuple[list[int], list[tuple[int, int]], int]:
    """For each body the number of its state and (further, next); how many states there are.

    The ground comes first. The first body that a base carries stands behind it, each other one behind a state of its own.
    """
    numbers, links = [0] * len(tree.bodies), [(GROUND, GROUND)] * len(tree.bodies)
    taken, waiting = 1, [(GROUND, k) for k, base in reversed(list(enumerate(tree.parents))) if base == GROUND]
    while waiting:
        base, k = waiting.pop()
        at = 0 if base == GROUND else numbers[base]
        if taken != at + 1:
            taken += 1
            if base != GROUND:
                links[k] = (GROUND, links[base][0])
                links[base] = (k, links[base][1])
        numbers[k] = taken
        taken += 1
        waiting += [(k, other) for other in reversed(tree.carried[k])]
    return numbers, links, taken


def fill_routines(
    tree: Tree,
    programs: Callable[[Joint, str, frozenset[str]], Sequence[Program]],
    routines: Sequence[NDArray[np.void]],
) -> list[object]:
    """Write the programs of all bodies, with their constants, into routines (n,); the answer must live on.

    Bodies with joints of a kind share the functions, which leave out the numbers that are zero for all of them.
    """
    kinds: dict[tuple[Joint, str], list[int]] = {}
    for k, body in enumerate(tree.bodies):
        kinds.setdefault((body.kind, forms.axis_kind(body.axis)), []).append(k)
    alive: list[object] = []
    for kind, bodies in kinds.items():
        given = np.array([_numbers_of(tree.bodies[k]) for k in bodies], dtype=float)
        zeros = frozenset(name for name, column in zip(forms.BODY, given.T, strict=True) if not column.any())
        for program, routine in zip(programs(*kind, zeros), routines, strict=True):
            native = compile_program(program)
            constants = native.constants_of(given)
            alive.append((native, constants))
            routine["function"][bodies] = native.address
            routine["constants"][bodies] = [row.ctypes.data for row in constants]
    return alive


def _numbers_of(body: Body) -> list[float]:
    """What the programs take as parameters."""
    xx, yy, zz, xy, xz, yz = body.inertia
    return [*body.axis, *body.pole, body.mass, *(body.mass * c for c in body.center), xx, yy, zz, -xy, -xz, -yz]


def velocity_columns(system: System) -> slice:
    """Where the velocities stand among the states, and accelerations among their rates."""
    first = len(system.coordinates)
    return slice(first, first + len(system.velocities))


def _applied(system: System, drive: Drive) -> Native | None:
    """Native code of what acts on all joints, then of the rates of further states; None where there is neither."""
    if all(e == 0 for e in drive.forces) and not drive.rates:
        return None
    names = [*system.freedoms, *system.states[velocity_columns(system).stop :]]
    outputs = list(zip(names, (*drive.forces, *drive.rates), strict=True))
    return compile_program(
        build(outputs, inputs=("t", *system.states, *drive.given), parameters=tuple(system.constants))
    )


def energies_of_tree(system: System, rows: Array) -> dict[str, Array]:
    """T, V and T + V of a tree along rows [t, states]."""
    q, v = rows[:, 1 : 1 + len(system.coordinates)], rows[:, 1:][:, velocity_columns(system)]
    kinetic, potential = forms.NumericTree(tree_of(system), system.parameters).energies(q, v)
    return {"kinetic": kinetic, "potential": potential, "energy": kinetic + potential}


def observed_of_tree(system: System, accelerations: Array, rows: Array) -> dict[str, dict[str, Array]]:
    """What is observed of a tree along rows [t, states] with these accelerations; nothing of constraints."""
    q, v = rows[:, 1 : 1 + len(system.coordinates)], rows[:, 1:][:, velocity_columns(system)]
    numeric = forms.NumericTree(tree_of(system), system.parameters)
    energies = energies_of_tree(system, rows)
    integrals = {"energy": energies["energy"]} if keeps_energy(system) else {}
    cyclic = _cyclic(system)
    if cyclic:
        still = np.zeros_like(v)
        momenta = numeric.inverse_dynamics(q, still, v) - numeric.inverse_dynamics(q, still, still)
        integrals |= {f"momentum of {name}": momenta[:, k] for k, name in enumerate(system.freedoms) if name in cyclic}
    if system.integrals:
        table = [i.expression for i in system.integrals]
        found = function({"declared": table}, ("t", *system.states), system.constants)(rows)["declared"]
        integrals |= {i.name: column for i, column in zip(system.integrals, found.T, strict=True)}
    return {
        "multipliers": {},
        "accelerations": {f"{name}'": a for name, a in zip(system.velocities, accelerations.T, strict=True)},
        "residuals": {},
        "hidden": {},
        "through": {},
        "energies": energies,
        "integrals": integrals,
    }


def integrals_of_tree(system: System, varied: Collection[str] = ()) -> list[str]:
    """The names of its first integrals, whatever the values of the parameters that are ``varied``."""
    momenta = [f"momentum of {q}" for q in _cyclic(system)]
    return list(
        dict.fromkeys(
            [*(["energy"] if keeps_energy(system, varied) else []), *momenta, *(i.name for i in system.integrals)]
        )
    )


def _cyclic(system: System) -> list[str]:
    """Coordinates of joints at the ground along or about which neither gravity nor a force acts, nor a constraint."""
    tree = moving_tree(system)
    known = set().union(names_in(system.dissipation), *map(names_in, system.forces.values()), tied_names(system))
    found = []
    for body in tree.bodies:
        if body.base != GROUND or len(body.coordinates) != 1:
            continue
        (q,), axis = body.coordinates, np.array(body.axis, dtype=float)
        pull = np.array(tree.gravity, dtype=float)
        free = np.cross(axis, pull) if body.kind.turns else axis * (axis @ pull)
        if not free.any() and q not in system.forces and not {q, f"{q}'"} & known:
            found.append(q)
    return found
