"""Trees of bodies: what is read, and what is said about mistakes."""

from __future__ import annotations

import numpy as np
import pytest
import symengine as se

from svyaz import ModelError, System, loads
from svyaz.model import Mechanical

ARM = """\
name = "arm"
gravity = [0, "-g", 0]

[[body]]
name = "upper"
base = "ground"
joint = "revolute"
coordinate = "q1"
axis = [0, 0, 1]
pole = [0, 0, 0]
mass = "m1"
center = ["l1/2", 0, 0]
inertia = { xx = 0.1, yy = "I1", zz = "I1", xy = 0, xz = 0, yz = 0 }

[[body]]
name = "hand"
base = "upper"
joint = "prismatic"
coordinate = "q2"
axis = [3, 0, 4]
pole = ["l1", 0, 0]
mass = 2
center = [0, 0, 0]
inertia = { xx = 1, yy = 1, zz = 1 }

[parameters]
m1 = 1
l1 = 0.5
I1 = 0.15
g = 9.81

[forces]
q1 = "-0.1*q1'"

[initial]
"q1'" = 1
"""


def problem(text: str) -> tuple[str, int]:
    with pytest.raises(ModelError) as caught:
        loads(text, "arm.toml")
    (found,) = caught.value.problems
    return found.message, found.place.line


def test_tree_is_read() -> None:
    system = loads(ARM)
    tree = system.tree
    assert isinstance(system.law, Mechanical)
    assert system.states == ("q1", "q2", "q1'", "q2'")
    assert tree.parents == (-1, 0)
    assert tree.bodies[0].center == (se.Symbol("l1") / 2, 0, 0)
    assert [float(a) for a in tree.bodies[1].axis] == pytest.approx([0.6, 0, 0.8])
    assert tree.gravity == (0, -se.Symbol("g"), 0)
    assert tree.path(1) == (1, 0)


def test_energies_are_those_of_the_bodies() -> None:
    system = loads(ARM)
    at = {"q1": 0.3, "q2": 0.2, "q1'": 2.0, "q2'": -1.5} | dict(system.parameters)
    values = {se.Symbol(k): v for k, v in at.items()}
    # The hand is at (l1 + 0.6 q2, 0) in the axes of the arm, and slides across with 0.8 q2'.
    x, rate = 0.5 + 0.6 * 0.2, 0.6 * -1.5
    kinetic = 0.5 * 0.15 * 4 + 0.5 * 2 * (rate**2 + (x * 2.0) ** 2 + (0.8 * -1.5) ** 2) + 0.5 * 4
    assert float(system.kinetic.subs(values)) == pytest.approx(kinetic, rel=1e-14)
    height = se.sin(0.3) * (0.25 + 2 * x)
    assert float(system.potential.subs(values)) == pytest.approx(9.81 * float(height), rel=1e-14)


def test_bodies_may_be_written_in_any_order() -> None:
    head, first, second, rest = ARM.split("[[body]]")[0], *ARM.split("[[body]]")[1:], None
    second, _, rest = second.partition("[parameters]")
    text = head + "[[body]]" + second + "[[body]]" + first + "[parameters]" + rest
    assert [body.name for body in loads(text).tree.bodies] == ["upper", "hand"]


def test_free_joint_has_seven_coordinates_and_six_velocities() -> None:
    free = System(
        body=[
            {
                "name": "trunk",
                "base": "ground",
                "joint": "free",
                "coordinates": ["x", "y", "z", "e0", "e1", "e2", "e3"],
                "mass": 1,
                "inertia": {"xx": 1, "yy": 1, "zz": 1},
            }
        ]
    )
    assert free.states == ("x", "y", "z", "e0", "e1", "e2", "e3", "vx", "vy", "vz", "wx", "wy", "wz")
    assert free.initial_state()[3] == 1.0
    # A turn by 90° about z takes the body's x axis to the ground's y axis.
    half = 0.5**0.5
    at = {"e0": half, "e1": 0, "e2": 0, "e3": half, "vx": 1, "vy": 0, "vz": 0, "wx": 0, "wy": 0, "wz": 2}
    rates = {q: float(e.subs({se.Symbol(k): v for k, v in at.items()})) for q, e in free.coordinate_rates.items()}
    assert [rates[q] for q in "xyz"] == pytest.approx([0, 1, 0])
    assert [rates[f"e{k}"] for k in range(4)] == pytest.approx([-half, 0, 0, half])


@pytest.mark.parametrize(
    ("old", "new", "message", "line"),
    [
        ('base = "upper"\n', "", "body 'hand' has no base", 15),
        ('base = "upper"', 'base = "uper"', "body 'hand' has no base: there is no body 'uper'", 17),
        ('base = "ground"', 'base = "hand"', "the bodies 'upper', 'hand' carry each other in a circle", 6),
        ('joint = "prismatic"', 'joint = "sliding"', "body 'hand' cannot have a joint 'sliding'", 18),
        ('coordinate = "q2"\n', "", "the prismatic joint of 'hand' has no coordinate", 15),
        ("axis = [3, 0, 4]", "axis = [0, 0, 0]", "the axis of 'hand' has no direction", 20),
        ("axis = [3, 0, 4]\n", "", "the prismatic joint of 'hand' has no axis", 15),
        ("mass = 2", "mass = -2", "the mass of 'hand' is negative: -2", 22),
        (
            "xx = 0.1, yy",
            "xx = 0.5, yy",
            "inertia of 'upper' at its centre of mass breaks the triangle inequality",
            13,
        ),
        ("I1 = 0.15", "I1 = 0.01", "inertia of 'upper' at its centre of mass is negative about an axis", 13),
        ('name = "hand"', 'name = "upper"', "two bodies have the name 'upper'", 16),
        ('gravity = [0, "-g", 0]', "gravity = 9.81", "'gravity' is a vector [x, y, z]", 2),
        ('name = "hand"', 'name = "ground"', "'ground' is the name of what stands still; no body can have it", 16),
    ],
)
def test_mistakes_are_told_in_words(old, new, message, line) -> None:
    assert ARM.count(old) == 1
    text = ARM.replace(old, new) if "gravity" not in old else ARM.replace(old, new).replace("g = 9.81", "")
    told, at = problem(text)
    assert told.startswith(message)
    assert at == line


def test_free_joint_needs_its_coordinates() -> None:
    text = '[[body]]\nname = "trunk"\nbase = "ground"\njoint = "free"\nmass = 1\n'
    message, line = problem(text)
    assert message.startswith("the free joint of 'trunk' has seven coordinates")
    assert line == 1


@pytest.mark.parametrize(
    ("old", "new", "message", "line"),
    [
        ("axis = [3, 0, 4]", 'axis = ["zero", 0, 0]', "the axis of 'hand' has no direction", 20),
        ('pole = ["l1", 0, 0]', 'pole = ["1/zero", 0, 0]', "'pole' of 'hand' has no finite real value", 21),
        ("mass = 2", 'mass = "1/zero"', "'mass' of 'hand' has no finite real value", 22),
        ("center = [0, 0, 0]", 'center = ["log(zero - 1)", 0, 0]', "'center' of 'hand' has no finite real value", 23),
    ],
)
def test_numbers_that_are_none_are_told_of(old, new, message, line) -> None:
    assert problem(ARM.replace(old, new).replace("g = 9.81", "g = 9.81\nzero = 0")) == (message, line)


def test_tree_that_cannot_move_is_refused() -> None:
    text = '[[body]]\nname = "rock"\nbase = "ground"\njoint = "fixed"\nmass = 1\n'
    assert problem(text) == ("no joint of the tree moves", 1)


def test_point_of_mass_on_its_axis_is_warned_of() -> None:
    text = (
        '[[body]]\nname = "bead"\nbase = "ground"\njoint = "revolute"\ncoordinate = "q"\naxis = [0, 0, 1]\nmass = 1\n'
    )
    told = [w.message for w in loads(text + "center = [0, 0, 1]").warnings]
    assert len(told) == 1
    assert "'bead' has no moment of inertia about the axis of its joint" in told[0]
    assert "give 'inertia' (about the pole), 'central_inertia', or a 'center' off the axis" in told[0]
    assert loads(text + "center = [1, 0, 0]\ninertia = { zz = 1 }").warnings == ()


def test_masses_without_inertia_are_points() -> None:
    """Two points of mass on massless rods: M = [[(m1 + m2) a² + m2 b² + 2 m2 a b cos v, …], […, m2 b²]] (a double pendulum)."""
    rods = """
gravity = [0, -10, 0]
[[body]]
name = "first"
base = "ground"
joint = "revolute"
coordinate = "u"
axis = [0, 0, 1]
mass = 2
center = [0.5, 0, 0]
[[body]]
name = "second"
base = "first"
joint = "revolute"
coordinate = "v"
axis = [0, 0, 1]
pole = [0.5, 0, 0]
mass = 3
center = [0.25, 0, 0]
"""
    tree = loads(rods)
    assert tree.warnings == ()
    here = tree.with_(initial={"v": 0.3}).derive().function()
    across = 3 * 0.25**2 + 3 * 0.5 * 0.25 * np.cos(0.3)
    first = 5 * 0.5**2 + 3 * 0.25**2 + 2 * 3 * 0.5 * 0.25 * np.cos(0.3)
    mass = np.array([[first, across], [across, 3 * 0.25**2]])
    pull = -10 * np.array([2 * 0.5 + 3 * (0.5 + 0.25 * np.cos(0.3)), 3 * 0.25 * np.cos(0.3)])
    np.testing.assert_allclose(here(0.0, [0.0, 0.3, 0.0, 0.0])[2:], np.linalg.solve(mass, pull), rtol=1e-12)


def test_central_inertia_is_carried_to_the_pole() -> None:
    text = ARM.replace(
        "inertia = { xx = 1, yy = 1, zz = 1 }", "central_inertia = { xx = 1, yy = 2, zz = 2.5, xy = 0.1 }"
    )
    hand = loads(text.replace("center = [0, 0, 0]", "center = [0.1, 0.2, 0.3]")).tree.bodies[1]
    # m = 2: xx + m (y² + z²) …, xy + m x y
    expected = [1 + 2 * 0.13, 2 + 2 * 0.1, 2.5 + 2 * 0.05, 0.1 + 2 * 0.02, 2 * 0.03, 2 * 0.06]
    assert [float(e) for e in hand.inertia] == pytest.approx(expected)


def test_impossible_inertia_can_be_let_pass_with_a_warning() -> None:
    text = ARM.replace("xx = 0.1, yy", "xx = 0.5, yy")
    told = [w.message for w in loads('inertia_check = "warn"\n' + text).warnings]
    assert told == ["inertia of 'upper' at its centre of mass breaks the triangle inequality"]
    message, line = problem('inertia_check = "maybe"\n' + ARM)
    assert (message, line) == ("'inertia_check' cannot be 'maybe'; there are refuse, warn", 1)


def test_energies_do_not_go_with_bodies() -> None:
    message, line = problem(ARM.replace('name = "arm"', 'name = "arm"\npotential = "q1"'))
    assert (message, line) == ("'potential' does not go with a model that is given by its bodies", 2)


def test_quaternion_must_have_unit_length() -> None:
    text = """\
[[body]]
name = "trunk"
base = "ground"
joint = "free"
coordinates = ["x", "y", "z", "e0", "e1", "e2", "e3"]
mass = 1
inertia = { xx = 1, yy = 1, zz = 1 }
[initial]
e0 = 1
e1 = 1
"""
    assert problem(text) == ("the quaternion of 'trunk' has the length 1.41421356, not 1", 9)
