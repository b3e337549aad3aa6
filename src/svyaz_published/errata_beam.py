"""Slips in the ball and beam of 003 (Ilyina 2019, chapters 3 and 4), each as (error as printed, error as corrected)."""

from __future__ import annotations

import numpy as np

from svyaz.arrays import Array
from svyaz.control import lqr, transported
from svyaz.expr import evaluate
from svyaz_published.beam import (
    VOLTAGE,
    at_rest,
    linear,
    open_roots,
    reach,
    rod_slope,
    slipped_observability,
    slope_of_slope,
    stand,
)
from svyaz_published.numbers import accelerations
from svyaz_published.shulgin_route import linearise_shulgin

Pair = tuple[float, float]


def _beyond(value: float, printed: float, unit: float) -> float:
    """By how much a number is off a printed one, apart from the rounding of its last digit."""
    return max(abs(value - printed) - 0.6 * unit, 0.0)


def e11_second_derivative_of_the_rod() -> Pair:
    """∂B/∂α at θ₁: table 3.3 has 2dl for 2dL."""
    p = stand().parameters
    L, rod, d = p["L"], p["l"], p["d"]
    exact = slope_of_slope("alpha", "nonzero")
    formulas = [-2 * L * rod * (2 * d * x - d**2 - rod**2) / (rod**2 + d**2) ** 2 for x in (rod, L)]
    return abs(formulas[0] - exact), abs(formulas[1] - exact)


def e12_kinetic_energy_of_the_ball() -> Pair:
    """(3.2.1) and the exact T against m v²/2 of the centre (r cos α - R sin α, r sin α + R cos α), plus both rotations."""
    r, a, v, w = 0.2, 0.05, 0.4, 0.3
    p = stand().parameters
    m, R = p["m"], p["R"]
    speed = np.array(
        [v * np.cos(a) - (r * np.sin(a) + R * np.cos(a)) * w, v * np.sin(a) + (r * np.cos(a) - R * np.sin(a)) * w]
    )
    true = m / 2 * float(speed @ speed) + p["J"] / 2 * (w - v / R) ** 2
    at = {"r": r, "alpha": a, "theta": 0.0, "r'": v, "alpha'": w, "theta'": 0.0}
    found = [evaluate(stand(energy=kind).kinetic, {**p, **at}) for kind in ("dissertation", "exact")]
    return abs(found[0] / true - 1), abs(found[1] / true - 1)


def e13_term_of_the_wheel() -> Pair:
    """(3.3.5) lacks J₀B(B_α + B_θB)α̇²: what is left of its second equation with the true accelerations put in."""
    system = stand(equilibrium="nonzero")
    p = {**system.constants, **at_rest(system), "alpha": 0.0, "r'": 0.3, "alpha'": 2.0}
    b, by_alpha, by_theta = (evaluate(e, p) for e in (rod_slope(), *(rod_slope().diff(q) for q in ("alpha", "theta"))))
    p["theta'"] = b * p["alpha'"]
    found = accelerations(system, p)
    m, R, J, r, w = p["m"], p["R"], p["J"], p["r"], p["alpha'"]
    left = -R * (m + J / R**2) * found["r"] + (m * (r**2 + R**2) + J + p["J0"] * b**2) * found["alpha"]
    left += 2 * m * r * p["r'"] * w + m * p["g"] * r - b * p["nu"] + p["b0"] * b**2 * w
    term = p["J0"] * b * (by_alpha + by_theta * b) * w**2
    return float(abs(left)), float(abs(left + term))


def e14_motor_constants() -> Pair:
    """-K_a B/L_a and k₂/L_a against the printed -4427.0833 and 4.225: with the constants of table 3.2, and exchanged."""
    errors = []
    for motor in ("printed-table", "numbers"):
        found = linear(control="voltage", motor=motor)
        errors.append(_beyond(float(found.A[4, 3]), -4427.0833, 1e-4) + _beyond(float(found.B[4, 0]), 4.225, 1e-3))
    return errors[0], errors[1]


def _direct(**choices: str) -> Array:
    """A by differentiating the equations themselves."""
    system = stand(**choices)
    return linearise_shulgin(system, at_rest(system)).A


def e15_second_order_terms_of_n1() -> Pair:
    """(3,2) and (4,2) of N₁ at θ₁: printed -6.9559 and 0.019; by the formulas that keep ∂B/∂α."""
    exact = _direct(equilibrium="nonzero")[2:, 1]
    formulas = linear(equilibrium="nonzero").A[2:, 1]
    return float(np.abs([-6.9559, 0.019] - exact).max()), float(np.abs(formulas - exact).max())


def e16_columns_of_h() -> Pair:
    """Row 4 of H₀ and H₁, columns 2 and 3: printed (0, 0.0214), (0, 0.9), and by the formulas."""
    errors, right = [], []
    for where, printed in (("zero", [0, 0.0214]), ("nonzero", [0, 0.9])):
        exact = _direct(**VOLTAGE, equilibrium=where)[3, 1:3]
        errors.append(float(np.abs(np.array(printed) - exact).max()))
        right.append(float(np.abs(linear(**VOLTAGE, equilibrium=where).A[3, 1:3] - exact).max()))
    return max(errors), max(right)


def e17_signs_of_the_voltage_laws() -> Pair:
    """Largest real part, where positive, of the true loop under u₀ᴵ and u₁ᴵ as printed, and with the signs put right."""
    laws = {
        "zero": ([8893, 142014.2, -13494.8, 416.7, 0.3], [8893, -142014.2, 13494.8, -416.7, -0.3]),
        "nonzero": ([14824, -118649, 15717.3, -495, 0.4], [-14824, 118649, -15717.3, 495, -0.4]),
    }

    def growth(k: int) -> float:
        loops = [(linear(**VOLTAGE, equilibrium=where), law[k]) for where, law in laws.items()]
        most = [float(np.linalg.eigvals(found.A + found.B @ np.array([law])).real.max()) for found, law in loops]
        return max(*most, 0.0)

    return growth(0), growth(1)


def e18_ratio_and_its_inverse() -> Pair:
    """The observability matrix of section 3.5 at the zero position: B for 1/B, and by direct differentiation."""
    alpha = {**VOLTAGE, "dependent": "alpha"}
    columns = []
    for matrix in (_direct(**alpha), linear(**alpha).A):
        column, found = np.eye(5)[0], []
        for _ in range(5):
            found.append(column)
            column = matrix.T @ column
        columns.append(np.column_stack(found)[[0, 2, 1, 3, 4]].ravel())
    size = np.abs(columns[0]).max()
    printed = np.array(slipped_observability("zero"))
    return float(np.abs(printed - columns[0]).max() / size), float(np.abs(columns[1] - columns[0]).max() / size)


def e19_caption_of_table_4() -> Pair:
    """The first F² of table 4, 8.62336e-05, is that of y = 0.1 for the perturbation: 0.05 of the caption, and 0.1."""
    system = stand(equilibrium="nonzero")
    rod = system.constraints[0].expression
    rest = at_rest(system)

    def square(alpha: float) -> float:
        at = {**system.constants, **rest, "alpha": alpha, "theta": rest["theta"] + 0.1}
        return evaluate(rod, at) ** 2

    errors = [_beyond(square(alpha) / 8.62336e-05, 1.0, 1e-5) for alpha in (0.05, 0.1)]
    return errors[0], errors[1]


def e20_signs_of_the_perturbed_equations() -> Pair:
    """(3.4.10): the forces +mg x₂ and +mg x₁ against A⁻¹ times them by direct differentiation; they are negative."""
    system = stand(**VOLTAGE)
    found, exact = linear(**VOLTAGE), _direct(**VOLTAGE)[2:4, :2]
    p = system.parameters
    weight = p["m"] * p["g"]

    def rows(sign: float) -> Array:
        forces = np.array([[0.0, sign * weight], [sign * weight, weight * p["R"]]])
        return np.asarray(np.linalg.solve(found.inertia, forces))

    return float(np.abs(rows(1.0) - exact).max()), float(np.abs(rows(-1.0) - exact).max())


def e21_imaginary_part_of_the_fast_pair() -> Pair:
    """±0.14i, and ±144.1i as the closed roots have it."""
    turn = open_roots(**VOLTAGE)[1]
    return _beyond(turn, 0.14, 0.01), _beyond(turn, 144.1, 0.1)


def e23_both_dependent_angles() -> Pair:
    """Relative difference of the feedbacks under torque with α and with θ dependent: unit weights in both, and weights carried
    over by T = diag(1, B, 1, B)."""
    first, second = linear(), linear(dependent="alpha")
    change = np.diag([1, first.slope[0, 1], 1, first.slope[0, 1]])
    own = lqr(first.A, first.B).gain
    plain = lqr(second.A, second.B).gain @ change
    carried = lqr(second.A, second.B, transported(np.eye(4), change)).gain @ change
    size = np.abs(own).max()
    return float(np.abs(plain - own).max() / size), float(np.abs(carried - own).max() / size)


def e29_least_inclination() -> Pair:
    """How far down the beam can go: -α_max as it is set, and by the triangle with the side l - d."""
    p = stand().parameters
    least = reach(-1.0)
    return abs(-p["alpha_max"] - least), max(abs(p["alpha_min"] - least) - 1e-9, 0.0)


def e29a_coefficients_of_z() -> Pair:
    """P^II at θ₁ as in (3.4.24), with one factor 1/B too many and without -mg z in the first equation, and as it must be."""
    system = stand(**VOLTAGE, dependent="alpha", equilibrium="nonzero")
    exact = linearise_shulgin(system, at_rest(system))
    p, b = system.parameters, float(linear(**VOLTAGE, equilibrium="nonzero").slope[0, 1])
    weight, bend = p["m"] * p["g"], slope_of_slope("alpha", "nonzero")
    push = weight * (p["R"] / b + p["r0"] * bend / b**2)
    printed = np.linalg.solve(exact.inertia, [0.0, push])
    right = np.linalg.solve(exact.inertia, [-weight, weight / b * (p["R"] + p["r0"] * bend / b)])
    z = exact.Z[2:4, 0]
    return float(np.abs(printed - z).max()), float(np.abs(right - z).max())
