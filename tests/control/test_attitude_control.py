"""Regulators of bodies on free joints, in the tangent space, against matrices from first principles (W2)."""

from __future__ import annotations

import numpy as np
from scipy.linalg import solve_continuous_are

from svyaz import System

G, M, J = 9.81, 1.2, np.array([0.02, 0.025, 0.04])
ARM, DRAG = 0.2, 0.05


def quadrotor(**words: object) -> System:
    """A free body with four rotors, thrust along its z axis."""
    body = {"name": "craft", "base": "ground", "joint": "free", "coordinates": ["x", "y", "z", "e0", "e1", "e2", "e3"]}
    moments = dict(zip(("xx", "yy", "zz"), J.tolist(), strict=True))
    return System(
        name="quadrotor",
        body=[{**body, "mass": M, "central_inertia": moments}],
        gravity=[0, 0, -G],
        inputs={f"T{k}": 0 for k in range(1, 5)},
        forces={
            "vz": "T1 + T2 + T3 + T4",
            "wx": f"{ARM}*(T2 - T4)",
            "wy": f"{ARM}*(T3 - T1)",
            "wz": f"{DRAG}*(T1 - T2 + T3 - T4)",
        },
        initial={"z": 1.0},
        **words,
    )


def test_W2_quadrotor_hovers_by_the_gains_of_its_own_equations() -> None:
    """x'' = g rot_y, y'' = -g rot_x, m z'' = ΣT, J rot'' = τ about hovering: K of the Riccati equation; the loop returns."""
    found = quadrotor().regulate()
    at = {name: k for k, name in enumerate(found.variables)}
    a, b = np.zeros((12, 12)), np.zeros((12, 4))
    for q in ("x", "y", "z", "rot_craft_x", "rot_craft_y", "rot_craft_z"):
        a[at[q], at[f"{q}'"]] = 1.0
    a[at["x'"], at["rot_craft_y"]], a[at["y'"], at["rot_craft_x"]] = G, -G
    b[at["z'"]] = 1 / M
    b[at["rot_craft_x'"]] = np.array([0, ARM, 0, -ARM]) / J[0]
    b[at["rot_craft_y'"]] = np.array([-ARM, 0, ARM, 0]) / J[1]
    b[at["rot_craft_z'"]] = np.array([DRAG, -DRAG, DRAG, -DRAG]) / J[2]
    np.testing.assert_allclose(found.A, a, atol=1e-12)
    np.testing.assert_allclose(found.B, b, atol=1e-9)
    gain = b.T @ solve_continuous_are(a, b, np.eye(12), np.eye(4))
    np.testing.assert_allclose(found.K, gain, rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(list(found.chosen.equilibrium.inputs.values()), M * G / 4, rtol=1e-12)
    assert found.state == {"x": 0, "y": 0, "z": 1, "e0": 1, "e1": 0, "e2": 0, "e3": 0} | dict.fromkeys(
        ("rot_craft_x", "rot_craft_y", "rot_craft_z"), 0.0
    )
    run = found.loop().run({"x": 0.4, "z": 1.0, "rot_craft_z": 0.5, "rot_craft_x": 0.3}, until=15.0, rows=30)
    assert abs(run.motion["x"][-1]) < 1e-3
    assert abs(run.motion["rot_craft_z"][-1]) < 1e-3


def test_W2_a_body_is_held_spinning_about_its_middle_axis() -> None:
    """ω = (α' + Ω γ, Ω, γ' - Ω α) to first order for R = Rot(y, Ωt) exp(α, 0, γ), and Euler's equations."""
    (a, b, c), spin = (0.3, 0.4, 0.5), 2.0
    body = {"name": "1", "base": "ground", "joint": "ball", "coordinates": ["e0", "e1", "e2", "e3"], "mass": 1.0}
    system = System(
        name="satellite",
        body=[{**body, "central_inertia": {"xx": a, "yy": b, "zz": c}}],
        inputs={"ux": 0, "uy": 0, "uz": 0},
        forces={"wx": "ux", "wy": "uy", "wz": "uz"},
    )
    found = system.regulate(fix={"wy": spin})
    assert found.variables == ("rot_1_x", "rot_1_z", "rot_1_x'", "rot_1_z'", "rot_1_y'")
    wanted = np.zeros((5, 5))
    wanted[0, 2] = wanted[1, 3] = 1.0
    wanted[2, [0, 3]] = spin**2 * (c - b) / a, -spin * (1 + (c - b) / a)
    wanted[3, [1, 2]] = spin**2 * (a - b) / c, spin * (1 + (a - b) / c)
    np.testing.assert_allclose(found.A, wanted, atol=1e-10)
    pushed = np.array([found.B[2 + k, found.design.inputs.index(u)] for k, u in enumerate(("ux", "uz", "uy"))])
    np.testing.assert_allclose(pushed, [1 / a, 1 / c, 1 / b], atol=1e-10)
    assert (found.design.closed_roots(found.plant).real < 0).all()
