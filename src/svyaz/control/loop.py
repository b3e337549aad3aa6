"""The full nonlinear system under a linear control u = u₀ - K ξ, or u = u₀ - K ξ̂ with an observer beside it.

    ξ̂' = A ξ̂ + B (u - u₀) + Λ (σ(q, q̇, w) - σ₀ - C ξ̂)

Inputs with limits are cut off there. Gains, limits and the position of rest are constants of the program, so that other
gains need no new code. The equations may be in any form that has the variables of the control among its states.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import symengine as se
from scipy.linalg import expm

from svyaz.arrays import Array
from svyaz.control.design import Design
from svyaz.expr import ZERO, Expression, add_up, substitute, with_corners
from svyaz.forms import Equations, jacobian_program, rates_of, rates_program, shulgin_equations
from svyaz.integrate import Flow, Path, Status, integrate
from svyaz.program import Native, Program, build, choose_orders, compile_program
from svyaz.stability import ConstraintNumbers

DRIFT = 1e-10
REPETITIONS = 3

MOST_STEPS = 100_000
"""A motion that returns needs some thousands; one that whirls away faster and faster would need any number."""

RETURNED = 1e-3
"""A motion has returned when its deviation, each variable over its largest size, has fallen to this part."""


@dataclass(frozen=True)
class ClosedLoop:
    """The closed system as native code. ``states`` are those of the equations, then the estimates of an observer."""

    design: Design
    equations: Equations
    values: Mapping[str, float]
    control: Mapping[str, Expression]

    @property
    def states(self) -> tuple[str, ...]:
        return self.equations.states

    @property
    def extra(self) -> tuple[str, ...]:
        return tuple(name for name in self.values if name not in self.equations.constants)

    @cached_property
    def flows(self) -> tuple[Flow, Flow]:
        """Rates and their Jacobian."""
        rates = rates_of(self.equations)
        sample = {"t": 0.0, **dict(zip(self.states, map(float, self.at_rest), strict=True))}

        def flow(program: Program) -> Flow:
            native = compile_program(choose_orders(program, self.values, sample))
            return Flow(native.address, native.constants(self.values), len(self.states), native)

        return (
            flow(rates_program(self.equations, rates, self.extra)),
            flow(jacobian_program(self.equations, rates, self.extra)),
        )

    @cached_property
    def watch(self) -> tuple[Native, Array]:
        """Inputs, residuals of the constraints, and velocities that are no states, as functions of the state."""
        system = self.equations.system
        outputs = [(f"input {name}", e) for name, e in self.control.items()]
        outputs += [(f"residual {c.name}", c.expression) for c in system.constraints]
        outputs += list(self.equations.observed.items())
        program = build(outputs, inputs=("t", *self.states), parameters=tuple(self.values))
        native = compile_program(program)
        return native, native.constants(self.values)

    def rates_at(self, state: Array) -> tuple[Array, Array]:
        """f (N,) and ∂f/∂x (N, N) of the closed loop ẋ = f(x)."""
        given = np.concatenate([[0.0], state])
        value, slope = (flow.owner.evaluate(given, flow.constants) for flow in self.flows)  # type: ignore[attr-defined]
        return np.asarray(value), np.asarray(slope).reshape(len(state), len(state))

    @cached_property
    def at_rest(self) -> Array:
        """The equilibrium as a state of the loop."""
        rest = self.design.model.state
        return np.array([float(rest.get(name, 0.0)) for name in self.states])

    def entered(self, state: Mapping[str, float]) -> Array:
        """A state of the loop from a state of the model; the observer begins with the deviation zero."""
        return np.array([float(state.get(name, 0.0)) for name in self.states])

    def deviations(self, states: Array) -> Array:
        """ξ along rows of states."""
        places = [self.states.index(name) for name in self.design.model.variables]
        return np.asarray(states[:, places] - self.at_rest[places])

    def all_deviations(self, states: Array) -> Array:
        """Deviations of all states of the plant, the redundant coordinates among them."""
        count = len(self.states) - (0 if self.design.watcher is None else len(self.design.model.variables))
        return np.asarray(states[:, :count] - self.at_rest[:count])

    def run(
        self,
        state: Mapping[str, float],
        until: float,
        *,
        rtol: float = 1e-9,
        rows: int = 400,
        progress: Callable[[float], object] | None = None,
    ) -> Transient:
        """The nonlinear transient from a state of the model, and the linear one beside it.

        A run that lets the constraints drift by more than ``DRIFT`` of their slopes is repeated with tighter steps.
        """
        start = self.entered(state)
        times = np.linspace(0.0, until, rows + 1)
        allowed = DRIFT * ConstraintNumbers(self.equations.system, self.design.model.dependent).size(state)
        for tighter in range(REPETITIONS):
            path = self.integrated(start, until, max(rtol * 1e-2**tighter, 1e-13), times, progress)
            found = _transient(self, path, times)
            if found.status is not Status.FINISHED or found.drift <= allowed:
                break
        return found

    def small(self, starts: Array, rtol: float) -> Array:
        """Errors that may be neglected in runs from these starts (N, states): parts of the sizes at rest and at first."""
        sizes = np.maximum(np.abs(self.at_rest), np.abs(starts))
        return np.asarray(rtol * np.maximum(sizes, 1e-3 * sizes.max(axis=1, initial=1e-3, keepdims=True)))

    def integrated(
        self,
        start: Array,
        until: float,
        rtol: float,
        times: Array,
        progress: Callable[[float], object] | None = None,
        most: int = MOST_STEPS,
    ) -> Path:
        """By Radau's method, for the roots of a closed loop are far apart; a motion that needs more steps is lost."""
        rates, jacobian = self.flows
        return integrate(
            rates,
            start,
            (0.0, until),
            method="radau",
            rtol=rtol,
            atol=self.small(start[None, :], rtol)[0],
            output=times,
            jacobian=jacobian,
            progress=progress,
            max_steps=most,
        )


@dataclass(frozen=True)
class Transient:
    """A transient: ``deviations`` of the variables of the control, ``inputs``, ``residuals`` of the constraints over time.

    ``linear`` is the motion of the first approximation from the same start; ``size`` the deviation over its largest values.
    """

    loop: ClosedLoop
    times: Array
    states: Array
    deviations: Mapping[str, Array]
    inputs: Mapping[str, Array]
    residuals: Mapping[str, Array]
    linear: Mapping[str, Array]
    status: Status
    reason: str
    returned: bool

    @property
    def largest_residual(self) -> float:
        return max((float(np.abs(r).max()) for r in self.residuals.values()), default=0.0)

    @property
    def drift(self) -> float:
        """The largest change of a residual: constraints are first integrals, whatever the start."""
        return max((float(np.abs(r - r[0]).max()) for r in self.residuals.values()), default=0.0)

    @property
    def final(self) -> dict[str, float]:
        """The last state, by name."""
        return dict(zip(self.loop.states, map(float, self.states[-1]), strict=True))

    @property
    def falling(self) -> bool:
        """Is the deviation, each variable over its largest size, less in the last quarter than in the one before?"""
        sizes = np.abs(self.loop.all_deviations(self.states))
        scaled = (sizes / np.maximum(sizes.max(axis=0), 1e-300)).max(axis=1)
        quarter = max(1, len(scaled) // 4)
        return self.status is Status.FINISHED and bool(
            scaled[-quarter:].max() < 0.9 * scaled[-2 * quarter : -quarter].max()
        )


def closed_loop(
    design: Design, *, equations: Equations | None = None, parameters: Mapping[str, float] | None = None
) -> ClosedLoop:
    """The system of the design under its control; Shulgin's equations unless others are given.

    ``parameters`` replace those of the plant: the control keeps its gains and its position of rest.
    """
    model = design.model
    plant = equations or shulgin_equations(model.system, dependent=model.dependent or None)
    values: dict[str, float] = {**plant.system.constants, **(parameters or {}), **model.inputs}
    rest = {name: _named(values, f"rest {name}", model.state.get(name, 0.0)) for name in model.variables}
    deviations = {name: se.Symbol(name) - symbol for name, symbol in rest.items()}
    estimates = [f"estimate {name}" for name in model.variables] if design.watcher is not None else []
    fed = [se.Symbol(name) for name in estimates] or list(deviations.values())
    control, added = _control_law(design, fed, values)
    held = {se.Symbol(name): e for name, e in control.items()}
    explicit = {name: substitute(rate, held) for name, rate in plant.explicit.items()}
    if design.watcher is not None:
        explicit |= _observer(design, plant, estimates, added, values)
    closed = replace(
        plant,
        states=(*plant.states, *estimates),
        explicit=explicit,
        bias=tuple(substitute(e, held) for e in plant.bias),
    )
    return ClosedLoop(design, closed, values, control)


def _named(values: dict[str, float], name: str, value: float) -> se.Symbol:
    """A constant of the program with its value."""
    values[name] = float(value)
    return se.Symbol(name)


def _control_law(
    design: Design, fed: Sequence[Expression], values: dict[str, float]
) -> tuple[dict[str, Expression], list[Expression]]:
    """u by name, cut off at its limits, and u - u₀ in the order of the inputs."""
    system, law, added = design.model.system, {}, []
    for i, name in enumerate(design.inputs):
        held = _named(values, f"held {name}", design.model.inputs[name])
        variables = zip(design.model.variables, fed, strict=True)
        terms = [
            _named(values, f"gain {name} by {x}", design.regulator.gain[i, j]) * e for j, (x, e) in enumerate(variables)
        ]
        u = held - add_up(terms)
        given = system.inputs[name]
        if given.high is not None:
            u = with_corners(se.Min)(u, _named(values, f"most {name}", given.high))
        if given.low is not None:
            u = with_corners(se.Max)(u, _named(values, f"least {name}", given.low))
        law[name] = u
        added.append(u - held)
    return law, added


def _observer(
    design: Design, plant: Equations, estimates: Sequence[str], added: Sequence[Expression], values: dict[str, float]
) -> dict[str, Expression]:
    """The rates of the estimates."""
    assert design.watcher is not None
    assert design.measurement is not None
    look, c = design.watcher.gain, design.measurement.matrix
    model = design.model
    guess = [se.Symbol(name) for name in estimates]
    surprise = []
    for k, e in enumerate(design.measurement.expressions):
        rest = _named(values, f"measured {k} at rest", design.measurement.at_rest[k])
        expected = add_up(_named(values, f"C {k} {j}", c[k, j]) * x for j, x in enumerate(guess))
        surprise.append(plant.in_states(e) - rest - expected)
    rates = {}
    for i, name in enumerate(estimates):
        terms = [_named(values, f"A {i} {j}", model.A[i, j]) * x for j, x in enumerate(guess) if model.A[i, j] != 0]
        terms += [
            _named(values, f"B {i} {j}", b) * u
            for j, (b, u) in enumerate(zip(design.B[i], added, strict=True))
            if b != 0
        ]
        terms += [_named(values, f"look {i} {k}", look[i, k]) * s for k, s in enumerate(surprise)]
        rates[name] = add_up(terms) if terms else ZERO
    return rates


def _transient(loop: ClosedLoop, path: Path, times: Array) -> Transient:
    model = loop.design.model
    deviations = loop.deviations(path.states)
    native, constants = loop.watch
    table = native.evaluate(np.column_stack([path.times, path.states]), constants)
    columns = {name: table[:, k] for k, (name, _) in enumerate(native.program.outputs)}

    def family(prefix: str) -> dict[str, Array]:
        return {name.removeprefix(prefix): column for name, column in columns.items() if name.startswith(prefix)}

    return Transient(
        loop=loop,
        times=path.times,
        states=path.states,
        deviations=dict(zip(model.variables, deviations.T, strict=True)),
        inputs=family("input "),
        residuals=family("residual "),
        linear=dict(zip(model.variables, linear_transient(loop.design, deviations[0], times).T, strict=True)),
        status=path.status,
        reason=_reason(path),
        returned=path.status is Status.FINISHED and has_returned(loop.all_deviations(path.states)),
    )


def _reason(path: Path) -> str:
    """Why a run did not finish; steps that are used up mean that the motion grows faster than it can be followed."""
    if path.status is Status.STALLED and path.steps + path.rejected >= MOST_STEPS:
        return "it moves faster and faster"
    return path.reason


def has_returned(deviations: Array) -> bool:
    """Has the deviation fallen to a small part of its largest size, also over the last twentieth of the time?"""
    size = np.abs(deviations).max(axis=0)
    scaled = np.abs(deviations) / np.where(size > 0, size, 1.0)
    tail = scaled[-max(1, len(scaled) // 20) :]
    return bool(np.isfinite(tail).all() and tail.max(initial=0.0) <= RETURNED)


def linear_transient(design: Design, start: Array, times: Array) -> Array:
    """ξ of the first approximation under the control from ξ(0) = start, at equally spaced times."""
    closed = design.closed_matrix(design.model)
    state = np.zeros(len(closed))
    state[: len(start)] = start
    step = expm(closed * (times[1] - times[0])) if len(times) > 1 else np.eye(len(closed))
    rows = [state]
    for _ in times[1:]:
        rows.append(step @ rows[-1])
    return np.array(rows)[:, : len(start)]
