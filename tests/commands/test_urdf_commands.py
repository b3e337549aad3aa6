"""URDF files and tables of Denavit and Hartenberg through the commands."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from svyaz.commands.group import run, svyaz

CART = """\
<robot name="cart">
  <link name="rail"/>
  <link name="slider"><inertial><mass value="2"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <link name="rod">
    <inertial>
      <origin xyz="0 0 -0.5"/><mass value="1"/><inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/>
    </inertial>
  </link>
  <joint name="slide" type="prismatic">
    <parent link="rail"/><child link="slider"/><axis xyz="1 0 0"/><limit lower="-1" upper="1" effort="1" velocity="1"/>
  </joint>
  <joint name="swing-1" type="continuous">
    <parent link="slider"/><child link="rod"/><axis xyz="0 1 0"/><dynamics damping="0.5"/>
  </joint>
</robot>
"""


@pytest.fixture
def cart(tmp_path) -> str:
    path = tmp_path / "cart.urdf"
    path.write_text(CART, encoding="utf-8")
    return str(path)


def result(*arguments: str) -> dict:
    done = CliRunner().invoke(svyaz(), [*arguments, "--json", "-"], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


def test_inertia_of_a_urdf_is_in_named_parameters(cart) -> None:
    found = result("inertia", cart, "--at", "swing_1=0")
    assert found["coordinates"] == ["slide", "swing_1"]
    assert found["value"] == [[3.0, -0.5], [-0.5, pytest.approx(0.35)]]
    assert found["operations"]["mul"] == 1
    assert found["parameters"]["m_rod"] == 1.0


def test_free_base_adds_six_freedoms(cart) -> None:
    found = result("inertia", cart, "--free-base", "--at", "slide=0")
    assert len(found["coordinates"]) == 8
    assert found["value"][2][2] == pytest.approx(3.0)


def test_damping_acts_when_asked_for(cart) -> None:
    start = ("--set", "initial.swing_1=1", "--until", "5")
    free, damped = result("simulate", cart, *start), result("simulate", cart, *start, "--damping")
    assert free["integrals"]["energy"]["drift"] < 1e-8
    assert "energy" not in damped["integrals"]
    assert damped["energy"]["dissipated"] > 1
    assert abs(damped["energy"]["remainder"]) < 1e-7


def test_equilibria_are_looked_for_within_the_limits(cart) -> None:
    found = result("equilibria", cart, "--fix", "slide=0.25")
    angles = sorted(abs(e["state"]["swing_1"]) for e in found["equilibria"])
    assert angles == pytest.approx([0, 3.141592653589793], abs=1e-9)


def test_equations_and_code_of_a_urdf(cart, tmp_path) -> None:
    found = result("derive", cart)
    assert found["coordinates"] == ["slide", "swing_1"]
    out = tmp_path / "cart.c"
    assert run(["derive", cart, "--format", "c", "--out", str(out)]) == 0
    assert "m_rod" in out.read_text(encoding="utf-8")


@pytest.mark.parametrize("option", ["--free-base", "--damping"])
def test_options_of_urdf_files_are_refused_elsewhere(option, capsys) -> None:
    assert run(["inertia", "puma-560", option]) == 2
    assert "--free-base and --damping are asked for of URDF files; 'puma-560' is none." in capsys.readouterr().err


def test_model_in_toml_has_no_free_base_to_ask_for(tmp_path, capsys) -> None:
    assert run(["gallery", "puma-560", "--out", str(tmp_path / "puma.toml")]) == 0
    assert run(["inertia", str(tmp_path / "puma.toml"), "--free-base"]) == 2
    assert "a free base and damping are asked for of URDF files" in capsys.readouterr().err


def test_urdf_is_known_by_its_text_too(cart, tmp_path) -> None:
    other = tmp_path / "cart.xml"
    other.write_text(CART, encoding="utf-8")
    assert result("inertia", str(other), "--at", "swing_1=0")["value"][0][0] == 3.0


def test_mistake_in_a_urdf_exits_with_2_and_writes_nothing(cart, tmp_path, capsys) -> None:
    bad = tmp_path / "bad.urdf"
    bad.write_text(CART.replace('<parent link="slider"/>', '<parent link="slidr"/>'), encoding="utf-8")
    out = tmp_path / "out.json"
    assert run(["simulate", str(bad), "--json", str(out)]) == 2
    told = capsys.readouterr().err
    assert "bad.urdf:13:19: joint 'swing-1': there is no link 'slidr'" in told
    assert "did you mean 'slider'?" in told
    assert not out.exists()
