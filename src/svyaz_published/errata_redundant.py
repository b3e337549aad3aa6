"""Slips in the general formulas of 003 (Ilyina 2019, chapters 1, 2, appendix A), each as (error as printed, as corrected).

The errors are those of direct linearisation, of Riccati's or Lyapunov's equation, or of sizes that do not fit.
"""

from __future__ import annotations

import numpy as np
import symengine as se
from scipy.linalg import solve_continuous_are

from svyaz import System
from svyaz.arrays import Array
from svyaz.expr import evaluate
from svyaz.forms import derive, redundancy, shulgin_equations
from svyaz.gallery import random_mechanism
from svyaz.model import ModelWords
from svyaz.stability import equilibrium_tables, first_approximation
from svyaz_published.numbers import generator
from svyaz_published.shulgin_route import linearise_shulgin

Pair = tuple[float, float]


def _size(matrix: Array) -> float:
    return float(np.abs(matrix).max())


def _square_problem() -> tuple[Array, Array, Array, Array]:
    """A, B, Q, R with as many inputs as states, so that the printed products exist."""
    random = generator()
    a, b = random.normal(size=(2, 3, 3))
    q, r = np.diag([1.0, 2.0, 3.0]), np.diag([0.5, 1.0, 1.5])
    return a, b, q, r


def e1_gain_of_the_regulator() -> Pair:
    """(M - UK)ᵀV + V(M - UK) + Q + KᵀRK = 0 with the solution V of the Riccati equation: K = R⁻¹Q'V and K = R⁻¹U'V."""
    a, b, q, r = _square_problem()
    v = solve_continuous_are(a, b, q, r)

    def rest(gain: Array) -> float:
        closed = a - b @ gain
        return _size(closed.T @ v + v @ closed + q + gain.T @ r @ gain)

    printed, right = (np.asarray(np.linalg.solve(r, factor @ v), dtype=float) for factor in (q.T, b.T))
    return rest(printed), rest(right)


def e2_sign_of_s1() -> Pair:
    """S₁ = ±A⁻¹S against direct differentiation, S = C₂' + B'C₃ + C^B_rs - F_rs; no force depends on the rate of a current."""
    mechanism = random_mechanism(3, 2, 2, 1)
    system = mechanism.system
    found = first_approximation(system, mechanism.state, mechanism.inputs)
    direct = linearise_shulgin(system, mechanism.state, mechanism.inputs).blocks["S1"]
    values = {**system.constants, **mechanism.state, **mechanism.inputs}
    numbers = equilibrium_tables(system, values)
    place = {q: k for k, q in enumerate(system.coordinates)}
    r, s = [place[q] for q in found.independent], [place[q] for q in found.dependent]
    matrix = redundancy(derive(system, "multipliers"), found.dependent).matrix
    reaction = numbers.bias[s]
    bent = np.array(
        [
            [
                sum(evaluate(row[i].diff(se.Symbol(q)), values) * d for row, d in zip(matrix, reaction, strict=True))
                for q in found.dependent
            ]
            for i in range(len(r))
        ]
    )
    stiffness = numbers.bias_slopes["q"]
    s_matrix = stiffness[np.ix_(r, s)] + found.slope.T @ stiffness[np.ix_(s, s)] + bent
    s1 = np.linalg.solve(found.inertia, s_matrix)
    return _size(s1 - direct), _size(-s1 - direct)


def e3_order_of_the_matrix() -> Pair:
    """n counts coordinates and currents together: the order of the full matrix, 2n + k + m and 2n - k + m."""
    mechanism = random_mechanism(1, 2, 2, 1)
    found = first_approximation(mechanism.system, mechanism.state, mechanism.inputs)
    k, m = len(found.further), len(found.dependent)
    n = len(found.independent) + k
    order = len(found.full_matrix)
    return float(abs(2 * n + k + m - order)), float(abs(2 * n - k + m - order))


def e4_unit_matrix_of_the_currents() -> Pair:
    """N₆ - λE in the characteristic determinant: E has the size of the currents, k = 1, not the number m = 2 of constraints."""
    mechanism = random_mechanism(1, 2, 2, 1)
    found = first_approximation(mechanism.system, mechanism.state, mechanism.inputs)
    size = len(found.blocks["N6"])
    return float(abs(len(found.dependent) - size)), float(abs(len(found.further) - size))


CYCLIC: ModelWords = {
    "coordinates": ["a", "b", "s"],
    "kinetic": "a'^2*(1 + s^2)/2 + (2 + sin(a) + s^2)*b'^2/2 + (0.3*a + 0.2*s^2)*a'*b' + s'^2/2 + (sin(a) + a*s)*b'",
    "potential": "a^2/2 + s",
    "constraint": [{"equation": "s = 0.4*a + 0.3*a^2 + 0.1", "dependent": "s"}],
    "forces": {"a": "2*u1", "s": "3*u2"},
    "inputs": {"u1": 0.0, "u2": 0.0},
    "initial": {"a": 0.2, "s": 0.192},
}
"""One positional coordinate a, one cyclic b, one redundant s; the forces have the coefficients M₁ = 2 and M₂ = 3."""


def _cyclic_values(speed: float, turn: float) -> dict[str, float]:
    """A state with the velocities a' and b'; s and s' fit the constraint."""
    a = 0.2
    slope = 0.4 + 0.6 * a
    values = {"a": a, "b": 0.0, "s": 0.4 * a + 0.3 * a**2 + 0.1, "a'": speed, "b'": turn, "s'": slope * speed}
    return {**values, "u1": 0.0, "u2": 0.0, "t": 0.0}


def e5_explicit_equations_with_cyclic_velocities() -> Pair:
    """(2.1.6) for one a, b and s each: + for - before ½B'(E⊗ȧ')a_aa^{s'}ȧ, and 1 for ½ before B'(E⊗ḃ')a_bb^{s'}ḃ."""
    system = System(**CYCLIC)
    speed, turn = 0.7, 1.3
    values = _cyclic_values(speed, turn)
    equations = shulgin_equations(system)
    exact = evaluate(equations.bias[0], values)
    a, s = se.Symbol("a"), se.Symbol("s")
    slope = se.RealDouble(0.4) + se.RealDouble(0.6) * a
    a_aa, a_ab = 1 + s**2 + slope**2, se.RealDouble(0.3) * a + se.RealDouble(0.2) * s**2
    a_bb, a_b = 2 + se.sin(a) + s**2, se.sin(a) + a * s
    b = 0.4 + 0.6 * values["a"]

    def of(e: se.Basic) -> float:
        return evaluate(se.sympify(e), values)

    def left(sign: float, half: float) -> float:
        inertial = (of(a_aa.diff(a)) + b * of(a_aa.diff(s))) * speed**2
        inertial -= 0.5 * of(a_aa.diff(a)) * speed**2 + sign * 0.5 * b * of(a_aa.diff(s)) * speed**2
        # for one positional coordinate the terms with a_ab cancel
        mixed = (of(a_ab.diff(a)) + b * of(a_ab.diff(s)) - of(a_ab.diff(a)) - b * of(a_ab.diff(s))) * speed * turn
        turning = -(0.5 * of(a_bb.diff(a)) + half * b * of(a_bb.diff(s))) * turn**2
        gyroscopic = -(of(a_b.diff(a)) + b * of(a_b.diff(s))) * turn
        return inertial + mixed + turning + gyroscopic + values["a"] + b

    return abs(left(-1.0, 1.0) - exact), abs(left(1.0, 0.5) - exact)


def e6_sign_in_gamma() -> Pair:
    """The coefficient of ȧ in the equation of the cyclic velocity at a steady motion: A_ba - K_ab' and A_ba + K_ab'."""
    system = System(**CYCLIC)
    turn = 1.3
    values = _cyclic_values(0.0, turn)
    exact = evaluate(shulgin_equations(system).bias[1].diff(se.Symbol("a'")), values)
    a, s, b = values["a"], values["s"], 0.4 + 0.6 * values["a"]
    inertial = (np.cos(a) + 2 * s * b) * turn
    linear = np.cos(a) + s + a * b
    return abs(float(inertial - linear - exact)), abs(float(inertial + linear - exact))


def e7_coefficient_of_the_control_of_the_redundant_coordinate() -> Pair:
    """V_s: the acceleration that u₂ gives, with M₁ = 2 as printed and with M₂ = 3."""
    system = System(**CYCLIC)
    values = _cyclic_values(0.0, 0.0)
    equations = shulgin_equations(system)
    mass = np.array([[evaluate(e, values) for e in row] for row in equations.mass_matrix])
    inverse = np.linalg.inv(mass)
    exact = -inverse @ [evaluate(e.diff(se.Symbol("u2")), values) for e in equations.bias]
    b = 0.4 + 0.6 * values["a"]
    return _size(inverse[:, 0] * b * 2 - exact), _size(inverse[:, 0] * b * 3 - exact)


def e8_gain_of_the_observer() -> Pair:
    """The dual of Riccati's equation and Λ: rest of (N - ΛΣ)Y + Y(N - ΛΣ)' + Q + ΛRΛ' = 0 as printed, Λ = -Y'Q(R⁻¹)', and with
    Λ = YΣ'R⁻¹."""
    a, sigma, q, r = _square_problem()
    y = solve_continuous_are(a.T, sigma.T, q, r)

    def rest(gain: Array) -> float:
        closed = a - gain @ sigma
        return _size(closed @ y + y @ closed.T + q + gain @ r @ gain.T)

    return rest(-y.T @ q @ np.linalg.inv(r).T), rest(y @ sigma.T @ np.linalg.inv(r))


def e9_vec_of_the_transpose() -> Pair:
    """(x'⊗E)A^{a'}c = (E⊗c')(∂vec A/∂a)x with vec A as printed, and with vec A'; A = A₀a₁ + A₁a₂."""
    parts = generator().normal(size=(2, 3, 3))
    x, c = np.array([0.7, -1.2]), np.array([0.4, 1.1, -0.6])
    left = np.kron(x[None], np.eye(3)) @ np.vstack(list(parts)) @ c

    def right(turned: bool) -> Array:
        stacked = np.column_stack([(p.T if turned else p).T.ravel() for p in parts])
        return np.asarray(np.kron(np.eye(3), c[None]) @ stacked @ x)

    return _size(left - right(False)), _size(left - right(True))


def e10_momenta_in_the_normal_form() -> Pair:
    """ä by the deviation v of an uncontrolled cyclic momentum: (2.7.9) has no such term; it is -b₁H, here p₀ g'/g² for
    L = ½ȧ² + ½g(a)ċ² - a²/2, g = 2 + sin a."""
    system = System(
        coordinates=["a", "c"], kinetic="a'^2/2 + (2 + sin(a))*c'^2/2", potential="a^2/2", initial={"a": 0.3}
    )
    bias = system.derive("lagrange").bias[0]
    g, momentum, step = 2 + np.sin(0.3), 1.7, 1e-5

    def pushed(p: float) -> float:
        return -evaluate(bias, {"a": 0.3, "a'": 0.0, "c": 0.0, "c'": p / g})

    exact = (pushed(momentum + step) - pushed(momentum - step)) / (2 * step)
    formula = momentum * float(np.cos(0.3)) / g**2
    return abs(exact), max(abs(formula - exact) - 1e-9, 0.0)


def e29b_sign_of_the_error() -> Pair:
    """ξ̇ = (M - UK)ξ + UK e with u = -Kξ̂: for e = ξ̂ - ξ of (1.5.5) and for e = ξ - ξ̂."""
    random = generator()
    a, gain = random.normal(size=(3, 3)), random.normal(size=(1, 3))
    b, x, estimate = random.normal(size=(3, 1)), random.normal(size=3), random.normal(size=3)
    true = a @ x - b @ gain @ estimate
    sides = [(a - b @ gain) @ x + b @ gain @ e for e in (estimate - x, x - estimate)]
    return _size(sides[0] - true), _size(sides[1] - true)
