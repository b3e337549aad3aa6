"""Q2, Q3: steady motions against closed forms, and their roots against the equations of motion linearised directly."""

from __future__ import annotations

import numpy as np
import pytest

from svyaz import System, load
from svyaz.expr import ModelError, evaluate, gradient
from svyaz.forms import derive, pseudo_cyclic
from svyaz.forms.programs import rates_of
from svyaz.motion import simulate

G = 9.81


def imaginary(roots: np.ndarray) -> list[float]:
    return sorted(float(z.imag) for z in roots if z.imag > 1e-9)


def hoop(**words: object) -> System:
    return load("hoop")


@pytest.mark.parametrize("speed", [3.0, 4.0, 6.0, 12.0])
def test_Q3_hoop(speed: float) -> None:
    """z = -g/ω² where ω² > g/l, with the frequency of the reduced potential p²/2I(θ) - m g l cos θ; else the lowest point."""
    m, l, J = 1.0, 0.5, 0.3  # noqa: E741 (as in the model)
    found = hoop().steady({"psi'": speed})
    assert (found.found.complete, found.dimension) == (True, 1)
    tilted = [motion for motion in found.motions if abs(motion.state["x"]) > 1e-6]
    lowest = next(motion for motion in found.motions if motion.state["z"] < 0 and motion not in tilted)
    gap = G / l - speed**2
    if gap > 0:
        assert not tilted
        assert lowest.verdict.word == "stable"
        assert imaginary(lowest.verdict.roots) == pytest.approx([np.sqrt(gap)], abs=1e-8)
        return
    assert lowest.verdict.word == "unstable"
    assert max(lowest.verdict.roots.real) == pytest.approx(np.sqrt(-gap), abs=1e-8)
    assert len(tilted) == 2
    cosine = G / l / speed**2
    inertia = J + m * l**2 * (1 - cosine**2)
    p = inertia * speed
    for motion in tilted:
        assert motion.state["z"] == pytest.approx(-l * cosine, abs=1e-8)
        assert motion.momenta["p_psi"] == pytest.approx(p, abs=1e-8)
        # d²/dθ² (p²/2I - m g l cos θ) / m l²
        sine2, double = 1 - cosine**2, 2 * cosine**2 - 1
        bend = (
            m * l**2 * p**2 / inertia**2 * (-double + 4 * m * l**2 * sine2 * cosine**2 / inertia) + m * G * l * cosine
        )
        assert imaginary(motion.verdict.roots) == pytest.approx([np.sqrt(bend / (m * l**2))], abs=1e-8)
        assert motion.verdict.word == "stable"
        assert motion.verdict.zero_roots == 2


def test_Q3_hoop_at_the_same_momentum_gives_the_same_motion() -> None:
    by_speed = hoop().steady({"psi'": 6.0}).motions[0]
    same = [m for m in hoop().steady(by_speed.momenta).motions if m.state["x"] == pytest.approx(by_speed.state["x"])]
    assert same[0].speeds["psi'"] == pytest.approx(6.0, abs=1e-9)


def spherical_pendulum() -> System:
    return System(
        name="spherical pendulum",
        coordinates=["rho", "psi", "z"],
        kinetic="m/2*(rho'^2 + rho^2*psi'^2 + z'^2)",
        potential="m*g*z",
        parameters={"m": 0.7, "g": G, "l": 1.3},
        constraint=[{"name": "thread", "equation": "rho^2 + z^2 = l^2"}],
        box={"rho": [0.05, 1.4], "z": [-1.4, 1.4]},
    )


@pytest.mark.parametrize("theta", [0.2, 0.7, 1.3])
def test_Q3_conical_pendulum(theta: float) -> None:
    """Ω² = g/(l cos θ), small oscillations with Ω √(1 + 3 cos² θ) at the unperturbed momentum."""
    speed = np.sqrt(G / (1.3 * np.cos(theta)))
    (motion,) = spherical_pendulum().steady({"psi'": speed}).motions
    assert motion.state["rho"] == pytest.approx(1.3 * np.sin(theta), abs=1e-8)
    assert imaginary(motion.verdict.roots) == pytest.approx([speed * np.sqrt(1 + 3 * np.cos(theta) ** 2)], abs=1e-8)


def top() -> System:
    return System(
        name="heavy symmetric top",
        coordinates=["psi", "theta", "phi"],
        kinetic="A/2*(theta'^2 + psi'^2*sin(theta)^2) + C/2*(phi' + psi'*cos(theta))^2",
        potential="m*g*h*cos(theta)",
        parameters={"A": 0.05, "C": 0.02, "m": 1.0, "g": G, "h": 0.1},
        box={"theta": [0.1, 3.0]},
    )


@pytest.mark.parametrize("theta", [0.5, 1.2])
@pytest.mark.parametrize("sign", [1, -1])
def test_Q3_regular_precession_of_a_top(theta: float, sign: int) -> None:
    """A Ω² cos θ - C n Ω + m g h = 0: fast and slow, and the frequency of nutation in closed form."""
    A, C, n, pull = 0.05, 0.02, 140.0, G * 0.1
    a, b, c = A * np.cos(theta), -C * n, pull
    omega = (-b + sign * np.sqrt(b**2 - 4 * a * c)) / (2 * a)
    phi = n - omega * np.cos(theta)
    motions = top().steady({"psi'": omega, "phi'": phi}).motions
    (motion,) = [m for m in motions if abs(m.state["theta"] - theta) < 1e-6]
    assert motion.state["theta"] == pytest.approx(theta, abs=1e-8)
    assert motion.momenta["p_phi"] == pytest.approx(C * n, abs=1e-10)
    # nutation: A² λ² + (A Ω cos θ - C n)²... from the reduced potential (pψ - pφ cos θ)²/(2 A sin² θ) + m g h cos θ
    p3, p1 = C * n, A * omega * np.sin(theta) ** 2 + C * n * np.cos(theta)

    def slope(t: float) -> float:
        s, k = np.sin(t), np.cos(t)
        return (p1 - p3 * k) * p3 / (A * s) - (p1 - p3 * k) ** 2 * k / (A * s**3) - pull * s

    bend = (slope(theta + 1e-5) - slope(theta - 1e-5)) / 2e-5
    assert imaginary(motion.verdict.roots) == pytest.approx([np.sqrt(bend / A)], rel=1e-7)
    assert motion.verdict.zero_roots == 2
    assert motion.verdict.word == "stable"


def random_system(seed: int) -> tuple[System, dict[str, float]]:
    """Two positional coordinates, one redundant, two cyclic; forces chosen so that rest at the origin is a steady motion.

    Odd seeds: friction and a drive on the cyclic coordinates, which balance there.
    """
    rng = np.random.default_rng(seed)

    def n(size: float = 1.0) -> str:
        return f"({size * rng.uniform(-1, 1):.3f})"

    q, pos = ["a", "b", "s", "g", "h"], ["a", "b", "s"]
    speeds = {"g'": 0.8, "h'": -1.1}

    def f() -> str:
        x, y = rng.choice(pos, 2)
        return f"({n()}*{x} + {n()}*{y} + {n()}*{x}*{y})"

    kinetic = " + ".join(f"(1.6 + 0.3*{f()})*{x}'^2/2" for x in q)
    kinetic += "".join(f" + 0.3*(0.5 + {f()})*{x}'*{y}'" for i, x in enumerate(q) for y in q[:i])
    kinetic += "".join(f" + 0.4*{f()}*{x}'" for x in q)
    forces = {x: f"{n()}*a + {n()}*b - 0.3*{x}' + {n(0.2)}*g'" for x in pos}
    if seed % 2:
        forces |= {"g": f"-0.4*(g' - 0.8) + {n()}*a + {n()}*b'", "h": f"-0.3*(h' + 1.1) + {n()}*s - 0.1*a'"}
    tie = f"s = {n(0.6)}*a + {n(0.6)}*b + {n()}*a*b + {n()}*a*s + {n()}*b^2"
    words = {
        "name": "random",
        "coordinates": q,
        "kinetic": kinetic,
        "potential": f"2*a^2 + 1.5*b^2 + s^2 + {f()}",
        "constraint": [{"name": "tie", "equation": tie}],
        "initial": speeds,
    }
    bare = System(**words, forces=forces)
    equations = derive(bare, "shulgin")
    point = {**bare.constants, **dict.fromkeys(equations.states, 0.0), **speeds, "t": 0.0}
    biases = dict(zip(equations.accelerated, (evaluate(e, point) for e in equations.bias), strict=True))
    balanced = {x: f"{text} + ({biases.get(x, 0.0)!r})" for x, text in forces.items()}
    return System(**words, forces=balanced), speeds


def direct_roots(system: System, values: dict[str, float]) -> np.ndarray:
    """The matrix of (a, b, a', b', g', h') of Shulgin's equations, s eliminated by its linear part, and its roots."""
    equations = derive(system, "shulgin")
    point = {**system.constants, **dict.fromkeys(equations.states, 0.0), **values, "t": 0.0}
    import symengine as se

    def table(entries: list, by: list[str]) -> np.ndarray:
        return np.array(
            [[evaluate(e, point) for e in gradient(entry, [se.Symbol(x) for x in by])] for entry in entries]
        )

    r = equations.accelerated
    positional = [x for x in r if x in ("a", "b")]
    mass = np.array([[evaluate(e, point) for e in row] for row in equations.mass_matrix])
    speeds = [f"{x}'" for x in r]
    by_speed = -np.linalg.solve(mass, table(list(equations.bias), speeds))
    by_place = table(list(equations.bias), positional)
    slope = table([equations.explicit["s"]], [f"{x}'" for x in positional])
    by_place = -np.linalg.solve(mass, by_place + table(list(equations.bias), ["s"]) @ slope)
    k = len(positional)
    matrix = np.zeros((k + len(r), k + len(r)))
    matrix[:k, k:] = np.eye(len(r))[[r.index(x) for x in positional]]
    matrix[k:, :k], matrix[k:, k:] = by_place, by_speed
    return np.linalg.eigvals(matrix)


@pytest.mark.parametrize("seed", range(12))
def test_Q2_roots_are_those_of_the_equations_of_motion(seed: int) -> None:
    system, speeds = random_system(seed)
    cyclic = pseudo_cyclic(system)
    assert [c.name for c in cyclic] == ["g", "h"]
    assert all(c.conserved != bool(seed % 2) for c in cyclic)
    box = dict.fromkeys(("a", "b", "s"), (-0.05, 0.05))
    motions = system.steady(speeds, box, dependent=["s"]).motions
    (motion,) = [m for m in motions if max(abs(x) for x in m.state.values()) < 1e-9]
    told = np.sort_complex(np.round(motion.verdict.roots, 12))
    expected = np.sort_complex(np.append(direct_roots(system, speeds), 0.0))
    gaps = [np.min(np.abs(told - z)) for z in expected]
    zeros = int(np.sum(np.abs(expected) < 1e-6))
    assert motion.verdict.zero_roots == zeros == (1 if seed % 2 else 3)
    assert max(gap for gap, z in zip(gaps, expected, strict=True) if abs(z) > 1e-6) < 1e-9


@pytest.mark.parametrize("seed", [0, 1])
def test_Q2_routh_and_lagrange_give_the_same_motion(seed: int) -> None:
    system, _ = random_system(seed)
    start = system.with_settings({"initial.a'": 0.3, "initial.b'": -0.2})
    runs = [
        simulate(start, form=form, method="dop853", rtol=1e-12, until=10.0, every=1.0, project=True)
        for form in ("shulgin", "routh")
    ]
    for name in runs[0].table_names:
        assert runs[1].column(name) == pytest.approx(runs[0].column(name), abs=1e-8)


def test_names_are_judged() -> None:
    system = hoop()
    for fix, told in (
        ({"psi": 1.0}, "'psi' is cyclic and turns uniformly"),
        ({"psy'": 1.0}, "no coordinate, cyclic speed, momentum"),
        ({"psi'": 1.0, "p_psi": 2.0}, "determine each other"),
    ):
        with pytest.raises(ModelError, match=told):
            system.steady(fix)
    with pytest.raises(ModelError, match="no coordinate is cyclic"):
        load("pendulum:2").steady()


def test_rates_of_a_routh_form_are_used() -> None:
    equations = derive(hoop(), "routh")
    assert equations.states == ("x", "z", "psi", "x'", "p_psi")
    assert dict(rates_of(equations).rates)["p_psi"] == 0


def test_N1_1_no_verdict_at_the_poles_of_the_coordinates() -> None:
    """A conical pendulum, cos θ = g/(l ψ'²), in spherical angles: hanging and upright lie at poles, and upright is not stable,
    though rounding leaves sin π = 1.2e-16 and with it an inertia.
    """
    system = System(
        name="conical pendulum",
        coordinates=["th", "psi"],
        kinetic="(th'^2 + sin(th)^2*psi'^2)/2",
        potential="-9.81*cos(th)",
        initial={"th": 1.0, "psi'": 2.0},
    )
    found = {round(m.state["th"], 6): m for m in system.steady({"psi'": 4.0}).motions}
    lean = round(float(np.arccos(9.81 / 16)), 6)
    assert sorted(found) == [-lean, 0.0, lean, round(np.pi, 6)]
    for th in (0.0, round(np.pi, 6)):
        assert found[th].verdict is None
        assert any("the inertia of psi vanishes" in note for note in found[th].notes)
    roots = found[lean].verdict.roots
    assert np.abs(roots).max() == pytest.approx(4 * np.sqrt(1 + 3 * (9.81 / 16) ** 2), rel=1e-9)
