"""Equilibria of trees of many bodies: by recursions from the initial position, against closed forms and minima by SciPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import symengine as se
from scipy.linalg import eigh
from scipy.optimize import minimize

from svyaz import ModelError, NoEquilibrium, System, equilibria
from svyaz.stability import equilibrium_near, steady_motions
from svyaz.stability.rest import only_in_waves

M, L, G = 0.2, 0.1, 9.81


def links(count: int, angles: np.ndarray, **further: Any) -> System:
    """Slender rods in a row that hang from the ground and turn about z, with these angles at the start."""
    bodies = [
        {
            "name": f"b{k}",
            "base": f"b{k - 1}" if k else "ground",
            "joint": "revolute",
            "coordinate": f"q{k}",
            "axis": [0, 0, 1],
            "pole": [0, -L if k else 0, 0],
            "mass": M,
            "center": [0, -L / 2, 0],
            "inertia": {"xx": M * L**2 / 3, "yy": 0.0, "zz": M * L**2 / 3},
        }
        for k in range(count)
    ]
    initial = {f"q{k}": float(a) for k, a in enumerate(angles)}
    return System(gravity=[0, -G, 0], body=bodies, initial=initial, **further)


def pinned(count: int, distance: float) -> System:
    """The same with the free end pinned to the ground, in the shape of a V at the start."""
    half = np.arcsin(distance / (count * L))
    angles = np.zeros(count)
    angles[0], angles[count // 2] = half, np.pi - 2 * half
    return links(
        count,
        angles,
        point=[{"name": "tip", "body": f"b{count - 1}", "at": [0, -L, 0]}],
        constraint=[{"name": "x", "equation": f"tip_x = {distance!r}"}, {"name": "y", "equation": "tip_y = 0"}],
    )


def test_L4_hanging_chain_rests_and_swings_as_the_closed_form_says() -> None:
    """Of 30 rods, from a curved start: M_ij and K of the angles to the vertical are known."""
    count = 30
    found = equilibria(links(count, np.full(count, 0.04)))
    hanging = [e for e in found.equilibria if e.word == "stable"]
    assert len(hanging) == 1
    assert set(hanging[0].state.values()) == {0.0}
    k = np.arange(count)
    beyond = count - 1 - np.maximum(k[:, None], k[None, :])
    mass = M * L**2 * (beyond + np.where(k[:, None] == k[None, :], 1 / 3, 1 / 2))
    stiffness = np.diag(M * G * L * (count - 1 - k + 0.5))
    expected = np.sqrt(eigh(stiffness, mass, eigvals_only=True))
    assert hanging[0].verdict is not None
    roots = np.sort(np.imag(hanging[0].verdict.roots))[count:]
    np.testing.assert_allclose(roots, expected, rtol=1e-8)
    assert not found.complete
    assert any("not searched" in note for note in found.notes)


def test_L4_closed_chain_hangs_where_its_potential_energy_is_least() -> None:
    """Of 24 rods pinned at both ends, against SciPy's minimum under constraints; λ are the forces of the pin."""
    count, distance = 24, 1.5
    (found,) = equilibria(pinned(count, distance)).equilibria

    def energy(angles: np.ndarray) -> float:
        ends = -np.cumsum(np.cos(angles)) * L
        return float(M * G * np.sum(ends + L / 2 * np.cos(angles)))

    ends = {"type": "eq", "fun": lambda a: [L * np.sum(np.sin(a)) - distance, L * np.sum(np.cos(a))]}
    start = np.cumsum([pinned(count, distance).initial[f"q{k}"] for k in range(count)])
    least = minimize(energy, start, constraints=ends, options={"maxiter": 500, "ftol": 1e-14}).x
    mine = np.cumsum([found.state[f"q{k}"] for k in range(count)])
    np.testing.assert_allclose(mine, least, atol=1e-5)
    assert energy(mine) <= energy(least) + 1e-12
    assert found.word == "stable"
    np.testing.assert_allclose(found.multipliers["y"], M * G * count / 2, rtol=1e-9)


def test_prescribed_inputs_and_coordinates_of_many_bodies() -> None:
    count = 18
    system = links(count, np.full(count, 0.02), inputs={"u": 0}, forces={"q0": "u"})
    assert equilibria(system).dimension == 1
    held = equilibria(system, {"q0": 0.1}).equilibria[0]
    lever = M * G * L * (count - 0.5) * np.sin(0.1)
    np.testing.assert_allclose([held.state["q1"], held.inputs["u"]], [-0.1, lever], rtol=1e-9)
    near = equilibrium_near(system, {"q0": 0.1})
    assert near.equilibrium.inputs["u"] == pytest.approx(lever)
    assert near.fixed == {"q0": 0.1}
    with pytest.raises(ModelError, match="2 coordinates are prescribed, and 1 input"):
        equilibria(system, {"q0": 0.1, "q1": 0.1})


def test_N1_1_4_families_of_many_bodies_claim_no_search_and_refusals_tell_what_was_taken() -> None:
    """Of two inputs on a hanging chain the first is zero: with q0 as it stands, nothing else can hold the second joint."""
    count = 18
    inputs, forces = {"u0": 0, "u1": 0}, {"q0": "u0", "q1": "u1"}
    system = links(count, np.full(count, 0.02), inputs=inputs, forces=forces)
    told = equilibria(system).reason()
    assert told.startswith("the equilibria form a family of dimension 2: prescribe 2 of them")
    assert "random starts" not in told
    taken = equilibrium_near(system).notes[0]
    assert taken == "the equilibria form a family: q0 = 0.02, q1 = 0.02 are taken"
    far = links(count, np.full(count, 0.02), inputs={"u": 0, "w": 0}, forces={"q0": "u + w", "q1": "2*u + 2*w + 1e9"})
    with pytest.raises(NoEquilibrium, match=r"form a family: .* = .* (is|are) taken"):
        equilibrium_near(far)


def test_search_of_many_bodies_ends_when_its_time_is_up() -> None:
    found = equilibria(links(20, np.full(20, 0.1)), seconds=0.0)
    assert not found.equilibria
    assert any("time was up" in note for note in found.notes)


def test_N1_2_6_steady_motions_of_long_trees_are_answered() -> None:
    """Rods without gravity across their axis turn about the first joint as one: it is cyclic, the others are not."""
    rods = System(**{**links(20, np.zeros(20)).words, "gravity": [0, 0, -G], "initial": {"q0'": 2.0}})
    (straight,) = steady_motions(rods).motions
    assert set(straight.state.values()) == {0.0}
    assert straight.verdict is not None
    assert straight.verdict.word == "stable"
    assert straight.momenta["p_q0"] == pytest.approx(20 * M * (20 * L) ** 2 / 3 * 2.0)


def test_N1_2_6_angles_are_recognised_in_expressions_whose_trees_are_exponentially_large() -> None:
    x, y = se.symbols("x y")
    nested = x
    for _ in range(60):
        nested = se.sin(nested) + se.cos(nested)  # each twice as large as the one before, as a tree
    assert only_in_waves([nested], "x")
    assert not only_in_waves([nested + x * y], "x")
    assert not only_in_waves([nested + se.sin(x / 2)], "x")
    assert only_in_waves([nested + se.sin(2 * x + y)], "x")
