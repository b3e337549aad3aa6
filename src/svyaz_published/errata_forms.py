"""Slips in the printed equations of motion, each as (error of the printed formula, error of the corrected one).

Sources: 000 = Kaspirovich, candidate dissertation, RUDN University, 2023; 001 = Mukharlyamov, 2018.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import symengine as se

from svyaz import System
from svyaz.expr import Expression, add_up, differentiate, evaluate, substitute, total_derivative, velocity
from svyaz_published.numbers import accelerations, gallery_model, generator

Pair = tuple[float, float]


def e1_indices_of_the_test() -> Pair:
    """Ω_jkl of the sleigh's blade: with indices up to m = 1 it vanishes and would call the blade holonomic.

    The error is 1 when the test says "holonomic" and 0 otherwise; the blade has no potential.
    """
    phi = se.Symbol("phi")
    q = [se.Symbol("x"), se.Symbol("y"), phi]
    a = [-se.sin(phi), se.cos(phi), se.Integer(0)]

    def tensor(j: int, k: int, m: int) -> Expression:
        curl = [[a[s].diff(q[r]) - a[r].diff(q[s]) for s in range(3)] for r in range(3)]
        return a[j] * curl[k][m] + a[k] * curl[m][j] + a[m] * curl[j][k]

    def says_holonomic(size: int) -> float:
        entries = [tensor(j, k, m) for j in range(size) for k in range(size) for m in range(size)]
        return float(all(abs(evaluate(se.expand(e), {"phi": 0.7})) < 1e-12 for e in entries))

    return says_holonomic(1), says_holonomic(3)


def e2_mixed_derivative_twice() -> Pair:
    """ḧ of h = x² t + x t³ along x = sin(2 t), against the second derivative of h(x(t), t) itself."""
    x, t = se.Symbol("x"), se.Symbol("t")
    h, path = x**2 * t + x * t**3, se.sin(2 * t)
    v, a = path.diff(t), path.diff(t).diff(t)
    exact = substitute(h, {x: path}).diff(t).diff(t)
    mixed = h.diff(x).diff(t) * v
    rest = h.diff(x) * a + h.diff(x).diff(x) * v**2 + h.diff(t).diff(t)
    at = {"t": 0.6}
    once, twice = (evaluate(substitute(rest + n * mixed, {x: path}) - exact, at) for n in (1, 2))
    return abs(once), abs(twice)


def e3_rank_of_the_augmented_matrix() -> Pair:
    """A repeated row leaves the rank different from zero and the matrix without an inverse (smallest singular value 0).

    The error is 1 when the criterion calls the system solvable.
    """
    matrix = np.zeros((4, 4))
    matrix[:2, :2] = np.eye(2)
    matrix[2:, :2] = [[1.0, 1.0], [1.0, 1.0]]
    matrix[:2, 2:] = matrix[2:, :2].T
    rank = np.linalg.matrix_rank(matrix)
    return float(rank != 0), float(rank == 4)


def e4_momentum_in_chaplygins_equation() -> Pair:
    """Chaplygin's equations of the sleigh with the true accelerations put in: ∂L/∂ẏ stands in them, not ∂L/∂y = 0."""
    system = gallery_model("sleigh")
    lagrangian, slope = system.lagrangian, se.tan(se.Symbol("phi"))
    momentum, force = differentiate(lagrangian, velocity("y")), differentiate(lagrangian, se.Symbol("y"))
    onto = {velocity("y"): slope * velocity("x")}
    reduced = substitute(lagrangian, onto)
    state = {"x": 0.3, "phi": 0.5, "x'": 0.8, "y'": 0.8 * float(np.tan(0.5)), "phi'": 0.7}
    found = accelerations(system, state)
    values = {**system.constants, **state, "x''": found["x"], "phi''": found["phi"]}
    errors = []
    for factor in (force, momentum):
        turn = substitute(factor, onto) * slope.diff(se.Symbol("phi"))
        sides = [
            _lagrange_side(reduced, "x", ["x", "phi"]) - turn * velocity("phi"),
            _lagrange_side(reduced, "phi", ["x", "phi"]) + turn * velocity("x"),
        ]
        errors.append(max(abs(evaluate(side, values)) for side in sides))
    return errors[0], errors[1]


def _lagrange_side(lagrangian: Expression, q: str, coordinates: Sequence[str]) -> Expression:
    """d/dt ∂L/∂q̇ - ∂L/∂q with accelerations x''."""
    rates = {se.Symbol(c): velocity(c) for c in coordinates} | {velocity(c): se.Symbol(c + "''") for c in coordinates}
    return total_derivative(differentiate(lagrangian, velocity(q)), rates) - differentiate(lagrangian, se.Symbol(q))


VORONETS = {"x": "sin(y) + 0.3*z", "y": "x*z"}
"""ż = α_x ẋ + α_y ẏ with coefficients that depend on all coordinates."""


def _voronets_system() -> tuple[System, dict[str, Expression], dict[str, float]]:
    row = " + ".join(f"({alpha})*{q}'" for q, alpha in VORONETS.items())
    system = System(
        coordinates=["x", "y", "z"],
        kinetic="(x'^2 + 2*y'^2 + 3*z'^2)/2",
        potential="x*y + z^2",
        constraint=[{"equation": f"z' = {row}"}],
    )
    x, y, z = (se.Symbol(n) for n in "xyz")
    alpha = {"x": se.sin(y) + se.RealDouble(0.3) * z, "y": x * z}
    state = {"x": 0.4, "y": -0.3, "z": 0.7, "x'": 0.9, "y'": -0.5}
    state["z'"] = sum(evaluate(alpha[q], state) * state[f"{q}'"] for q in alpha)
    found = accelerations(system, state)
    return system, alpha, {**state, **{f"{q}''": found[q] for q in "xyz"}}


def e5_four_terms_in_voronets() -> Pair:
    """Voronets' equations with the true accelerations put in, with three and with four terms in γ."""
    system, alpha, values = _voronets_system()
    z, q = se.Symbol("z"), {n: se.Symbol(n) for n in "xy"}
    row = add_up(alpha[n] * velocity(n) for n in "xy")
    reduced = substitute(system.lagrangian, {velocity("z"): row})
    momentum = substitute(differentiate(system.lagrangian, velocity("z")), {velocity("z"): row})
    rates = {se.Symbol(n): velocity(n) for n in "xyz"} | {velocity(n): se.Symbol(n + "''") for n in "xy"}
    errors = []
    for third in (0, 1):
        worst = 0.0
        for j in "xy":
            gamma = {
                m: alpha[j].diff(q[m])
                - alpha[m].diff(q[j])
                + third * alpha[m] * alpha[j].diff(z)
                - alpha[j] * alpha[m].diff(z)
                for m in "xy"
            }
            side = total_derivative(differentiate(reduced, velocity(j)), rates) - differentiate(reduced, q[j])
            side -= alpha[j] * differentiate(reduced, z) + momentum * add_up(gamma[m] * velocity(m) for m in "xy")
            worst = max(worst, abs(evaluate(side, values)))
        errors.append(worst)
    return errors[0], errors[1]


def e6_sign_of_the_dependent_part() -> Pair:
    """q̈ of the dependent coordinate: α q̈ + (dα/dt) q̇, not with minus."""
    _, alpha, values = _voronets_system()
    rates = {se.Symbol(n): velocity(n) for n in "xyz"}
    straight = sum(evaluate(alpha[n], values) * values[f"{n}''"] for n in "xy")
    turning = sum(evaluate(total_derivative(alpha[n], rates), values) * values[f"{n}'"] for n in "xy")
    return abs(straight - turning - values["z''"]), abs(straight + turning - values["z''"])


def _reaction_errors(with_potential: bool, with_forces: bool) -> float:
    """A point on a circle with weight and wind: g̈ left over when λ is computed without one of them."""
    q, v = np.array([0.6, -0.8]), np.array([0.8, 0.6])
    weight, wind = np.array([0.0, -9.81]), np.array([0.5, 0.3])
    row = 2 * q
    known = with_potential * weight + with_forces * wind
    reaction = -(2 * v @ v + row @ known) / (row @ row)
    return abs(float(row @ (weight + wind + row * reaction) + 2 * v @ v))


def e7_potential_of_the_original_system() -> Pair:
    """001: the extended potential contains the original one, or the multiplier misses the weight."""
    return _reaction_errors(False, True), _reaction_errors(True, True)


def e8_forces_in_the_multiplier() -> Pair:
    """001: the multiplier contains -G A⁻¹ Q, or the constraint is not kept."""
    return _reaction_errors(True, False), _reaction_errors(True, True)


def e9_half_in_the_perturbation_equation() -> Pair:
    """001: with Ã = 1 + q̌² and no stiffness or damping ½ Ã ṽ² is constant: d/dt of it with the coefficient 1 and with ½."""
    q, v = 0.4, 0.9
    mass, slope = 1 + q**2, 2 * q
    errors = [abs(mass * v * ((-slope * v * v + c * slope * v**2) / mass) + slope * v**3 / 2) for c in (1.0, 0.5)]
    return errors[0], errors[1]


def e19_cyclic_sum() -> Pair:
    """r_ab = ∂s_b/∂q_a - ∂s_a/∂q_b satisfies the seventh condition with r_ca, not with r_ac."""
    q = [se.Symbol(f"q{k}") for k in range(3)]
    s = [q[1] * q[2] ** 2, q[0] ** 2 * q[2], q[0] * q[1] ** 2]
    r = [[s[b].diff(q[a]) - s[a].diff(q[b]) for b in range(3)] for a in range(3)]
    at = {"q0": 0.3, "q1": 0.7, "q2": -0.4}
    first = r[0][1].diff(q[2]) + r[1][2].diff(q[0])
    return abs(evaluate(first + r[0][2].diff(q[1]), at)), abs(evaluate(first + r[2][0].diff(q[1]), at))


def e20_derivatives_in_the_inverse_construction() -> Pair:
    """F = -(d + (∂v/∂q)ᵀ) h makes q̈ = ∂v q̇ + F the system of L = ½|q̇ - v|², D = ½ hᵀ d h, for a symmetric d(q)."""
    field, damping = ["sin(y)", "x*y"], [["2 + x^2", "0.3*y"], ["0.3*y", "1 + y^2"]]
    h = [f"(x' - {field[0]})", f"(y' - {field[1]})"]
    dissipation = " + ".join(f"({damping[a][b]})*{h[a]}*{h[b]}/2" for a in range(2) for b in range(2))
    system = System(coordinates=["x", "y"], lagrangian=f"({h[0]}^2 + {h[1]}^2)/2", dissipation=dissipation)
    q, v = generator().uniform(0.2, 0.9, (2, 2))
    state = {"x": q[0], "y": q[1], "x'": v[0], "y'": v[1]}
    found = accelerations(system, state)
    slopes = np.array([[0, np.cos(q[1])], [q[1], q[0]]])
    values = np.array([np.sin(q[1]), q[0] * q[1]])
    d = np.array([[2 + q[0] ** 2, 0.3 * q[1]], [0.3 * q[1], 1 + q[1] ** 2]])
    errors = []
    for transposed in (np.outer(q, values), slopes.T):
        made = slopes @ v - (d + transposed) @ (v - values)
        errors.append(float(np.abs(made - [found["x"], found["y"]]).max()))
    return errors[0], errors[1]
