"""Trees of a few and of many bodies: the same answers whichever equations give them, at a cost that grows without a cliff."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pytest
import symengine as se
from scipy.linalg import eigh

from svyaz import System, equilibria, load
from svyaz.control import regulate
from svyaz.expr import evaluate, gradient
from svyaz.forms import lagrangian
from svyaz.stability import steady_motions

M, L, G, SHAFT = 0.2, 0.1, 9.81, 0.02
MOST_SECONDS = 30.0
"""Of CPU, on a machine that does other work as well; equations that are written out took minutes."""


def rods(count: int, shaft: bool, **more: Any) -> System:
    """Slender rods in a row that hang from the ground, or from a vertical shaft."""
    own = {"mass": M, "center": [0, 0, -L / 2], "inertia": {"xx": M * L**2 / 3, "yy": M * L**2 / 3, "zz": 0.0}}
    base = "shaft" if shaft else "ground"
    bodies: list[dict[str, Any]] = [
        {
            "name": f"b{k}",
            "base": f"b{k - 1}" if k else base,
            "joint": "revolute",
            "coordinate": f"q{k}",
            "pole": [0, 0, -L if k else 0],
            "axis": [0, 1, 0],
            **own,
        }
        for k in range(count)
    ]
    if shaft:
        turning = {"name": "shaft", "base": "ground", "joint": "revolute", "coordinate": "psi", "axis": [0, 0, 1]}
        inertia = {"xx": SHAFT, "yy": SHAFT, "zz": SHAFT}
        bodies.insert(0, {**turning, "pole": [0, 0, 0], "mass": 0.5, "center": [0, 0, 0], "inertia": inertia})
    return System(gravity=[0, 0, -G], body=bodies, **more)


def squares(count: int) -> np.ndarray:
    """Squares of the frequencies of the hanging chain: M and K of the angles to the vertical are known."""
    k = np.arange(count)
    beyond = count - 1 - np.maximum(k[:, None], k[None, :])
    mass = M * L**2 * (beyond + np.where(k[:, None] == k[None, :], 1 / 3, 1 / 2))
    return np.asarray(eigh(np.diag(M * G * L * (count - 1 - k + 0.5)), mass, eigvals_only=True))


@pytest.mark.parametrize("count", [5, 10, 16, 17, 40])
def test_W2_regulators_and_steady_motions_of_chains_of_any_length(count: int) -> None:
    """The roots are those of the hanging chain; on a shaft that turns with ω they are λ² = ω² - λ_k²."""
    begin = time.process_time()
    driven = rods(count, False, inputs={"u": 0.0}, forces={"q0": "u"}, initial={"q0": 0.02})
    found = regulate(driven, fix={"u": 0.0})
    assert set(found.chosen.equilibrium.state.values()) == {0.0}
    verdict = found.chosen.equilibrium.verdict
    assert verdict is not None
    np.testing.assert_allclose(np.sort(verdict.roots.imag)[count:], np.sqrt(squares(count)), rtol=1e-7)
    assert (found.design.closed_roots(found.plant).real < 0).all()
    speed = 0.5 * float(np.sqrt(squares(count)[0]))
    (motion,) = steady_motions(rods(count, True, initial={"psi'": speed})).motions
    assert motion.at_fixed_momenta is not None
    roots = np.sort(motion.at_fixed_momenta.roots.imag)[count:]
    np.testing.assert_allclose(roots, np.sqrt(squares(count) - speed**2), rtol=1e-7)
    assert motion.momenta["p_psi"] == pytest.approx(SHAFT * speed)
    assert time.process_time() - begin < 2 * MOST_SECONDS


def test_W2_a_chain_of_five_links_hangs_or_stands_in_all_ways() -> None:
    """Each link hangs or stands: 2⁵ equilibria, proved to be all; only the one that hangs is stable."""
    found = equilibria(load("chain:5"))
    assert found.complete
    assert len(found.equilibria) == 2**5
    np.testing.assert_allclose(np.sin([list(e.state.values()) for e in found.equilibria]), 0.0, atol=1e-9)
    assert [e.verdict.word for e in found.equilibria if e.verdict].count("stable") == 1
    assert [e.verdict.word for e in found.equilibria if e.verdict].count("unstable") == 2**5 - 1


def test_W2_a_search_that_is_not_finished_lists_where_the_initial_position_leads() -> None:
    """Of eight links: the work is counted, the answer says that it is not complete, and the hanging chain comes first."""
    chain = rods(8, False, initial={"q0": 0.1})
    found = equilibria(chain, seconds=0.5)
    assert not found.complete
    assert found.left
    assert set(found.equilibria[0].state.values()) == {0.0}
    assert any("to which the initial position leads" in note for note in found.notes)
    angles = [np.cumsum(list(e.state.values())) for e in found.equilibria]
    np.testing.assert_allclose(np.sin(angles), 0.0, atol=1e-9)


@pytest.mark.parametrize(("force", "word"), [("-q0^3 - q0'", "asymptotic"), ("-q0^2", "unstable")])
def test_W2_degenerate_equilibria_of_trees_are_decided_by_the_reduced_force(force: str, word: str) -> None:
    """Bodies on vertical axes with a spring on each but the first, where the lowest power of the force decides."""
    own = {"mass": M, "center": [L / 2, 0, 0], "inertia": {"xx": 1e-3, "yy": 1e-3, "zz": 1e-3}}
    joint = {"joint": "revolute", "axis": [0, 0, 1], **own}
    bodies: list[dict[str, Any]] = [
        {"name": f"b{k}", "base": f"b{k - 1}" if k else "ground", "coordinate": f"q{k}", "pole": [L if k else 0, 0, 0]}
        for k in range(5)
    ]
    forces = {"q0": force, **{f"q{k}": f"-q{k}" for k in range(1, 5)}}
    box = {f"q{k}": [-0.5, 0.5] for k in range(5)}
    (found,) = equilibria(System(body=[b | joint for b in bodies], forces=forces, box=box)).equilibria
    assert found.verdict is not None
    assert found.verdict.word == word


def test_W8_equilibria_of_a_robot_list_the_one_near_its_initial_position() -> None:
    """The slopes of the potential energy, as it is written out, vanish there; joints that feel no force may be prescribed."""
    begin = time.process_time()
    puma = load("puma-560")
    found = equilibria(puma)
    assert time.process_time() - begin < MOST_SECONDS
    assert not found.complete
    assert found.equilibria
    state = found.equilibria[0].state
    known = {**puma.constants, **dict.fromkeys(puma.velocities, 0.0), **state}
    forces = [evaluate(e, known) for e in gradient(lagrangian(puma), [se.Symbol(q) for q in puma.coordinates])]
    np.testing.assert_allclose(forces, 0.0, atol=1e-7)
    turned = equilibria(puma, {"q1": 0.3, "q6": 0.0})
    assert turned.complete
    assert any(e.state == pytest.approx({**state, "q1": 0.3, "q6": 0.0}, abs=1e-7) for e in turned.equilibria)
