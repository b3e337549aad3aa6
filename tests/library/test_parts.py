"""Systems put together from objects: they are the tables of the files, and are checked as those are."""

from __future__ import annotations

from dataclasses import FrozenInstanceError

import numpy as np
import pytest
import sympy as sp

import svyaz
from svyaz.model.reading import words as vocabulary

ARM = """
name = "arm"
gravity = [0, -9.81, 0]
[parameters]
m = 2
l = 0.5
[initial]
u = 0.3
[[body]]
name = "upper"
base = "ground"
joint = "revolute"
coordinate = "u"
axis = [0, 0, 1]
mass = "m"
center = ["l", 0, 0]
inertia = { zz = "m*l^2" }
[[body]]
name = "lower"
base = "upper"
joint = "revolute"
coordinate = "v"
axis = [0, 0, 1]
pole = ["l", 0, 0]
mass = "m"
center = ["l", 0, 0]
inertia = { zz = "m*l^2" }
[[point]]
name = "tip"
body = "lower"
at = ["l", 0, 0]
[[constraint]]
name = "table"
equation = "tip_y = l*sin(0.3) + l*sin(0.3)"
until = 2
"""


def link(name: str, base: str, coordinate: str, pole: list[str | float]) -> svyaz.Body:
    return svyaz.Body(
        name,
        base=base,
        joint="revolute",
        coordinate=coordinate,
        axis=[0, 0, 1],
        pole=pole,
        mass="m",
        center=["l", 0, 0],
        inertia={"zz": "m*l^2"},
    )


def test_a_tree_of_objects_is_that_of_the_file() -> None:
    made = svyaz.System(
        link("upper", "ground", "u", [0, 0, 0]),
        link("lower", "upper", "v", ["l", 0, 0]),
        svyaz.Point("tip", body="lower", at=["l", 0, 0]),
        svyaz.Constraint("tip_y = l*sin(0.3) + l*sin(0.3)", name="table", until=2),
        name="arm",
        gravity=[0, -9.81, 0],
        parameters={"m": 2, "l": 0.5},
        initial={"u": 0.3},
    )
    read = svyaz.loads(ARM)
    assert (made.law, made.constraints, made.initial) == (read.law, read.constraints, read.initial)
    assert svyaz.loads(svyaz.to_toml(made.words)).law == read.law


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        (svyaz.Body, vocabulary.BODY),
        (svyaz.Point, vocabulary.POINT),
        (svyaz.Constraint, vocabulary.CONSTRAINT),
        (svyaz.Motor, vocabulary.MOTOR),
        (svyaz.Stream, vocabulary.STREAM),
        (svyaz.Integral, vocabulary.INTEGRAL),
        (svyaz.Draw, vocabulary.DRAW),
    ],
)
def test_parts_have_the_words_of_the_files(kind, words) -> None:
    fields = [name for name in kind.__dataclass_fields__ if name != "_"]
    assert {name.removesuffix("_") for name in fields} == set(words)
    assert set(kind(**dict.fromkeys(fields, 1))) == set(words)


def test_a_system_grows_step_by_step_and_what_was_stays() -> None:
    x, y = sp.symbols("x y")
    point = svyaz.System(coordinates=["x", "y"], kinetic="m*(x'^2 + y'^2)/2", potential="m*9.81*y", parameters={"m": 1})
    wire = point.with_parts(svyaz.Constraint("y = a*x", name="wire"), parameters={"a": 1}, initial={"x": 0.0})
    drawn = wire.with_parts(svyaz.Draw(point=[x, y], trace=True), svyaz.Draw(link=[[-1, -1], [1, 1]]))
    assert (len(point.constraints), len(wire.constraints), len(drawn.constraints)) == (0, 1, 1)
    assert dict(drawn.parameters) == {"m": 1.0, "a": 1.0}
    assert [d.kind for d in drawn.drawings] == ["point", "link"]
    end = drawn.simulate(until=1)["x"][-1]
    assert np.isclose(end, -9.81 / 4)  # along a slope of 45°: g sin 45° t²/2 of the way, cos 45° of it in x


def test_mistakes_are_told_as_those_of_files() -> None:
    stated = {"coordinates": ["x"], "kinetic": "x'^2/2", "potential": 0}
    with pytest.raises(svyaz.ModelError, match=r"(?s)constraint\.1\.equation.*unknown name 'zz'"):
        svyaz.System(svyaz.Constraint("x = 0"), svyaz.Constraint("x = zz"), **stated)
    with pytest.raises(svyaz.ModelError, match="must be an array of tables, not 3"):
        svyaz.System(svyaz.Constraint("x = 0"), constraint=3, **stated)
    with pytest.raises(svyaz.ModelError, match="is no part of a system"):
        svyaz.System({"equation": "x = 0"}, **stated)
    with pytest.raises(svyaz.ModelError, match="two constraints have the name 'a'"):
        svyaz.System(**stated, constraint=[{"name": "a", "equation": "x = 0"}]).with_parts(
            svyaz.Constraint("x = 1", name="a")
        )


def test_parts_are_tables_that_do_not_change() -> None:
    part = svyaz.Constraint("x = 0", from_=1)
    assert part == {"equation": "x = 0", "from": 1}
    assert repr(part) == "Constraint(equation='x = 0', from_=1)"
    with pytest.raises(FrozenInstanceError):
        part.equation = "x = 1"
