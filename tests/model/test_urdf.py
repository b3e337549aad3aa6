"""URDF files: what is read, what is remarked, and what is said about mistakes."""

from __future__ import annotations

from math import pi

import numpy as np
import pytest

from svyaz import ModelError, load, loads
from svyaz.forms.tree.numeric import NumericTree
from svyaz.model.files import read_file
from svyaz.model.rotations import quaternion, roll_pitch_yaw
from svyaz.model.urdf.robot import read_urdf
from svyaz.model.urdf.words import tidy

ROBOT = """\
<?xml version="1.0"?>
<robot name="arm">
  <link name="base"/>
  <link name="upper">
    <inertial>
      <origin xyz="0 0 0.25" rpy="0 0 0"/>
      <mass value="2"/>
      <inertia ixx="0.04" iyy="0.04" izz="0.002" ixy="0" ixz="0" iyz="0"/>
    </inertial>
    <visual><geometry><mesh filename="package://arm/upper.dae"/></geometry></visual>
  </link>
  <link name="hand">
    <inertial>
      <origin xyz="0.1 0 0"/>
      <mass value="0.5"/>
      <inertia ixx="0.001" iyy="0.002" izz="0.002" ixy="0.0001" ixz="0" iyz="0"/>
    </inertial>
  </link>
  <link name="tip"/>
  <joint name="shoulder" type="revolute">
    <parent link="base"/>
    <child link="upper"/>
    <origin xyz="0 0 1" rpy="1.5707963267948966 0 0"/>
    <axis xyz="0 0 2"/>
    <limit lower="-1" upper="1" effort="5" velocity="1"/>
    <dynamics damping="0.3"/>
  </joint>
  <joint name="slide-1" type="prismatic">
    <parent link="upper"/>
    <child link="hand"/>
    <origin xyz="0 0.2 0.5"/>
    <limit lower="-0.1" upper="0.2" effort="5" velocity="1"/>
    <mimic joint="shoulder"/>
  </joint>
  <joint name="end" type="fixed">
    <parent link="hand"/>
    <child link="tip"/>
    <origin xyz="0 0 0.3"/>
  </joint>
  <transmission name="t"/>
</robot>
"""


@pytest.fixture
def write(tmp_path):
    def written(text: str, name: str = "arm.urdf"):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return path

    return written


def test_numbers_of_the_file_become_parameters(write) -> None:
    system = load(write(ROBOT))
    upper, hand = system.tree.bodies
    assert system.coordinates == ("shoulder", "slide_1")
    # A quarter turn about x: z of the link is -y of the root, y of the link is z.
    assert [float(a) for a in upper.axis] == [0, -1, 0]
    assert [str(e) for e in upper.center] == ["0", "-z_upper", "0"]
    assert [str(e) for e in hand.pole] == ["0", "-lz_hand", "ly_hand"]
    assert [float(a) for a in hand.axis] == [1, 0, 0]
    expected = {"g": 9.81, "m_upper": 2.0, "z_upper": 0.25, "Ixx_upper": 0.04, "Iyy_upper": 0.04, "Izz_upper": 0.002}
    expected |= {"lz_upper": 1.0, "ly_hand": 0.2, "lz_hand": 0.5, "m_hand": 0.5, "x_hand": 0.1}
    expected |= {"Ixx_hand": 0.001, "Iyy_hand": 0.002, "Izz_hand": 0.002, "Ixy_hand": 0.0001}
    assert dict(system.parameters) == expected
    assert system.box == {"slide_1": (-0.1, 0.2)}
    assert not system.forces


def test_what_is_left_out_is_remarked(write) -> None:
    told = [warning.message for warning in load(write(ROBOT)).warnings]
    assert told == [
        "names that cannot stand in expressions are changed: slide_1 for 'slide-1'",
        "joints that mimic others stay free; tie them by a [[constraint]]: 'slide-1' ('shoulder')",
        "transmissions are not read: rotors and gears have no inertia",
        "the damping of joints is left out unless it is asked for: 'shoulder'",
    ]
    damped = load(write(ROBOT), damping=True)
    assert str(damped.forces["shoulder"]) == "-b_shoulder*shoulder'"
    assert damped.parameters["b_shoulder"] == 0.3


def test_angles_that_were_meant_as_quarters_are_remarked(write) -> None:
    def told(roll: str) -> bool:
        remarks = load(write(ROBOT.replace("1.5707963267948966 0 0", f"{roll} 0 0"))).warnings
        return any("turned by nearly 90°" in warning.message for warning in remarks)

    assert [told(roll) for roll in ("1.5708", "-3.14159", "1.57079632679", "0.001", "1.5")] == [
        True,
        True,
        False,
        False,
        False,
    ]


def test_free_base_has_seven_coordinates(write) -> None:
    system = load(write(ROBOT), free_base=True)
    assert system.tree.bodies[0].name == "base"
    assert system.coordinates[:7] == ("x", "y", "z", "e0", "e1", "e2", "e3")
    assert len(system.velocities) == 8


def test_settings_keep_the_robot(write) -> None:
    system = load(write(ROBOT)).with_settings({"m_hand": 1.0, "initial.shoulder": "30*deg"})
    assert system.parameters["m_hand"] == 1.0
    assert system.initial["shoulder"] == pytest.approx(pi / 6)


def test_model_file_can_carry_a_robot(write) -> None:
    write(ROBOT)
    tie = '[[constraint]]\nequation = "slide_1 = 0.1*shoulder"\n'
    text = f'urdf = "arm.urdf"\nname = "held arm"\n{tie}[initial]\nshoulder = 0.2\n'
    system = load(write(text, "held.toml"))
    assert system.name == "held arm"
    assert [body.name for body in system.tree.bodies] == ["upper", "hand"]
    assert len(system.constraints) == 1
    assert system.initial["shoulder"] == 0.2
    with pytest.raises(ModelError, match=r"held.toml:1:9: cannot read the model file"):
        load(write(text.replace("arm.urdf", "leg.urdf"), "held.toml"))
    with pytest.raises(ModelError, match="'free_base' must be true or false"):
        loads('urdf = "arm.urdf"\nfree_base = "yes"', str(write("", "x.toml")))


def test_floating_joint_starts_turned_and_moves_in_link_axes(write) -> None:
    text = ROBOT.replace('<joint name="shoulder" type="revolute">', '<joint name="shoulder" type="floating">')
    system = load(write(text))
    body = system.tree.bodies[0]
    assert body.joint == "free"
    half = 0.5**0.5
    assert [system.initial[e] for e in body.coordinates[3:]] == pytest.approx([half, half, 0, 0])
    # The centre of mass lies along z of the link: turning about z moves it nowhere.
    mass = NumericTree(system.tree, system.parameters).mass_matrix(system.initial_state()[:8])
    assert mass[5, 5] == pytest.approx(0.002 + 0.002 + 0.5 * (0.1**2 + 0.2**2))


def test_planar_joint_is_two_slides_and_a_turn(write) -> None:
    text = ROBOT.replace('<joint name="shoulder" type="revolute">', '<joint name="shoulder" type="planar">')
    system = load(write(text.replace('rpy="1.5707963267948966 0 0"', "")))
    assert system.coordinates == ("shoulder_x", "shoulder_y", "shoulder_angle", "slide_1")
    mass = NumericTree(system.tree, system.parameters).mass_matrix([0.3, -0.2, 0.0, 0.0])
    assert mass[0, 0] == mass[1, 1] == pytest.approx(2.5)
    # The centre of mass of the hand is at (0.1, 0.2) from the axis.
    assert mass[:2, 2] == pytest.approx([-0.5 * 0.2, 0.5 * 0.1])


@pytest.mark.parametrize(
    ("old", "new", "message", "line"),
    [
        ('<child link="hand"/>', '<child link="hnad"/>', "joint 'slide-1': there is no link 'hnad'", 30),
        ('<child link="hand"/>', "", "joint 'slide-1' has no child", 28),
        ('<link name="tip"/>', '<link name="hand"/>', "two links have the name 'hand'", 19),
        ('<joint name="end"', '<joint name="shoulder"', "two joints have the name 'shoulder'", 35),
        ('<link name="tip"/>', '<link name="tip"/><link name="lost"/>', "the robot has 2 roots", 19),
        ('<child link="tip"/>', '<child link="upper"/>', "the joints 'shoulder' and 'end' both carry link 'upper'", 35),
        ('<mass value="2"/>', '<mass value="-2"/>', "the mass of link 'upper' is negative: -2", 7),
        ('<mass value="2"/>', "", "the inertial of link 'upper' gives no mass", 5),
        ('xyz="0 0.2 0.5"', 'xyz="0 0,2 0.5"', "'xyz' of the origin of joint 'slide-1' must be 3 numbers; '0,2'", 31),
        ('xyz="0 0.2 0.5"', 'xyz="0 0.5"', "'xyz' of the origin of joint 'slide-1' must be 3 numbers, not 2", 31),
        ('value="2"', 'value="nan"', "'value' of the mass of link 'upper' must be a number; 'nan' is none", 7),
        ('xyz="0 0 2"', 'xyz="0 0 0"', "the axis of joint 'shoulder' has no direction", 24),
        ('type="prismatic"', 'type="sliding"', "joint 'slide-1' cannot have the type 'sliding'", 28),
        ('<parent link="base"/>', '<parent link="tip"/>', "the links 'upper', 'hand', 'tip' carry each other", 20),
        ("</robot>", "</robots>", "this is not XML: mismatched tag", 41),
        ("<robot", "<xacro:macro/><robot", "this is not XML: junk after document element", 2),
        ('<transmission name="t"/>', '<xacro:leg name="t"/>', "this is a xacro file, not yet a URDF", 40),
        ('<robot name="arm">', '<!DOCTYPE r [<!ENTITY a "b">]><robot name="arm">', "an entity is declared here", 2),
    ],
)
def test_mistakes_are_told_in_words(write, old, new, message, line) -> None:
    assert ROBOT.count(old) == 1
    with pytest.raises(ModelError) as caught:
        load(write(ROBOT.replace(old, new)))
    found = caught.value.problems[0]
    assert found.message.startswith(message)
    assert found.place.line == line


def test_billion_laughs_are_refused_at_once(write) -> None:
    laughs = "".join(f'<!ENTITY l{k + 1} "{f"&l{k};" * 10}">' for k in range(9))
    text = f'<!DOCTYPE robot [<!ENTITY l0 "ha">{laughs}]>\n<robot name="&l9;"/>'
    with pytest.raises(ModelError, match="entities are refused"):
        load(write(text))


def test_nothing_outside_the_file_is_read(write) -> None:
    write("<link/>", "secret.xml")
    text = '<!DOCTYPE robot [<!ENTITY s SYSTEM "secret.xml">]>\n<robot name="r">&s;</robot>'
    with pytest.raises(ModelError, match="entities are refused"):
        load(write(text))
    with pytest.raises(ModelError, match="undefined entity"):
        load(write('<robot name="r">&s;</robot>'))


def test_deep_nesting_is_refused(write) -> None:
    with pytest.raises(ModelError, match="elements are nested too deeply"):
        load(write("<robot>" + "<a>" * 10000 + "</a>" * 10000 + "</robot>"))


def test_place_of_a_mistake_counts_letters_not_bytes(write) -> None:
    text = '<robot name="été"><link name="a"/><link name="a"/></robot>'
    with pytest.raises(ModelError) as caught:
        load(write(text))
    place = caught.value.problems[0].place
    assert text[place.column - 1 :].startswith('a"/></robot>')


def test_robot_that_cannot_move_is_refused(write) -> None:
    text = '<robot name="r"><link name="a"><inertial><mass value="1"/></inertial></link></robot>'
    with pytest.raises(ModelError, match="no joint of the robot moves"):
        load(write(text))
    assert len(load(write(text), free_base=True).velocities) == 6


def test_impossible_inertia_of_a_urdf_is_warned_of(write) -> None:
    text = ROBOT.replace('izz="0.002" ixy="0"', 'izz="0.2" ixy="0"')
    told = [warning.message for warning in load(write(text)).warnings]
    assert "inertia of 'upper' at its centre of mass breaks the triangle inequality" in told


def test_joint_that_moves_no_mass_is_warned_of(write) -> None:
    text = ROBOT.replace('<joint name="end" type="fixed">', '<joint name="end" type="continuous">')
    told = [warning.message for warning in load(write(text)).warnings]
    assert "the joint of 'tip' moves nothing that has mass or inertia: the inertia matrix is singular" in told


@pytest.mark.parametrize(("given", "tidied"), [("joint-1", "joint_1"), ("a/b", "a_b"), ("1st", "q_1st"), ("pi", "pi_")])
def test_names_are_tidied(given, tidied) -> None:
    assert tidy(given) == tidied


def test_turns_are_exact_at_quarters_and_undo_themselves() -> None:
    assert roll_pitch_yaw(1.57079632679, 0, -3.14159265359) == ((-1, 0, 0), (0, 0, 1), (0, 1, 0))
    rng = np.random.default_rng(3)
    for _ in range(20):
        rows = np.array(roll_pitch_yaw(*rng.uniform(-4, 4, 3)))
        assert np.allclose(rows @ rows.T, np.eye(3), atol=1e-14)
        e0, *e = quaternion(tuple(map(tuple, rows)))
        skew = np.array([[0, -e[2], e[1]], [e[2], 0, -e[0]], [-e[1], e[0], 0]])
        again = np.eye(3) + 2 * e0 * skew + 2 * skew @ skew
        assert np.allclose(again, rows, atol=1e-14)


def test_N1_2_5_only_regular_files_of_bearable_size_are_read(tmp_path) -> None:
    """A pipe that nobody writes to, a device that never ends, and a file of some other kind, behind a name that fits."""
    import os

    secret = tmp_path / "secret"
    secret.write_text("root:x:0:0\n")
    os.mkfifo(tmp_path / "pipe.urdf")
    (tmp_path / "device.urdf").symlink_to("/dev/zero")
    (tmp_path / "other.urdf").symlink_to(secret)
    (tmp_path / "page.urdf").write_text("<html><b>root:x</b></html>")
    with (tmp_path / "large.urdf").open("wb") as file:
        file.truncate(100_000_000)
    told = {"pipe": "no regular file", "device": "no regular file", "other": "no <robot>", "page": "no <robot>"}
    for name, reason in {**told, "large": "too large"}.items():
        model = tmp_path / "model.toml"
        model.write_text(f'urdf = "{name}.urdf"\n')
        with pytest.raises(ModelError) as refused:
            read_file(model)
        assert reason in str(refused.value)
        assert "root:x" not in str(refused.value)
        assert refused.value.problems[0].place is not None
        with pytest.raises(ModelError, match=reason):
            read_file(tmp_path / f"{name}.urdf")


def test_N1_2_5_empty_lines_before_the_declaration_are_allowed() -> None:
    text = '\n \n<?xml version="1.0" encoding="latin-1"?>\n<robot name="ä">\n<link name="é"/><bad></robot>'
    with pytest.raises(ModelError) as refused:
        read_urdf(text, "file")
    place = refused.value.problems[0].place
    assert (place.line, place.column) == (5, 24)
    assert read_urdf(text.replace("<bad>", ""), "file").root == "é"


def test_N1_2_5_places_on_one_long_line() -> None:
    """Places are found by going on from the last one, not from the start of the line."""
    from svyaz.model.urdf import xml

    count = 3000
    links = "".join(f'<link name="l{k}é"/>' for k in range(count))
    joints = "".join(
        f'<joint name="j{k}" type="fixed"><parent link="l0é"/><child link="l{k}é"/></joint>' for k in range(1, count)
    )
    text = f'<robot name="r">{links}{joints}</robot>'
    assert len(read_urdf(text, "file").links) == count
    document = xml.read_xml(text, "file")
    last = document.root.children[-1]
    assert text[last.offset :].startswith(f'<joint name="j{count - 1}"')
