"""What forms without multipliers tell about themselves: Gibbs' function, the chart, reactions on request, exported code."""

from __future__ import annotations

import json

import numpy as np
import pytest

from svyaz import System, gallery, loads
from svyaz.constraints.states import entered
from svyaz.expr.calculus import evaluate
from svyaz.forms.programs import export_program, recovered_reactions
from svyaz.program import export
from svyaz.show import as_json, text_lines

FORMS = ["chaplygin", "voronets", "voronets:carried", "maggi", "appell"]


def skate(**words: object) -> System:
    """A sleigh with a pendulum of Cartesian coordinates on it: a blade and a rod, forces and damping."""
    return System(
        **{
            "coordinates": ["x", "y", "phi", "p", "q"],
            "kinetic": "m/2*(x'^2 + y'^2) + J/2*phi'^2 + m*a*phi'*(y'*cos(phi) - x'*sin(phi))"
            " + mp/2*((x' + p')^2 + y'^2 + q'^2)",
            "potential": "mp*g*q",
            "dissipation": "c/2*phi'^2",
            "forces": {"x": "0.3*cos(t)"},
            "parameters": {"m": 1, "J": 2.4, "a": 0.5, "mp": 0.3, "l": 0.7, "g": 9.81, "c": 0.1},
            "constraint": [
                {"name": "rod", "equation": "p^2 + q^2 = l^2"},
                {"name": "blade", "equation": "x'*sin(phi) = y'*cos(phi)"},
            ],
            "initial": {"p": 0.7, "phi": 0.3, "x'": "cos(0.3)", "y'": "sin(0.3)", "phi'": 0.4, "q'": 0.5},
            **words,
        }
    )


def run_python(text: str, inputs: list[float], constants: dict[str, float]) -> dict[str, float]:
    """The outputs of exported code by their names."""
    space: dict = {}
    exec(compile(text, "exported", "exec"), space)
    ready = space["constants"]([constants[name] for name in space["PARAMETERS"]])
    return dict(zip(space["OUTPUTS"], space["step"](inputs, ready), strict=True))


@pytest.mark.parametrize("form", FORMS)
def test_exported_code_gives_the_accelerations_and_reactions_of_the_multiplier_form(form) -> None:
    system = skate()
    full, reduced = system.derive("multipliers"), system.derive(form)
    rng = np.random.default_rng(5)
    for _ in range(5):
        angle, phi = rng.uniform(-1, 1, 2)
        u, w, turn, time = rng.uniform(-1, 1, 4)
        q = [0.2, -0.4, phi, 0.7 * np.cos(angle), 0.7 * np.sin(angle)]
        v = [u * np.cos(phi), u * np.sin(phi), w, -0.7 * turn * np.sin(angle), 0.7 * turn * np.cos(angle)]
        state = np.array([*q, *v])
        expected = run_python(export(export_program(full), "python"), [time, *state], system.constants)
        own = entered(reduced, state, time)
        found = run_python(
            export(export_program(reduced, further=[recovered_reactions(reduced)]), "python"),
            [time, *own],
            system.constants,
        )
        for name in ("multiplier[rod]", "multiplier[blade]"):
            assert found[name] == pytest.approx(expected[name], rel=1e-9, abs=1e-9)
        for name in ("phi", "p", "q"):
            if not reduced.quasi:
                assert found[f"acceleration[{name}]"] == pytest.approx(expected[f"acceleration[{name}]"], abs=1e-9)
        plain = run_python(export(export_program(reduced), "python"), [time, *own], system.constants)
        assert "multiplier[blade]" not in plain
        assert plain["multiplier[rod]"] == pytest.approx(expected["multiplier[rod]"], abs=1e-9)


def test_derive_shows_gibbs_function_and_the_chart(svyaz) -> None:
    """The page of the sleigh: S = ½ m u̇² - m a w² u̇ + ½ J ẇ² + m a u w ẇ."""
    done = svyaz("derive", "sleigh", "--form", "appell")
    assert done.returncode == 0, done.stderr
    assert "  S = m*u1'^2/2 - m*a*u2^2*u1' + J*u2'^2/2 + m*a*u1*u2*u2'" in done.stdout
    assert "the model names no [quasi]: u1, u2 come from the constraints solved for y'" in done.stdout
    result = as_json(loads(gallery.find("sleigh"), "sleigh").derive("appell"))
    assert result["gibbs"].startswith("m*u1'^2/2")
    assert result["dependent"] == ["y"]
    assert result["rates"] == {"x": "u1*cos(phi)", "y": "u1*sin(phi)", "phi": "u2"}
    assert "gibbs" not in as_json(loads(gallery.find("sleigh"), "sleigh").derive("maggi"))


def test_gibbs_function_that_is_shown_gives_the_equations() -> None:
    """∂S/∂u̇ - Nᵀ Q = M u̇ + bias, with Q known for the skate without its rod."""
    equations = skate(potential=0, forces={}, dissipation=0).derive("appell")
    rng = np.random.default_rng(1)
    names = [*equations.states, *map(str, equations.accelerations)]
    values = {name: rng.uniform(0.2, 1.0) for name in names} | equations.system.constants
    for a, row, bias in zip(equations.accelerations, equations.mass_matrix, equations.bias, strict=True):
        terms = [evaluate(m, values) * values[str(b)] for m, b in zip(row, equations.accelerations, strict=True)]
        assert evaluate(equations.gibbs.diff(a), values) == pytest.approx(sum(terms) + evaluate(bias, values))


def test_derive_adds_reactions_on_request(svyaz, tmp_path) -> None:
    plain = svyaz("derive", "sleigh", "--form", "maggi")
    assert "reactions" not in plain.stdout
    done = svyaz("derive", "sleigh", "--form", "maggi", "--reactions", "--json", "found.json")
    assert done.returncode == 0, done.stderr
    assert "reactions, once the accelerations are known:" in done.stdout
    assert "  rho: blade" in done.stdout
    result = json.loads((tmp_path / "found.json").read_text())
    assert result["reactions"]["signs"] == {"blade": "rho"}
    assert result["reactions"]["equations"][0].startswith("rho = ")
    code = svyaz("derive", "sleigh", "--form", "maggi", "--reactions", "--format", "python")
    assert "'multiplier[blade]'" in code.stdout


def test_carried_velocities_have_constraints_instead_of_equations_with_idle_multipliers() -> None:
    equations = loads(gallery.find("sleigh"), "sleigh").derive("voronets:carried")
    lines = text_lines(equations)
    assert not any("lambda" in line for line in lines)
    assert len(lines) == 3
    assert "y''" in lines[2]


def test_long_equations_tell_the_rates_of_the_coordinates_too() -> None:
    system = loads(gallery.find("three-link-10"), "three-link-10")
    result = as_json(system.derive("maggi"))
    assert result["dependent"]
    assert set(result["rates"]) == set(system.coordinates)
