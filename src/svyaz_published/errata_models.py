"""Slips in the printed equations of the examples, each as (error as printed, error as corrected)."""

from __future__ import annotations

import numpy as np
import symengine as se

from svyaz import System
from svyaz.arrays import Array
from svyaz.expr import Expression, add_up, evaluate
from svyaz_published.numbers import accelerations, gallery_model, generator

Pair = tuple[float, float]


def e21_potential_of_the_sleigh() -> Pair:
    """The sleigh at rest: acceleration along the blade g sin(incline) cos(phi), with the potential m g sin(incline) and with
    m g x sin(incline)."""
    system = gallery_model("sleigh")
    words = {**system.words, "potential": "-m*g*sin(incline)"}
    errors = []
    for made in (System.from_words(words), system):
        found = accelerations(made, {"x": 0.2, "y": 1.0, "phi": 0.6, "x'": 0.0, "y'": 0.0, "phi'": 0.0})
        along = found["x"] * np.cos(0.6) + found["y"] * np.sin(0.6)
        errors.append(abs(float(along - 9.8 * 0.5 * np.cos(0.6))))
    return errors[0], errors[1]


def e23_equations_of_the_sleigh() -> Pair:
    """(1.4.5) with w alone, and with w sin(phi), w cos(phi), against the accelerations at a random state, k = -46."""
    system = gallery_model("sleigh")
    phi, vx, vy, w = generator().uniform(0.3, 1.0, 4)
    found = accelerations(system, {"x": 0.0, "y": 0.0, "phi": phi, "x'": vx, "y'": vy, "phi'": w}, 46.0)
    sin, cos, k = np.sin(phi), np.cos(phi), -46.0
    pull = w**2 + 9.8 * 0.5 * cos
    slide = vy * (k * cos + w * sin) - vx * (k * sin - w * cos)
    errors = []
    for across in ((1.0, 1.0), (sin, cos)):
        printed = [pull * cos - slide * across[0], pull * sin + slide * across[1], -slide]
        errors.append(float(np.abs(np.array(printed) - [found["x"], found["y"], found["phi"]]).max()))
    return errors[0], errors[1]


def e24_arm_of_the_cart() -> Pair:
    """J θ̈ + m0 [l] ẋθ̇/cos(θ) = 0 for the free cart with l = 0.7, against the multiplier form without the path."""
    system = gallery_model("slalom-cart", settings={"l": 0.7})
    words = {**system.words, "constraint": system.words["constraint"][:3]}
    theta, vx, w = 0.5, 0.8, 0.6
    vy, a, b = vx * np.tan(theta), 0.2, 0.5
    along = vx / np.cos(theta)
    state = {"x": 0.0, "y": 0.0, "theta": theta, "phi1": 0.0, "phi2": 0.0, "x'": vx, "y'": vy, "theta'": w}
    state |= {"phi1'": -(along + b * w) / a, "phi2'": -(along - b * w) / a}
    found = accelerations(System.from_words(words), state)["theta"]
    return abs(found + along * w), abs(found + 0.7 * along * w)


def _rotation(e: Array) -> Array:
    """The rotation matrix of a unit quaternion (e0, e1, e2, e3), body to space."""
    s, v = e[0], e[1:]
    cross = np.array([[0, -v[2], v[1]], [v[2], 0, -v[0]], [-v[1], v[0], 0]])
    matrix: Array = np.eye(3) + 2 * s * cross + 2 * cross @ cross
    return matrix


def e25_axes_of_the_angular_velocity() -> Pair:
    """The angular velocity in space axes is that of Ṙ Rᵀ; printed are its components in the body."""
    e, rate = generator().normal(size=(2, 4))
    e /= np.linalg.norm(e)
    rate -= e * (e @ rate)
    h = 1e-6
    spin = (_rotation(e + h * rate) - _rotation(e - h * rate)) / (2 * h) @ _rotation(e).T
    exact = np.array([spin[2, 1], spin[0, 2], spin[1, 0]])
    straight, across = e[0] * rate[1:] - rate[0] * e[1:], np.cross(e[1:], rate[1:])
    errors = [float(np.abs(2 * (straight + sign * across) - exact).max()) for sign in (-1, 1)]
    return errors[0], errors[1]


ANGLES = "2*J*(alpha'^2 + cos(alpha)^2*beta'^2 + cos(alpha)^2*cos(beta)^2*gamma'^2)"


def e26_sign_in_the_second_angle() -> Pair:
    """β̈ = ∓½ sin 2β γ̇² + 2 tan α α̇β̇ of the free ball."""
    system = System(coordinates=["alpha", "beta", "gamma"], kinetic=ANGLES, parameters={"J": 0.4})
    alpha, beta, gamma, a, b, c = generator().uniform(0.2, 0.8, 6)
    state = {"alpha": alpha, "beta": beta, "gamma": gamma, "alpha'": a, "beta'": b, "gamma'": c}
    found = accelerations(system, state)["beta"]
    mixed, square = 2 * np.tan(alpha) * a * b, 0.5 * np.sin(2 * beta) * c**2
    return abs(found - mixed - square), abs(found - mixed + square)


def e27_singular_points_of_the_angles() -> Pair:
    """det M of the three angles is zero at the singular points: at β = 0, printed as πn/2, and at β = π/2."""
    system = System(coordinates=["alpha", "beta", "gamma"], kinetic=ANGLES, parameters={"J": 0.4})
    mass = system.derive().mass_matrix

    def determinant(beta: float) -> float:
        values = {"J": 0.4, "alpha": 0.3, "beta": beta, "gamma": 0.1}
        return abs(float(np.linalg.det([[evaluate(e, values) for e in row] for row in mass])))

    return determinant(0.0), determinant(np.pi / 2)


def e29_angular_velocity_of_a_link() -> Pair:
    """½ J (ψ̇² + cos²ψ φ̇²) of a thin rod about its middle against the sum over its points; printed has φ̇ for ψ̇."""
    length, mass, psi, phi, a, b = 1.0, 5.0, 0.6, 0.4, 0.7, -0.9
    nodes, weights = np.polynomial.legendre.leggauss(5)
    slope = a * np.array([-np.sin(psi) * np.cos(phi), -np.sin(psi) * np.sin(phi), np.cos(psi)])
    slope += b * np.array([-np.cos(psi) * np.sin(phi), np.cos(psi) * np.cos(phi), 0.0])
    exact = sum(w / 2 * mass * (s * length / 2) ** 2 * (slope @ slope) / 2 for s, w in zip(nodes, weights, strict=True))
    inertia = mass * length**2 / 12
    errors = [abs(float(inertia / 2 * (first**2 + np.cos(psi) ** 2 * b**2) - exact)) for first in (b, a)]
    return errors[0], errors[1]


def e30_masses_on_the_slope() -> Pair:
    """The pull along the slope is g sin(slope) times the mass of the links 0, 1, 2; printed m1 + m2 + m3 has no link 3."""
    system = gallery_model("three-link", {"potential": "full"})
    at = {**system.constants, **dict.fromkeys(system.coordinates, 0.3)}
    pull = -evaluate(system.potential.diff("x0"), at)
    each = system.constants["g"] * np.sin(system.constants["slope"])
    return abs(float(pull - each * 15)), abs(float(pull - each * 20))


def e32_thrust_in_lawdens_function() -> Pair:
    """v̇ = ∂H/∂λ_v must be gravity and thrust: with the thrust multiplied by λ_r, as printed, and by λ_v."""
    v, to_r, to_v, pull, thrust = (_symbols(name) for name in ("v", "p", "s", "f", "a"))
    values = dict(
        zip([str(e) for group in (v, to_r, to_v, pull, thrust) for e in group], np.linspace(-1, 1, 15), strict=True)
    )
    exact = np.array([values[str(f)] + values[str(a)] for f, a in zip(pull, thrust, strict=True)])
    errors = []
    for partner in (to_r, to_v):
        function = _dot(to_r, v) + _dot(to_v, pull) + _dot(partner, thrust)
        rate = np.array([evaluate(function.diff(s), values) for s in to_v])
        errors.append(float(np.abs(rate - exact).max()))
    return errors[0], errors[1]


def _symbols(name: str) -> list[se.Symbol]:
    return [se.Symbol(f"{name}{k}") for k in range(3)]


def _dot(a: list[se.Symbol], b: list[se.Symbol]) -> Expression:
    return add_up(x * y for x, y in zip(a, b, strict=True))


def e33_weight_in_the_multiplier() -> Pair:
    """001 (6.6): f̈ + k ḟ + c f of the rocket with λ of the printed sign of g f_y and of the other."""
    mass, g, c, k = 1.0, 9.81, 100.0, 20.0
    x, y, v = 0.3, 0.1, np.array([1.2, 0.5])
    row, curve = np.array([-x, 1.0]), -(v[0] ** 2)
    thrust, f = 0.1 * v / np.linalg.norm(v), y - x**2 / 2
    errors = []
    for sign in (1, -1):
        known = curve + c * f + k * row @ v + sign * g * row[1] + row @ thrust / mass
        force = -mass * known / (row @ row)
        accelerated = (thrust + force * row) / mass - np.array([0.0, g])
        errors.append(abs(float(row @ accelerated + curve + k * row @ v + c * f)))
    return errors[0], errors[1]


def e34_direction_of_thrust() -> Pair:
    """Thrust μ ṁ v/|v| with ṁ < 0: its power is negative for μ > 0 as printed, positive for μ < 0."""
    speed, rate = 2.0, -0.05
    return max(-2.0 * rate * speed, 0.0), max(2.0 * rate * speed, 0.0)


def e35_sign_of_the_dissipative_function() -> Pair:
    """Largest real part of κ² ± kκ + c = 0 with c = 100, k = 20: growth with the printed sign of ∂D/∂v̌."""
    roots = [float(np.roots([1, sign * 20.0, 100.0]).real.max()) for sign in (-1, 1)]
    return max(roots[0], 0.0), max(roots[1], 0.0)


def e38_sixth_force_of_the_listing() -> Pair:
    """-∂U/∂ψ1 of the ten-coordinate model: the part of sin(slope) enters with minus."""
    system = gallery_model("three-link-10")
    at = {**system.constants, **dict.fromkeys(system.coordinates, 0.3)}
    force = -evaluate(system.potential.diff("psi1"), at)
    n = system.constants
    arm = n["m1"] * (0.3 + n["l1"] / 2) + n["m2"] * (0.3 + n["l1"] + 0.3)
    along = n["g"] * np.sin(n["slope"]) * arm * np.sin(0.3) * np.cos(0.3)
    across = -n["g"] * np.cos(n["slope"]) * arm * np.cos(0.3)
    return abs(float(force - across - along)), abs(float(force - across + along))
