"""Maggi's form: quasi-velocities of the model or of our own, the sleigh through every heading."""

from __future__ import annotations

import numpy as np
import pytest

from svyaz import ModelError, System, gallery, loads
from svyaz.expr.calculus import evaluate
from svyaz.motion import simulate
from svyaz.show.equations import text_lines


def sleigh(**words: object) -> System:
    given = loads(gallery.find("sleigh"), "sleigh").words
    return System.from_words({**given, **words})


@pytest.mark.parametrize("form", ["maggi", "appell"])
@pytest.mark.parametrize("quasi", [{}, {"u": "x'*cos(phi) + y'*sin(phi)", "omega": "phi'"}])
def test_equations_of_the_sleigh_in_quasi_velocities(form, quasi) -> None:
    """m u̇ = m a ω² + m g sinα cosφ, J ω̇ = -m a ω u with u along the blade."""
    equations = sleigh(quasi=quasi).derive(form)
    u, omega = equations.accelerated
    assert (u, omega) == (("u", "omega") if quasi else ("u1", "u2"))
    rng = np.random.default_rng(4)
    for _ in range(20):
        values = {n: rng.uniform(0.3, 1.4) for n in (*equations.constants, *equations.states)}
        values["phi"] = rng.uniform(0, 7)
        rows = np.array([[evaluate(e, values) for e in row] for row in equations.mass_matrix])
        found = np.linalg.solve(rows, [-evaluate(e, values) for e in equations.bias])
        m, a = values["m"], values["a"]
        pull = values["g"] * np.sin(values["incline"]) * np.cos(values["phi"])
        expected = [a * values[omega] ** 2 + pull, -m * a * values[omega] * values[u] / values["J"]]
        assert found == pytest.approx(expected, rel=1e-12)
        assert evaluate(equations.explicit["y"], values) == pytest.approx(values[u] * np.sin(values["phi"]))


@pytest.mark.parametrize("form", ["maggi", "appell"])
@pytest.mark.parametrize("heading", ["pi/3", "pi/2", "pi"])
def test_the_sleigh_passes_every_heading(form, heading) -> None:
    """From 60° to 323°, through 90° and 270°, where the chart (x, φ) is singular; also from a start at 90° itself."""
    system = sleigh(initial={"y": 1, "phi": heading, "phi'": 1})
    found = simulate(system, form=form, method="dop853", rtol=1e-11, stabilize="off")
    expected = simulate(system, form="multipliers", method="dop853", rtol=1e-11, stabilize="off")
    for name in system.states:
        assert found.column(name)[-1] == pytest.approx(expected.column(name)[-1], abs=1e-7)
    if heading == "pi/3":
        end = [found.column(name)[-1] for name in ("x", "y", "phi")]
        assert end == pytest.approx([18.401985, -12.403712, 5.635748], abs=1e-5)


def test_the_page_is_the_one_of_the_book() -> None:
    lines = text_lines(sleigh(quasi={"u": "x'*cos(phi) + y'*sin(phi)", "w": "phi'"}).derive("maggi"))
    assert lines == [
        "m*u' - m*a*w^2 - m*g*sin(incline)*cos(phi) = 0",
        "J*w' + m*a*u*w = 0",
        "x' = u*cos(phi)",
        "y' = u*sin(phi)",
        "phi' = w",
    ]


def test_quasi_velocities_with_time_and_a_free_term() -> None:
    """u measured against a moving belt: the motion is the same, only its description differs."""
    belt = {"u": "x'*cos(phi) + y'*sin(phi) + t*x", "w": "phi' - 0.3*x' + sin(t)"}
    found = simulate(sleigh(quasi=belt), form="maggi", method="dop853", rtol=1e-11, until=1, stabilize="off")
    expected = simulate(sleigh(), form="multipliers", method="dop853", rtol=1e-11, until=1, stabilize="off")
    for name in expected.state_names:
        assert found.column(name)[-1] == pytest.approx(expected.column(name)[-1], abs=1e-7)


def test_quasi_velocities_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ModelError, match=r"leave 2 quasi-velocities to 3 coordinates, and \[quasi\] names 1: 'u'"):
        sleigh(quasi={"u": "x'"}).derive("maggi")
    with pytest.raises(ModelError, match="'u' is not linear in the velocities"):
        sleigh(quasi={"u": "x'^2", "w": "phi'"}).derive("appell")
    with pytest.raises(ModelError, match="do not determine the velocities"):
        sleigh(quasi={"u": "y'*cos(phi) - x'*sin(phi)", "w": "phi'"}).derive("maggi")
    with pytest.raises(ModelError, match="the name 'x' is used twice"):
        sleigh(quasi={"x": "x'", "w": "phi'"})


@pytest.mark.parametrize(("potential", "x0"), [("simplified", 13.2642), ("full", 13.15775)])
@pytest.mark.parametrize("form", ["chaplygin", "voronets", "voronets:carried", "maggi", "appell"])
def test_000_A26_three_links_in_every_form(form, potential, x0) -> None:
    system = loads(gallery.find("three-link", {"potential": potential}), "three-link")
    gains = {"alpha": 20, "beta": 100, "kappa": 10}
    motion = simulate(system, form=form, method="rk4", step=0.001, stabilize=gains)
    assert motion.column("x0")[-1] == pytest.approx(x0, abs=1e-4)
    for name in ("psi1", "psi2"):
        assert np.abs(motion.column(name) - np.pi / 2).max() <= 0.1 + 1e-6


@pytest.mark.parametrize("form", ["chaplygin", "voronets:carried", "maggi", "appell"])
def test_projection_holds_the_positions_in_reduced_forms(form) -> None:
    system = loads(gallery.find("slalom-cart"), "slalom-cart")
    motion = simulate(system, form=form, method="rk4", step=0.01, until=2, stabilize="projection")
    assert np.abs(motion.residuals["path"]).max() < 1e-12
    assert np.abs(motion.hidden["path"]).max() < 1e-10
    assert motion.column("x")[-1] == pytest.approx(_slalom_end(), abs=1e-3)


def _slalom_end() -> float:
    system = loads(gallery.find("slalom-cart"), "slalom-cart")
    return float(
        simulate(system, form="multipliers", method="dop853", rtol=1e-10, until=2, stabilize="off").column("x")[-1]
    )
