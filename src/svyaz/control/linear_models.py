"""Linear models about any state of a motion, and controllers that were designed elsewhere.

    δẋ = A δx + B δu,   δy = C δx + D δu,   A = ∂f/∂x, B = ∂f/∂u, C = ∂y/∂x, D = ∂y/∂u,

exact derivatives of ẋ = f(t, x, u). About a state that moves, A and B hold at that moment; with constraints x are all
states of the form, and the first approximation in independent variables (``regulate``) is the one for designs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import symengine as se
from numpy.typing import ArrayLike, NDArray

from svyaz.arguments import check_arguments
from svyaz.arrays import Array
from svyaz.control.spaces import LinearSpace, state_space
from svyaz.expr import Expression, ModelError, Problem, add_up, gradient, names_in, parse, start_of, substitute
from svyaz.forms import Equations, NumericEquations
from svyaz.matrices import eigvals
from svyaz.model import System, nearest, refuse_unknown
from svyaz.motion import limited, under_laws
from svyaz.program import function
from svyaz.shown import Shown

if TYPE_CHECKING:
    from control import StateSpace


@dataclass(frozen=True, repr=False)
class LinearModel(Shown):
    """δẋ = A δx + B δu, δy = C δx + D δu with the names of x, u and y.

    Shapes: A (n, n), B (n, r), C (k, n), D (k, r) for n states, r inputs and k outputs.

    >>> import svyaz
    >>> plant = svyaz.load("pendulum:1").linearise({"u1": 0.0})
    >>> plant.states, plant.roots.imag.round(4).tolist()
    (('u1', "u1'"), [3.1321, -3.1321])
    """

    A: Array
    B: Array
    C: Array
    D: Array
    states: tuple[str, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]

    @property
    def roots(self) -> NDArray[np.complex128]:
        """The eigenvalues of A."""
        found: NDArray[np.complex128] = eigvals(self.A).astype(complex)
        return found

    def to_control(self) -> StateSpace:
        """The same as a ``control.StateSpace`` with its names."""
        return state_space(self.A, self.B, self.C, self.states, self.inputs, self.outputs, through=self.D)

    @classmethod
    def from_control(cls, space: LinearSpace) -> LinearModel:
        """The same from a ``control.StateSpace``, or from anything with A, B, C and D, with its names where it has some.

        >>> from types import SimpleNamespace
        >>> found = LinearModel.from_control(SimpleNamespace(A=[[-1]], B=[[2]], C=[[1]], D=[[0]]))
        >>> found.states, found.step_response([0.0, 50.0])[:, 0, 0].round(12).tolist()
        (('x[0]',), [0.0, 2.0])
        """
        if getattr(space, "dt", 0) not in (0, None):
            raise ModelError([Problem("a system in discrete time was given; linear models here are those of motions")])
        b, c = (np.atleast_2d(np.asarray(matrix, dtype=float)) for matrix in (space.B, space.C))
        n = len(np.atleast_2d(np.asarray(space.A, dtype=float))) if np.size(space.A) else 0
        d = np.atleast_2d(np.asarray(getattr(space, "D", np.zeros((len(c), b.shape[-1]))), dtype=float))
        a, b, c = np.reshape(space.A, (n, n)).astype(float), b.reshape(n, d.shape[1]), c.reshape(len(d), n)
        named = (("state_labels", "x", n), ("input_labels", "u", d.shape[1]), ("output_labels", "y", len(d)))
        names = (tuple(getattr(space, key, None) or (f"{x}[{k}]" for k in range(many))) for key, x, many in named)
        return cls(a, b, c, d, *names)

    @check_arguments
    def frequency_response(self, omega: ArrayLike) -> NDArray[np.complex128]:
        """C (iω - A)⁻¹ B + D at each frequency: (frequencies, outputs, inputs)."""
        frequencies = np.atleast_1d(np.asarray(omega, dtype=float))
        eye = np.eye(len(self.A))
        solved = [np.linalg.solve(1j * w * eye - self.A, self.B.astype(complex)) for w in frequencies]
        return np.array([self.C @ x + self.D for x in solved])

    @check_arguments
    def step_response(self, times: ArrayLike) -> Array:
        """y from rest, for a unit step of each input at t = 0: (times, outputs, inputs); exact by the exponential of A."""
        from scipy.linalg import expm

        n, r = self.B.shape
        whole = np.zeros((n + r, n + r))
        whole[:n, :n], whole[:n, n:] = self.A, self.B
        moments = np.atleast_1d(np.asarray(times, dtype=float))
        if moments.size and moments.min() < 0:
            raise ValueError(f"'times' of a response must not be negative; the first is {moments.min():g}")
        found: Array = np.array([self.C @ expm(whole * t)[:n, n:] + self.D for t in moments])
        return found

    @check_arguments
    def forced_response(self, times: ArrayLike, u: ArrayLike, start: ArrayLike | None = None) -> Array:
        """y (times, outputs) under inputs that run straight from value to value, from ``start`` (states,) or from rest.

        ``u`` is (times, inputs), or (times,) for a single input. Exact: with u = u₀ + s t on an interval the states, u and s
        obey a linear system without inputs, whose exponential is taken.
        """
        from scipy.linalg import expm

        moments, (n, r) = np.asarray(times, dtype=float), self.B.shape
        given = np.asarray(u, dtype=float).reshape(len(moments), -1)
        if given.shape[1] != r or (moments.ndim, len(moments) < 1) != (1, False):
            raise ValueError(f"times (k,) and inputs (k, {r}) expected; got {np.shape(times)} and {np.shape(u)}")
        whole = np.zeros((n + 2 * r, n + 2 * r))
        whole[:n, :n], whole[:n, n : n + r], whole[n : n + r, n + r :] = self.A, self.B, np.eye(r)
        states = [np.zeros(n) if start is None else np.asarray(start, dtype=float)]
        flows: dict[float, Array] = {}
        for k, h in enumerate(np.diff(moments).tolist()):
            if h not in flows:
                flows[h] = expm(whole * h)
            flow = flows[h]
            states.append(flow[:n] @ np.concatenate([states[-1], given[k], (given[k + 1] - given[k]) / h]))
        return np.asarray(np.array(states) @ self.C.T + given @ self.D.T)


@check_arguments
def linear_model(
    equations: Equations,
    at: Mapping[str, float] | None = None,
    *,
    outputs: Sequence[str] = (),
    t: float = 0.0,
) -> LinearModel:
    """The linear model about a state (the initial one, with ``at`` replacing some of its states and inputs).

    ``outputs`` are names or expressions of the states and inputs; those of the model unless given, else all states.
    """
    system, f = equations.system, NumericEquations(equations)
    known = {**dict(zip(system.states, system.initial_state(), strict=True)), **system.constants}
    for name in at or {}:
        if name not in system.states and name not in system.inputs:
            names = (*system.states, *system.inputs)
            raise ModelError([Problem(f"'{name}' is neither a state nor an input", hint=nearest(name, names))])
    known |= {name: float(value) for name, value in (at or {}).items()}
    missing = [name for name in f.states if name not in known]
    if missing:
        raise ModelError([Problem(f"the form '{equations.form}' has a state of its own, '{missing[0]}': take another")])
    x, u = np.array([known[name] for name in f.states]), np.array([known[name] for name in f.inputs])
    wanted = {text: equations.in_states(e) for text, e in _outputs(system, outputs or f.states).items()}
    if not outputs and system.outputs:
        wanted = {name: equations.in_states(e) for name, e in system.outputs.items()}
    variables = [se.Symbol(name) for name in (*f.states, *f.inputs)]
    reactions = sorted(n for e in wanted.values() for n in names_in(e) if n.startswith("multiplier "))
    if reactions:
        raise ModelError([Problem("an output with a multiplier has no place in a linear model yet: name others")])
    slopes = function(
        {"y": [gradient(e, variables) for e in wanted.values()]}, ("t", *f.states, *f.inputs), system.parameters
    )(np.concatenate([[t], x, u]))["y"].reshape(len(wanted), len(variables))
    n = len(f.states)
    return LinearModel(
        A=f.jacobian(t, x, u),
        B=f.input_jacobian(t, x, u).reshape(n, len(u)),
        C=slopes[:, :n],
        D=slopes[:, n:],
        states=f.states,
        inputs=f.inputs,
        outputs=tuple(wanted),
    )


@check_arguments
def with_controller(
    system: System,
    controller: LinearSpace,
    *,
    measure: Sequence[str],
    inputs: Sequence[str] | None = None,
    about: Mapping[str, float] | None = None,
) -> System:
    """The system with a linear controller ξ' = A ξ + B (y - y₀), u = u₀ + C ξ + D (y - y₀) in place of its inputs.

    ``measure`` are what the controller sees, names or expressions, in the order of its inputs; ``inputs`` are what it moves,
    in the order of its outputs (all of the model unless given). y₀ and u₀ belong to the point ``about`` which it was designed,
    with zero for what is left out. The states of the controller begin at zero, as ``controller 1``, … .
    """
    if getattr(controller, "dt", 0) not in (0, None):
        raise ModelError(
            [Problem("a controller in discrete time was given: step by step it can be run by a Simulator")]
        )
    a, b, c, d = (np.atleast_2d(np.asarray(getattr(controller, key), dtype=float)) for key in ("A", "B", "C", "D"))
    moved = tuple(system.inputs) if inputs is None else tuple(inputs)
    size = len(a) if a.size else 0
    if b.shape[-1] != len(measure) and d.shape[-1] != len(measure):
        raise ModelError([Problem(f"the controller takes {d.shape[-1]} measurements; {len(measure)} are named")])
    if len(d) != len(moved):
        raise ModelError([Problem(f"the controller gives {len(d)} controls; {len(moved)} inputs are named")])
    seen = list(_outputs(system, measure).values())
    refuse_unknown("about", about or (), (*system.states, *system.inputs))
    point = {se.Symbol(s): float((about or {}).get(s, 0.0)) for s in system.states}
    values = {se.Symbol(name): value for name, value in system.parameters.items()}
    errors = [y - _number(substitute(y, {**point, **values, se.Symbol("t"): 0.0})) for y in seen]
    names = [f"controller {k + 1}" for k in range(size)]
    own = [se.Symbol(name) for name in names]
    rates = {name: _combined(a[k], own) + _combined(b[k], errors) for k, name in enumerate(names)}
    limits: dict[str, float] = {}
    laws: dict[str, Expression] = {}
    for k, name in enumerate(moved):
        if name not in system.inputs:
            raise ModelError([Problem(f"there is no input '{name}'", hint=nearest(name, system.inputs))])
        rest = float((about or {}).get(name, system.inputs[name].value))
        law = rest + (_combined(c[k], own) if size else 0) + _combined(d[k], errors)
        laws[name] = limited(system, name, law, limits)
    wider = replace(
        system.plain(),
        states=(*system.states, *names),
        rates={**system.rates, **rates},
        initial={**system.initial, **dict.fromkeys(names, 0.0)},
    )
    return under_laws(wider, laws, limits)


def _outputs(system: System, texts: Sequence[str]) -> dict[str, Expression]:
    """What is named, or written as an expression of the states and inputs."""
    moving = {*system.states, *system.inputs}
    return {
        text: se.Symbol(text)
        if text in moving
        else system.outputs.get(text) or parse(text, system.scope, start_of(text, "output"))
        for text in texts
    }


def _combined(row: Array, expressions: Sequence[Expression]) -> Expression:
    return add_up(se.RealDouble(float(k)) * e for k, e in zip(row, expressions, strict=True) if k != 0.0)


def _number(expression: Expression) -> float:
    strange = names_in(expression)
    if strange:
        raise ModelError([Problem(f"'{min(strange)}' has no place in a measurement")])
    return float(expression)
