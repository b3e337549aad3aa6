"""Centrifugal, Coriolis, gravity and gyroscopic terms of trees as formulas, against complex steps and against Pinocchio."""

from __future__ import annotations

import json
from math import cos, sin

import numpy as np
import pinocchio as pin
import pytest
from tree_oracle import pinocchio_model, their_coordinates, their_velocities

from svyaz import ModelError, System, loads
from svyaz.forms.tree.bias_parts import PARTS, bias_parts
from svyaz.forms.tree.numeric import NumericTree
from svyaz.gallery.collection import find
from svyaz.gallery.random_mechanisms import random_tree
from svyaz.model.tree import numbers
from svyaz.program import compile_program
from svyaz.show import as_json, parts_latex, parts_text
from svyaz.show.katex import render


def values_of(system: System, q: np.ndarray, v: np.ndarray) -> dict[str, np.ndarray]:
    """The parts by native code."""
    program = bias_parts(system).program()
    native = compile_program(program)
    found = native.evaluate(np.array([0.0, *q, *v]), native.constants(system.constants))
    return dict(zip(PARTS, found.reshape(len(PARTS), -1), strict=True))


def random_motion(system: System) -> tuple[np.ndarray, np.ndarray]:
    q, v = np.random.default_rng(8).uniform(-1.5, 1.5, (2, len(system.coordinates)))
    return q, v


@pytest.mark.parametrize(
    ("name", "explicit"),
    [
        ("planar-3r", True),
        ("scara", True),
        ("chain:3", True),
        ("two-armed-planar", True),
        ("stanford", False),
        ("puma-560", False),
        ("two-armed-spatial", False),
    ],
)
def test_parts_are_those_of_the_numbers(name, explicit) -> None:
    system = loads(find(name), name)
    assert bias_parts(system).explicit is explicit
    q, v = random_motion(system)
    expected = NumericTree(system.tree, system.parameters).bias_parts(q, v)
    scale = max(np.abs(e).max() for e in expected.values())
    for part, entries in values_of(system, q, v).items():
        np.testing.assert_allclose(entries, expected[part], rtol=0, atol=1e-12 * scale, err_msg=part)


@pytest.mark.parametrize("seed", range(4))
def test_parts_add_up_to_the_bias_of_pinocchio(seed) -> None:
    system = System(**random_tree(2 + seed, seed, joints=("revolute", "revolute", "prismatic", "fixed")))
    tree = numbers(system.tree, {})
    q, v = random_motion(system)
    parts = values_of(system, q, v)
    model = pinocchio_model(tree)
    data, order = model.createData(), their_velocities(tree)
    theirs = pin.nonLinearEffects(model, data, q[their_coordinates(tree)], v[order])
    weights = pin.computeGeneralizedGravity(model, data, q[their_coordinates(tree)])
    total = parts["centrifugal"] + parts["coriolis"] + parts["gravity"]
    np.testing.assert_allclose(total[order], theirs, rtol=0, atol=1e-11 * np.abs(theirs).max())
    np.testing.assert_allclose(parts["gravity"][order], weights, rtol=0, atol=1e-11 * np.abs(weights).max())
    assert abs(v @ parts["gyroscopic"]) < 1e-11 * (1 + np.abs(v) @ np.abs(parts["gyroscopic"]))


@pytest.mark.parametrize("name", ["planar-2r", "stanford"])
def test_json_computed_line_by_line_gives_the_parts(name) -> None:
    system = loads(find(name), name)
    q, v = random_motion(system)
    result = as_json(bias_parts(system))
    known = {**system.parameters, **{f"{c}": x for c, x in zip(system.coordinates, q, strict=True)}}
    known |= {f"{c}_dot": x for c, x in zip(system.coordinates, v, strict=True)}

    def value(text: str) -> float:
        return eval(text.replace("'", "_dot").replace("^", "**"), {"sin": sin, "cos": cos}, known)

    for key, formula in (*result["constants"], *result["sequence"]):
        known[key] = value(formula)
    expected = NumericTree(system.tree, system.parameters).bias_parts(q, v)
    for part in PARTS:
        found = [value(result[part][c]) for c in system.coordinates]
        np.testing.assert_allclose(found, expected[part], rtol=0, atol=1e-11 * (1 + np.abs(expected[part]).max()))


def test_two_links_read_as_in_the_books() -> None:
    text = parts_text(bias_parts(loads(find("planar-2r"), "arm")))
    assert "  q2: (L1*m2*x2*sin(q2) + L1*m2*y2*cos(q2))*q1'^2\n" in text
    assert "  q1: (-2*L1*m2*x2*sin(q2) - 2*L1*m2*y2*cos(q2))*q1'*q2'\n" in text


@pytest.mark.parametrize("name", ["planar-2r", "two-armed-spatial"])
def test_latex_renders(name) -> None:
    assert 'class="katex' in render(parts_latex(bias_parts(loads(find(name), name))))


def test_what_has_no_such_parts_is_refused() -> None:
    with pytest.raises(ModelError, match="not a tree"):
        bias_parts(loads(find("sling"), "sling"))
    with pytest.raises(ModelError, match="rates of coordinates"):
        bias_parts(System(**random_tree(2, 0, joints=("free",))))


def test_the_command(svyaz) -> None:
    done = svyaz("derive", "planar-2r", "--parts", "--json", "-")
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert result["coriolis"]["q2"] == "0"
    assert result["operations"]["trig"] <= 4
    assert "gyroscopic[q2]" in svyaz("derive", "planar-2r", "--parts", "--format", "julia").stdout
    assert svyaz("derive", "sling", "--parts").returncode == 2
