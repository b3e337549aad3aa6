"""Bodies on ball and free joints: equilibria and linearisations in the tangent space, against closed forms, first
principles and Pinocchio (W2).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from scipy.linalg import eigh, expm
from tree_oracle import pinocchio_model, their_coordinates, their_velocities

from svyaz import ModelError, System, first_approximation
from svyaz.model import numbers

G = 9.81
BALL = {"joint": "ball", "coordinates": ["e0", "e1", "e2", "e3"]}
FREE = {"joint": "free", "coordinates": ["x", "y", "z", "e0", "e1", "e2", "e3"]}
MOMENTS = {"xx": 0.3, "yy": 0.4, "zz": 0.5}
LONG = {"mass": 2.0, "center": [0, 0, 0.4], "central_inertia": MOMENTS}
ASKEW = {"mass": 2.0, "center": [0.1, -0.2, 0.4], "central_inertia": MOMENTS}
TURNED = {
    **{f"r{i}{j}": f"2*(e{i}*e{j} - e0*e{k})" for i, j, k in ((1, 2, 3), (2, 3, 1), (3, 1, 2))},
    **{f"r{j}{i}": f"2*(e{i}*e{j} + e0*e{k})" for i, j, k in ((1, 2, 3), (2, 3, 1), (3, 1, 2))},
    **{f"r{i}{i}": f"1 - 2*(e{j}^2 + e{k}^2)" for i, j, k in ((1, 2, 3), (2, 3, 1), (3, 1, 2))},
}
"""Entries of R(e)."""


def one_body(joint: dict[str, Any], mass: dict[str, Any], **words: Any) -> System:
    """A body on the ground, under gravity unless something else is said."""
    return System(
        name="one", body=[{"name": "1", "base": "ground", **joint, **mass}], **{"gravity": [0, 0, -G], **words}
    )


def skew(a: np.ndarray) -> np.ndarray:
    """[a×]."""
    return np.array([[0, -a[2], a[1]], [a[2], 0, -a[0]], [-a[1], a[0], 0]])


def rotation(e: np.ndarray) -> np.ndarray:
    """R of a unit quaternion, by exp."""
    size = np.linalg.norm(e[1:])
    return expm(skew(e[1:] / size * 2 * np.arctan2(size, e[0]))) if size else np.eye(3)


def frequencies(roots: np.ndarray) -> np.ndarray:
    """Those of pairs of imaginary roots, rising, without zeros."""
    assert np.abs(roots.real).max() < 1e-6
    return np.sort(roots.imag[roots.imag > 1e-5])


def test_W2_pendulum_on_a_ball_joint_hangs_and_stands() -> None:
    """ω² = m g l/(A + m l²), m g l/(B + m l²); it drifts about the vertical; standing, the roots are ±ω."""
    wanted = np.sort(np.sqrt(2 * G * 0.4 / (np.array([0.3, 0.4]) + 2 * 0.16)))
    found = one_body(BALL, LONG, initial={"e0": 0.8, "e1": 0.6}).equilibria()
    assert not found.complete
    standing, hanging = found.equilibria
    np.testing.assert_allclose(list(standing.state.values()), [1, 0, 0, 0], atol=1e-9)
    np.testing.assert_allclose(list(hanging.state.values()), [0, 1, 0, 0], atol=1e-9)
    assert (standing.word, hanging.word) == ("unstable", "stable")
    assert standing.drift == hanging.drift == ("rot_1_z",)
    np.testing.assert_allclose(frequencies(hanging.verdict.roots), wanted, rtol=1e-9)
    np.testing.assert_allclose(np.sort(standing.verdict.roots.real)[-2:], wanted, rtol=1e-9)
    assert set(hanging.approximation.variables) == {f"rot_1_{axis}{dot}" for axis in "xyz" for dot in ("", "'")}
    opposite = one_body(BALL, LONG, initial={"e0": -0.8, "e1": -0.6}).equilibria()
    assert [e.state for e in opposite.equilibria] == [e.state for e in found.equilibria]


def test_W2_a_body_held_askew_has_the_linearisation_of_first_principles() -> None:
    """V(rot) = -m g·R0 exp(rot) c, T = ½ ωᵀ J ω: K by differences, J about the pole; the turn about the vertical drifts."""
    found = one_body(BALL, ASKEW, initial={"e0": 0.6, "e2": 0.8}).equilibria()
    (hanging,) = [e for e in found.equilibria if e.word == "stable"]
    c, m = np.array(ASKEW["center"]), ASKEW["mass"]
    axes = rotation(np.array(list(hanging.state.values())))
    np.testing.assert_allclose(axes @ c, [0, 0, -np.linalg.norm(c)], atol=1e-9)

    def energy(rot: np.ndarray) -> float:
        return float(m * G * (axes @ expm(skew(rot)) @ c)[2])

    h, unit = 1e-3, np.eye(3)
    curved = np.array(
        [
            [sum(s * r * energy(h * (s * a + r * b)) for s in (-1, 1) for r in (-1, 1)) / (4 * h * h) for b in unit]
            for a in unit
        ]
    )
    about_pole = np.diag(list(MOMENTS.values())) + m * (c @ c * np.eye(3) - np.outer(c, c))
    np.testing.assert_allclose(hanging.approximation.inertia, about_pole, atol=1e-12)
    np.testing.assert_allclose(hanging.approximation.stiffness, curved, atol=1e-4)
    wanted = np.sqrt(eigh(m * G * skew(c) @ skew(c).T / np.linalg.norm(c), about_pole, eigvals_only=True)[1:])
    np.testing.assert_allclose(frequencies(hanging.verdict.roots), wanted, rtol=1e-8)
    assert hanging.drift == ("rot_1",)


def on_springs() -> tuple[System, list[np.ndarray], list[np.ndarray]]:
    """A free body on three springs of rest length zero, k diagonal in ground axes; places in the body, on the ground."""
    inside = [np.array(p) for p in ([0.3, 0.1, 0.0], [-0.2, 0.25, 0.1], [-0.1, -0.3, 0.2])]
    outside = [np.array(p) for p in ([0.5, 0.1, 0.6], [-0.6, 0.4, 0.5], [0.1, -0.5, 0.7])]
    defined, forces = dict(TURNED), {v: [] for v in ("vx", "vy", "vz", "wx", "wy", "wz")}
    for n, (p, a) in enumerate(zip(inside, outside, strict=True)):
        for i, (axis, k) in enumerate(zip("xyz", (60, 90, 140), strict=True)):
            defined[f"f{n}{i + 1}"] = f"-{k}*(p{n}_{axis} - ({a[i]}))"
        for j in range(3):
            defined[f"b{n}{j + 1}"] = " + ".join(f"r{i}{j + 1}*f{n}{i}" for i in (1, 2, 3))
            forces["v" + "xyz"[j]].append(f"b{n}{j + 1}")
        for axis, (i, j) in zip("xyz", ((1, 2), (2, 0), (0, 1)), strict=True):
            forces[f"w{axis}"].append(f"({p[i]})*b{n}{j + 1} - ({p[j]})*b{n}{i + 1}")
    system = one_body(
        FREE,
        ASKEW,
        point=[{"name": f"p{n}", "body": "1", "at": p.tolist()} for n, p in enumerate(inside)],
        definitions=defined,
        forces={v: " + ".join(f"({e})" for e in terms) for v, terms in forces.items()},
    )
    return system, inside, outside


def test_W2_a_free_body_on_springs() -> None:
    """The energy V(p, rot) of gravity and springs has its minimum there, and its Hessian by differences gives the roots."""
    system, inside, outside = on_springs()
    found = system.equilibria()
    (e,) = [e for e in found.equilibria if e.word == "stable"]
    place, axes = np.array([e.state[q] for q in "xyz"]), rotation(np.array([e.state[f"e{k}"] for k in range(4)]))
    c, m, k = np.array(ASKEW["center"]), ASKEW["mass"], np.diag([60, 90, 140])

    def energy(shift: np.ndarray) -> float:
        pole, turned = place + shift[:3], axes @ expm(skew(shift[3:]))
        stretched = [pole + turned @ p - a for p, a in zip(inside, outside, strict=True)]
        return float(m * G * (pole + turned @ c)[2] + sum(0.5 * s @ k @ s for s in stretched))

    h, unit = 1e-3, np.eye(6)
    slope = np.array([(energy(h * u) - energy(-h * u)) / (2 * h) for u in unit])
    assert np.abs(slope).max() < 1e-4
    bent = [
        [sum(s * r * energy(h * (s * a + r * b)) for s in (-1, 1) for r in (-1, 1)) / (4 * h * h) for b in unit]
        for a in unit
    ]
    about_pole = np.diag(list(MOMENTS.values())) + m * (c @ c * np.eye(3) - np.outer(c, c))
    mass = np.block([[m * np.eye(3), -m * axes @ skew(c)], [m * skew(c) @ axes.T, about_pole]])
    wanted = np.sqrt(eigh(np.array(bent), mass, eigvals_only=True))
    np.testing.assert_allclose(frequencies(e.verdict.roots), wanted, rtol=1e-5)
    assert e.approximation.variables[:3] == ("x", "y", "z")
    assert e.drift == ()


def test_W2_a_free_body_tied_by_constraints_is_one_on_a_ball_joint() -> None:
    """P = 0 for a point P of a free body: the roots of the pendulum about P, and its weight as reactions."""
    tied = one_body(
        FREE,
        {"mass": 2.0, "central_inertia": MOMENTS},
        point=[{"name": "P", "body": "1", "at": [0, 0, -0.4]}],
        constraint=[{"name": axis, "equation": f"P_{axis} = 0"} for axis in "xyz"],
        initial={"z": -0.4, "e0": 0.0, "e1": 1.0},
    )
    (hanging,) = tied.equilibria().equilibria
    wanted = np.sort(np.sqrt(2 * G * 0.4 / (np.array([0.3, 0.4]) + 2 * 0.16)))
    np.testing.assert_allclose(frequencies(hanging.verdict.roots), wanted, rtol=1e-7)
    np.testing.assert_allclose([abs(hanging.multipliers[axis]) for axis in "xyz"], [0, 0, 2 * G], atol=1e-8)


def test_W2_what_falls_has_no_equilibrium_and_says_why() -> None:
    found = one_body(FREE, LONG).equilibria()
    assert not found.equilibria
    assert not found.complete
    assert any("no equilibrium" in note and "along z" in note for note in found.notes)
    with pytest.raises(ModelError, match="rot_1_x"):
        one_body(BALL, LONG).equilibria(fix={"e1": 0.1})


@pytest.mark.parametrize("links", [1, 14])
def test_W2_the_matrix_of_a_tree_with_ball_joints_is_that_of_pinocchio(links: int) -> None:
    """A body on a ball joint that carries links and ends in another, symbolic and recursive: ∂a/∂q, M⁻¹ of Pinocchio's ABA."""
    turn = {"joint": "revolute", "pole": [0.1, 0.3, 0.1], **ASKEW}
    chain = [
        {"name": f"c{k}", "base": f"c{k - 1}" if k else "root", "coordinate": f"q{k}", **turn}
        | {"axis": [[0, 0, 1], [1, 0, 0]][k % 2]}
        for k in range(links)
    ]
    end = {"joint": "ball", "coordinates": ["b0", "b1", "b2", "b3"], "pole": [0, 0.2, 0], **ASKEW}
    bodies = [
        {"name": "root", "base": "ground", **BALL, **LONG},
        *chain,
        {"name": "end", "base": f"c{links - 1}", **end},
    ]
    start = {"e0": 0.5, "e1": 0.5, "e2": -0.5, "e3": 0.5, "b0": 0.8, "b2": 0.6} | {f"q{k}": 0.1 for k in range(links)}
    system = System(name="tree", body=bodies, gravity=[0, 0, -G], initial=start)
    e = system.equilibria().equilibria[-1]
    found = first_approximation(system, e.state)
    tree = numbers(system.tree, system.parameters)
    model = pinocchio_model(tree)
    q = np.array([e.state[name] for name in system.coordinates])[their_coordinates(tree)]
    data, zero = model.createData(), np.zeros(model.nv)
    assert np.abs(pin.aba(model, data, q, zero, zero)).max() < 1e-7
    slopes = pin.computeABADerivatives(model, data, q, zero, zero)[0]
    n, turned = model.nv, {"wx": "x", "wy": "y", "wz": "z"}
    names = [f"rot_{v[3:]}_{turned[v[:2]]}" if v[:2] in turned else v.rstrip("'") for v in system.velocities]
    order = [found.independent.index(names[k]) for k in their_velocities(tree)]
    np.testing.assert_allclose(found.A[n:, :n][np.ix_(order, order)], slopes, atol=1e-7 * np.abs(slopes).max())


CENTRED = {"mass": 2.0, "central_inertia": MOMENTS}


@pytest.mark.parametrize(("axis", "word"), [("x", "undecided"), ("y", "unstable"), ("z", "stable")])
def test_W2_a_free_body_turns_steadily_about_its_principal_axes(axis: str, word: str) -> None:
    """λ² = -ω² and -ω² (C - A)(C - B)/(A B): the middle axis is unstable, that of the largest moment stable."""
    k, moments = "xyz".index(axis), np.array(list(MOMENTS.values()))
    a, b = np.delete(moments, k)
    ratio = complex((moments[k] - a) * (moments[k] - b) / (a * b)) ** 0.5
    found = one_body(FREE, CENTRED, gravity=[0, 0, 0]).steady(fix={f"w{axis}": 2.0})
    (motion,) = found.motions
    wanted = [2j, -2j, 2j * ratio, -2j * ratio, 0, 0, 0, 0]
    np.testing.assert_allclose(np.poly(motion.verdict.roots), np.poly(wanted), atol=1e-9)
    assert (motion.at_fixed_momenta.word, motion.drift) == (word, ("x", "y", "z", f"rot_1_{axis}"))
    assert motion.speeds[f"w{axis}"] == pytest.approx(2.0)
    assert motion.momenta[f"p_rot_1_{axis}"] == pytest.approx(2 * moments[k])


@pytest.mark.parametrize("part", [0.9, 1.1])
def test_W2_the_sleeping_top_is_unstable_below_its_critical_spin(part: float) -> None:
    """(C ω)² = 4 m g l A; in axes of the body the roots are i (ν - ω), A ν² - C ω ν + m g l = 0."""
    m, length, across, along = 2.0, 0.4, 0.3, 0.2
    mass = {"mass": m, "center": [0, 0, length], "central_inertia": {"xx": across, "yy": across, "zz": along}}
    about_pole, weight = across + m * length**2, m * G * length
    spin = part * np.sqrt(4 * weight * about_pole) / along
    (motion,) = one_body(BALL, mass).steady(fix={"wz": spin}).motions
    nu = np.roots([about_pole, -along * spin, weight])
    np.testing.assert_allclose(
        np.poly(motion.verdict.roots), np.poly([*(1j * (nu - spin)), *(-1j * (nu - spin)), 0]), rtol=1e-8, atol=1e-6
    )
    assert (motion.at_fixed_momenta.word == "unstable") == (part < 1)


def test_W2_a_rod_on_a_ball_joint_goes_round_a_cone() -> None:
    """cos θ = m g l/((A - C) ω²) for a rod that turns about the vertical as one piece."""
    mass = {"mass": 2.0, "center": [0, 0, 0.4], "central_inertia": {"xx": 0.3, "yy": 0.3, "zz": 0.2}}
    turn = np.sqrt(2 * G * 0.4 / ((0.62 - 0.2) * 0.5))
    rod = one_body(BALL, mass, initial={"e0": np.cos(1.1), "e1": np.sin(1.1)})
    (motion,) = rod.steady(fix={"rot_1'": turn}).motions
    axes = rotation(np.array([motion.state[f"e{k}"] for k in range(4)]))
    assert axes[2, 2] == pytest.approx(-0.5, abs=1e-9)
    np.testing.assert_allclose([motion.speeds[w] for w in ("wx", "wy", "wz")], turn * axes[2], atol=1e-8)
    with pytest.raises(ModelError, match="rot_1'"):
        rod.steady(fix={"wz": 3.0})
