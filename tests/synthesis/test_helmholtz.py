"""The conditions of Helmholtz: systems of Lagrange and Rayleigh made at random, and spoiled ones."""

from __future__ import annotations

import itertools
import json
from functools import cache

import numpy as np
import pytest
import sympy as sp

from svyaz import ModelError, System, gallery, loads
from svyaz.motion import simulate
from svyaz.synthesis.inverse.construction import gives, lagrange_expression
from svyaz.synthesis.inverse.helmholtz_conditions import helmholtz

Q = ("x", "y", "z")
POINT = {
    n: sp.Rational(k + 3, 7 + (k % 4)) for k, n in enumerate([f"{q}{e}" for q in Q for e in ("", "d", "dd", "ddd")])
}
SYMBOLS = {n: sp.Symbol(n) for n in POINT}


def random_energies(seed: int) -> tuple[sp.Expr, sp.Expr]:
    """L with a mass matrix that depends on the configuration, gyroscopic terms and a potential; D with more than squares."""
    rng = np.random.default_rng(seed)
    q = [SYMBOLS[name] for name in Q]
    v = [SYMBOLS[name + "d"] for name in Q]

    def number() -> sp.Rational:
        return sp.Rational(int(rng.integers(-9, 10)), 10)

    def function() -> sp.Expr:
        a, b = (q[int(k)] for k in rng.integers(0, 3, 2))
        return number() * sp.sin(a) + number() * a * b + number() * sp.cos(a - b)

    mass = sum((2 + sp.cos(q[(k + 1) % 3])) * v[k] ** 2 / 2 for k in range(3)) + function() * v[0] * v[1]
    lagrangian = mass + sum(function() * v[k] for k in range(3)) - function() - q[0] ** 2
    rayleigh = sum((3 + number()) * v[k] ** 2 / 2 for k in range(3)) + function() * v[1] ** 2 + number() * v[0] * v[2]
    rayleigh += number() * v[0] ** 3 + function() * v[2]
    return lagrangian, rayleigh


def equations_of(lagrangian: sp.Expr, rayleigh: sp.Expr) -> list[sp.Expr]:
    rows = []
    for name in Q:
        momentum = lagrangian.diff(SYMBOLS[name + "d"])
        total = sum(
            momentum.diff(SYMBOLS[r]) * SYMBOLS[r + "d"] + momentum.diff(SYMBOLS[r + "d"]) * SYMBOLS[r + "dd"]
            for r in Q
        )
        rows.append(total - lagrangian.diff(SYMBOLS[name]) + rayleigh.diff(SYMBOLS[name + "d"]))
    return rows


def model_of(rows) -> System:
    def text(e: sp.Expr) -> str:
        out = sp.sstr(e).replace("**", "^")
        for name in Q:
            out = out.replace(f"{name}dd", f"{name}''").replace(f"{name}d", f"{name}'")
        return out

    return System(
        name="made", coordinates=list(Q), equations={q: f"{text(e)} = 0" for q, e in zip(Q, rows, strict=True)}
    )


SPOILS = {
    "H1": lambda x: [x["ydd"], 0, 0],
    "H2": lambda x: [x["yd"] * x["xdd"], 0, 0],
    "H3": lambda x: [x["yd"] ** 2, 0, 0],
    "H4": lambda x: [x["xdd"] ** 2, 0, 0],
    "H5": lambda x: [x["xd"] * x["yd"], 0, 0],
    "H6": lambda x: [x["z"] * x["yd"], 0, 0],
    "H7": lambda x: [x["z"] ** 2 * x["yd"], -(x["z"] ** 2) * x["xd"], 0],
}


def total(e: sp.Expr) -> sp.Expr:
    chain = [(SYMBOLS[q + d], SYMBOLS[q + d + "d"]) for q in Q for d in ("", "d", "dd")]
    return sum(e.diff(a) * b for a, b in chain)


def conditions_by_sympy(f) -> dict[str, list[sp.Expr]]:
    """The left-hand sides of the conditions at one point of general position, straight from their definitions.

    They are linear in the equations f; of entries that differ in sign alone (H1, r, H5, H7) one is taken.
    """
    q = [SYMBOLS[n] for n in Q]
    v, a = [SYMBOLS[n + "d"] for n in Q], [SYMBOLS[n + "dd"] for n in Q]
    faster = [*a, *(SYMBOLS[n + "ddd"] for n in Q)]
    n = range(3)
    pairs, above = list(itertools.product(n, n)), list(itertools.combinations(n, 2))
    s = [[(f[i].diff(v[j]) + f[j].diff(v[i])) / 2 - total(f[i].diff(a[j])) for j in n] for i in n]
    r = {
        (i, j): f[i].diff(q[j]) - f[j].diff(q[i]) - total(f[i].diff(v[j]) - f[j].diff(v[i])) / 2
        for i, j in [*above, (2, 0)]
    }
    tests = {
        "H1": [f[i].diff(a[j]) - f[j].diff(a[i]) for i, j in above],
        "H2": [s[i][j].diff(x) for i, j in pairs for x in faster],
        "H3": [r[pair].diff(x) for pair in above for x in faster],
        "H4": [f[i].diff(a[j], a[k]) for i, j, k in itertools.product(n, n, n)],
        "H5": [s[i][j].diff(v[k]) - s[i][k].diff(v[j]) for i in n for j, k in above],
        "H6": [r[i, j].diff(v[k]) - s[i][k].diff(q[j]) + s[j][k].diff(q[i]) for i, j in above for k in n],
        "H7": [r[0, 1].diff(q[2]) + r[1, 2].diff(q[0]) + r[2, 0].diff(q[1])],
    }
    point = {SYMBOLS[name]: value for name, value in POINT.items()}
    return {name: [sp.N(e.subs(point), 20) for e in entries] for name, entries in tests.items()}


@cache
def made(seed: int) -> tuple[list[sp.Expr], dict[str, list[sp.Expr]]]:
    """The equations of a system of Lagrange and Rayleigh, and what their conditions are at the point."""
    rows = equations_of(*random_energies(seed))
    return rows, conditions_by_sympy(rows)


@pytest.mark.parametrize("seed", range(50))
def test_F4_systems_of_lagrange_and_rayleigh_pass(seed) -> None:
    system = model_of(equations_of(*random_energies(seed)))
    found = helmholtz(system)
    assert found.failing == ()
    if found.construction is not None:  # integrals are found for most
        assert gives(found.construction, list(system.law.equations.values()), Q)


@pytest.mark.parametrize(("condition", "seed"), list(itertools.product(SPOILS, range(8)))[:50])
def test_F4_spoiled_systems_are_told_by_the_condition(condition, seed) -> None:
    good, sound = made(100 + seed)
    strength = sp.Rational(seed + 2, 5)
    spoil = [strength * sp.sympify(extra) for extra in SPOILS[condition](SYMBOLS)]
    rows = [sp.expand(e + extra) for e, extra in zip(good, spoil, strict=True)]
    expected = {
        name
        for name, entries in conditions_by_sympy(spoil).items()
        if any(abs(a + b) > 1e-12 for a, b in zip(sound[name], entries, strict=True))
    }
    assert condition in expected, "the term breaks the condition"
    found = helmholtz(model_of(rows))
    assert set(found.failing) == expected
    assert all(c.where for c in found.conditions if not c.holds)


def test_most_integrals_are_found() -> None:
    found = [helmholtz(model_of(equations_of(*random_energies(seed)))).construction for seed in range(12)]
    assert sum(construction is not None for construction in found) >= 10


def test_a_mass_matrix_that_depends_on_the_configuration_passes_only_as_written() -> None:
    """(1 + x²) ẍ + x ẋ² + x = 0 with y beside it: Lagrange's as written; solved for ẍ the condition H2 fails."""
    written = System(
        coordinates=["x", "y"],
        equations={"x": "(2 + cos(y))*x'' - sin(y)*x'*y' + x = 0", "y": "y'' + sin(y)*x'^2/2 + k*y = 0"},
        parameters={"k": 2},
    )
    found = helmholtz(written)
    assert found.holds
    assert found.tested == "equations as written"
    assert found.construction is not None
    for name, f in written.law.equations.items():
        values = {n: 0.3 + 0.1 * k for k, n in enumerate(("x", "y", "x'", "y'", "x''", "y''", "k"))}
        from svyaz.expr.calculus import evaluate

        again = lagrange_expression(found.construction.lagrangian, name)
        assert evaluate(again, values) == pytest.approx(evaluate(f, values), abs=1e-12)
    solved = System(
        coordinates=["x", "y"],
        accelerations={"x": "(sin(y)*x'*y' - x)/(2 + cos(y))", "y": "-sin(y)*x'^2/2 - k*y"},
        parameters={"k": 2},
    )
    explicit = helmholtz(solved)
    assert not explicit.holds
    assert "explicit form" in explicit.tested
    assert any("[equations], may pass" in note for note in explicit.notes)


def test_damped_oscillator() -> None:
    """m ẍ + c ẋ + k x = 0: L = ½ m ẋ² - ½ k x², D = ½ c ẋ²."""
    from svyaz.expr.text import to_text

    system = System(coordinates=["x"], equations={"x": "m*x'' + c*x' + k*x = 0"}, parameters={"m": 1, "c": 0.1, "k": 1})
    found = helmholtz(system)
    assert found.holds
    assert found.construction is not None
    assert to_text(found.construction.rayleigh) == "c*x'^2/2"
    assert to_text(found.construction.lagrangian) == "m*x'^2/2 - k*x^2/2"


def test_double_pendulum_given_by_its_equations() -> None:
    """Relative damping c (b' - a')²/2 + c a'²/2; the Lagrangian is the one of the books."""
    from svyaz.expr.calculus import evaluate

    system = System(
        coordinates=["a", "b"],
        parameters={"m": 0.7, "k": 1.3, "l": 0.8, "g": 9.81, "c": 0.1},
        equations={
            "a": "(k + m)*a'' + m*l*b''*cos(a - b) + m*l*b'^2*sin(a - b) + (k + m)*g*sin(a) + c*a' - c*(b' - a') = 0",
            "b": "m*l^2*b'' + m*l*a''*cos(a - b) - m*l*a'^2*sin(a - b) + m*g*l*sin(b) = -c*(b' - a')",
        },
    )
    found = helmholtz(system)
    assert found.holds
    assert found.construction is not None
    values = {"a": 0.4, "b": -0.7, "a'": 0.9, "b'": 0.3, **system.constants}
    m, k, length, g, c = (values[n] for n in ("m", "k", "l", "g", "c"))
    a, b, ad, bd = (values[n] for n in ("a", "b", "a'", "b'"))
    kinetic = (k + m) / 2 * ad**2 + m * length**2 / 2 * bd**2 + m * length * ad * bd * np.cos(a - b)
    height = -(k + m) * g * np.cos(a) - m * g * length * np.cos(b)
    assert evaluate(found.construction.lagrangian, values) == pytest.approx(kinetic - height)
    assert evaluate(found.construction.rayleigh, values) == pytest.approx(c / 2 * (ad**2 + (bd - ad) ** 2))
    assert found.notes == ("the Lagrangian and the Rayleigh function give the equations",)


def test_circulatory_forces_are_told_from_dissipation() -> None:
    """ẍ = -y, ÿ = x: the conditions allow it, with a Rayleigh function that dissipates nothing; gyroscopes need none."""
    turning = helmholtz(System(coordinates=["x", "y"], accelerations={"x": "-y", "y": "x"}))
    assert turning.holds
    assert "linear in the velocities" in turning.notes[0]
    assert "circulatory" in turning.notes[0]
    gyroscope = System(
        coordinates=["x", "y"],
        equations={"x": "x'' - 2*w*y' + k*x = 0", "y": "y'' + 2*w*x' + k*y = 0"},
        parameters={"w": 1, "k": 2},
    )
    assert helmholtz(gyroscope).notes == ("the Lagrangian alone gives the equations",)


@pytest.mark.parametrize(
    ("force", "expected"),
    [
        ("c*sign(x')", lambda v: abs(v)),
        ("c*abs(x')*x'", lambda v: abs(v) ** 3 / 3),
        ("c*x'^3", lambda v: v**4 / 4),
        ("c*tanh(x')", lambda v: np.log(np.cosh(v))),
        ("c*sqrt(1 + x'^2)*x'", lambda v: (1 + v**2) ** 1.5 / 3),
    ],
)
def test_resistance_that_is_no_polynomial_has_its_rayleigh_function(force, expected) -> None:
    """Dry friction: D = c |x'|; resistance c |x'| x': D = c |x'|³/3; both up to a constant."""
    from svyaz.expr.calculus import evaluate

    found = helmholtz(System(coordinates=["x"], equations={"x": f"x'' + {force} + x = 0"}, parameters={"c": 0.3}))
    assert found.holds
    assert found.construction is not None
    at_zero = evaluate(found.construction.rayleigh, {"x'": 0.0, "x": 0.5, "c": 0.3})
    for v in (-0.7, 0.4, 1.3):
        value = evaluate(found.construction.rayleigh, {"x'": v, "x": 0.5, "c": 0.3})
        assert value - at_zero == pytest.approx(0.3 * (expected(v) - expected(0.0)))


def test_resistance_along_the_velocity_in_the_plane() -> None:
    """c |v| v with a potential beside it."""
    speed = "c*sqrt(x'^2 + y'^2)"
    equations = {"x": f"m*x'' + {speed}*x' + k*x = 0", "y": f"m*y'' + {speed}*y' + m*g = 0"}
    found = helmholtz(
        System(coordinates=["x", "y"], equations=equations, parameters={"m": 2, "c": 0.3, "k": 1, "g": 9})
    )
    assert found.holds
    assert found.construction is not None


def test_masses_that_change_with_time() -> None:
    """d/dt (m(t) ẋ) + k x = 0 is Lagrange's; m(t) ẍ + k x = 0 lacks -ṁ ẋ, which is a Rayleigh function."""
    from svyaz.expr.text import to_text

    whole = System(coordinates=["x"], equations={"x": "exp(b*t)*(x'' + b*x' + x) = 0"}, parameters={"b": 0.3})
    found = helmholtz(whole)
    assert found.construction is not None
    assert to_text(found.construction.rayleigh) == "0"
    part = helmholtz(System(coordinates=["x"], equations={"x": "(1 + t)*x'' + x = 0"}))
    assert part.construction is not None
    assert to_text(part.construction.rayleigh) == "-x'^2/2"


def test_a_term_that_vanishes_on_one_side_only_is_seen() -> None:
    """|y| - y is zero for positive y; the coupling is there for negative y, where r_xy z' does not fit s."""
    system = System(
        coordinates=["x", "y", "z"],
        equations={"x": "x'' + (abs(y) - y)*z' = 0", "y": "y'' + y = 0", "z": "z'' + z = 0"},
    )
    assert "H6" in helmholtz(system).failing


def test_solved_equations_point_to_the_written_ones(svyaz, tmp_path) -> None:
    text = (
        "coordinates = ['r', 'th']\n[accelerations]\nr = \"r*th'^2 - 1/r^2\"\nth = \"-2*r'*th'/r\"\n[initial]\nr = 1\n"
    )
    (tmp_path / "kepler.toml").write_text(text)
    done = svyaz("helmholtz", "kepler.toml", "--json", "found.json")
    assert done.returncode == 1
    assert "given in [equations], may pass" in " ".join(done.stdout.split())
    assert "do not hold" in done.stderr
    assert json.loads((tmp_path / "found.json").read_text())["initial"]["r"] == 1


def test_H7_holds_for_the_inverse_cart() -> None:
    """With r_ac for r_ca, as printed, it would fail."""
    system = loads(gallery.find("inverse-cart", {"given": "field"}), "cart")
    found = helmholtz(system)
    assert found.holds
    assert found.construction is not None


def test_given_equations_can_be_run() -> None:
    """m ẍ + k x = 0 from [equations], and the same from [accelerations]."""
    words = {"coordinates": ["x"], "parameters": {"m": 2, "k": 8}, "initial": {"x": 1}}
    for system in (
        System(equations={"x": "m*x'' + k*x = 0"}, **words),
        System(accelerations={"x": "-k/m*x"}, **words),
    ):
        motion = simulate(system, rtol=1e-11, until=3)
        assert motion.column("x") == pytest.approx(np.cos(2 * motion.times), abs=1e-8)
        assert motion.table_names == ("t", "x", "x'")


def test_equations_with_a_mass_matrix_that_is_not_symmetric_are_solved_as_they_stand() -> None:
    system = System(
        coordinates=["x", "y"],
        equations={"x": "2*x'' + y'' + x = 0", "y": "y'' - 3*x'' + y' = 0"},
        initial={"x": 1, "y'": 0.5},
    )
    from scipy.integrate import solve_ivp

    def rates(_t, s):
        return [s[2], s[3], *np.linalg.solve([[2, 1], [-3, 1]], [-s[0], -s[3]])]

    expected = solve_ivp(rates, (0, 2), [1, 0, 0, 0.5], method="DOP853", rtol=1e-12, atol=1e-12).y[:, -1]
    motion = simulate(system, rtol=1e-12, until=2)
    assert motion.states[-1] == pytest.approx(expected, abs=1e-9)


def test_mistakes_in_given_equations() -> None:
    with pytest.raises(ModelError, match="'y' has no equation in"):
        System(coordinates=["x", "y"], equations={"x": "x'' = 0"})
    with pytest.raises(ModelError, match="x'' is in none of the equations"):
        System(coordinates=["x"], equations={"x": "x' = 0"})
    with pytest.raises(ModelError, match="second derivatives such as"):
        System(coordinates=["x"], accelerations={"x": "x''"})
    with pytest.raises(ModelError, match=r"'kinetic' does not go with a model that is given by \[equations\]"):
        System(coordinates=["x"], equations={"x": "x'' = 0"}, kinetic="x'^2")
    with pytest.raises(ModelError, match="not linear in the accelerations"):
        System(coordinates=["x"], equations={"x": "x''^2 + x'' = 0"}).derive()
    with pytest.raises(ModelError, match="constraints or motors"):
        helmholtz(loads(gallery.find("sleigh"), "sleigh"))


def test_command_tells_the_failing_condition(svyaz, tmp_path) -> None:
    (tmp_path / "spoiled.toml").write_text(
        'coordinates = ["x", "y"]\n[equations]\nx = "x\'\' + y\'\' + x = 0"\ny = "y\'\' + y = 0"\n'
    )
    done = svyaz("helmholtz", "spoiled.toml", "--json", "found.json")
    assert done.returncode == 1
    assert "H1 does not hold" in done.stderr
    result = json.loads((tmp_path / "found.json").read_text())
    assert result["H1"] == {"holds": False, "where": ["(x, y): 1"]}
    assert result["H7"]["holds"]
    assert "lagrangian" not in result
