"""Words that switch constraints and name points of bodies: what they mean, and what is said when they cannot be read."""

from __future__ import annotations

from math import cos, sin

import numpy as np
import pytest
import symengine as se
from scipy.spatial.transform import Rotation

from svyaz import ModelError, System, loads
from svyaz.expr.calculus import evaluate
from svyaz.motion import simulate
from svyaz.show import as_json

MODEL = """\
coordinates = ["x", "y"]
kinetic = "m/2*(x'^2 + y'^2)"
potential = "m*g*y"

[parameters]
m = 1
g = 9.81

[[constraint]]
name = "left foot"
equation = "y = 0"
"""


def problems(text: str) -> list[tuple[int, str, str | None]]:
    with pytest.raises(ModelError) as caught:
        loads(text, "model.toml")
    found = caught.value.problems
    assert all(p.place is not None and p.place.file == "model.toml" for p in found)
    return [(p.place.line, p.message, p.hint) for p in found]


@pytest.mark.parametrize(
    ("lines", "line", "message", "hint"),
    [
        ('impakt = "inelastic"', 12, "there is no key 'impakt' in [constraint]", "did you mean 'impact'?"),
        ('impact = "inelastic"', 12, "'impact' of the constraint 'left foot' belongs to 'on'", None),
        (
            'on = "y"\nimpact = "elastic"',
            13,
            "an impact is one of 'inelastic', 'newton', 'poisson', not 'elastic'",
            "did you mean 'inelastic'?",
        ),
        ("active = true", 12, "'active' of the constraint 'left foot' belongs to 'on'", None),
        ('on = "y"\nactive = 1', 13, "'active' must be true or false, not 1", None),
        ('on = "-hight"', 12, "unknown name 'hight'", None),
        (
            'on = "-y"\noff = "lambda_left_food"',
            13,
            "unknown name 'lambda_left_food'",
            "did you mean 'lambda_left_foot'?",
        ),
        (
            'on = "lambda_left_foot"',
            12,
            "'left foot' has a multiplier only while it acts",
            "a multiplier may switch it off",
        ),
        ('on = "m - g"', 12, "the expression of 'on' never changes", None),
        ('on = "-y"\nfrom = 1', 12, "the constraint 'left foot' begins 'from' a time or 'on' an event, not both", None),
        (
            'off = "y"\nuntil = 1',
            12,
            "the constraint 'left foot' ends 'until' a time or 'off' an event, not both",
            None,
        ),
        ('on = "-y"\nanchor = { x = "y" }', 13, "the name 'x' is used twice", None),
        ('on = "-y"\nanchor = { place = "lambda_left_foot" }', 13, "unknown name 'lambda_left_foot'", None),
        ('on = "-y"\nanchor = "x"', 13, "'anchor' must be a table", None),
        ('on = "-y +"', 12, "something is missing after '+'", None),
    ],
)
def test_mistakes_are_told_with_their_lines(lines, line, message, hint) -> None:
    found = problems(MODEL + lines + "\n")
    matching = [p for p in found if p[1].startswith(message)]
    assert len(matching) == 1, found
    assert matching[0][0] == line
    assert hint is None or (matching[0][2] or "").startswith(hint)


def test_a_condition_knows_states_inputs_time_and_multipliers() -> None:
    system = System(
        coordinates=["x"],
        kinetic="x'^2/2",
        parameters={"c": 2},
        inputs={"u": 0.5},
        forces={"x": "u"},
        definitions={"twice": "2*x"},
        constraint=[
            {
                "name": "stop no. 1",
                "equation": "x = 1",
                "on": "twice' + u*t - c",
                "off": "lambda_stop_no__1",
                "active": True,
            }
        ],
    )
    (stop,) = system.constraints
    assert {str(s) for s in stop.on.free_symbols} == {"x'", "u", "t", "c"}
    assert {str(s) for s in stop.off.free_symbols} == {"multiplier stop no. 1"}
    assert (stop.active, stop.switched, stop.acts_at(0.0)) == (True, True, True)


def test_anchors_are_states_that_start_with_their_expressions() -> None:
    words = {
        "coordinates": ["x", "y"],
        "kinetic": "(x'^2 + y'^2)/2",
        "parameters": {"a": 3},
        "constraint": [{"name": "pin", "equation": "x = x0", "anchor": {"x0": "x + a*y'"}, "on": "t - 1"}],
        "initial": {"x": 2, "y'": 5},
    }
    assert System(**words).states == ("x", "y", "x'", "y'", "x0")
    assert System(**words).initial_state() == [2, 0, 0, 5, 17]
    given = System(**{**words, "initial": {"x": 2, "x0": 1}})
    assert given.initial_state() == [2, 0, 0, 0, 1]
    assert System(**words).with_settings({"a": 1}).initial["x0"] == 7


def test_a_field_of_velocities_takes_no_switches() -> None:
    with pytest.raises(ModelError, match="is switched by events"):
        System(
            coordinates=["x", "y"],
            rayleigh=[["1", 0], [0, "1"]],
            constraint=[{"equation": "x' = y", "on": "t - 1"}],
        )


BODIES = [
    {"name": "trunk", "base": "ground", "joint": "free", "coordinates": ["x", "y", "z", "e0", "e1", "e2", "e3"]},
    {
        "name": "upper",
        "base": "trunk",
        "joint": "revolute",
        "coordinate": "q1",
        "axis": [0, 0, 1],
        "pole": [0.1, 0.2, 0.3],
    },
    {"name": "lower", "base": "upper", "joint": "revolute", "coordinate": "q2", "axis": [0, 0, 1], "pole": ["l", 0, 0]},
    {
        "name": "slide",
        "base": "lower",
        "joint": "prismatic",
        "coordinate": "s",
        "axis": [0, 1, 0],
        "pole": [0.5, 0, 0.1],
    },
    {"name": "wrist", "base": "slide", "joint": "revolute", "coordinate": "q3", "axis": [1, 0, 0], "pole": [0, 0.2, 0]},
    {"name": "tool", "base": "wrist", "joint": "fixed", "pole": [0.05, 0, 0]},
]


def arm(**words) -> System:
    mass = {"mass": 1, "inertia": {"xx": 1, "yy": 1, "zz": 1}}
    return System(
        body=[{**body, **mass} for body in BODIES],
        parameters={"l": 0.4},
        point=[{"name": "tip", "body": "tool", "at": [0.1, "l/2", -0.3]}, {"name": "knee", "body": "lower"}],
        **words,
    )


def test_points_of_bodies_are_where_rotations_put_them() -> None:
    system = arm(constraint=[{"name": f"{p}{a}", "equation": f"{p}_{a} = 0"} for p in ("tip", "knee") for a in "xyz"])
    rng = np.random.default_rng(5)
    values = {name: float(v) for name, v in zip(system.states, rng.normal(size=len(system.states)), strict=True)}
    e = rng.normal(size=4)
    e /= np.linalg.norm(e)
    values |= dict(zip(("e0", "e1", "e2", "e3"), map(float, e), strict=True)) | {"l": 0.4}
    trunk = Rotation.from_quat([*e[1:], e[0]]).as_matrix()

    def about_z(angle: float) -> np.ndarray:
        return np.array([[cos(angle), -sin(angle), 0], [sin(angle), cos(angle), 0], [0, 0, 1]])

    q1, q2, q3, s = (values[name] for name in ("q1", "q2", "q3", "s"))
    about_x = np.array([[1, 0, 0], [0, cos(q3), -sin(q3)], [0, sin(q3), cos(q3)]])
    tip = np.array([0.05 + 0.1, 0.2, -0.3])
    tip = np.array([0, 0.2, 0]) + about_x @ tip
    tip = np.array([0.5, s, 0.1]) + tip
    tip = np.array([0.4, 0, 0]) + about_z(q2) @ tip
    places = {}
    for name, point in (("tip", tip), ("knee", np.array([0.4, 0, 0]))):
        carried = np.array([0.1, 0.2, 0.3]) + about_z(q1) @ point
        places[name] = np.array([values["x"], values["y"], values["z"]]) + trunk @ carried
    found = [evaluate(c.expression, values) for c in system.constraints]
    assert found == pytest.approx([*places["tip"], *places["knee"]], abs=1e-12)


def test_turns_about_one_axis_are_added_up() -> None:
    """As one writes it by hand: l cos q1 + l/2 cos(q1 + q2)."""
    bodies = [
        {"name": "a", "base": "ground", "joint": "revolute", "coordinate": "q1", "axis": [0, 0, 1]},
        {"name": "b", "base": "a", "joint": "revolute", "coordinate": "q2", "axis": [0, 0, 1], "pole": ["l", 0, 0]},
    ]
    mass = {"mass": 1, "center": [0.1, 0, 0], "inertia": {"zz": 1}}
    system = System(
        body=[{**body, **mass} for body in bodies],
        parameters={"l": 1},
        point=[{"name": "hand", "body": "b", "at": ["l/2", 0, 0]}],
        constraint=[{"equation": "hand_x' = 0"}],
    )
    q1, q2, length = se.symbols("q1 q2 l")
    v1, v2 = se.Symbol("q1'"), se.Symbol("q2'")
    expected = -length * se.sin(q1) * v1 - length / 2 * se.sin(q1 + q2) * (v1 + v2)
    assert se.expand(system.constraints[0].expression - expected) == 0


def test_a_point_closes_a_loop_in_a_tree() -> None:
    """Two rods with the far end on a rail: a slider-crank; the tip stays on it and the energy stays."""
    bodies = [
        {"name": "crank", "base": "ground", "joint": "revolute", "coordinate": "q1", "axis": [0, 0, 1]},
        {"name": "rod", "base": "crank", "joint": "revolute", "coordinate": "q2", "axis": [0, 0, 1], "pole": [1, 0, 0]},
    ]
    mass = {"mass": 1, "center": [0.5, 0, 0], "inertia": {"zz": "1/3"}}
    system = System(
        gravity=[0, -9.81, 0],
        body=[{**body, **mass} for body in bodies],
        point=[{"name": "pin", "body": "rod", "at": [2, 0, 0]}],
        constraint=[{"name": "rail", "equation": "pin_y = 0"}],
        initial={"q1": "30*deg", "q2": "-30*deg - asin(0.25)"},
    )
    motion = simulate(system, until=2, stabilize="projection")
    q1, q2 = motion.column("q1"), motion.column("q2")
    assert np.max(np.abs(np.sin(q1) + 2 * np.sin(q1 + q2))) < 1e-12
    assert as_json(motion)["integrals"]["energy"]["drift"] < 1e-7


@pytest.mark.parametrize(
    ("point", "message"),
    [
        ({"name": "tip", "body": "toool"}, "there is no body 'toool'"),
        ({"name": "tip"}, "a point has a body"),
        ({"body": "tool"}, "a point has a name"),
        ({"name": "tip", "body": "tool", "at": [0, 1]}, r"given in the frame of its body as \[x, y, z\]"),
        ({"name": "tip", "body": "tool", "at": [0, "q1", 0]}, "'q1' is a coordinate"),
        ({"name": "2 tips", "body": "tool"}, "cannot be a name"),
        ({"name": "tip", "body": "tool", "place": 1}, "there is no key 'place'"),
    ],
)
def test_mistakes_in_points(point, message) -> None:
    with pytest.raises(ModelError, match=message):
        arm_with(point)


def arm_with(point) -> System:
    mass = {"mass": 1, "inertia": {"xx": 1, "yy": 1, "zz": 1}}
    return System(body=[{**body, **mass} for body in BODIES], parameters={"l": 0.4}, point=[point])


def test_points_belong_to_trees() -> None:
    with pytest.raises(ModelError, match=r"the model has no \[\[body\]\]"):
        System(coordinates=["x"], kinetic="x'^2/2", point=[{"name": "tip", "body": "tool"}])


def test_a_free_body_lands_on_a_point() -> None:
    """A cube falls flat on one corner-like pin: the pin stops, momentum about it is kept (free joint, quaternion)."""
    body = {"name": "cube", "base": "ground", "joint": "free", "coordinates": ["x", "y", "z", "e0", "e1", "e2", "e3"]}
    inertia = 1 / 6
    floor = {"equation": "pin_z = 0", "name": "floor", "on": "-pin_z", "impact": "inelastic"}
    system = System(
        gravity=[0, 0, -9.81],
        body=[{**body, "mass": 1, "inertia": dict.fromkeys(("xx", "yy", "zz"), inertia)}],
        point=[{"name": "pin", "body": "cube", "at": [0.5, 0, -0.5]}],
        constraint=[floor],
        initial={"z": 1.5},
    )
    motion = simulate(system, until=0.6, stabilize="projection")
    event = motion.phases[1]
    assert event.t == pytest.approx(np.sqrt(2 / 9.81), abs=1e-9)
    speed = np.sqrt(2 * 9.81)
    # impulse P upwards at a distance 1/2 from the centre: v = -u + P, ω = P/2/I, pin at rest: -u + P + P/4/I = 0
    impulse = speed / (1 + 0.25 / inertia)
    assert event.impulses["floor"] == pytest.approx(impulse, rel=1e-9)
    assert event.velocity_jump == pytest.approx({"vz": impulse, "wy": -impulse / 2 / inertia}, rel=1e-9)
    late = motion.times > event.t
    assert np.max(np.abs(motion.residuals["floor"][late])) < 1e-12
