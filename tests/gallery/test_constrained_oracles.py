"""Each constrained model of the gallery against a derivation that shares nothing with its equations."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.integrate import quad, solve_ivp

from svyaz import System, gallery, loads
from svyaz.motion import simulate
from svyaz.show import as_json

FINE = {"method": "DOP853", "rtol": 1e-12, "atol": 1e-13}
ACCURATE = {"method": "dop853", "rtol": 1e-12}

CONSTRAINED = [
    ("sleigh", {}),
    ("slalom-cart", {}),
    ("ball-on-plane", {}),
    ("ball-on-plane", {"coordinates": "angles"}),
    ("three-link", {}),
    ("three-link", {"potential": "full"}),
    ("three-link-10", {}),
    ("slider-crank", {}),
    ("four-bar", {}),
    ("rolling-disc", {}),
    ("rocket-path", {}),
]
CONSERVATIVE = [entry for entry in CONSTRAINED if entry[0] not in ("ball-on-plane", "rocket-path")]


def model(name: str, choices: dict[str, str] | None = None, **settings: object) -> System:
    text = gallery.find(name, choices)
    assert text is not None
    return loads(text, name).with_settings(settings)


def columns(motion, *names: str) -> np.ndarray:
    assert motion.finished, motion.reason
    return np.array([motion.column(name) for name in names])


def identity(entry: tuple[str, dict[str, str]]) -> str:
    return "-".join([entry[0], *entry[1].values()])


@pytest.mark.parametrize(("name", "choices"), CONSTRAINED, ids=map(identity, CONSTRAINED))
@pytest.mark.parametrize("stabilize", ["off", 5])
def test_the_run_of_the_model_keeps_its_constraints(name, choices, stabilize) -> None:
    motion = simulate(model(name, choices), stabilize=stabilize)
    assert motion.finished, motion.reason
    for values in [*motion.residuals.values(), *motion.hidden.values()]:
        assert abs(values[0]) < 1e-14
        assert np.abs(values).max() < 1e-3


@pytest.mark.parametrize(("name", "choices"), CONSERVATIVE, ids=map(identity, CONSERVATIVE))
def test_ideal_constraints_at_rest_do_no_work(name, choices) -> None:
    motion = simulate(model(name, choices), **ACCURATE, stabilize="off")
    assert as_json(motion)["integrals"]["energy"]["drift"] < 1e-9


def test_every_model_says_where_its_numbers_come_from() -> None:
    for name in gallery.names():
        for what, choices in (gallery.variants_of(name) or {"": ("",)}).items():
            for choice in choices:
                system = model(name.replace(":N", ":2"), {what: choice} if what else {})
                assert not system.warnings, name
                assert system.drawings, name
                said = {
                    *system.source.get("published", ()),
                    *system.source.get("recovered", ()),
                    *system.source.get("chosen", ()),
                }
                plain = {p for p, value in system.words["parameters"].items() if not isinstance(value, str)}
                assert plain <= said, f"{name} does not say where {sorted(plain - said)} come from"


def test_sleigh_in_quasi_velocities() -> None:
    """u along the blade: m u' = m a w² + m g sin(incline) cos(phi), J w' = -m a w u."""
    pull = 9.8 * np.sin(np.pi / 6)

    def rates(t, s):
        _, _, phi, u, w = s
        return [u * np.cos(phi), u * np.sin(phi), w, w**2 + pull * np.cos(phi), -w * u]

    exact = solve_ivp(rates, (0, 6), [0, 1, np.pi / 3, 0, 1], **FINE).y[:, -1]
    motion = simulate(model("sleigh"), **ACCURATE, stabilize="off")
    x, y, phi, vx, vy, w = columns(motion, "x", "y", "phi", "x'", "y'", "phi'")[:, -1]
    assert_allclose([x, y, phi, vx * np.cos(phi) + vy * np.sin(phi), w], exact, rtol=1e-8, atol=1e-8)


def test_slalom_cart_by_its_energy() -> None:
    """One freedom: [m/cos²θ + J θ'(x)²] x'²/2 = m g x sin(incline); started a little way down to leave the rest."""

    def speed(x):
        theta = np.arctan(np.cos(x))
        turn = -np.sin(x) / (1 + np.cos(x) ** 2)
        return np.sqrt(2 * 9.8 * 0.5 * x / (1 / np.cos(theta) ** 2 + turn**2))

    motion = simulate(model("slalom-cart"), **ACCURATE, stabilize="off")
    x, v, theta = columns(motion, "x", "x'", "theta")
    assert_allclose(v[1:], [speed(a) for a in x[1:]], rtol=1e-7)
    assert_allclose(np.tan(theta), np.cos(x), atol=1e-8)
    lap = quad(lambda z: 2 * z / speed(z**2), 0, np.sqrt(x[-1]), limit=200, epsabs=1e-10)[0]
    assert lap == pytest.approx(5.0, abs=1e-7)


def swing_time(energy: float, inertia, height, start: float, stop: float) -> float:
    """∫ dθ √(I/(2(E - V))): the time in which a mechanism with one freedom goes from one angle to another."""
    return quad(lambda a: np.sqrt(inertia(a) / (2 * (energy - height(a)))), start, stop, limit=400, epsabs=1e-11)[0]


def crank_angle(motion, x: str, y: str) -> np.ndarray:
    return np.unwrap(np.arctan2(motion.column(y), motion.column(x)))


def test_slider_crank_in_closed_form() -> None:
    r, length, m1, m2, m3, g = 1.0, 2.0, 1.0, 2.0, 1.0, 9.81

    def slide(a):
        return -r * np.sin(a) - r**2 * np.sin(a) * np.cos(a) / np.sqrt(length**2 - r**2 * np.sin(a) ** 2)

    def inertia(a):
        tip, slider = np.array([-r * np.sin(a), r * np.cos(a)]), np.array([slide(a), 0.0])
        middle, turn = (tip + slider) / 2, r * np.cos(a) / np.sqrt(length**2 - r**2 * np.sin(a) ** 2)
        return m1 * r**2 / 3 + m2 * middle @ middle + m2 * length**2 / 12 * turn**2 + m3 * slider[0] ** 2

    def height(a):
        return (m1 + m2) / 2 * g * r * np.sin(a)

    motion = simulate(model("slider-crank"), **ACCURATE, stabilize="off")
    angle = crank_angle(motion, "xA", "yA")
    energy = inertia(np.pi / 4) * 16 / 2 + height(np.pi / 4)
    assert motion.integrals["energy"][0] == pytest.approx(energy, rel=1e-12)
    assert angle[-1] > 4 * np.pi
    assert swing_time(energy, inertia, height, np.pi / 4, angle[-1]) == pytest.approx(5.0, abs=1e-7)


def test_four_bar_by_the_energy_of_its_one_freedom() -> None:
    a, b, c, d, g = 1.0, 3.0, 2.5, 3.0, 9.81

    def joints(angle):
        """B, C by the law of cosines in the triangle BCD."""
        tip = a * np.array([np.cos(angle), np.sin(angle)])
        across = np.array([d, 0.0]) - tip
        distance = np.hypot(*across)
        turn = np.arccos((b**2 + distance**2 - c**2) / (2 * b * distance))
        direction = np.arctan2(across[1], across[0]) + turn
        return tip, tip + b * np.array([np.cos(direction), np.sin(direction)])

    def inertia(angle, h=1e-5):
        slopes = [(p - q) / (2 * h) for p, q in zip(joints(angle + h), joints(angle - h), strict=True)]
        u, v = slopes
        return (u @ u + (u @ u + u @ v + v @ v) + v @ v) / 3

    def height(angle):
        tip, end = joints(angle)
        return g * (tip[1] + end[1])

    motion = simulate(model("four-bar"), **ACCURATE, stabilize="off")
    angle = crank_angle(motion, "xB", "yB")
    energy = inertia(np.pi / 2) * 16 / 2 + height(np.pi / 2)
    assert motion.integrals["energy"][0] == pytest.approx(energy, rel=1e-8)
    assert abs(angle[-1] - angle[0]) > 4 * np.pi
    assert abs(swing_time(energy, inertia, height, angle[0], angle[-1])) == pytest.approx(5.0, abs=1e-6)
    assert_allclose(columns(motion, "xC", "yC")[:, -1], joints(angle[-1])[1], atol=1e-8)


def newton_euler_disc(t, s, m=1.0, r=1.0, g=9.81):
    """The disc by Newton and Euler in space axes: unknown ω' and the force F of the plane, v = ω × (r u).

    s = (contact x, y, heading, lean, spin angle, ω); m (ω × r u)˙ = F - m g z, (I ω)˙ = -r u × F.
    """
    psi, theta, w = s[2], s[3], s[5:]
    e = np.array([np.cos(psi), np.sin(psi), 0.0])
    u = np.array([np.sin(theta) * np.sin(psi), -np.sin(theta) * np.cos(psi), np.cos(theta)])
    axle = np.cross(u, e)
    lean, yaw = w @ e, (w @ u) / np.cos(theta)
    spin = w @ axle - yaw * np.sin(theta)
    frame = yaw * np.array([0, 0, 1.0]) + lean * e
    u_rate, axle_rate = np.cross(frame, u), np.cross(frame, axle)
    inertia = m * r**2 / 4 * (np.eye(3) + np.outer(axle, axle))
    inertia_rate = m * r**2 / 4 * (np.outer(axle_rate, axle) + np.outer(axle, axle_rate))
    cross_u = np.array([[0, -u[2], u[1]], [u[2], 0, -u[0]], [-u[1], u[0], 0]])
    matrix = np.block([[-m * r * cross_u, -np.eye(3)], [inertia, r * cross_u]])
    side = np.concatenate([-m * g * np.array([0, 0, 1.0]) - m * r * np.cross(w, u_rate), -inertia_rate @ w])
    return [r * spin * np.cos(psi), r * spin * np.sin(psi), yaw, lean, spin, *np.linalg.solve(matrix, side)[:3]]


def test_rolling_disc_by_newton_and_euler() -> None:
    lean, speed = np.radians(20), 3.0
    axle = np.array([0.0, np.cos(lean), np.sin(lean)])
    start = [0, 0, 0, lean, 0, *(speed * axle)]
    exact = solve_ivp(newton_euler_disc, (0, 10), start, **FINE).y[:5, -1]
    motion = simulate(model("rolling-disc"), **ACCURATE, stabilize="off")
    assert_allclose(columns(motion, "x", "y", "psi", "theta", "phi")[:, -1], exact, atol=1e-7)


def test_rolling_disc_leans_steadily_in_a_circle() -> None:
    """Steady motion of a thin disc: (6 spin + 5 yaw sin(lean)) yaw cos(lean) = -4 (g/r) sin(lean), from the classical
    equations with A = m r²/4, C = m r²/2."""
    lean, yaw = np.radians(30), -2.0
    spin = (-4 * 9.81 * np.sin(lean) / (yaw * np.cos(lean)) - 5 * yaw * np.sin(lean)) / 6
    start = {"initial.theta": lean, "initial.psi'": yaw, "initial.phi'": spin, "initial.x'": spin}
    motion = simulate(model("rolling-disc", **start), **ACCURATE, stabilize="off")
    theta, turn, rolling = columns(motion, "theta", "psi'", "phi'")
    assert_allclose(theta, lean, atol=1e-8)
    assert_allclose(turn, yaw, atol=1e-8)
    assert_allclose(rolling, spin, atol=1e-8)


@pytest.mark.parametrize(("factor", "steady"), [(0.97, False), (1.03, True)])
def test_upright_disc_is_stable_above_its_critical_speed(factor, steady) -> None:
    """ω² > g/(3 r) for a thin disc."""
    rate = factor * np.sqrt(9.81 / 3)
    start = {"initial.theta": 1e-6, "initial.phi'": rate, "initial.x'": rate}
    motion = simulate(model("rolling-disc", **start), **ACCURATE, until=20, stabilize="off")
    grown = np.abs(motion.column("theta")).max() / 1e-6
    assert (grown < 100) == steady


def test_ball_attitude_is_the_same_in_both_charts() -> None:
    quaternion = simulate(model("ball-on-plane"), **ACCURATE, stabilize="off", every=1)
    angles = simulate(model("ball-on-plane", {"coordinates": "angles"}), **ACCURATE, stabilize="off", every=1)
    alpha, beta, gamma = columns(angles, "alpha", "beta", "gamma")
    expected = [
        np.cos(alpha) * np.cos(beta) * np.cos(gamma),
        np.cos(alpha) * np.cos(beta) * np.sin(gamma),
        np.cos(alpha) * np.sin(beta),
        np.sin(alpha),
    ]
    assert_allclose(columns(quaternion, "e0", "e1", "e2", "e3"), expected, atol=1e-8)


def test_ball_conserves_its_energy_in_the_rotating_plane() -> None:
    motion = simulate(model("ball-on-plane"), **ACCURATE, stabilize="off")
    assert np.ptp(motion.integrals["energy in the rotating plane"]) < 1e-9
    assert np.ptp(motion.integrals["spin about the vertical"]) < 1e-9
    assert np.ptp(motion.energy) > 1


LINKS = {"m0": 5, "m1": 5, "m2": 10, "l0": 0.5, "g": 9.87, "delta": 0.1, "slope": "15*deg"}


def test_three_links_in_two_free_coordinates() -> None:
    """On the constraints y0 = A sin(k x0): x0 and the angle on the circle of elevations remain, without multipliers."""
    system = System(
        coordinates=["x0", "chi"],
        definitions={
            "y0": "sin(x0)",
            "phi": "atan(cos(x0))",
            "psi1": "pi/2 + delta*sin(chi)",
            "psi2": "pi/2 - delta*cos(chi)",
            "x1": "x0 + cos(psi1)*cos(phi)/2",
            "y1": "y0 + cos(psi1)*sin(phi)/2",
            "z1": "sin(psi1)/2",
            "x2": "x0 + (cos(psi1) + cos(psi2)/2)*cos(phi)",
            "y2": "y0 + (cos(psi1) + cos(psi2)/2)*sin(phi)",
            "z2": "sin(psi1) + sin(psi2)/2",
        },
        kinetic=(
            "m0/2*(x0'^2 + y0'^2) + m0*l0^2/24*phi'^2 + m1/2*(x1'^2 + y1'^2 + z1'^2) + m2/2*(x2'^2 + y2'^2 + z2'^2)"
            "+ m1/24*(psi1'^2 + cos(psi1)^2*phi'^2) + m2/24*(psi2'^2 + cos(psi2)^2*phi'^2)"
        ),
        potential="-g*sin(slope)*(m0 + m1 + m2)*x0",
        parameters=LINKS,
    )
    reduced = simulate(system, **ACCURATE, until=4, stabilize="off")
    full = simulate(model("three-link"), **ACCURATE, until=4, stabilize="off")
    x0, chi = columns(reduced, "x0", "chi")[:, -1]
    expected = [x0, np.sin(x0), np.pi / 2 + 0.1 * np.sin(chi), np.pi / 2 - 0.1 * np.cos(chi)]
    assert_allclose(columns(full, "x0", "y0", "psi1", "psi2")[:, -1], expected, atol=1e-5)


def test_rocket_along_the_tangent_of_its_path() -> None:
    """m [(1 + x²) x'' + x x'²] = F √(1 + x²) sign(x') - m g x, up to the first turning point."""

    def rates(t, s):
        x, v = s
        m = 1 - 0.05 * t
        return [v, (0.1 * np.sqrt(1 + x**2) - m * 9.81 * x - m * x * v**2) / (m * (1 + x**2))]

    exact = solve_ivp(rates, (0, 0.4), [0, 2], **FINE).y[:, -1]
    assert exact[1] > 0
    motion = simulate(model("rocket-path"), **ACCURATE, until=0.4, stabilize="off")
    assert_allclose(columns(motion, "x", "x'")[:, -1], exact, atol=1e-9)


def test_knife_edge_cart_runs_on_its_circle() -> None:
    motion = simulate(model("inverse-cart"), **ACCURATE, stabilize="off")
    t = motion.times
    assert_allclose(columns(motion, "x", "y", "phi"), [np.sin(t), -np.cos(t), t], atol=1e-7)


def test_lawden_from_its_printed_canonical_equations() -> None:
    system = model("lawden", eps=0)

    def rates(t, s):
        r, v, p, q = s[:3], s[3:6], s[6:9], s[9:12]
        d = np.sqrt(r @ r)
        return np.concatenate([v, -r / d**3 + q, q / d**3 - 3 * (q @ r) * r / d**5, -p, [q @ q]])

    start = [1, 0, 0, 2, 2, 20, 0.1, 0.1, 0.05, 0.5, 0.3, 0.1, 0]
    exact = solve_ivp(rates, (0, 2), start, **FINE).y[:, -1]
    motion = simulate(system, **ACCURATE, until=2, stabilize="off")
    assert_allclose(motion.states[-1], exact, atol=1e-8)
