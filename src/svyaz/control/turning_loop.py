"""Closed loops about steady motions of trees of many bodies: the whole tree under the control, what turns among its states.

The Routhian system of such a tree is known by its numbers alone. In Lagrange's variables ξ_L = (x, ẋ, w - c) the control needs
nothing else than states of the tree, u = u₀ - K_L ξ_L, so that recursions run it as they run any tree.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from svyaz.arrays import Array
from svyaz.control.closed import closed_system
from svyaz.control.design import Design
from svyaz.control.transient import MOST_STEPS, Transient
from svyaz.control.trials import Trial, started
from svyaz.control.uniform import ROUTH, UniformVariables, speeds_with
from svyaz.expr import ModelError, Problem
from svyaz.forms import NumericTree, momentum_of
from svyaz.model import System, tree_of
from svyaz.stability import FirstApproximation, Start

FORM, ROWS, RTOL = "articulated", 400, 1e-9


def turning_trial(
    variables: UniformVariables, design: Design, start: Mapping[str, float], until: float, *, beyond: bool = False
) -> Trial:
    """The motion of the whole tree under the control, from these values of variables, cyclic speeds and momenta.

    What is not given is as in the steady motion, the momenta among it.
    """
    whole = _whole(variables.plant)
    _refuse(variables, design, whole)
    own = {name: x for name, x in start.items() if not _is_uniform(variables, name)}
    plant = variables.plant
    away = {name: x - plant.state.get(name, 0.0) for name, x in own.items()}
    begin = started(plant, away if own or not start else {plant.variables[0]: 0.0})
    speeds = _speeds(variables, whole, begin, start)
    state = {**begin.state, **dict.fromkeys(speeds, 0.0), **{f"{q}'": x for q, x in speeds.items()}}
    loop = in_speeds(variables, design, whole)
    run = _run(loop, whole, state, until, beyond)
    kept = [c.name for c in variables.choice.cyclic if c.conserved]
    shifted = any(f"{q}'" in start or momentum_of(q) in start for q in kept)
    return Trial(replace(begin, state={name: state[name] for name in whole.states}), run, None, shifted)


def in_speeds(variables: UniformVariables, design: Design, whole: System) -> Design:
    """The design as one of the whole tree, in Lagrange's variables."""
    told = replace(variables.renamed, system=whole)
    regulator = replace(design.regulator, gain=variables.gains(design.regulator.gain))
    return replace(design, model=told, regulator=regulator, fed={})


def _run(loop: Design, whole: System, state: Mapping[str, float], until: float, beyond: bool) -> Transient:
    """By Radau's method, for the roots of a closed loop are far apart."""
    from svyaz.motion import Wishes, articulated, driven
    from svyaz.stabilise import OFF, Options

    closed, times = closed_system(loop), np.linspace(0.0, until, ROWS + 1)
    at = np.array([state[name] for name in whole.states])
    rest = np.array([loop.model.state.get(name, 0.0) for name in whole.states])
    sizes = np.maximum(np.abs(at), np.abs(rest))
    small = RTOL * np.maximum(sizes, 1e-3 * sizes.max(initial=1e-3))
    atol = dict(zip(whole.states, small.tolist(), strict=True))
    options = Options("radau", until, rtol=RTOL, atol=atol, stabilize=OFF, max_steps=MOST_STEPS)
    structure = articulated(closed, FORM, options)
    assert structure is not None, "recursions know the tree, and the control adds forces without jumps"
    motion = driven(structure, at, Wishes(force=True, rows=times, beyond=beyond, road="a closed loop"))
    return Transient(loop, motion, times)


def _speeds(
    variables: UniformVariables, whole: System, begin: Start, start: Mapping[str, float]
) -> Mapping[str, float]:
    """γ' of a start: as given, or by the momenta, by coordinate."""
    names = [c.name for c in variables.choice.cyclic]
    state = {**begin.state, **dict.fromkeys(names, 0.0)}
    mass = NumericTree(tree_of(whole), whole.parameters).mass_matrix([state[q] for q in whole.coordinates])
    turning = [whole.coordinates.index(q) for q in names]
    moving = np.array([0.0 if q in names else state[f"{q}'"] for q in whole.coordinates])
    found: Array = speeds_with(
        names,
        (mass @ moving)[turning],
        mass[np.ix_(turning, turning)],
        {**variables.choice.motion.momenta, **begin.state, **start},
        {name for name in start if name.endswith("'")},
    )
    return dict(zip(names, found.tolist(), strict=True))


def _whole(plant: FirstApproximation) -> System:
    """The tree with all coordinates and the parameters of the plant."""
    whole = plant.system.unreduced
    given = {name: plant.system.parameters[name] for name in whole.parameters}
    return replace(whole.plain(), parameters=given)


def _refuse(variables: UniformVariables, design: Design, whole: System) -> None:
    """What is not run of so many bodies."""
    count = len(tree_of(whole).bodies)
    reasons = {
        "with constraints": bool(whole.constraints),
        "with an observer": design.watcher is not None,
        "in Routh's variables": variables.asked == ROUTH and bool(variables.driven),
    }
    for told, met in reasons.items():
        if met:
            message = f"the closed loop about a steady motion of {count} bodies is not run {told}"
            raise ModelError([Problem(message, hint="simulate the model with the law of the control for its inputs")])


def _is_uniform(variables: UniformVariables, name: str) -> bool:
    return any(name in (f"{c.name}'", momentum_of(c.name)) for c in variables.choice.cyclic)
