"""Linear systems of the package ``control`` (python-control): the plant and its loops handed out, others taken in.

The package itself is needed only to hand something out; what is taken in is asked for its A, B, C, D and dt alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import ArrayLike

from svyaz.arrays import Array
from svyaz.control.directions import directions
from svyaz.control.pairs import PairReport, controllability, observability
from svyaz.control.regulators import METHODS, Method, NotSolvable, PairFacts, Regulator, dual_of
from svyaz.extras import extra

if TYPE_CHECKING:
    from control import StateSpace
    from svyaz.control.design import Design
    from svyaz.stability import FirstApproximation


class LinearSpace(Protocol):
    """What is asked of a linear system that is given: x' = A x + B u, σ = C x."""

    A: ArrayLike
    B: ArrayLike
    C: ArrayLike


def plant_space(design: Design, plant: FirstApproximation) -> StateSpace:
    """ξ' = A ξ + B (u - u₀), σ = C ξ as a ``control.StateSpace``; without a measurement all of ξ is put out."""
    n = len(plant.variables)
    b = design.B
    if design.measurement is None:
        return state_space(plant.A, b, np.eye(n), plant.variables, design.inputs, plant.variables)
    measured = design.measurement
    return state_space(plant.A, b, measured.matrix, plant.variables, design.inputs, measured.texts)


def loop_space(design: Design, plant: FirstApproximation) -> StateSpace:
    """The closed loop with additional inputs v, u = u₀ - K ξ + v (or - K ξ̂), as a ``control.StateSpace``; ξ is put out."""
    closed = design.closed_matrix(plant)
    n, b = len(plant.variables), design.B
    names = list(plant.variables)
    if design.watcher is None:
        return state_space(closed, b, np.eye(n), names, design.inputs, names)
    doubled = np.vstack([b, b])
    out = np.hstack([np.eye(n), np.zeros((n, n))])
    return state_space(closed, doubled, out, [*names, *(f"estimate {x}" for x in names)], design.inputs, names)


def regulator_for(
    space: LinearSpace, q: ArrayLike | None = None, r: ArrayLike | None = None, method: Method = METHODS["schur"]
) -> tuple[Regulator, PairReport]:
    """u = -K x for a given state space, and the verdict on its pair (A, B)."""
    a, b, _ = _matrices(space)
    report = controllability(a, b)
    _refuse(space, report, "not controllable", "cannot be moved")
    weights = np.eye(len(a)) if q is None else np.array(q, dtype=float)
    prices = np.eye(b.shape[1]) if r is None else np.array(r, dtype=float)
    return method.regulator(a, b, weights, prices), report


def observer_for(
    space: LinearSpace, q: ArrayLike | None = None, r: ArrayLike | None = None, method: Method = METHODS["schur"]
) -> tuple[Regulator, PairReport]:
    """Λ of x̂' = A x̂ + B u + Λ (σ - C x̂) for a given state space, and the verdict on its pair (A, C)."""
    a, _, c = _matrices(space)
    report = observability(a, c)
    _refuse(space, report, "not observable", "cannot be seen")
    return dual_of(method.observer, a, c, q, r), report


def _refuse(space: LinearSpace, report: PairReport, verdict: str, what: str) -> None:
    from svyaz.control.design import named_directions, not_stable, told_roots

    n = len(np.atleast_2d(np.array(space.A)))
    names = getattr(space, "state_labels", None) or [f"x[{k}]" for k in range(n)]
    if bad := not_stable(directions(names, report.fixed)):
        reason = f"{verdict}: {told_roots([d.root for d in bad])} {what}{named_directions(bad)}"
        raise NotSolvable(reason, PairFacts(fixed_roots=report.fixed_roots))


def _matrices(space: LinearSpace) -> tuple[Array, Array, Array]:
    """A, B, C of a continuous system."""
    if getattr(space, "dt", 0) not in (0, None):
        raise NotSolvable("a system in discrete time was given: regulators here are those of continuous motion")
    a, b, c = (np.atleast_2d(np.array(matrix, dtype=float)) for matrix in (space.A, space.B, space.C))
    return a, b, c


def state_space(
    a: Array,
    b: Array,
    c: Array,
    states: Sequence[str],
    inputs: Sequence[str],
    outputs: Sequence[str],
    *,
    through: Array | None = None,
) -> StateSpace:
    """x' = A x + B u, y = C x + D u (D zero unless it goes ``through``) as a ``control.StateSpace`` with names."""
    with extra("control"):
        package = import_module("control")
    names = {"states": _labels(states), "inputs": _labels(inputs), "outputs": _labels(outputs)}
    d = np.zeros((len(c), b.shape[1])) if through is None else through
    return package.StateSpace(a, b, c, d, remove_useless_states=False, **names)


def _labels(names: Sequence[str]) -> list[str]:
    """Names without dots and brackets, which ``control`` keeps for itself."""
    return [name.replace(".", "_").replace("[", "(").replace("]", ")") for name in names]
