"""Slips of 003 (Ilyina 2019, chapter 2) about steady motions, each as (error as printed, as corrected).

The errors are those of Shulgin's equations linearised directly, of ranks, of sizes that do not fit, and of numbers of cases.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np
import symengine as se

from svyaz import System
from svyaz.arrays import Array
from svyaz.expr import Expression, evaluate, gradient, velocity
from svyaz.forms import at_momenta, lagrangian, pseudo_cyclic, shulgin_equations
from svyaz.model import ModelWords
from svyaz.stability import first_approximation
from svyaz_published.steady_blocks import SteadyBlocks, lagrange_blocks, routh_blocks

Pair = tuple[float, float]

SPEEDS = {"b1'": 1.1, "b2'": -0.7}
TIE = "s = 0.4*a1 - 0.3*a2 + 0.5*a1^2 + 0.2*a1*a2 + 0.3*a2*s"
FORCES = {"a1": "0.2*a2 - 0.3*a1' + u1", "a2": "0.1*a1 - 0.2*a2' + 0.1*b1'", "s": "0.5 + 0.2*a1 + u2"}


def steady_words(tie: str, forces: dict[str, str]) -> ModelWords:
    """Two positional coordinates, two cyclic, one redundant."""
    masses = (
        "(1.2 + 0.3*s)*a1'^2/2 + 0.75*a2'^2 + 0.2*a1'*a2' + s'^2/2 + 0.3*s'*a1' + (1 + 0.3*a1)*b1'^2 + 0.5*a2*s*b1'^2"
    )
    turning = "(0.9 - 0.2*a2 + 0.1*s^2)*b2'^2 + 0.1*(1 + a1)*b1'*b2' + (0.3 + 0.4*a2 + 0.2*s)*a1'*b1' + 0.5*a1*a2'*b2'"
    linear = "0.2*a2*s'*b1' + (0.3*a2 + 0.2*s)*a1' + (0.4*a1 - 0.3*s)*b1' + 0.2*a2*b2'"
    return {
        "coordinates": ["a1", "a2", "b1", "b2", "s"],
        "kinetic": f"{masses} + {turning} + {linear}",
        "potential": "a1^2 + 1.5*a2^2 + 0.4*s + 0.3*a1*s",
        "constraint": [{"equation": tie, "dependent": "s"}],
        "forces": forces,
        "inputs": {"u1": 0.0, "u2": 0.0},
    }


@cache
def steady_at_the_origin(tie: str = TIE, reaction: float | None = None) -> System:
    """The system with constant forces that make the origin with ``SPEEDS`` a steady motion.

    ``reaction``: the force on s is constant and so large that ∂W̃/∂s + Q_s has this value.
    """
    forces = dict(FORCES)
    if reaction is not None:
        free = lagrangian(System(**steady_words(tie, FORCES)))
        forces["s"] = f"({reaction - evaluate(free.diff(se.Symbol('s')), _origin()):.17g})"
    loose = System(**steady_words(tie, forces))
    equations = shulgin_equations(loose)
    for q in ("a1", "a2"):
        forces[q] += f" + ({evaluate(equations.bias[equations.accelerated.index(q)], _origin())!r})"
    return System(**steady_words(tie, forces))


def _origin() -> dict[str, float]:
    names = ("a1", "a2", "b1", "b2", "s")
    return {**dict.fromkeys((*names, *(f"{q}'" for q in names), "u1", "u2", "t"), 0.0), **SPEEDS}


def _table(entries: Sequence[Expression], by: Sequence[str]) -> Array:
    symbols = [se.Symbol(name) for name in by]
    return np.array([[evaluate(e, _origin()) for e in gradient(entry, symbols)] for entry in entries])


def _blocks() -> SteadyBlocks:
    return lagrange_blocks(steady_at_the_origin(), SPEEDS)


def _size(matrix: Array) -> float:
    return float(np.abs(matrix).max())


def _inertia() -> tuple[Array, Array]:
    """A of all coordinates in their order, and B₀."""
    system = steady_at_the_origin()
    v = [velocity(q) for q in system.coordinates]
    masses = _table(gradient(lagrangian(system), v), [str(s) for s in v])
    return masses, _table([shulgin_equations(system).explicit["s"]], ["a1'", "a2'"])


def e30_part_of_the_kinetic_energy_with_redundant_velocities() -> Pair:
    """a_αα = A_αα + 2A_αs B + B'A_ss B as printed, and A_αα + A_αs B + B'A_sα + B'A_ss B, against ∂²T*/∂α̇∂α̇."""
    masses, B = _inertia()
    equations = shulgin_equations(steady_at_the_origin())
    exact = np.array([[evaluate(e, _origin()) for e in row[:2]] for row in equations.mass_matrix[:2]])
    A_aa, A_as, A_ss = masses[:2, :2], masses[:2, 4:], masses[4:, 4:]
    printed = A_aa + 2 * A_as @ B + B.T @ A_ss @ B
    right = A_aa + A_as @ B + B.T @ A_as.T + B.T @ A_ss @ B
    return _size(printed - exact), _size(right - exact)


def e31_symmetry_of_the_kinetic_energy() -> Pair:
    """A'_βα = A_αα as printed, and A'_βα = A_αβ."""
    masses, _ = _inertia()
    turned = masses[2:4, :2].T
    return _size(turned - masses[:2, :2]), _size(turned - masses[:2, 2:4])


def e32_velocities_of_the_redundant_coordinates() -> Pair:
    """Ḟ with ṡ = B_sα α̇ + B_sβ β̇ + B_ss ṡ as printed (B_ss = -(∂F/∂s)⁻¹∂F/∂s = -E), and with B_sγ γ̇ for the last term."""
    slopes = {"a": 0.7, "b": -0.4, "g": 1.3, "s": 1.9}
    speeds = {"a": 0.6, "b": 1.1, "g": -0.8}
    B = {q: -slopes[q] / slopes["s"] for q in slopes}
    known = B["a"] * speeds["a"] + B["b"] * speeds["b"]
    printed, right = known / (1 - B["s"]), known + B["g"] * speeds["g"]
    total = sum(slopes[q] * speeds[q] for q in speeds)
    return abs(total + slopes["s"] * printed), abs(total + slopes["s"] * right)


def e33_dimension_of_the_manifold_of_steady_motions() -> Pair:
    """n + m - (k + n - l + m) = l - k as the printed numbers of parameters and equations give, and n - k, against the rank.

    α = (a1, a2), β = b1, γ = b2, one s: k = 2, l = 3, n = 4. Unknown are α, s, ċ_β, c_γ, p₀.
    """
    system = steady_at_the_origin()
    equations = shulgin_equations(system)
    momentum = lagrangian(system).diff(velocity("b2"))
    rows = [*equations.bias[:2], *(c.expression for c in system.constraints), momentum - se.Symbol("p")]
    unknowns = ("a1", "a2", "s", "b1'", "b2'", "p")
    symbols = [se.Symbol(name) for name in unknowns]
    values = {**_origin(), "p": evaluate(momentum, _origin())}
    slopes = np.array([[evaluate(e, values) for e in gradient(row, symbols)] for row in rows])
    dimension = len(unknowns) - int(np.linalg.matrix_rank(slopes))
    k, l, n = 2, 3, 4  # noqa: E741
    return float(abs(l - k - dimension)), float(abs(n - k - dimension))


def e34_labels_of_the_gyroscopic_matrices() -> Pair:
    """The coefficient K - G of ẋ in (2.2.5), G = G_αα - A_αα: with the K that is printed (it is K_αβ), and with K_αα."""
    found = _blocks()
    exact = _table(shulgin_equations(steady_at_the_origin()).bias[:2], ["a1'", "a2'"])
    G = found["Gaa"] - found["Aaa"]
    return _size(found["Kab"] - G - exact), _size(found["Kaa"] - G - exact)


def e35_sign_of_the_forces_in_the_characteristic_equation() -> Pair:
    """det[Aλ² + (K - G)λ + C + C^B ± F]/det A at a λ, F the terms with forces, against det(λ - N) at fixed momenta."""
    system = steady_at_the_origin()
    found = routh_blocks(system, SPEEDS)
    reduced = at_momenta(system, pseudo_cyclic(system)).system
    held = {**reduced.parameters, "p_b1": float(found["p0"][0, 0]), "p_b2": float(found["p0"][1, 0])}
    matrix = first_approximation(reduced, {}, parameters=held).A
    forces = found["FaaB"] + found["FasB"] @ found["B"]
    potential = found["C"] + found["CaaB"] + found["CasB"] @ found["B"]
    root = 0.37

    def gap(stiffness: Array) -> float:
        left = np.linalg.det(found["A1"] * root**2 + (found["K1"] - found["G"]) * root + stiffness)
        return float(abs(left / np.linalg.det(found["A1"]) - np.linalg.det(root * np.eye(4) - matrix)))

    return gap(potential + forces), gap(potential - forces)


def e36_hypotheses_that_never_hold() -> Pair:
    """The ranks n + k of [N V_α V_s] and [N; Σ₂] that theorems 2.3.2, 2.3.3, 2.4.2, 2.4.3 and Σ₂ in 2.4.1, 2.9.1 suppose,
    and n + k - l: the rows (Γ, A₃, A₄) give zero with N, V_α, V_s, and N has the null vectors (x, 0, w), Φx + Υw = 0."""
    found = _blocks()
    N, pushes = found["N"], np.hstack([found["V_a"], found["V_s"]])
    sees = np.eye(2, len(N), 2)
    ranks = [int(np.linalg.matrix_rank(m, tol=1e-9)) for m in (np.hstack([N, pushes]), np.vstack([N, sees]))]
    rows = np.hstack([found["Gam"], found["A3"], found["A4"]])
    still = np.vstack([-np.linalg.solve(found["Phi"], found["Ups"]), np.zeros((2, 2)), np.eye(2)])
    null = max(_size(rows @ N), _size(rows @ pushes), _size(N @ still), _size(sees @ still))
    order, cyclic = len(N), 2
    return float(max(order - rank for rank in ranks)), null + float(max(abs(order - cyclic - rank) for rank in ranks))


def e37_when_second_derivatives_do_not_enter() -> Pair:
    """Remark 2.2.2 asks for B' = const and for ∂W̃/∂s = Q_s = 0. Cases that it leaves out although C^B without forces is zero
    (a linear constraint with a reaction, a curved one without), and the largest C^B in them."""
    linear, curved = "s = 0.4*a1 - 0.3*a2", TIE
    parts = []
    for tie, reaction in ((linear, 0.8), (curved, 0.0)):
        system = steady_at_the_origin(tie, reaction)
        found = lagrange_blocks(system, SPEEDS)
        slopes = np.array([[0.0, 0.2], [0.1, 0.0]])  # of Q_a1 and Q_a2; Q_s is constant here
        second = found["Phi"] - found["Caa"] - found["Cas"] @ found["B"] - slopes
        parts.append(_size(second))
    return float(sum(part < 1e-12 for part in parts)), max(parts)


def e38_measurement_of_the_cyclic_velocities() -> Pair:
    """Rows of the observability matrix of Σ₃ with E_k as printed and with E_l, against the order n + k: a top, k = 1, l = 2."""
    words: ModelWords = {
        "coordinates": ["psi", "theta", "phi"],
        "kinetic": "(theta'^2 + psi'^2*sin(theta)^2)/2 + (phi' + psi'*cos(theta))^2/4",
        "potential": "cos(theta)",
    }
    # A Ω² cos θ - C n Ω + m g h = 0 at θ = π/2 with A = 1, C = 1/2, n = φ' = 2, m g h = 1
    found = lagrange_blocks(System(**words), {"theta": np.pi / 2, "psi'": 1.0, "phi'": 2.0})
    k, l, order = len(found.positional), len(found.kept), len(found["N"])  # noqa: E741
    return float(abs(2 * k + k - order)), float(abs(2 * k + l - order))
