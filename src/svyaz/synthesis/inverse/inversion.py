"""From a wanted motion to a mechanical system that has it: q̇ = v(q) made attractive (Kaspirovich 3.1).

With h = q̇ - v(q) and any symmetric matrix d(q) the explicit system

    q̈ = (∂v/∂q) q̇ + K h,     K = -(d + (∂v/∂q)ᵀ),

is the Lagrange–Rayleigh system of L = ½ |h|², D = ½ hᵀ d h. For V = ½ |h|² it gives V̇ = -hᵀ (d + sym ∂v/∂q) h, so h
dies out at no less than the smallest eigenvalue of d + sym ∂v/∂q along the motion. A one-step method with stability
function S and step τ keeps it attractive only if |S(τλ)| < 1 for the eigenvalues λ of K.

The stabilising function need not be linear in h: d(q, q̇) h, or ∂D/∂q̇ of a function D that is stationary on the field. On the
wanted motion its linear part, d at q̇ = v, decides as above; off it the rate of decay -V̇/|h|² is looked at along the motion
itself from the initial state (``synthesis.attraction``).

Constraints may be given instead of the field (``synthesis.family``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf

import numpy as np
import symengine as se
from numpy.typing import NDArray

from svyaz.arguments import check_arguments
from svyaz.arrays import Array
from svyaz.expr import (
    HALF,
    Expression,
    ModelError,
    Problem,
    add_up,
    combine,
    differentiate,
    substitute,
    to_text,
    velocity,
)
from svyaz.forms import lagrangian
from svyaz.matrices import eigvals, eigvalsh
from svyaz.model import Attracting, System, system_of, to_toml
from svyaz.motion import simulate
from svyaz.program import Program, build, compile_program
from svyaz.shown import Shown
from svyaz.stabilise import Options, options_for, scheme_of
from svyaz.synthesis.inverse.attraction import FieldApproach, approach, rayleigh_function, symmetric_slopes
from svyaz.synthesis.inverse.construction import field_system

SAMPLES = 2001
"""Moments along the wanted motion at which eigenvalues are looked at."""
ROUNDING = 1e-12
"""A real part of this size beside the largest root counts as zero."""


@dataclass(frozen=True, repr=False)
class Inverse(Shown):
    """The system found, with its gains K (n, n) and what is known about them along the wanted motion.

    ``rayleigh`` is D, None where none was found. ``approach`` tells of a stabilising function that is not linear in the
    deviation, where the model starts off the field.

    >>> import svyaz
    >>> found = svyaz.System(coordinates=["x"], field={"x": "-x"}, rayleigh=[[2]]).invert()
    >>> found.positive_definite
    True
    """

    system: System
    gains: tuple[tuple[Expression, ...], ...]
    accelerations: Mapping[str, Expression]
    decay_rate: float
    roots: Array
    method: str
    step: float | None
    step_limit: float
    euler_limit: float
    rayleigh: Expression | None = None
    approach: FieldApproach | None = None

    @property
    def field(self) -> Mapping[str, Expression]:
        """v(q), by coordinates."""
        return attracting_law(self.system).field

    @property
    def nonlinear(self) -> bool:
        """Is the stabilising function not linear in the deviation?"""
        return attracting_law(self.system).nonlinear

    @property
    def without_rayleigh(self) -> str:
        """Why there is no Rayleigh function, or an empty text."""
        if self.rayleigh is not None:
            return ""
        if symmetric_slopes(attracting_law(self.system)):
            return "the Rayleigh function of the stabilising forces was not found"
        return "the stabilising forces have no Rayleigh function, their slopes by the velocities are not symmetric"

    @property
    def positive_definite(self) -> bool:
        """Is d + sym ∂v/∂q positive definite along the wanted motion?"""
        return self.decay_rate > 0.0

    @property
    def repels(self) -> str:
        """Where h' = K h grows, K having a root with a positive real part there: 'all along', 'on a part of', or ''."""
        greatest = self.roots.real.max(axis=-1)
        growing = greatest > ROUNDING * np.abs(self.roots).max()
        return "all along" if growing.all() else "on a part of" if growing.any() else ""

    @property
    def stable(self) -> bool:
        """Do the roots of K let the deviation die out, and does the method keep this so with its step?"""
        return bool(self.roots.real.max() < 0.0) and self.within_step

    @property
    def within_step(self) -> bool:
        """Is the step short enough for the method? With error control it always is."""
        return self.step is None or self.step < self.step_limit

    @property
    def reasons(self) -> tuple[str, ...]:
        """What speaks against it, in words."""
        told = []
        if not self.positive_definite:
            verdict = "the field is not shown to attract"
            if self.repels:
                verdict = (
                    f"the field repels: the deviation h = q' - v obeys h' = K h and grows {self.repels} the wanted motion, "
                    f"K has roots with real parts up to {self.roots.real.max():.6g}"
                )
            told.append(
                f"{verdict}: d + sym dv/dq is not positive definite along the wanted motion, "
                f"its smallest eigenvalue is {self.decay_rate:.6g}"
            )
        if not self.within_step and not self.repels:
            told.append(
                f"unstable with {self.method} and the step {self.step:g}: the largest step is {self.step_limit:.4g}, "
                f"the gains may be {self.step_limit / (self.step or inf):.4g} times as large as they are"
            )
        if self.approach is not None and self.approach.fails:
            told.append(self.approach.text)
        return tuple(told)


@check_arguments
def invert(
    system: System, *, method: str | None = None, step: float | None = None, until: float | None = None
) -> Inverse:
    """A Lagrange–Rayleigh system for which the field of the model attracts, looked at up to the time ``until``.

    The bound on the step is that of ``method``; all three are those of the model's [run] unless given.
    """
    made = system if isinstance(system.law, Attracting) else field_system(system)
    options = options_for(made, {"method": method, "step": step, "until": until})
    along = motion_along_field(made, options)
    law = attracting_law(made)
    roots = eigvals(values_along(made, on_field(made, gain_matrix(made)), along)).astype(complex)
    return Inverse(
        system=made,
        gains=gain_matrix(made),
        accelerations=explicit_accelerations(made),
        decay_rate=decay_rate(made, along),
        roots=roots,
        method=options.method,
        step=options.step,
        step_limit=step_limit(options, roots.ravel()),
        euler_limit=step_limit(replace(options, method="euler", step=1.0, rtol=None), roots.ravel()),
        rayleigh=rayleigh_function(law) if law.nonlinear else made.dissipation,
        approach=approach(made, field_jacobian(made), options.until) if law.nonlinear else None,
    )


def attracting_law(system: System) -> Attracting:
    """The law of a system made for a velocity field."""
    assert isinstance(system.law, Attracting), "only systems with a velocity field come here"
    return system.law


def field_jacobian(system: System) -> list[list[Expression]]:
    """∂v^a/∂q^b."""
    q = [se.Symbol(name) for name in system.coordinates]
    return [[differentiate(v, x) for x in q] for v in attracting_law(system).field.values()]


def gain_matrix(system: System) -> tuple[tuple[Expression, ...], ...]:
    """K = -(d + (∂v/∂q)ᵀ); of a function D that is not quadratic in h its linear part on the field."""
    slopes, law = field_jacobian(system), attracting_law(system)
    d = on_field(system, law.rayleigh) if law.stated and law.nonlinear else law.rayleigh
    return tuple(tuple(combine(-(e + slopes[j][i])) for j, e in enumerate(row)) for i, row in enumerate(d))


def on_field(system: System, entries: Sequence[Sequence[Expression]]) -> list[list[Expression]]:
    """Expressions where q̇ = v(q)."""
    there = {velocity(q): v for q, v in attracting_law(system).field.items()}
    return [[substitute(e, there) for e in row] for row in entries]


def explicit_accelerations(system: System) -> dict[str, Expression]:
    """q̈ = (∂v/∂q) q̇ + K h; where K is only the linear part, q̈ = (∂v/∂q) q̇ - (∂v/∂q)ᵀ h - ∂D/∂q̇."""
    v, law, slopes = [velocity(q) for q in system.coordinates], attracting_law(system), field_jacobian(system)
    h, rates = law.deviation, [[s * x for s, x in zip(row, v, strict=True)] for row in slopes]
    if law.stated and law.nonlinear:
        back = [[-slopes[j][i] * e for j, e in enumerate(h)] for i in range(len(v))]
        terms = [[*own, -push] for own, push in zip(back, law.against, strict=True)]
    else:
        terms = [[k * e for k, e in zip(row, h, strict=True)] for row in gain_matrix(system)]
    return {q: add_up([*a, *b]) for q, a, b in zip(system.coordinates, rates, terms, strict=True)}


def decay_rate(system: System, along: Array) -> float:
    """The smallest eigenvalue of d + sym ∂v/∂q on the field, over rows of coordinates."""
    slopes, d = field_jacobian(system), on_field(system, attracting_law(system).rayleigh)
    n = len(slopes)
    entries = [[d[i][j] + HALF * (slopes[i][j] + slopes[j][i]) for j in range(n)] for i in range(n)]
    return float(eigvalsh(values_along(system, entries, along)).min())


def motion_along_field(system: System, options: Options) -> Array:
    """[t, q…] along q̇ = v(q) from the initial position, (SAMPLES, 1 + n)."""
    plain = system_of(
        {
            "states": list(system.coordinates),
            "rates": {q: to_text(v) for q, v in attracting_law(system).field.items()},
            "parameters": dict(system.constants),
            "initial": {q: system.initial.get(q, 0.0) for q in system.coordinates},
        }
    )
    motion = simulate(plain, method="dop853", rtol=1e-9, until=options.until, every=options.until / (SAMPLES - 1))
    if not motion.finished:
        message = f"the wanted motion does not reach t = {options.until:g}: {motion.reason}"
        raise ModelError([Problem(message, None, "choose a shorter 'until', or another initial position")])
    return np.column_stack([motion.times, motion.states])


def step_limit(options: Options, roots: NDArray[np.complex128]) -> float:
    """The largest step for which |S(τλ)| < 1 for all the roots; infinite for a run with error control."""
    if options.step is None:
        return inf
    scheme = scheme_of(options)
    if np.any(roots.real >= 0.0):
        return 0.0
    largest = float(np.abs(roots).max())

    def stable(tau: float) -> bool:
        return bool(np.all(np.abs(scheme.factor(tau * roots)) < 1.0))

    grid = np.concatenate([np.linspace(0.0, 20.0, 2001)[1:], np.geomspace(20.0, 1e6, 400)]) / largest
    beyond = next((k for k, tau in enumerate(grid) if not stable(float(tau))), None)
    if beyond is None:
        return inf
    low, high = (float(grid[beyond - 1]) if beyond else 0.0), float(grid[beyond])
    for _ in range(60):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if stable(middle) else (low, middle)
    return low


def values_along(system: System, entries: Sequence[Sequence[Expression]], rows: Array) -> Array:
    """A matrix of functions of t and the coordinates along rows [t, q…], (k, n, n)."""
    outputs = [(str(k), e) for k, e in enumerate(e for row in entries for e in row)]
    program = build(outputs, inputs=("t", *system.coordinates), parameters=tuple(system.constants))
    native = compile_program(program)
    n = len(system.coordinates)
    values = native.evaluate(rows, native.constants(system.constants)).reshape(-1, n, n)
    wrong = np.flatnonzero(~np.isfinite(values).all(axis=(1, 2)))
    if len(wrong):
        where = ", ".join(f"{q} = {x:.6g}" for q, x in zip(system.coordinates, rows[wrong[0], 1:], strict=True))
        message = f"the derivatives of the field or the matrix 'rayleigh' are not finite at {where}"
        raise ModelError([Problem(message, None, "choose another initial position, or a smooth field")])
    return values


def inverse_program(found: Inverse) -> Program:
    """Outputs: q̈ of each coordinate (``acceleration[x]``), the deviations h (``h[x]``), the gains (``K[x,y]``), and the
    rates of all states, by which the code can be integrated.
    """
    system = found.system
    q = system.coordinates
    outputs = [(f"acceleration[{name}]", a) for name, a in found.accelerations.items()]
    outputs.extend((f"h[{name}]", h) for name, h in zip(q, attracting_law(system).deviation, strict=True))
    outputs.extend(
        (f"K[{a},{b}]", entry) for a, row in zip(q, found.gains, strict=True) for b, entry in zip(q, row, strict=True)
    )
    rates = {name: velocity(name) for name in q} | {f"{name}'": a for name, a in found.accelerations.items()}
    outputs.extend((f"rate[{state}]", rates[state]) for state in system.states)
    return build(outputs, inputs=("t", *system.states), parameters=tuple(system.constants))


def inverse_model(found: Inverse) -> str:
    """A model file with the Lagrangian and the Rayleigh function, to be simulated like any other."""
    system = found.system
    start = dict(zip(system.states, system.initial_state(), strict=True))
    kept = ("method", "step", "rtol", "atol", "until")
    run = {key: value for key, value in system.run.items() if key in kept and isinstance(value, str | float)}
    tables = {
        "parameters": {name: float(value) for name, value in system.constants.items()},
        "initial": {name: float(value) for name, value in start.items() if value},
        "run": run,
    }
    if found.rayleigh is None:
        tables["forces"] = {q: to_text(force) for q, force in system.forces.items()}
    return to_toml(
        {
            "name": system.name,
            "coordinates": list(system.coordinates),
            "lagrangian": to_text(lagrangian(system)),
            **({} if found.rayleigh is None else {"dissipation": to_text(found.rayleigh)}),
            **{name: table for name, table in tables.items() if table},
        }
    )
