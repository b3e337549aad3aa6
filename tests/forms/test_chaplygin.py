"""Chaplygin's form: the slalom cart and the sleigh as published, what it refuses, what it rewrites."""

from __future__ import annotations

import numpy as np
import pytest

from svyaz import ModelError, System, gallery, loads
from svyaz.expr.calculus import evaluate
from svyaz.motion import simulate


def model(name: str, **settings: object) -> System:
    return loads(gallery.find(name), name).with_settings(settings)


def with_path(equation: str) -> System:
    """The slalom cart with another equation of its path."""
    words = dict(model("slalom-cart").words)
    tables = [{**c, "equation": equation} if c["name"] == "path" else c for c in words["constraint"]]
    return System.from_words({**words, "constraint": tables})


EULER = {"form": "chaplygin", "method": "euler", "step": 0.001}


@pytest.mark.parametrize("path", ["tan(theta) = k*(h + delta)*cos(k*x)", "y = (h + delta)*sin(k*x)"])
def test_000_A15_slalom_cart_by_euler(path) -> None:
    """The second way of writing contains a dependent coordinate and is differentiated and rewritten."""
    motion = simulate(with_path(path), **EULER, stabilize="off")
    end = [motion.column(name)[-1] for name in ("x", "y", "theta")]
    assert end == pytest.approx([33.436868, 0.852887, -0.397628], rel=1e-5)
    assert np.abs(motion.residuals["path"]).max() == pytest.approx(2.138655e-2, rel=1e-5)
    off_path = motion.column("y") - np.sin(motion.column("x"))
    assert np.abs(off_path).max() == pytest.approx(7.96e-2, rel=1e-3)


def test_a_rewritten_constraint_is_told_and_reported_as_it_was_written() -> None:
    motion = simulate(with_path("y = (h + delta)*sin(k*x)"), **EULER, stabilize="off")
    assert any("for a moving system it is held as" in note for note in motion.notes)
    off_path = motion.column("y") - np.sin(motion.column("x"))
    assert motion.residuals["path, as written"] == pytest.approx(off_path, abs=1e-12)


def test_000_A16_slalom_cart_by_euler_with_strong_gains() -> None:
    gains = {"alpha": 1000, "beta": 250000}
    motion = simulate(model("slalom-cart"), **EULER, stabilize=gains)
    assert np.abs(motion.residuals["path"]).max() == pytest.approx(5.394248e-4, rel=1e-4)


@pytest.mark.parametrize("how", [{"method": "rk4", "step": 0.001}, {"method": "dop853", "rtol": 1e-11}])
@pytest.mark.parametrize("form", ["chaplygin", "voronets", "voronets:carried", "maggi", "appell"])
def test_000_A17_slalom_cart_accurately(form, how) -> None:
    motion = simulate(model("slalom-cart"), form=form, **how, stabilize="off")
    assert [motion.column("x")[-1], motion.column("x'")[-1]] == pytest.approx([32.913641, 12.733020], abs=1e-5)


def test_000_A18_the_start_of_the_slalom_cart_is_consistent_in_chaplygin_s_form() -> None:
    found = model("slalom-cart").check(form="chaplygin", method="euler", step=0.001, stabilize="off")
    assert found.wrong == ()
    assert found.residuals
    for residual in found.residuals.values():
        assert abs(residual.velocity) < 1e-14
        assert abs(residual.position or 0.0) < 1e-14


def test_equations_of_the_sleigh_are_the_published_ones() -> None:
    """(1.4.6): ẍ + ẋφ̇ tanφ - aφ̇² cosφ = g sinα cos²φ, Jφ̈ + m aφ̇ẋ/cosφ = 0, ẏ = ẋ tanφ."""
    equations = model("sleigh").derive("chaplygin")
    assert equations.accelerated == ("x", "phi")
    assert equations.states == ("x", "y", "phi", "x'", "phi'")
    rng = np.random.default_rng(3)
    for _ in range(20):
        values = {n: rng.uniform(0.3, 1.4) for n in (*equations.constants, *equations.states)}
        c, s = np.cos(values["phi"]), np.sin(values["phi"])
        xd, pd, m, a = values["x'"], values["phi'"], values["m"], values["a"]
        rows = np.array([[evaluate(e, values) for e in row] for row in equations.mass_matrix])
        bias = np.array([evaluate(e, values) for e in equations.bias])
        found = np.linalg.solve(rows, -bias)
        pull = values["g"] * np.sin(values["incline"])
        expected = [-xd * pd * s / c + a * pd**2 * c + pull * c**2, -m * a * pd * xd / c / values["J"]]
        assert found == pytest.approx(expected, rel=1e-12)
        assert evaluate(equations.explicit["y"], values) == pytest.approx(xd * s / c)


def test_F3_a_system_for_voronets_alone_is_refused_with_the_coefficient_named() -> None:
    with pytest.raises(ModelError, match=r"coefficient of x' in z' = …, b\*z \+ y, depends on .* 'z'") as caught:
        model("voronets-only").derive("chaplygin")
    assert caught.value.problems[0].hint == "use the form 'voronets'"


def test_F3_also_when_the_choice_is_free() -> None:
    words = dict(model("voronets-only").words)
    free = [{key: value for key, value in c.items() if key != "dependent"} for c in words["constraint"]]
    with pytest.raises(ModelError, match="does not apply: the Lagrangian depends on the dependent coordinate"):
        System.from_words({**words, "constraint": free}).derive("chaplygin")
    flat = System.from_words({**words, "constraint": free, "potential": 0})
    with pytest.raises(ModelError, match="does not apply: the coefficient of"):
        flat.derive("chaplygin")


def test_a_lagrangian_that_knows_the_dependent_coordinate_is_refused() -> None:
    system = model("sleigh")
    words = {**system.words, "constraint": [{**system.words["constraint"][0], "dependent": "x"}]}
    with pytest.raises(ModelError, match="the Lagrangian depends on the dependent coordinate 'x'"):
        System.from_words(words).derive("chaplygin")


def test_constraints_that_are_not_linear_are_refused() -> None:
    system = System(
        coordinates=["x", "y"], kinetic="x'^2 + y'^2", constraint=[{"name": "speed", "equation": "x'^2 + y'^2 = 1"}]
    )
    with pytest.raises(ModelError, match="linear in the velocities, and 'speed' is not"):
        system.derive("chaplygin")


def test_a_chart_that_is_singular_at_the_start_is_refused() -> None:
    with pytest.raises(ModelError, match="cannot be solved for the velocities of 'y'"):
        model("sleigh", **{"initial.phi": "pi/2"}).derive("chaplygin")


def test_velocities_that_do_not_fit_are_replaced_and_told() -> None:
    """The dependent velocity follows from the others, whatever was written."""
    motion = simulate(model("sleigh", **{"initial.x'": 1, "initial.y'": 5}), form="chaplygin", until=0.01)
    assert motion.column("y'")[0] == pytest.approx(np.tan(np.pi / 3), rel=1e-12)
    assert any("y' = 1.732 instead of 5" in note for note in motion.notes)


def test_reactions_are_those_of_the_multipliers() -> None:
    system = model("rolling-disc")
    with_multipliers = simulate(system, form="multipliers", method="rk4", step=0.01, until=1, stabilize="off")
    without = simulate(system, form="chaplygin", method="rk4", step=0.01, until=1, stabilize="off")
    for name, values in with_multipliers.multipliers.items():
        assert without.multipliers[name] == pytest.approx(values, abs=1e-5)


def test_N1_the_caret_stands_at_the_constraint_that_is_named() -> None:
    """Of a roller racer at φ = 0 the second constraint knows φ, which it must give."""
    text = """\
coordinates = ["x", "y", "th", "phi"]
kinetic = "(x'^2 + y'^2 + th'^2 + (th' + phi')^2)/2"

[[constraint]]
name = "rear"
equation = "y'*cos(th) = x'*sin(th)"

[[constraint]]
name = "front"
equation = "-x'*sin(th + phi) + y'*cos(th + phi) + th'*(1 + cos(phi)) + phi' = 0"
"""
    with pytest.raises(ModelError, match="constraint 'front'") as caught:
        loads(text, "racer.toml").derive("chaplygin")
    assert caught.value.problems[0].place.line == 10
