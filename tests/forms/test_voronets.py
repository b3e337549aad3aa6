"""Voronets' form: four terms of γ, time in the coefficients, both ways of treating the dependent velocities."""

from __future__ import annotations

import numpy as np
import pytest

from svyaz import System, gallery, loads
from svyaz.motion import simulate
from svyaz.show import as_json


def model(name: str, **settings: object) -> System:
    return loads(gallery.find(name), name).with_settings(settings)


ACCURATE = {"method": "dop853", "rtol": 1e-12, "stabilize": "off"}


@pytest.mark.parametrize("form", ["voronets", "voronets:carried"])
def test_energy_is_conserved_and_the_motion_is_that_of_the_multipliers(form) -> None:
    found = simulate(model("voronets-only"), form=form, **ACCURATE, until=20)
    expected = simulate(model("voronets-only"), form="multipliers", **ACCURATE, until=20)
    assert as_json(found)["integrals"]["energy"]["drift"] < 1e-9
    for name in ("x", "y", "z", "x'", "y'", "z'"):
        assert found.column(name)[-1] == pytest.approx(expected.column(name)[-1], abs=1e-8)


def test_gamma_is_antisymmetric_only_with_its_four_terms() -> None:
    """Σ γ_jl q̇_j q̇_l = 0: the turning terms do no work, so ½ d/dt(q̇ᵀM*q̇) needs nothing from them."""
    from svyaz.expr.calculus import add_up, evaluate, velocity
    from svyaz.forms.named.voronets import turning
    from svyaz.forms.reduction import solved, velocity_rows

    system = model("voronets-only")
    chart = solved(velocity_rows("voronets", system.constraints, system.coordinates), ["z"])
    power = add_up(turning(chart, 0, j) * velocity(q) for j, q in enumerate(chart.independent))
    rng = np.random.default_rng(1)
    for _ in range(10):
        values = {n: rng.uniform(-1, 1) for n in ("x", "y", "z", "x'", "y'", "b", "c")}
        assert abs(evaluate(power, values)) < 1e-14
        # γ_12 by hand: ∂α_1/∂y - ∂α_2/∂x + α_2 ∂α_1/∂z - α_1 ∂α_2/∂z with α = (y + b z, c x z)
        x, y, z, b, c = (values[n] for n in ("x", "y", "z", "b", "c"))
        gamma = 1 - c * z + c * x * z * b - (y + b * z) * c * x
        assert evaluate(turning(chart, 0, 0), values) == pytest.approx(gamma * values["y'"], abs=1e-14)


def test_carried_velocities_that_do_not_fit_die_out() -> None:
    system = model("voronets-only", **{"initial.z'": 1.0})
    motion = simulate(system, form="voronets:carried", method="dop853", rtol=1e-11, until=2, stabilize=4)
    residual = motion.residuals["surface of velocities"]
    assert residual == pytest.approx(residual[0] * np.exp(-4 * motion.times), abs=1e-8)
    assert abs(residual[0]) > 0.5


def test_suslov_s_body_against_its_own_equations() -> None:
    """I₁ω̇₁ = -(Eω₁ + Dω₂)ω₂, I₂ω̇₂ = (Eω₁ + Dω₂)ω₁, ω₃ = 0."""
    from scipy.integrate import solve_ivp

    system = model("suslov")
    motion = simulate(system, **ACCURATE, until=10)
    p = system.parameters

    def omega(k: int) -> np.ndarray:
        psi, theta, _ = (motion.column(f"{q}'")[k] for q in ("psi", "theta", "phi"))
        s, phi = np.sin(motion.column("theta")[k]), motion.column("phi")[k]
        return np.array([psi * s * np.sin(phi) + theta * np.cos(phi), psi * s * np.cos(phi) - theta * np.sin(phi)])

    def rates(_t, w):
        turn = p["E"] * w[0] + p["D"] * w[1]
        return [-turn * w[1] / p["I1"], turn * w[0] / p["I2"]]

    expected = solve_ivp(rates, (0, 10), omega(0), method="DOP853", rtol=1e-12, atol=1e-12).y[:, -1]
    assert omega(-1) == pytest.approx(expected, abs=1e-9)
    assert as_json(motion)["integrals"]["energy"]["drift"] < 1e-9


def test_chaplygin_s_ball_keeps_its_momentum_about_the_contact() -> None:
    motion = simulate(model("chaplygin-ball"), **ACCURATE, until=10)
    for name in ("energy", "vertical momentum", "square of the momentum"):
        assert as_json(motion)["integrals"][name]["drift"] < 1e-9
