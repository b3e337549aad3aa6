"""Motions of long trees: forward dynamics by articulated bodies in one native loop, no equations are written out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import symengine as se
from numpy.typing import NDArray

from svyaz import forms
from svyaz.arrays import Array
from svyaz.expr import ZERO, differentiate, jumping_parts, names_in
from svyaz.forms import Equations, keeps_energy
from svyaz.holding import Decision, Off, Options, Refusal, Segment, decay_rate, held_integrals, perturbation
from svyaz.integrate import Flow, Status, along, by_differences
from svyaz.integrate import method as find_method
from svyaz.model import GROUND, Bodies, Constraint, System, Tree, numbers, tree_of
from svyaz.motion.phases import START, Beginning, Chapter, Phase
from svyaz.motion.timed import Timed, intervals, one_phase
from svyaz.program import Native, Program, build, compile_program, function

FORM = "articulated"

LONGEST_WRITTEN = 16
"""Beyond so many bodies the loop is faster than equations with a full mass matrix."""


def is_long(system: System) -> bool:
    """Is it a tree that is better left to the loop: many bodies, one freedom at each joint?"""
    return _is_loop(system) and len(tree_of(system).bodies) > LONGEST_WRITTEN


def _is_loop(system: System) -> bool:
    """Can the loop run it?"""
    return (
        isinstance(system.law, Bodies)
        and all(c.ideal and not c.switched for c in system.constraints)
        and all(body.joint != "free" and not body.varies(system.parameters) for body in system.law.tree.bodies)
        and system.states == (*system.coordinates, *system.velocities)
    )


def long_flow(system: System) -> Flow:
    """The rates of a long tree, without its constraints, as a native function with its constants."""
    from svyaz.motion.long_tree_code import step_function

    words, kept = tree_words(system)
    function = step_function()
    return Flow(function.address, words.view(np.float64), 2 * len(system.coordinates), (function, kept))


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


@dataclass(frozen=True)
class LoopCode:
    """The loop as the native code of a phase."""

    flow: Flow

    @property
    def address(self) -> int:
        return self.flow.address

    def constants(self, _values: Mapping[str, float]) -> Array:
        """Those of the flow: nothing in them is a gain."""
        return self.flow.constants

    def evaluate(self, rows: Array, constants: Array) -> Array:
        """Rates (k, n) along rows [t, y…], or (n,) at one."""
        found = along(replace(self.flow, constants=constants), np.atleast_2d(rows))
        return found if rows.ndim > 1 else found[0]


@dataclass(frozen=True)
class Articulated(Timed):
    """The phases of a tree that is run by the loop: its equations are named, not written out."""

    def settle(self, beginning: Beginning, before: Sequence[Chapter], *, force: bool) -> Decision | Refusal:
        equations = beginning.phase.equations
        loose = _loose(self.system, beginning.state)
        if loose is not None:
            reason = f"the inertia matrix is singular there: '{loose}' meets no inertia"
            return Refusal(Status.SINGULAR, reason)
        if self.system.constraints:
            return super().settle(beginning, before, force=force)
        rates = long_flow(self.system)
        segment = Segment(
            equations,
            perturbation(equations, Off()),
            (),
            self.system.constants,
            LoopCode(rates),
            rates.constants,
            by_differences(rates) if find_method(self.options.method).implicit else None,
            observer=partial(_observed, self.system, rates),
        )
        return Decision(segment, self.options, True, "", notes=equations.notes)


def articulated(system: System | Equations, form: str | None, options: Options) -> Articulated | None:
    """A tree as the loop runs it: one that is long, or for which it was asked; None where other equations are needed.

    Those are needed to hold integrals, for what holds them is added to the equations, and to follow forces that jump.
    """
    if isinstance(system, Equations) or not (form == FORM or (form is None and is_long(system))):
        return None
    start = np.array(system.initial_state())
    if (
        not _is_loop(system)
        or jumping_parts(system.forces.values())
        or held_integrals(system, start, START, decay_rate(options.stabilize))
    ):
        return None
    return Articulated(system, FORM, options, tuple(_phases(system, options.until)))


def _phases(system: System, until: float) -> Iterator[Phase]:
    """The phases that times divide, with equations that are named."""
    if not system.constraints:
        named = Equations(FORM, system, system.states, system.coordinate_rates, accelerated=system.coordinates)
        yield from one_phase(named, until)
        return
    from svyaz.motion.closed_trees import closed_equations

    before: tuple[Constraint, ...] = ()
    for begin, end, active in intervals(system, until):
        yield Phase(begin, end, active, tuple(c for c in active if c not in before), closed_equations(system, active))
        before = active


def _observed(system: System, rates: Flow, times: Array, states: Array) -> dict[str, dict[str, Array]]:
    """Accelerations, energies, momenta of cyclic coordinates and declared integrals along rows."""
    rows = np.column_stack([times, states])
    return observed_of_tree(system, along(rates, rows)[:, len(system.coordinates) :], rows)


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


def _loose(system: System, state: Array) -> str | None:
    """The coordinate of a joint that meets no inertia in a position."""
    tree = forms.welded(numbers(tree_of(system), system.parameters), forms.FLOATS)
    place = dict(zip(system.coordinates, state[: len(system.coordinates)].tolist(), strict=True))
    found = forms.loose_joint(forms.placed(tree, place, forms.FLOATS))
    return None if found is None else tree.bodies[found].coordinates[0]
