"""The same robot and the same pendulum in other tools, where these are installed: MuJoCo, Drake, PyDy."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import svyaz

ROBOT = """<robot name="two"><link name="base"/>
<link name="a"><inertial><origin xyz="0 0 -0.5"/><mass value="1.0"/>
  <inertia ixx="0.02" iyy="0.03" izz="0.02" ixy="0.001" ixz="0.002" iyz="0.003"/></inertial></link>
<link name="b"><inertial><origin xyz="0.1 0 -0.3"/><mass value="0.7"/>
  <inertia ixx="0.01" iyy="0.02" izz="0.015" ixy="0" ixz="0.001" iyz="0"/></inertial></link>
<joint name="q1" type="continuous"><parent link="base"/><child link="a"/><axis xyz="0 1 0"/></joint>
<joint name="q2" type="continuous"><parent link="a"/><child link="b"/><origin xyz="0 0.1 -1"/><axis xyz="1 0 0"/></joint>
</robot>"""
STATE = np.array([0.4, -0.9, 0.7, 1.3])


@pytest.fixture(scope="module")
def robot(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("robot") / "two.urdf"
    file.write_text(ROBOT, encoding="utf-8")
    return file


def accelerations(robot: Path) -> np.ndarray:
    return svyaz.load(robot).derive().function()(0.0, STATE)[2:]


def test_P1_a_robot_as_mujoco_has_it(robot: Path) -> None:
    mujoco = pytest.importorskip("mujoco")
    model = mujoco.MjModel.from_xml_path(str(robot))
    data = mujoco.MjData(model)
    data.qpos[:], data.qvel[:] = STATE[:2], STATE[2:]
    mujoco.mj_forward(model, data)
    assert np.allclose(data.qacc, accelerations(robot), atol=1e-11)
    model.opt.timestep, model.opt.integrator = 1e-3, mujoco.mjtIntegrator.mjINT_RK4
    for _ in range(500):
        mujoco.mj_step(model, data)
    start = dict(zip(("q1", "q2", "q1'", "q2'"), map(float, STATE), strict=True))
    ours = svyaz.load(robot).simulate(until=0.5, rtol=1e-10, start=start)
    assert np.allclose(np.r_[data.qpos, data.qvel], ours.states[-1], atol=1e-7)


def test_P1_a_robot_as_drake_has_it(robot: Path) -> None:
    plants = pytest.importorskip("pydrake.multibody.plant")
    parsing = pytest.importorskip("pydrake.multibody.parsing")
    plant = plants.MultibodyPlant(0.0)
    parsing.Parser(plant).AddModels(str(robot))
    plant.WeldFrames(plant.world_frame(), plant.GetFrameByName("base"))
    plant.Finalize()
    context = plant.CreateDefaultContext()
    plant.SetPositions(context, STATE[:2])
    plant.SetVelocities(context, STATE[2:])
    force = plant.CalcGravityGeneralizedForces(context) - plant.CalcBiasTerm(context)
    assert np.allclose(np.linalg.solve(plant.CalcMassMatrix(context), force), accelerations(robot), atol=1e-11)


def test_P1_a_pendulum_as_pydy_integrates_it() -> None:
    """Kane's equations by SymPy, their numbers by PyDy."""
    pydy = pytest.importorskip("pydy.system")
    import sympy as sp
    from sympy.physics.mechanics import KanesMethod, Particle, Point, ReferenceFrame, dynamicsymbols

    ours = svyaz.load("pendulum:2")
    q, u = dynamicsymbols("q1 q2"), dynamicsymbols("u1 u2")
    masses, lengths, g = sp.symbols("m1 m2"), sp.symbols("L1 L2"), sp.Symbol("g")
    ground, place = ReferenceFrame("N"), Point("O")
    place.set_vel(ground, 0)
    bobs, loads = [], []
    for k in range(2):
        frame = ground.orientnew(f"A{k}", "Axis", (q[k], ground.z))
        frame.set_ang_vel(ground, u[k] * ground.z)
        bob = place.locatenew(f"P{k}", -lengths[k] * frame.y)
        bob.v2pt_theory(place, ground, frame)
        bobs.append(Particle(f"bob {k}", bob, masses[k]))
        loads.append((bob, -masses[k] * g * ground.y))
        place = bob
    kane = KanesMethod(ground, q, u, kd_eqs=[x.diff() - v for x, v in zip(q, u, strict=True)])
    kane.kanes_equations(bobs, loads)
    constants = {symbol: ours.parameters[symbol.name] for symbol in (*masses, *lengths, g)}
    start = {q[0]: ours.initial["u1"], q[1]: ours.initial["u2"], u[0]: 0.0, u[1]: 0.0}
    theirs = pydy.System(kane, constants=constants, initial_conditions=start, times=np.linspace(0, 2, 21))
    motion = ours.simulate(until=2, rtol=1e-11, every=0.1)
    columns = [motion[name] for name in ("u1", "u2", "u1'", "u2'")]
    assert np.allclose(theirs.integrate(rtol=1e-11, atol=1e-12), np.column_stack(columns), atol=1e-8)
