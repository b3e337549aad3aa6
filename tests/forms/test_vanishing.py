"""Whether an expression is zero is decided where it has a value, on every side of its corners."""

from __future__ import annotations

import pytest
import symengine as se

from svyaz import System, loads
from svyaz.expr import Scope, evaluate, parse
from svyaz.forms import is_nothing
from svyaz.forms.observed import energy

SCOPE = Scope(symbols={name: se.Symbol(name) for name in ("x", "y", "L", "r", "u")})


@pytest.mark.parametrize(
    "text",
    [
        "sin(x)^2 + cos(x)^2 - 1",
        "sqrt(L^2 - r^2*sin(u)^2)*sqrt(L^2 - r^2*sin(u)^2) - L^2 + r^2*sin(u)^2",
        "log(x*y) - log(x) - log(y)",
        "acos(x) + asin(x) - pi/2",
        "x*sign(x) - abs(x)",
        "max(x, y) + min(x, y) - x - y",
        "abs(x - y) - abs(y - x)",
        "abs(abs(x)) - abs(x)",
        "max(x, y) - (x + y + abs(x - y))/2",
        "sqrt(x - 3)^2 - x + 3",
    ],
)
def test_N1_2_1_what_is_zero_where_it_has_a_value(text) -> None:
    assert is_nothing(parse(text, SCOPE))


@pytest.mark.parametrize(
    "text",
    [
        "max(x - 5, 0)",
        "min(x, -40) - x",
        "abs(x - 100) + x - 100",
        "sign(x - 50) + 1",
        "max(x - 5, 0)*max(-x - 5, 0) + max(y - 9, 0)",
        "sqrt(x^2) - x",
        "sqrt(L^2 - r^2*sin(u)^2) - L",
        "abs(x) - x",
    ],
)
def test_N1_2_1_what_is_zero_at_some_points_only(text) -> None:
    """Zero wherever one would look first, and not zero: the terms stay in the equations."""
    assert not is_nothing(parse(text, SCOPE))


def test_N1_2_1_a_spring_that_pulls_far_away_stays_in_the_equations() -> None:
    """Chaplygin's and Voronets' equations put their entries into short forms; the stop at x = 5 must survive it."""
    words = {
        "coordinates": ["x", "y"],
        "kinetic": "(x'^2 + y'^2)/2",
        "constraint": [{"name": "c", "equation": "y' = max(x - 5, 0)*x'"}],
        "initial": {"x": 6.0, "x'": 1.0, "y'": 1.0},
    }
    for form in ("multipliers", "chaplygin", "voronets", "maggi", "appell"):
        motion = System(**words).simulate(form=form, until=0.1, rtol=1e-10, stabilize="off")
        assert motion.states[-1][1] == pytest.approx(((motion.states[-1][0] - 5) ** 2 - 1) / 2, abs=1e-8)


@pytest.mark.parametrize(
    "inner", ["sqrt(L^2 - r^2*sin(u)^2)", "r*log(L/r - 3)", "L*acos(r/L*cos(u))", "sqrt(L - 4.9*r)*u^2"]
)
def test_N1_2_1_kinetic_energies_with_a_domain(inner) -> None:
    """At numbers chosen at random instead of the model's the root is imaginary; the energy is T + P all the same."""
    text = f"""
coordinates = ["u"]
kinetic = "m/2*(x'^2 + r^2*u'^2)"
potential = "m*g*r*sin(u)"
[definitions]
x = "r*cos(u) + {inner}"
[parameters]
m = 1
r = 0.2
L = 1
g = 9.81
[initial]
u = 0.3
"u'" = 1
[run]
until = 0.2
"""
    system = loads(text, "crank")
    motion = system.simulate(rtol=1e-9)
    assert motion.finished
    total = energy(system)
    assert total is not None
    for row in motion.states:
        values = {**system.constants, "u": float(row[0]), "u'": float(row[1])}
        assert evaluate(total, values) == pytest.approx(
            evaluate(total, {**system.constants, "u": 0.3, "u'": 1.0}), rel=1e-6
        )


def test_N1_2_1_trees_whose_lengths_are_roots(svyaz, tmp_path) -> None:
    (tmp_path / "tree.toml").write_text("""
gravity = [0, -9.81, 0]
[parameters]
L = 1
r = 0.2
[[body]]
name = "1"
base = "ground"
joint = "revolute"
coordinate = "q1"
axis = [0, 0, 1]
mass = 1
center = ["log(L/r - 1)", 0, 0]
inertia = { zz = "1 + log(L/r - 1)^2" }
[[body]]
name = "2"
base = "1"
joint = "revolute"
coordinate = "q2"
axis = [0, 0, 1]
pole = ["sqrt(L^2 - 24*r^2)", 0, 0]
mass = 1
center = [0.5, 0, 0]
inertia = { zz = 1 }
""")
    for command in (["inertia"], ["inertia", "--explicit"], ["balance"], ["derive", "--parts"]):
        done = svyaz(command[0], "tree.toml", *command[1:])
        assert done.returncode == 0, done.stderr
        assert "sqrt(L^2 - 24*r^2)" in done.stdout or command == ["inertia"]


def test_N1_2_1_brackets_are_examined_at_states_of_the_model() -> None:
    """log(q) has no value at half of the states one would choose; 3 is where this model is."""
    system = System(
        coordinates=["q"],
        momenta=["p"],
        hamiltonian="p^2/2 + log(q - 2)",
        integral=[
            {"name": "a", "expression": "p^2/2 + log(q - 2)", "hold": True, "gain": 1.0},
            {"name": "b", "expression": "sqrt(q - 2)", "hold": True, "gain": 1.0},
        ],
        initial={"q": 3.0, "p": 0.5},
        run={"hold": "bracket", "until": 0.01},
    )
    motion = system.simulate(rtol=1e-8, on_failure="return")
    assert motion.status == "infeasible"
    assert "no integral" in motion.reason or "not" in motion.reason
    assert "involution" not in motion.reason
