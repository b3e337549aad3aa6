"""A tree for the native loop over its bodies: its words and functions, and what is observed of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import symengine as se
from numpy.typing import NDArray

from svyaz import forms
from svyaz.arrays import Array
from svyaz.expr import ZERO, differentiate, names_in
from svyaz.forms import keeps_energy
from svyaz.model import GROUND, System, Tree, numbers, tree_of
from svyaz.program import Native, Program, build, compile_program, function

FORM = "articulated"


def tree_words(system: System) -> tuple[NDArray[np.int64], object]:
    """The words of a tree for the loop, with a workspace of their own, and what must live on."""
    from svyaz.motion.long_tree_code import BODY_WORDS, HEAD, ROOM, SPARE

    tree = forms.welded(numbers(tree_of(system), system.parameters), forms.FLOATS)
    count = len(tree.bodies)
    forces = applied_forces(system)
    force_constants = np.zeros(1) if forces is None else forces.constants(system.constants)
    workspace = np.zeros(SPARE + ROOM * count)
    rows, kept = _bodies(tree, forms.step_programs)
    words = np.zeros(HEAD + BODY_WORDS * count, dtype=np.int64)
    words[:4] = [count, workspace.ctypes.data, 0 if forces is None else forces.address, force_constants.ctypes.data]
    words[4:HEAD] = np.array([-g for g in tree.gravity]).view(np.int64)
    words[HEAD:] = np.column_stack([[body.base for body in tree.bodies], rows]).ravel()
    return words, (forces, force_constants, workspace, kept)


def pose_addresses(system: System) -> tuple[NDArray[np.int64], object]:
    """For each body address and constants of its function pose (n, 2), and what must live on."""
    return _bodies(forms.welded(numbers(tree_of(system), system.parameters), forms.FLOATS), forms.pose_programs)


def _bodies(tree: Tree, programs: Callable[[str, str], Sequence[Program]]) -> tuple[NDArray[np.int64], list[object]]:
    """For each body the addresses of its functions and of their constants; and what must live on."""
    natives: dict[tuple[str, str], list[Native]] = {}
    rows: list[list[int]] = []
    kept: list[object] = [natives]
    for body in tree.bodies:
        kind = (body.joint, forms.axis_kind(body.axis))
        if kind not in natives:
            natives[kind] = [compile_program(program) for program in programs(*kind)]
        moment = [body.mass * c for c in body.center]
        tensor = [*body.inertia[:3], *(-e for e in body.inertia[3:])]
        constants = [
            native.constants([*body.axis, *body.pole, body.mass, *moment, *tensor]) for native in natives[kind]
        ]
        kept.append(constants)
        pairs = zip(natives[kind], constants, strict=True)
        rows.append([word for native, c in pairs for word in (native.address, c.ctypes.data)])
    return np.array(rows, dtype=np.int64), kept


def applied_forces(system: System) -> Native | None:
    """Native code of Q - ∂D/∂v for all joints; None where nothing is applied."""
    given = [
        system.forces.get(q, ZERO) - differentiate(system.dissipation, se.Symbol(v))
        for q, v in zip(system.freedoms, system.velocities, strict=True)
    ]
    if all(e == 0 for e in given):
        return None
    outputs = list(zip(system.freedoms, given, strict=True))
    return compile_program(build(outputs, inputs=("t", *system.states), parameters=tuple(system.constants)))


def observed_of_tree(system: System, accelerations: Array, rows: Array) -> dict[str, dict[str, Array]]:
    """What is observed of a tree along rows [t, q, q̇] with these accelerations; nothing of constraints."""
    count = len(system.coordinates)
    q, v = rows[:, 1 : 1 + count], rows[:, 1 + count :]
    numeric = forms.NumericTree(tree_of(system), system.parameters)
    kinetic, potential = numeric.energies(q, v)
    energy = kinetic + potential
    integrals = {"energy": energy} if keeps_energy(system) else {}
    cyclic = _cyclic(system)
    if cyclic:
        still = np.zeros_like(v)
        momenta = numeric.inverse_dynamics(q, still, v) - numeric.inverse_dynamics(q, still, still)
        integrals |= {
            f"momentum of {name}": momenta[:, k] for k, name in enumerate(system.coordinates) if name in cyclic
        }
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
        "energies": {"kinetic": kinetic, "potential": potential, "energy": energy},
        "integrals": integrals,
    }


def _cyclic(system: System) -> list[str]:
    """Coordinates of joints at the ground along or about which neither gravity nor a force acts, nor a constraint."""
    tree = forms.welded(numbers(tree_of(system), system.parameters), forms.FLOATS)
    acting = [*system.forces.values(), *(c.expression for c in system.constraints)]
    known = set().union(names_in(system.dissipation), *(names_in(e) for e in acting))
    found = []
    for body in tree.bodies:
        if body.base != GROUND or len(body.coordinates) != 1:
            continue
        (q,), axis = body.coordinates, np.array(body.axis, dtype=float)
        pull = np.array(tree.gravity, dtype=float)
        free = np.cross(axis, pull) if body.joint == "revolute" else axis * (axis @ pull)
        if not free.any() and q not in system.forces and not {q, f"{q}'"} & known:
            found.append(q)
    return found
