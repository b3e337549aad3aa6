"""Limits of the joints of a URDF act as limits of the model."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from svyaz import load

GRIP = """\
<robot name="grip">
  <link name="base"/>
  <link name="l">
    <inertial>
      <origin xyz="0 0 0.1"/><mass value="1.5"/><inertia ixx="0.01" iyy="0.02" izz="0.002" ixy="0" ixz="0" iyz="0"/>
    </inertial>
  </link>
  <joint name="a" type="revolute"><parent link="base"/><child link="l"/><axis xyz="0 1 0"/>LIMIT</joint>
</robot>
"""


@pytest.fixture
def grip(tmp_path):
    def write(limit: str, kind: str = "revolute") -> str:
        path = tmp_path / "grip.urdf"
        path.write_text(GRIP.replace("LIMIT", limit).replace("revolute", kind), encoding="utf-8")
        return str(path)

    return write


def fall_to(angle: float) -> float:
    """When the finger, an inverted pendulum let go at 0.1, comes to an angle: by SciPy."""

    def reach(_, y):
        return y[0] - angle

    reach.terminal = True
    rate = 1.5 * 9.81 * 0.1 / (0.02 + 1.5 * 0.1**2)
    run = solve_ivp(lambda _, y: [y[1], rate * np.sin(y[0])], (0, 9), [0.1, 0], events=reach, rtol=1e-11, atol=1e-12)
    return float(run.t_events[0][0])


@pytest.mark.parametrize("lower", ["-0.5", "-inf", " -Infinity"])
def test_V1_limits_of_urdf_joints_end_a_run_at_their_moment(grip, lower) -> None:
    """A revolute joint leaves its range when SciPy says so, whether the other side is bounded or not; --beyond goes on."""
    model = load(grip(f'<limit lower="{lower}" upper="0.5" effort="1" velocity="5"/>')).with_settings(
        {"initial.a": 0.1}
    )
    motion = model.simulate(until=2, rtol=1e-10, on_failure="return")
    assert motion.status == "left"
    assert "a rises above its limit 0.5" in str(motion.reason)
    assert motion.times[-1] == pytest.approx(fall_to(0.5), abs=1e-7)
    assert float(np.abs(model.simulate(until=2, beyond=True)["a"]).max()) > 3
    below = model.with_settings({"initial.a": -0.1}).simulate(until=0.7, on_failure="return")
    assert below.status == ("left" if lower == "-0.5" else "finished")


@pytest.mark.parametrize(
    ("limit", "kind", "remark"),
    [
        ("", "revolute", False),
        ('<limit lower="-inf" upper="inf"/>', "revolute", False),
        ('<limit effort="1" velocity="5"/>', "revolute", True),
        ('<limit lower="1" upper="-1"/>', "prismatic", True),
        ('<limit lower="-1" upper="1"/>', "continuous", False),
        ('<limit effort="1" velocity="5"/>', "continuous", False),
    ],
)
def test_V1_limits_of_urdf_joints_that_bound_nothing_do_not_act(grip, limit, kind, remark) -> None:
    """Continuous joints and infinite ranges have no limits; a range that leaves nothing gets a remark."""
    system = load(grip(limit, kind))
    assert (system.limits, dict(system.box)) == ((), {})
    told = "limits of joints that leave nothing (lower is not below upper) do not act: 'a'"
    assert (told in [warning.message for warning in system.warnings]) == remark


def test_V1_limits_of_urdf_joints_mark_equilibria_and_leave_inertia_alone(grip) -> None:
    """The finger that hangs down lies beyond its limits: listed and marked; `inertia` answers too."""
    model = load(grip('<limit lower="-0.5" upper="0.5"/>'))
    found = model.equilibria()
    outside = {round(abs(e.state["a"]), 3): e.outside for e in found.equilibria}
    assert outside == {0.0: (), 3.142: ("a",)}
    assert [name for name, _ in model.inertia().program.outputs] == ["H11"]
