"""Motions of long trees: forward dynamics by articulated bodies in one native loop, no equations are written out."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import symengine as se
from numpy.typing import NDArray

from svyaz.arrays import Array
from svyaz.expr import ZERO, differentiate
from svyaz.forms import FLOATS, NumericTree, axis_kind, loose_joint, placed, step_programs, welded
from svyaz.holding import Options
from svyaz.integrate import Flow, Path, Status, solve
from svyaz.model import Bodies, System, Tree, numbers, tree_of
from svyaz.motion.result import Motion
from svyaz.program import Native, build, compile_program

LONGEST_WRITTEN = 16
"""Beyond so many bodies the loop is faster than equations with a full mass matrix."""


def is_long(system: System) -> bool:
    """Is it a tree that is better left to the loop: many bodies, one freedom at each joint, no constraints?"""
    return (
        isinstance(system.law, Bodies)
        and len(system.law.tree.bodies) > LONGEST_WRITTEN
        and not system.constraints
        and all(body.joint != "free" for body in system.law.tree.bodies)
        and system.states == (*system.coordinates, *system.velocities)
    )


def long_flow(system: System) -> Flow:
    """The rates of a long tree as a native function with its constants."""
    from svyaz.motion.long_tree_code import BODY_WORDS, HEAD, ROOM, SPARE, step_function

    tree = welded(numbers(tree_of(system), system.parameters), FLOATS)
    count = len(tree.bodies)
    forces, force_constants = _forces(system)
    workspace = np.zeros(SPARE + ROOM * count)
    rows, kept = _bodies(tree)
    words = np.zeros(HEAD + BODY_WORDS * count, dtype=np.int64)
    words[:4] = [count, workspace.ctypes.data, 0 if forces is None else forces.address, force_constants.ctypes.data]
    words[4:HEAD] = np.array([-g for g in tree.gravity]).view(np.int64)
    words[HEAD:] = rows.ravel()
    function = step_function()
    owner = (function, forces, force_constants, workspace, kept)
    return Flow(function.address, words.view(np.float64), 2 * count, owner)


def _bodies(tree: Tree) -> tuple[NDArray[np.int64], list[object]]:
    """For each body its base and the addresses of its three functions and their constants; and what must live on."""
    natives: dict[tuple[str, str], list[Native]] = {}
    rows: list[list[int]] = []
    kept: list[object] = [natives]
    for body in tree.bodies:
        kind = (body.joint, axis_kind(body.axis))
        if kind not in natives:
            natives[kind] = [compile_program(program) for program in step_programs(*kind)]
        moment = [body.mass * c for c in body.center]
        tensor = [*body.inertia[:3], *(-e for e in body.inertia[3:])]
        constants = [
            native.constants([*body.axis, *body.pole, body.mass, *moment, *tensor]) for native in natives[kind]
        ]
        kept.append(constants)
        pairs = zip(natives[kind], constants, strict=True)
        rows.append([body.base, *(word for native, c in pairs for word in (native.address, c.ctypes.data))])
    return np.array(rows, dtype=np.int64), kept


def _forces(system: System) -> tuple[Native | None, Array]:
    """Native code of Q - ∂D/∂v for all joints, and its constants; None where nothing is applied."""
    given = [
        system.forces.get(q, ZERO) - differentiate(system.dissipation, se.Symbol(v))
        for q, v in zip(system.freedoms, system.velocities, strict=True)
    ]
    if all(e == 0 for e in given):
        return None, np.zeros(1)
    outputs = list(zip(system.freedoms, given, strict=True))
    native = compile_program(build(outputs, inputs=("t", *system.states), parameters=tuple(system.constants)))
    return native, native.constants(system.constants)


def simulate_long(system: System, options: Options, halve: bool, progress: Callable[[float], object] | None) -> Motion:
    """The motion of a long tree, with its energy; its trajectory error is not estimated, which a note tells."""
    state = np.array(system.initial_state())
    loose = _loose(system, state)
    if loose is not None:
        return _stillborn(system, options, state, loose)
    grid = None
    if options.every is not None:
        grid = np.append(np.arange(0.0, options.until * (1 - 1e-12), options.every), options.until)
    path = solve(
        long_flow(system),
        state,
        (0.0, options.until),
        method=options.method,
        step=options.step,
        rtol=options.rtol,
        atol=options.atol if not isinstance(options.atol, Mapping) else [options.atol[n] for n in system.states],
        output=grid,
        progress=progress,
    )
    kinetic, potential = _energies(system, path)
    return Motion(
        system=system,
        form="articulated",
        method=options.method,
        step=options.step,
        rtol=options.rtol,
        status=path.status.told,
        reason=path.reason,
        times=path.times,
        states=path.states,
        state_names=system.states,
        integrals={"energy": kinetic + potential},
        quantities={"kinetic": kinetic, "potential": potential},
        steps=path.steps,
        evaluations=path.evaluations,
        seconds=path.seconds,
        notes=("the trajectory error of long trees is not estimated",) if halve else (),
    )


def _loose(system: System, state: Array) -> str | None:
    """The coordinate of a joint that meets no inertia in a position."""
    tree = welded(numbers(tree_of(system), system.parameters), FLOATS)
    place = dict(zip(system.coordinates, state[: len(system.coordinates)].tolist(), strict=True))
    found = loose_joint(placed(tree, place, FLOATS))
    return None if found is None else tree.bodies[found].coordinates[0]


def _stillborn(system: System, options: Options, state: Array, coordinate: str) -> Motion:
    """A motion that cannot begin."""
    return Motion(
        system=system,
        form="articulated",
        method=options.method,
        step=options.step,
        rtol=options.rtol,
        status=Status.SINGULAR,
        reason=f"the inertia matrix is singular there: '{coordinate}' meets no inertia",
        times=np.zeros(1),
        states=state[None, :],
        state_names=system.states,
    )


def _energies(system: System, path: Path) -> tuple[Array, Array]:
    count = len(system.coordinates)
    numeric = NumericTree(tree_of(system), system.parameters)
    return numeric.energies(path.states[:, :count], path.states[:, count:])
