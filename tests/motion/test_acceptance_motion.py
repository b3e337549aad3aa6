"""Motions against closed forms: energy of a long chain, the pull in a rod, systems whose mass matrix is singular."""

from __future__ import annotations

import json
from functools import cache

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.special import ellipj

from svyaz import System, gallery, loads
from svyaz.motion import simulate
from svyaz.show import as_json


def test_S2_energy_of_five_links_over_twenty_seconds(svyaz) -> None:
    arguments = ("--method", "dop853", "--rtol", "1e-11", "--until", "20", "--json", "-")
    done = svyaz("simulate", "pendulum:5", *arguments)
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert (result["status"], result["t"]) == ("finished", 20.0)
    energy = result["integrals"]["energy"]
    lengths, u = np.ones(5), np.full(5, np.pi / 3)
    heights = np.cumsum(lengths * (1 - np.cos(u)))
    assert energy["initial"] == pytest.approx(9.81 * heights.sum(), rel=1e-13)
    assert energy["drift"] < 1e-8


def test_S2_drift_is_what_the_contract_says() -> None:
    """drift = max|E - E₀| / max(|E₀|, max T), from the columns themselves; a coarse run has one worth measuring."""
    motion = simulate(loads(gallery.find("pendulum:2")), method="rk4", step=0.02, until=5)
    energy, kinetic = motion.integrals["energy"], motion.kinetic
    expected = np.abs(energy - energy[0]).max() / max(abs(energy[0]), kinetic.max())
    assert as_json(motion)["integrals"]["energy"]["drift"] == pytest.approx(expected, rel=1e-12)
    assert expected > 1e-9


@cache
def rod():
    return simulate(loads(gallery.find("pendulum-xy")), rtol=1e-13, until=6)


def test_S5_multiplier_is_minus_the_pull_over_twice_the_length() -> None:
    """x² + y² = l² has the force 2λ(x, y) on the mass: λ = -T/(2l), T = m v²/l + m g cos θ, θ from the vertical."""
    motion = rod()
    assert motion.finished
    y, vx, vy = (motion.column(name) for name in ("y", "x'", "y'"))
    pull = vx**2 + vy**2 - 9.81 * y
    assert np.abs(motion.multipliers["rod"] + pull / 2).max() < 1e-8


def test_S5_multiplier_along_the_exact_motion() -> None:
    """From the horizontal v² = 2 g l cos θ, so T = 3 m g cos θ with sin(θ/2) = k cn/dn(√(g/l) t), k² = 1/2."""
    motion = rod()
    _, cn, dn, _ = ellipj(np.sqrt(9.81) * motion.times, 0.5)
    cosine = 1 - (cn / dn) ** 2
    assert np.abs(motion.column("y") + cosine).max() < 1e-8
    assert np.abs(motion.multipliers["rod"] + 3 * 9.81 * cosine / 2).max() < 1e-8
    assert np.nanmin(motion.multipliers["rod"]) == pytest.approx(-1.5 * 9.81, rel=1e-3)


@pytest.mark.parametrize(("m", "length", "g"), [(2.5, 0.4, 3.7), (0.3, 2.0, 20.0)])
def test_S5_multiplier_for_other_data(m, length, g) -> None:
    system = loads(gallery.find("pendulum-xy")).with_settings({"m": m, "l": length, "g": g})
    motion = simulate(system, rtol=1e-13, until=2)
    pull = m * (motion.column("x'") ** 2 + motion.column("y'") ** 2) / length - m * g * motion.column("y") / length
    assert np.abs(motion.multipliers["rod"] + pull / (2 * length)).max() < 1e-8


SLEIGH = {
    "name": "sleigh on an incline",
    "coordinates": ["x", "y", "phi"],
    "kinetic": "m/2*(x'^2 + y'^2 + 2*a*phi'*(y'*cos(phi) - x'*sin(phi))) + J/2*phi'^2",
    "potential": "-m*g*x*sin(incline)",
    "parameters": {"m": 2.0, "a": 0.7, "J": "m*a^2", "g": 9.8, "incline": "30*deg"},
    "constraint": [{"name": "blade", "equation": "y'*cos(phi) = x'*sin(phi)"}],
    "initial": {"phi": "60*deg", "phi'": 1},
}


@pytest.mark.parametrize(("method", "rtol"), [("dop853", 1e-11), ("radau", 1e-9)])
def test_S5_sleigh_with_a_singular_mass_matrix(method, rtol) -> None:
    """J = m a² makes det M = 0. Reduced, with (ẋ, ẏ) = v (cos φ, sin φ):

    v̇ = a φ̇² + g sin(incline) cos φ, φ̈ = -(m a/J) v φ̇.
    """
    a, g = 0.7, 9.8

    def rates(t, s):
        _, _, phi, v, w = s
        pull = g * np.sin(np.pi / 6) * np.cos(phi)
        return [v * np.cos(phi), v * np.sin(phi), w, a * w**2 + pull, -v * w / a]

    times = np.linspace(0, 3, 7)
    expected = solve_ivp(rates, (0, 3), [0, 0, np.pi / 3, 0, 1], "DOP853", rtol=1e-12, atol=1e-12, t_eval=times).y
    motion = simulate(System(**SLEIGH), method=method, rtol=rtol, until=3, every=0.5)
    assert motion.finished
    assert motion.times == pytest.approx(times)
    for k, name in enumerate(("x", "y", "phi")):
        assert motion.column(name) == pytest.approx(expected[k], abs=1e-7)
    assert motion.column("phi'") == pytest.approx(expected[4], abs=1e-7)


def test_S5_blade_carries_the_weight_across_it() -> None:
    """Across the blade m (φ̇ v + a φ̈) = λ - m g sin(incline) sin φ; with J = m a² the left side is zero."""
    motion = simulate(System(**SLEIGH), rtol=1e-11, until=3)
    expected = 2.0 * 9.8 * np.sin(np.pi / 6) * np.sin(motion.column("phi"))
    assert motion.multipliers["blade"] == pytest.approx(expected, abs=1e-7)
    assert np.ptp(expected) > 1


@pytest.mark.parametrize("method", ["dop853", "radau"])
def test_S5_massless_coordinate_tied_by_a_constraint(method) -> None:
    """A spring at the end of a massless lever, s = 2x: m ẍ = -4 k x, and the lever is pushed by λ = k s."""
    system = System(
        coordinates=["x", "s"],
        kinetic="m/2*x'^2",
        potential="k/2*s^2",
        parameters={"m": 2, "k": 3},
        constraint=[{"name": "lever", "equation": "s = 2*x"}],
        initial={"x": 0.5, "s": 1},
    )
    motion = simulate(system, method=method, rtol=1e-11, until=5)
    assert motion.finished
    exact = 0.5 * np.cos(np.sqrt(6) * motion.times)
    assert motion.column("x") == pytest.approx(exact, abs=1e-8)
    assert motion.column("s") == pytest.approx(2 * exact, abs=1e-8)
    assert motion.multipliers["lever"] == pytest.approx(3 * 2 * exact, abs=1e-7)
