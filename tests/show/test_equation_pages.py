"""Equations as people write them, against pages written by hand from the book."""

from __future__ import annotations

import json

import pytest

from svyaz import gallery, loads
from svyaz.show import as_json, latex_document, text_lines, unicode_lines

FIRST = "(m1 + m2)*L1^2*u1'' + m2*L1*L2*cos(u1 - u2)*u2'' + m2*L1*L2*sin(u1 - u2)*u2'^2 + (m1 + m2)*g*L1*sin(u1) = 0"
SECOND = "m2*L1*L2*cos(u1 - u2)*u1'' + m2*L2^2*u2'' - m2*L1*L2*sin(u1 - u2)*u1'^2 + m2*g*L2*sin(u2) = 0"

LATEX = r"""\begin{aligned}
  \left(m_{1} + m_{2}\right) L_{1}^{2} \ddot{u}_{1} + m_{2} L_{1} L_{2} \cos\left(u_{1} - u_{2}\right) \ddot{u}_{2}
 + m_{2} L_{1} L_{2} \sin\left(u_{1} - u_{2}\right) \dot{u}_{2}^{2} + \left(m_{1} + m_{2}\right) g L_{1} \sin u_{1} &= 0 \\
  m_{2} L_{1} L_{2} \cos\left(u_{1} - u_{2}\right) \ddot{u}_{1} + m_{2} L_{2}^{2} \ddot{u}_{2}
 - m_{2} L_{1} L_{2} \sin\left(u_{1} - u_{2}\right) \dot{u}_{1}^{2} + m_{2} g L_{2} \sin u_{2} &= 0
\end{aligned}
""".replace("\n +", " +").replace("\n -", " -")


def equations(name: str):
    return loads(gallery.find(name)).derive()


def test_S9_double_pendulum_as_text(svyaz) -> None:
    assert text_lines(equations("pendulum:2")) == [FIRST, SECOND]
    done = svyaz("derive", "pendulum:2")
    assert done.returncode == 0, done.stderr
    page = done.stdout.splitlines()
    assert page[:4] == ["pendulum of 2 links, form lagrange", "", f"  {FIRST}", f"  {SECOND}"]
    assert page[-1].startswith("operations of the step part: ")


def test_S9_double_pendulum_as_latex(svyaz) -> None:
    assert latex_document(equations("pendulum:2")) == LATEX
    done = svyaz("derive", "pendulum:2", "--format", "latex")
    assert done.returncode == 0, done.stderr
    assert done.stdout == LATEX


def test_S9_double_pendulum_on_a_terminal() -> None:
    first, second = unicode_lines(equations("pendulum:2"))
    assert "cos(u₁ − u₂)" in first
    assert first.endswith("= 0")
    assert second.endswith("= 0")


def test_S9_simple_pendulum() -> None:
    assert text_lines(equations("pendulum:1")) == ["m1*L1^2*u1'' + m1*g*L1*sin(u1) = 0"]


def test_S9_triple_pendulum_is_collected_by_masses_and_lengths() -> None:
    middle = text_lines(equations("pendulum:3"))[1]
    assert middle == (
        "(m2 + m3)*L1*L2*cos(u1 - u2)*u1'' + (m2 + m3)*L2^2*u2'' + m3*L2*L3*cos(u2 - u3)*u3''"
        " - (m2 + m3)*L1*L2*sin(u1 - u2)*u1'^2 + m3*L2*L3*sin(u2 - u3)*u3'^2 + (m2 + m3)*g*L2*sin(u2) = 0"
    )


def test_pendulum_with_a_multiplier(svyaz) -> None:
    done = svyaz("derive", "pendulum-xy")
    assert done.returncode == 0, done.stderr
    lines = [line.strip() for line in done.stdout.splitlines()]
    assert lines[2:5] == [
        "m*x'' = 2*lambda*x",
        "m*y'' + m*g = 2*lambda*y",
        "2*x*x'' + 2*y*y'' + 2*x'^2 + 2*y'^2 = 0",
    ]
    assert "lambda: rod, x^2 + y^2 = l^2" in lines


def test_result_of_derive_has_the_keys_of_the_contract(svyaz, tmp_path) -> None:
    done = svyaz("derive", "pendulum-xy", "--json", "result.json")
    assert done.returncode == 0, done.stderr
    result = json.loads((tmp_path / "result.json").read_text(encoding="utf-8"))
    assert result["coordinates"] == ["x", "y"]
    assert result["form"] == "multipliers"
    assert result["mass_matrix"] == [["m", "0"], ["0", "m"]]
    assert result["bias"] == ["0", "m*g"]
    assert result["constraint_jacobian"] == [["2*x", "2*y"]]
    assert result["constraint_bias"] == ["2*x'^2 + 2*y'^2"]
    assert set(result["operations"]) == {"add", "mul", "div", "trig", "angle_sum", "other"}
    assert result["parameters"] == {"m": 1.0, "l": 1.0, "g": 9.81}
    assert result["initial"] == {"x": 1.0, "y": 0.0, "x'": 0.0, "y'": 0.0}
    assert "svyaz" in result


def test_plain_rates_are_written_as_they_are() -> None:
    from svyaz import System

    plain = System(states=["x", "v"], rates={"x": "v", "v": "-k*x"}, parameters={"k": 2}).derive()
    assert text_lines(plain) == ["x' = v", "v' = -k*x"]
    assert as_json(plain)["rates"] == {"x": "v", "v": "-k*x"}


@pytest.mark.parametrize("links", [2, 5])
def test_operations_are_counted_in_the_step_part(links) -> None:
    """Every M_ij above the diagonal needs a cosine of a difference; two functions of each angle are enough for all."""
    counts = as_json(equations(f"pendulum:{links}"))["operations"]
    assert counts["trig"] <= 2 * links
    assert counts["div"] == 0


def test_notebooks_show_what_a_system_is_asked_for() -> None:
    import svyaz

    system = svyaz.load("pendulum:1")
    assert system.derive()._repr_latex_().startswith("$$\\begin{aligned}m_{1} L_{1}^{2}")
    assert system.equilibria()._repr_html_().startswith("<p><b>pendulum of 1 link</b>: 2 equilibria")
    assert system.simulate(until=0.1)._repr_html_().startswith("<p><b>pendulum of 1 link</b>: finished")
