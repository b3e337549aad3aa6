"""The first approximation of a system with geometric constraints in redundant coordinates, about an equilibrium.

With r = r₀ + x₁, ṙ = x₂, w = w₀ + x₃ (currents and other further states), s = s₀ + y, u = u₀ + v and z = y - B₀ x₁

    ẋ₁ = x₂
    ẋ₂ = N₁ x₁ + N₂ x₂ + N₃ x₃ + S₁ z + U₁ v + …
    ẋ₃ = N₄ x₁ + N₅ x₂ + N₆ x₃ + S₂ z + U₂ v + …
    ż  = (B(r, s) - B₀) x₂                                             (no linear terms)

(Aizerman and Gantmacher; Krasinskii; Ilyina 2019, 1.3.) The stiffness N₁ contains C^B = (B')^r(E⊗D₀) + (B')^s(E⊗D₀) B₀,
D₀ = ∂W/∂s - Q_s, hence second derivatives of the constraints: they are lost by linearising the constraints beforehand.
Forces that depend on the rate of a current do so here through the circuit equation, so that the block h of the source
is contained in the others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from svyaz.arguments import check_arguments
from svyaz.arrays import Array
from svyaz.expr import Expression, ModelError, Problem
from svyaz.forms import redundant_at
from svyaz.matrices import singular_values, spectral_norm
from svyaz.model import System
from svyaz.shown import Shown
from svyaz.stability.admissible import check_redundant, is_symbolic
from svyaz.stability.attitudes import attitude_chart
from svyaz.stability.headings import NOTHING_IGNORED, Ignorable
from svyaz.stability.starts import ON_THE_SURFACE, ConstraintNumbers, Start, complete_redundant, consistent_start
from svyaz.stability.tree_tables import equilibrium_tables

BALANCED = 1e-6
"""Forces and constraints at an equilibrium may be off by this part of their sizes."""

ROUNDING = 1e-9
"""So inexact the coordinates may be: where all forces vanish, their slopes give the scale."""

DEGENERATE = 1e-10
"""∂F/∂s with a reciprocal condition number below this has no inverse."""

NEARLY_DEGENERATE = 1e-3
"""Below this reciprocal condition number of ∂F/∂s the choice of redundant coordinates is warned of."""


@dataclass(frozen=True, repr=False)
class FirstApproximation(Shown):
    """ξ' = A ξ + B u + Z z, ż = 0 to first order, ξ = (x₁, x₂, x₃) named by ``variables``.

    ``slope`` is B₀ of ṡ = B ṙ; ``stiffness`` C + C^B - F and ``inertia`` a_rr belong to a_rr ẍ + … + stiffness x = 0;
    ``second_order`` is C^B, the part that linearised constraints lose. ``conditioning`` is the least singular
    value of ∂F/∂s over the largest of ∂F/∂q, with unit rows of the latter; ``notes`` warn of a nearly degenerate split.

    Shapes: A (n, n), B (n, r), Z (n, m) for n variables, r inputs and m constraints.

    >>> import svyaz
    >>> found = svyaz.first_approximation(svyaz.load("pendulum:1"), {"u1": 0.0})
    >>> found.variables, found.A.round(6).tolist()
    (('u1', "u1'"), [[0.0, 1.0], [-9.81, 0.0]])
    """

    system: System
    state: Mapping[str, float]
    inputs: Mapping[str, float]
    independent: tuple[str, ...]
    dependent: tuple[str, ...]
    further: tuple[str, ...]
    A: Array
    B: Array
    Z: Array
    slope: Array
    inertia: Array
    stiffness: Array
    second_order: Array
    conditioning: float = 1.0
    notes: tuple[str, ...] = ()

    @property
    def variables(self) -> tuple[str, ...]:
        """Names of ξ."""
        return (*self.independent, *(f"{q}'" for q in self.independent), *self.further)

    @property
    def input_names(self) -> tuple[str, ...]:
        """The order of u, the columns of B."""
        return tuple(self.inputs)

    @property
    def following(self) -> dict[str, Array]:
        """Slopes by ξ of what follows from it: the redundant coordinates and their velocities."""
        n, none = len(self.independent), np.zeros(len(self.further))
        places = {
            s: np.concatenate([row, np.zeros(n), none]) for s, row in zip(self.dependent, self.slope, strict=True)
        }
        return places | {f"{s}'": np.roll(row, n) if n else row for s, row in places.items()}

    @property
    def ignored(self) -> Ignorable:
        """Coordinates that no equation needs: about an equilibrium all are examined."""
        return NOTHING_IGNORED

    @property
    def turned(self) -> dict[str, Expression]:
        """Velocities in axes that turn with a heading, by name."""
        return self.ignored.velocities

    @property
    def fed(self) -> dict[str, Expression]:
        """Deviations of variables that are velocities in turned axes."""
        return {name: e - self.state[name] for name, e in self.turned.items() if name in self.variables}

    @property
    def start_names(self) -> tuple[str, ...]:
        """What may be given of a start: ξ, and redundant coordinates, which may be off the constraints."""
        return (*self.variables, *self.dependent)

    def own_states(self, states: Sequence[str]) -> tuple[str, ...]:
        """Those of the states of a closed loop that return with ξ: all coordinates, independent velocities, further states."""
        own = set(self.start_names)
        return tuple(name for name in states if name in own)

    def conserved(self, rows: Array) -> Array:
        """Of rows l with l ξ that no input moves, those that differ in steady motions nearby: none about an equilibrium."""
        return rows[:0]

    def refuse_heading(self, text: str, e: Expression) -> None:
        """Raise where an expression tells the place or the heading of what moves steadily; an equilibrium has neither."""

    def start(self, deviations: Mapping[str, float]) -> Start:
        """The whole state with these deviations, by Algorithm 4.4.1; redundant coordinates are added as they are given."""
        free = {name: x for name, x in deviations.items() if name not in self.dependent}
        found = consistent_start(self.system, self.state, self.dependent, free)
        state = dict(found.state)
        state |= {name: state[name] + x for name, x in deviations.items() if name in self.dependent}
        numbers = ConstraintNumbers(self.system, self.dependent)
        off = numbers.values(state)
        consistent = bool(np.all(np.abs(off) <= ON_THE_SURFACE * numbers.size(state)))
        residuals = {c.name: float(x) for c, x in zip(self.system.constraints, off, strict=True)}
        return Start(state, residuals, consistent, found.halvings, found.refinement.steps)

    def complete_each(
        self, names: Sequence[str], deviations: Array
    ) -> tuple[tuple[str, ...], Array, NDArray[np.bool_]]:
        """Values (k, names) of the ``start_names`` on the constraints for rows of deviations, and for which rows they are."""
        values = np.tile([self.state.get(name, 0.0) for name in self.start_names], (len(deviations), 1))
        values[:, [self.start_names.index(name) for name in names]] += deviations
        met = complete_redundant(
            self.system, self.inputs, self.start_names, self.dependent, self.slope, self.state, values
        )
        return self.start_names, values[met], met

    def at(
        self, state: Mapping[str, float], inputs: Mapping[str, float], parameters: Mapping[str, float]
    ) -> tuple[FirstApproximation, FirstApproximation]:
        """The same at another equilibrium, with other values of parameters, and what linearised constraints make of it."""
        given = self.system, state, inputs, self.dependent, parameters
        return first_approximation(*given), with_linearised_constraints(*given)

    def linearised(self) -> FirstApproximation:
        """The model that results when the constraints are linearised beforehand."""
        return with_linearised_constraints(self.system, self.state, self.inputs, self.dependent or None)

    @property
    def blocks(self) -> dict[str, Array]:
        """N1 … N6, S1, S2, U1, U2 as the source names them."""
        n, k = len(self.independent), len(self.further)
        x1, x2, x3 = slice(0, n), slice(n, 2 * n), slice(2 * n, 2 * n + k)
        names = ("N1", "N2", "N3", "N4", "N5", "N6")
        parts = [self.A[row, column] for row in (x2, x3) for column in (x1, x2, x3)]
        return {
            **dict(zip(names, parts, strict=True)),
            "S1": self.Z[x2],
            "S2": self.Z[x3],
            "U1": self.B[x2],
            "U2": self.B[x3],
        }

    @property
    def full_matrix(self) -> Array:
        """The matrix of (ξ, z): order 2n + k + m, with m rows of zeros."""
        m = len(self.dependent)
        return np.block([[self.A, self.Z], [np.zeros((m, len(self.A) + m))]])

    @property
    def linearisation_defect(self) -> float:
        """‖C^B‖: what is wrong in the stiffness when the constraints are linearised beforehand; zero if that is allowed."""
        return float(np.linalg.norm(self.second_order))

    @property
    def may_linearise_constraints(self) -> bool:
        """Is the defect no more than rounding?"""
        size = float(np.linalg.norm(self.stiffness)) + float(np.linalg.norm(self.second_order))
        return self.linearisation_defect <= 1e-9 * max(size, 1e-300)


@check_arguments
def first_approximation(
    system: System,
    state: Mapping[str, float],
    inputs: Mapping[str, float] | None = None,
    dependent: Sequence[str] | None = None,
    parameters: Mapping[str, float] | None = None,
) -> FirstApproximation:
    """The matrices by their formulas about the equilibrium with these coordinates, further states and inputs.

    ``parameters`` replace values of the model, so that many values cost no new derivation; names that the system does not
    have are passed over. Bodies on ball and free joints have the variables rot_BODY_x, rot_BODY_y, rot_BODY_z: turns about body
    axes from the attitude given.

    >>> import svyaz
    >>> svyaz.first_approximation(svyaz.load("pendulum:1"), {"u1": 0.0}).A.shape
    (2, 2)
    """
    split = _Split(system, state, inputs, dependent, parameters)
    split.refuse_motion()
    return split.approximation()


def formal_approximation(
    system: System,
    state: Mapping[str, float],
    inputs: Mapping[str, float] | None = None,
    dependent: Sequence[str] | None = None,
    parameters: Mapping[str, float] | None = None,
) -> FirstApproximation:
    """The same formulas at a position that need not be one of rest: to see how the matrices change near an equilibrium."""
    return _Split(system, state, inputs, dependent, parameters).approximation()


def with_linearised_constraints(
    system: System,
    state: Mapping[str, float],
    inputs: Mapping[str, float] | None = None,
    dependent: Sequence[str] | None = None,
    parameters: Mapping[str, float] | None = None,
) -> FirstApproximation:
    """The model that results when F is replaced by its linear part before the equations are formed: C^B is missing.

    It is right only where the defect is zero; it is here to be compared with.
    """
    split = _Split(system, state, inputs, dependent, parameters)
    split.refuse_motion()
    return split.approximation(curved=False)


def _best_columns(matrix: Array, names: Sequence[str]) -> tuple[str, ...]:
    """As many columns as rows, each the largest beside those before it."""
    from scipy.linalg import qr

    order = qr(matrix, mode="r", pivoting=True)[1][: len(matrix)]
    return tuple(names[k] for k in sorted(order))


class _Split:
    """Numbers at a position, with the coordinates divided into independent and redundant ones."""

    def __init__(
        self,
        system: System,
        state: Mapping[str, float],
        inputs: Mapping[str, float] | None,
        dependent: Sequence[str] | None,
        parameters: Mapping[str, float] | None = None,
    ) -> None:
        if system.turns_freely:  # in the tangent space of ball and free joints
            system = attitude_chart(system, state).system
            state = {**system.initial, **{name: x for name, x in state.items() if name in system.states}}
        self.system = system
        self.inputs = {name: float((inputs or {}).get(name, given.value)) for name, given in system.inputs.items()}
        self.state = {name: float(state.get(name, 0.0)) for name in (*system.coordinates, *system.rates)}
        self.values = {**system.constants, **(parameters or {}), **self.state, **self.inputs}
        self.further = tuple(system.rates)
        self.numbers = equilibrium_tables(system, self.values)
        self.dependent = tuple(dependent) if dependent else self._redundant()
        self.independent = tuple(q for q in system.coordinates if q not in self.dependent)
        if not self.independent:
            raise ModelError([Problem("there are as many constraints as coordinates: nothing is left that could move")])
        place = {q: k for k, q in enumerate(system.coordinates)}
        check_redundant(system, self.dependent)
        self.r = [place[q] for q in self.independent]
        self.s = [place[q] for q in self.dependent]
        self.notes: tuple[str, ...] = ()
        self.conditioning = 1.0
        self.inverse = self._inverse()
        self.slope = -self.inverse @ self.numbers.jacobian[:, self.r]

    def _redundant(self) -> tuple[str, ...]:
        """Those that the model declares, or that the constraints are best solved for here."""
        if not is_symbolic(self.system):
            declared = tuple(q for c in self.system.constraints for q in c.dependent)
            whole = len(declared) == len(self.system.constraints)
            return declared if whole else _best_columns(self.numbers.jacobian, self.system.coordinates)
        here = {**self.values, **dict.fromkeys(self.system.velocities, 0.0), **self.state}
        return redundant_at(self.system, here)

    def _inverse(self) -> Array:
        """(∂F/∂s)⁻¹; a split that is degenerate here is refused, a nearly degenerate one noted."""
        if not self.s:
            return np.zeros((0, 0))
        block = self.numbers.jacobian[:, self.s]
        sizes = np.linalg.norm(self.numbers.jacobian, axis=1, keepdims=True)
        unit = np.where(sizes > 0, sizes, 1.0)
        values = singular_values(block / unit)
        names = ", ".join(f"'{q}'" for q in self.dependent)
        largest = spectral_norm(self.numbers.jacobian / unit)
        self.conditioning = float(values[-1]) / max(largest, 1e-300)
        if values[-1] < DEGENERATE:
            raise ModelError(
                [
                    Problem(
                        f"at this position the constraints cannot be solved for {names}: det ∂F/∂s = 0",
                        hint="take other coordinates as redundant",
                    )
                ]
            )
        if values[-1] < NEARLY_DEGENERATE:
            self.notes = (f"∂F/∂s is nearly singular for {names}: take other coordinates as redundant",)
        return np.asarray(np.linalg.inv(block), dtype=float)

    def refuse_motion(self) -> None:
        """Raise unless the forces balance, the constraints hold and the further states rest."""
        numbers, slope = self.numbers, self.slope
        net = numbers.bias[self.r] + slope.T @ numbers.bias[self.s]
        size, steepness = numbers.sizes
        reach = 1 + float(np.linalg.norm(list(self.state.values())))
        rounding = ROUNDING * steepness * reach
        reasons = []
        if np.linalg.norm(net) > BALANCED * size + rounding:
            reasons.append(f"the forces are not in balance (they are off by {np.linalg.norm(net):.3g})")
        for c, value, row in zip(self.system.constraints, numbers.constraint, numbers.jacobian, strict=True):
            if abs(value) > BALANCED * max(float(np.linalg.norm(row)) * reach, 1e-12):
                reasons.append(f"the constraint '{c.name}' is off by {value:.3g}")
        for k, (name, value) in enumerate(zip(self.further, numbers.rate, strict=True)):
            speed = np.abs(numbers.rate_slopes["w"][k]) @ np.abs([self.state[x] for x in self.further])
            speed += np.abs(numbers.rate_slopes["u"][k]) @ np.abs(list(self.inputs.values()))
            if abs(value) > BALANCED * max(float(speed), 1e-12):
                reasons.append(f"'{name}' changes at the rate {value:.3g}")
        if reasons:
            raise ModelError([Problem(f"this is no equilibrium: {'; '.join(reasons)}")])

    def approximation(self, *, curved: bool = True) -> FirstApproximation:
        """N₁ … U₂ of T'(A T ẍ + δb) = 0, T = [E; B], with C^B = -T' (λ ∂²F/∂q²) T where constraints are ``curved``."""
        x, r, s = self.numbers, self.r, self.s
        n, B = len(r), self.slope

        def projected(full: Array) -> Array:
            """T' full of a matrix with a row for each coordinate."""
            return full[r] + B.T @ full[s]

        def along(full: Array) -> Array:
            """full T of a matrix with a column for each coordinate."""
            return full[:, r] + full[:, s] @ B

        slopes, rates = x.bias_slopes, x.rate_slopes
        multipliers = self.inverse.T @ x.bias[s]
        bent = -projected(np.einsum("m,mij->ij", multipliers, x.curvature)) * curved
        inertia = projected(along(x.inertia))
        total = projected(slopes["q"]) + bent
        stiffness = along(total)
        mobility = _inverse_inertia(inertia, self.independent)
        by_state = mobility @ -np.hstack([stiffness, projected(along(slopes["v"])), projected(slopes["w"])])
        below = np.hstack([along(rates["q"]), along(rates["v"]), rates["w"]])
        return FirstApproximation(
            system=self.system,
            state=self.state,
            inputs=self.inputs,
            independent=self.independent,
            dependent=self.dependent,
            further=self.further,
            A=np.vstack([np.eye(n, by_state.shape[1], n), by_state, below]),
            B=np.vstack([np.zeros((n, len(self.inputs))), -mobility @ projected(slopes["u"]), rates["u"]]),
            Z=np.vstack([np.zeros((n, len(s))), -mobility @ total[:, s], rates["q"][:, s]]),
            slope=B,
            inertia=inertia,
            stiffness=stiffness,
            second_order=along(bent),
            conditioning=self.conditioning,
            notes=self.notes,
        )


def _inverse_inertia(inertia: Array, independent: Sequence[str]) -> Array:
    """a_rr⁻¹; coordinates that move without inertia have no first approximation of this kind."""
    sizes = np.sqrt(np.abs(np.diag(inertia)))
    still = [q for q, size in zip(independent, sizes, strict=True) if not size > 0]
    values = np.zeros(1) if still else singular_values(inertia / np.outer(sizes, sizes))
    if len(inertia) and values[-1] < 1e-13:
        names = ", ".join(still or independent)
        raise ModelError([Problem(f"the inertia matrix of {names} is singular: they move without inertia")])
    return np.asarray(np.linalg.solve(inertia, np.eye(len(inertia))))
