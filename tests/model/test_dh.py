"""Tables of Denavit and Hartenberg: the same robots as by other descriptions, and mistakes."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest
import symengine as se

from svyaz import ModelError, System, gallery, loads
from svyaz.forms.tree.numeric import NumericTree
from svyaz.forms.tree.short_formulas.inertia import write_inertia
from svyaz.program.counts import operations

PUMA = [
    ("0", "0", "0"),
    ("-90*deg", "0", "0"),
    ("0", "a2", "d3"),
    ("-90*deg", "a3", "d4"),
    ("90*deg", "0", "0"),
    ("-90*deg", "0", "0"),
]
MOMENTS = ("xx", "yy", "zz", "xy", "xz", "yz")


def random_row(rng: np.random.Generator, k: int, joint: str) -> dict:
    c = rng.uniform(-0.3, 0.3, 3)
    inertia = np.diag(rng.uniform(0.02, 0.03, 3))
    return {
        "joint": joint,
        "coordinate": f"q{k + 1}",
        "alpha": float(rng.uniform(-3, 3)),
        "theta": float(rng.uniform(-3, 3)),
        "a": float(rng.uniform(-1, 1)),
        "d": float(rng.uniform(-1, 1)),
        "mass": float(rng.uniform(0.5, 2)),
        "center": [float(x) for x in c],
        "central_inertia": {"xx": inertia[0, 0], "yy": inertia[1, 1], "zz": inertia[2, 2], "xy": -0.001, "yz": 0.002},
    }


def turn_x(angle: float) -> pin.SE3:
    return pin.SE3(pin.rpy.rpyToMatrix(angle, 0, 0), np.zeros(3))


def turn_z(angle: float) -> pin.SE3:
    return pin.SE3(pin.rpy.rpyToMatrix(0, 0, angle), np.zeros(3))


def shift(x: float, z: float) -> pin.SE3:
    return pin.SE3(np.eye(3), np.array([x, 0, z]))


def pinocchio_chain(rows: list[dict], convention: str) -> pin.Model:
    """Joints about z, with the constant parts of the transformations before and after them as they are defined."""
    model = pin.Model()
    model.gravity.linear = np.array([0.3, 0.5, -9.81])
    parent, after = 0, pin.SE3.Identity()
    for k, row in enumerate(rows):
        fixed_turn, fixed_shift = turn_z(row["theta"]), shift(0, row["d"])
        if convention == "standard":
            before = after
            after = fixed_turn * fixed_shift * shift(row["a"], 0) * turn_x(row["alpha"])
        else:
            before = after * turn_x(row["alpha"]) * shift(row["a"], 0)
            after = fixed_turn * fixed_shift
        joint = pin.JointModelRZ() if row["joint"] == "revolute" else pin.JointModelPZ()
        parent = model.addJoint(parent, joint, before, f"j{k}")
        m = row["central_inertia"]
        xy, xz, yz = (-m.get(name, 0.0) for name in MOMENTS[3:])
        tensor = np.array([[m["xx"], xy, xz], [xy, m["yy"], yz], [xz, yz, m["zz"]]])
        model.appendBodyToJoint(parent, pin.Inertia(row["mass"], np.array(row["center"]), tensor), after)
    return model


@pytest.mark.parametrize("convention", ["standard", "modified"])
@pytest.mark.parametrize("seed", range(4))
def test_random_tables_equal_pinocchio(convention: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    rows = [random_row(rng, k, str(rng.choice(["revolute", "revolute", "prismatic"]))) for k in range(6)]
    system = System(gravity=[0.3, 0.5, -9.81], dh={"convention": convention, "link": rows})
    ours = NumericTree(system.tree, {})
    model = pinocchio_chain(rows, convention)
    data = model.createData()
    q, v = rng.uniform(-2, 2, 6), rng.uniform(-2, 2, 6)
    pin.crba(model, data, q)
    mass = np.triu(data.M) + np.triu(data.M, 1).T
    assert np.allclose(ours.mass_matrix(q), mass, rtol=0, atol=1e-12 * np.abs(mass).max())
    bias = pin.nonLinearEffects(model, data, q, v)
    assert np.allclose(ours.bias(q, v), bias, rtol=0, atol=1e-12 * np.abs(bias).max())


@pytest.mark.parametrize("convention", ["standard", "modified"])
def test_L4_tables_of_many_rows_with_roots_and_names_are_read_and_equal_pinocchio(convention: str) -> None:
    """Frames of a table are products along the chain: on paper they would have 2^100 terms."""
    rng = np.random.default_rng(5)
    rows = [random_row(rng, k, "revolute") for k in range(100)]
    numbers = [{**row, "alpha": (np.pi / 6, 0.4)[k % 2], "theta": np.radians(17.5)} for k, row in enumerate(rows)]
    words = [{**row, "alpha": ("30*deg", "twist")[k % 2], "theta": "17.5*deg"} for k, row in enumerate(rows)]
    dh = {"convention": convention, "link": words}
    system = System(gravity=[0.3, 0.5, -9.81], dh=dh, parameters={"twist": 0.4})
    ours = NumericTree(system.tree, {"twist": 0.4})
    model = pinocchio_chain(numbers, convention)
    q, v = rng.uniform(-2, 2, 100), rng.uniform(-2, 2, 100)
    bias = pin.nonLinearEffects(model, model.createData(), q, v)
    assert np.allclose(ours.bias(q, v), bias, rtol=0, atol=1e-11 * np.abs(bias).max())


@pytest.mark.parametrize("convention", ["standard", "modified"])
def test_points_are_given_in_the_frames_of_the_table(convention: str) -> None:
    rng = np.random.default_rng(9)
    rows = [random_row(rng, k, joint) for k, joint in enumerate(["revolute", "prismatic", "revolute"])]
    tip = [0.1, -0.2, 0.3]
    points = [{"name": "tip", "body": "3", "at": tip}]
    shown = [{"name": axis, "expression": f"tip_{axis}"} for axis in "xyz"]
    system = System(dh={"convention": convention, "link": rows}, point=points, integral=shown)
    q = dict(zip(system.coordinates, rng.uniform(-2, 2, 3), strict=True))
    place = pin.SE3.Identity()
    for row in rows:
        value = q[row["coordinate"]]
        theta = row["theta"] + (value if row["joint"] == "revolute" else 0.0)
        d = row["d"] + (value if row["joint"] == "prismatic" else 0.0)
        if convention == "standard":
            place = place * turn_z(theta) * shift(row["a"], d) * turn_x(row["alpha"])
        else:
            place = place * turn_x(row["alpha"]) * shift(row["a"], 0) * turn_z(theta) * shift(0, d)
    found = [float(i.expression.subs(q)) for i in system.integrals]
    assert found == pytest.approx(place.act(np.array(tip)), abs=1e-13)


def puma_by_table() -> System:
    """The PUMA of the gallery by modified parameters, its mass distribution taken from the gallery into link frames.

    At zero coordinates the axes of a link's frame are those of the table: the gallery's axes, turned.
    """
    words = loads(gallery.find("puma-560"), "puma-560").words
    axes = np.eye(3)
    rows = []
    for k, ((alpha, a, d), body) in enumerate(zip(PUMA, words["body"], strict=True)):
        tilt = np.radians(float(alpha.replace("*deg", "")))
        axes = axes @ pin.rpy.rpyToMatrix(tilt, 0, 0).round()
        names = body["center"]
        center = [_picked(names, column) for column in axes.T.astype(int)]
        tensor = body["inertia"]
        inertia = {}
        for name in MOMENTS:
            (i, s), (j, r) = (_place(axes.T.astype(int)["xyz".index(letter)]) for letter in name)
            key = "".join(sorted(("xyz"[i], "xyz"[j])))
            inertia[name] = ("-" if s * r < 0 else "") + tensor[key]
        row = {"coordinate": f"q{k + 1}", "alpha": alpha, "a": a, "d": d, "mass": body["mass"]}
        rows.append({**row, "center": center, "inertia": inertia})
    dh = {"convention": "modified", "link": rows}
    return System(gravity=words["gravity"], parameters=words["parameters"], dh=dh)


def _place(column: np.ndarray) -> tuple[int, int]:
    place = int(np.abs(column).argmax())
    return place, int(column[place])


def _picked(names: list, column: np.ndarray) -> str:
    place, sign = _place(column)
    return f"{'-' if sign < 0 else ''}{names[place]}"


def test_puma_by_table_is_that_of_the_gallery() -> None:
    table, bodies = puma_by_table(), loads(gallery.find("puma-560"), "puma-560")
    for ours, theirs in zip(table.tree.bodies, bodies.tree.bodies, strict=True):
        assert (ours.axis, ours.pole, ours.center, ours.inertia) == (
            theirs.axis,
            theirs.pole,
            theirs.center,
            theirs.inertia,
        )
    counts = operations(write_inertia(table.tree, tuple(table.parameters)).program)
    assert (counts["mul"], counts["add"]) <= (108, 94)


def test_standard_and_modified_tables_of_one_arm_agree() -> None:
    """A three-joint arm: modified parameters of row i are α, a of the standard row i-1 and d, θ of row i."""
    common = {"mass": 0, "center": [0, 0, 0]}
    last = {"mass": 2.0, "center": [0.1, 0.2, 0.3], "central_inertia": {"xx": 0.02, "yy": 0.03, "zz": 0.04}}
    lengths = [("90*deg", 0.0, 0.5), ("0", 0.4, 0.1), ("-90*deg", 0.3, 0.0)]
    standard = [
        {"coordinate": f"q{k + 1}", "alpha": r[0], "a": r[1], "d": r[2], **common} for k, r in enumerate(lengths)
    ]
    shifted = [("0", 0.0), *((r[0], r[1]) for r in lengths)]
    modified = [
        {"coordinate": f"q{k + 1}", "alpha": shifted[k][0], "a": shifted[k][1], "d": lengths[k][2], **common}
        for k in range(3)
    ]
    standard[-1] |= last
    hand = {"name": "hand", "joint": "fixed", "alpha": shifted[3][0], "a": shifted[3][1], **last}
    first = System(gravity=[0, 0, -9.81], dh={"convention": "standard", "link": standard})
    second = System(gravity=[0, 0, -9.81], dh={"convention": "modified", "link": [*modified, hand]})
    q, v = [0.3, -0.7, 1.1], [1.0, -2.0, 0.5]
    one, other = (NumericTree(system.tree, {}) for system in (first, second))
    assert np.allclose(one.mass_matrix(q), other.mass_matrix(q), rtol=1e-13, atol=1e-14)
    assert np.allclose(one.bias(q, v), other.bias(q, v), rtol=1e-13, atol=1e-13)


def test_quarter_turns_are_exact_and_other_angles_keep_their_roots() -> None:
    system = System(
        dh={
            "convention": "modified",
            "link": [
                {"coordinate": "q1", "alpha": 1.5707963267948966, "mass": 1},
                {"coordinate": "q2", "alpha": "30*deg", "mass": 1},
            ],
        }
    )
    assert system.tree.bodies[0].axis == (0, -1, 0)
    assert system.tree.bodies[1].axis == (0, -se.sqrt(3) / 2, -se.Rational(1, 2))


TABLE = """\
gravity = [0, 0, -9.81]

[dh]
convention = "modified"

[[dh.link]]
coordinate = "q1"
mass = 1
central_inertia = { xx = 0.1, yy = 0.1, zz = 0.1 }

[[dh.link]]
coordinate = "q2"
alpha = "90*deg"
a = 0.3
mass = 1
"""


@pytest.mark.parametrize(
    ("old", "new", "message", "line"),
    [
        ('convention = "modified"\n', "", "[dh] says its convention: standard or modified", 3),
        ('"modified"', '"Craig"', "[dh] says its convention: standard or modified", 4),
        ('coordinate = "q2"\n', "", "the revolute joint of '2' has no coordinate", 11),
        ('alpha = "90*deg"', 'beta = "90*deg"', "there is no key 'beta' in [dh]", 13),
        ('alpha = "90*deg"', 'alpha = "90°"', "unexpected", 13),
        ('alpha = "90*deg"', 'base = "arm"', "body '2' has no base: there is no body 'arm'", 13),
        ('alpha = "90*deg"', 'joint = "free"', "body '2' cannot have a joint 'free'", 13),
        ("zz = 0.1", "zz = 0.3", "inertia of '1' at its centre of mass breaks the triangle inequality", 9),
        ("mass = 1\ncentral", "mass = -1\ncentral", "the mass of '1' is negative: -1", 8),
        (
            "mass = 1\ncentral",
            "mass = 1\ninertia = { xx = 1, yy = 1, zz = 1 }\ncentral",
            "give the inertia about the pole or at",
            10,
        ),
    ],
)
def test_mistakes_are_told_in_words(old, new, message, line) -> None:
    assert TABLE.count(old) == 1
    with pytest.raises(ModelError) as caught:
        loads(TABLE.replace(old, new), "arm.toml")
    found = caught.value.problems[0]
    assert found.message.startswith(message)
    assert found.place.line == line


def test_angles_near_a_quarter_turn_are_warned_of() -> None:
    system = loads(TABLE.replace('"90*deg"', "1.5708"))
    assert any("1.5708 is nearly a multiple of 90°" in warning.message for warning in system.warnings)
