"""Q3, Q5: the steady motions of the gallery's models against closed forms, and their closed loops."""

from __future__ import annotations

import numpy as np
import pytest

from svyaz import System, load
from svyaz.control import NoRegulator

G = 9.81


def model(name: str, **choices: str) -> System:
    return load(name, **choices)


def imaginary(roots: np.ndarray) -> list[float]:
    return sorted(float(z.imag) for z in roots if z.imag > 1e-9)


def test_Q3_conical_pendulum() -> None:
    (motion,) = model("spherical-pendulum").steady().motions
    speed = 1.1 * np.sqrt(G / np.cos(np.radians(40)))
    cosine = G / speed**2
    assert motion.state["z"] == pytest.approx(-cosine, abs=1e-8)
    assert imaginary(motion.verdict.roots) == pytest.approx([speed * np.sqrt(1 + 3 * cosine**2)], abs=1e-8)


@pytest.mark.parametrize("factor", [0.9, 1.1])
def test_Q3_sleeping_top(factor: float) -> None:
    """A ζ'' - i C n ζ' - m g h ζ = 0 for ζ = x + i y: held up iff C² n² > 4 A m g h."""
    A, C, pull = 0.05, 0.02, G * 0.1
    spin = factor * np.sqrt(4 * A * pull) / C
    found = model("heavy-symmetric-top", mounting="axis").steady({"phi'": spin, "x": 0.0, "y": 0.0})
    (upright,) = [m for m in found.motions if m.state["z"] > 0]
    expected = np.roots([A, -1j * C * spin, -pull])
    told = upright.verdict.roots
    assert max(min(abs(told - z)) for z in (*expected, *np.conj(expected))) < 1e-7
    assert (upright.verdict.word == "unstable") == (factor < 1)


def test_Q3_regular_precession_in_a_gimbal() -> None:
    """The slope of the reduced potential vanishes at the inclination found, its curvature gives the frequency."""
    system = model("heavy-symmetric-top", mounting="gimbal")
    found = system.steady({"psi'": 3.0, "phi'": 40.0})
    tilted = [m for m in found.motions if abs(m.state["theta"]) > 1e-6]
    for m in tilted:
        p1, p3, theta = m.momenta["p_psi"], m.momenta["p_phi"], m.state["theta"]

        def potential(a: float, p1: float = p1, p3: float = p3) -> float:
            inertia = (0.05 + 0.004) * np.sin(a) ** 2 + 0.007 * np.cos(a) ** 2 + 0.01
            return (p1 - p3 * np.cos(a)) ** 2 / (2 * inertia) + 0.981 * np.cos(a)

        h = 1e-4
        assert (potential(theta + h) - potential(theta - h)) / (2 * h) == pytest.approx(0.0, abs=1e-5)
        bend = (potential(theta + h) - 2 * potential(theta) + potential(theta - h)) / h**2
        square = complex(max(m.verdict.roots, key=abs)) ** 2
        assert square.real == pytest.approx(-bend / (0.05 + 0.004), rel=1e-5)


@pytest.mark.parametrize("factor", [0.98, 1.02])
def test_Q3_vyshnegradsky(factor: float) -> None:
    """φ'' = n²ω² sin φ cos φ - (g/l) sin φ - (b/m) φ', ω' = (k cos φ - F)/J: stable iff b J/m > 2 F/ω."""
    J, F, k, m = 1.5, 4.0, 6.0, 1.0
    cosine = F / k
    omega = np.sqrt(G / 0.2 / cosine)
    b = factor * 2 * F * m / (omega * J)
    governor = System(
        name="classical governor",
        coordinates=["theta", "phi"],
        kinetic="J/2*theta'^2 + m/2*phi'^2",
        potential="-m*g/l*cos(phi)",
        forces={"theta": "k*cos(phi) - F", "phi": "m*theta'^2*sin(phi)*cos(phi) - b*phi'"},
        parameters={"J": J, "F": F, "k": k, "m": m, "g": G, "l": 0.2, "b": b},
        box={"phi": [0.1, 1.5], "theta'": [1, 60]},
    )
    (motion,) = governor.steady().motions
    assert motion.speeds["theta'"] == pytest.approx(omega, abs=1e-8)
    assert motion.verdict.word == ("asymptotic" if factor > 1 else "unstable")


@pytest.mark.parametrize("factor", [0.9, 1.1])
def test_Q3_double_gyroscope(factor: float) -> None:
    """M1 θ'' - W1 θ + H β' = 0, M2 β'' - W2 β - H θ' = 0 is held up iff H > √(M1 W2) + √(M2 W1)."""
    M1, M2, W1, W2, C = 20.0, 1.0, 40.0, 2.0, 0.6
    spin = factor * (np.sqrt(M1 * W2) + np.sqrt(M2 * W1)) / (2 * C)
    (motion,) = model("double-gyroscope").steady({"phi1'": spin, "phi2'": -spin, "u": 0.0}).motions
    H = 2 * C * spin
    expected = np.roots([M1 * M2, 0, H**2 - M1 * W2 - M2 * W1, 0, W1 * W2])
    told = motion.verdict.roots[np.abs(motion.verdict.roots) > 1e-6]
    assert np.sort(np.abs(told)) == pytest.approx(np.sort(np.abs(expected)), abs=1e-8)
    if factor > 1:
        assert np.abs(told.real).max() < 1e-9
        assert any("gyroscopic forces hold up" in note for note in motion.verdict.notes)
        assert motion.verdict.word != "unstable"
    else:
        assert motion.verdict.word == "unstable"


@pytest.mark.parametrize("wheel", [20.0, -2.0, 0.2])
def test_Q3_satellite_with_a_flywheel(wheel: float) -> None:
    """The frequencies of the lean in the turning body: A w1' = (B - C) W w2 - h w2, B w2' = (C - A) W w1 + h w1."""
    A, B, C, J, W = 8.0, 10.0, 9.0, 0.5, 0.5
    h = J * (W + wheel)
    product = ((C - A) * W + h) * ((C - B) * W + h)
    (motion,) = [
        m
        for m in model("flywheel-satellite").steady({"psi'": W, "delta'": wheel}).motions
        if max(map(abs, m.state.values())) < 1e-9
    ]
    root = np.sqrt(complex(-product / (A * B)))
    assert min(abs(z - root) for z in motion.verdict.roots) < 1e-8
    assert (motion.verdict.word == "unstable") == (product < 0)
    assert motion.verdict.zero_roots == 2


LOOPS = {
    "hoop": (("hoop", {"shaft": "driven"}), {"psi'": 6.0}, 20.0, ""),
    "governor": (("watt-governor", {}), {"theta'": 13.0}, 8.0, ""),
    "gyroscope": (("double-gyroscope", {}), {"phi1'": 60.0, "phi2'": -60.0, "beta1": 0.0}, 300.0, "phi1'"),
    "top": (("heavy-symmetric-top", {"mounting": "driven"}), {"psi'": 2.0, "theta": 0.5}, 30.0, "psi'"),
    "satellite": (("flywheel-satellite", {"torques": "all"}), {"psi'": 0.5, "delta'": 20.0, "a": 0.3}, 250.0, "psi'"),
    "disc": (("rolling-disc", {"control": "torques"}), {"phi'": 3.0, "psi'": 2.0}, 17.0, ""),
}


@pytest.mark.parametrize("name", LOOPS)
def test_Q5_loops_of_the_gallery_return(name: str) -> None:
    """Every model with inputs, from random consistent starts within 2 % of the size of each variable (of 1 where it is 0).

    With a perturbed momentum to the shifted motion that was foretold.
    """
    (key, choices), fix, until, perturbed = LOOPS[name]
    found = model(key, **choices).regulate(fix=fix, box={"phi'": (5.0, 200.0)} if name == "top" else {})
    assert found.valid
    rest = {v: found.plant.state.get(v, 0.0) for v in found.plant.variables}
    ranges = {v: (x - 0.02 * (abs(x) or 1.0), x + 0.02 * (abs(x) or 1.0)) for v, x in rest.items()}
    tried = found.basin(ranges, 6 if name == "disc" else 20, until)
    assert tried.names == found.plant.variables
    assert tried.returned.all()
    assert tried.outside == 0
    if perturbed:
        trial = found.run({perturbed: 1.02 * fix[perturbed]}, until)["regulator"]
        assert trial.limit is not None
        assert trial.distance_from_limit < 1e-6


def test_Q5_the_precession_foretold_is_that_of_the_new_momentum() -> None:
    """With W, n of the limit (A + B1 - C1) W² cos(theta) - C (n + W cos(theta)) W + m g h = 0, p_psi kept."""
    A, B1, C1, C, A2, mgh, theta = 0.05, 0.004, 0.007, 0.02, 0.01, 0.981, 0.5
    found = model("heavy-symmetric-top", mounting="driven").regulate(
        fix={"psi'": 2.0, "theta": theta}, box={"phi'": (5.0, 200.0)}
    )
    p_phi = found.plant.state["p_phi"]
    assert p_phi == pytest.approx(((A + B1 - C1) * 4 * np.cos(theta) + mgh) / 2, rel=1e-10)

    def momentum(lean: float, turn: float, spin: float) -> float:
        """p_psi with p_phi = ``spin``."""
        return turn * ((A + B1) * np.sin(lean) ** 2 + C1 * np.cos(lean) ** 2 + A2) + spin * np.cos(lean)

    n = found.uniform.choice.motion.speeds["phi'"]
    limit = found.run({"psi'": 2.04}, 1.0)["regulator"].limit
    # the start keeps phi's momentum and has the speed 2.04
    given = momentum(theta, 2.04, p_phi)
    turn = (given - limit["p_phi"] * np.cos(limit["theta"])) / momentum(limit["theta"], 1.0, 0.0)
    assert (A + B1 - C1) * turn**2 * np.cos(limit["theta"]) - limit["p_phi"] * turn + mgh == pytest.approx(0, abs=1e-9)
    spin = limit["p_phi"] / C - turn * np.cos(limit["theta"])
    gain = dict(zip(found.shown.variables, found.shown_gain[0], strict=True))
    held = found.plant.inputs["M"] - gain["theta"] * (limit["theta"] - theta) - gain["phi'"] * (spin - n)
    assert held == pytest.approx(0.0005 * spin, abs=1e-9), "the torque balances the friction"


def test_Q5_a_wheel_along_the_axis_cannot_move_the_axis() -> None:
    with pytest.raises(NoRegulator, match="cannot be moved by u") as caught:
        model("flywheel-satellite").regulate(fix={"psi'": 0.5, "delta'": 20.0})
    assert {name for d in caught.value.facts.uncontrollable for name in d.weights} == {"a", "b"}


def test_Q3_a_turn_that_is_no_coordinate_is_found() -> None:
    """The conical pendulum in x, y, z: the momentum about the vertical, and the same motion in polar coordinates."""
    found = model("spherical-pendulum", coordinates="cartesian").steady({"psi'": 4.0})
    (motion,) = found.motions
    (other,) = model("spherical-pendulum").steady({"psi'": 4.0}).motions
    assert "m*x*y' - m*y*x' is constant" in found.notes[0]
    assert motion.state["z"] == pytest.approx(-G / 16, abs=1e-8)
    assert imaginary(motion.verdict.roots) == pytest.approx(imaginary(other.verdict.roots), abs=1e-9)
