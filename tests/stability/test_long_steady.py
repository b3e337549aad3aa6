"""Steady motions of trees of many bodies: by recursions, against closed forms and the equations that are written out."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.linalg import eigh

from svyaz import ModelError, System
from svyaz.control import regulate
from svyaz.stability import Equilibrium, SteadyMotion, steady_branches, steady_motions
from svyaz.stability.steady import SteadySearch

M, L, G, SHAFT = 0.2, 0.1, 9.81, 0.02
LONGEST = "svyaz.motion.long_trees.LONGEST_WRITTEN"


def body(name: str, base: str, coordinate: str, pole: list[float], **more: Any) -> dict[str, Any]:
    return {"name": name, "base": base, "joint": "revolute", "coordinate": coordinate, "pole": pole, **more}


def shaft() -> dict[str, Any]:
    """A body that turns about the vertical."""
    own = {"xx": SHAFT, "yy": SHAFT, "zz": SHAFT}
    return body("shaft", "ground", "psi", [0, 0, 0], axis=[0, 0, 1], mass=0.5, center=[0, 0, 0], inertia=own)


def rods(count: int, arm: float = 0.0) -> list[dict[str, Any]]:
    """Slender rods in a row that hang from an arm of the shaft and turn about axes across it."""
    own = {"mass": M, "center": [0, 0, -L / 2], "inertia": {"xx": M * L**2 / 3, "yy": M * L**2 / 3, "zz": 0.0}}
    first = body("b0", "shaft", "q0", [arm, 0, 0], axis=[0, 1, 0], **own)
    others = [body(f"b{k}", f"b{k - 1}", f"q{k}", [0, 0, -L], axis=[0, 1, 0], **own) for k in range(1, count)]
    return [shaft(), first, *others]


def slide(name: str, base: str, coordinate: str, axis: list[float]) -> dict[str, Any]:
    own = {"mass": 0.4, "center": [0, 0, 0], "inertia": {"xx": 0.1, "yy": 0.1, "zz": 0.1}}
    return {**body(name, base, coordinate, [0, 0, 0], axis=axis, **own), "joint": "prismatic"}


def other_rods() -> list[dict[str, Any]]:
    """A second shaft with its rod."""
    bases = {"ground": "ground", "shaft": "other shaft"}
    return [{**b, "base": bases[b["base"]], "coordinate": f"other_{b['coordinate']}"} for b in rods(1, 0.1)]


def points(count: int) -> list[dict[str, Any]]:
    """The same with light rods and a point at the end of each."""
    own = {"mass": M, "center": [0, 0, -L], "inertia": {"xx": M * L**2, "yy": M * L**2, "zz": 0.0}}
    return [{**b, **own} if b["name"] != "shaft" else b for b in rods(count)]


def turning(bodies: list[dict[str, Any]], speed: float, first: float = 0.0, **further: Any) -> System:
    initial = {"psi'": speed, "q0": first}
    return System(gravity=[0, 0, "-g"], body=bodies, initial=initial, parameters={"g": G}, **further)


def own_roots(motion: SteadyMotion) -> np.ndarray:
    """Those at fixed momenta, imaginary parts that are positive."""
    assert motion.at_fixed_momenta is not None
    found = np.asarray(motion.at_fixed_momenta.roots)
    return np.sort(found.imag[found.imag > 0])


@pytest.mark.parametrize("unstable", [0, 1, 2])
def test_Q3_straight_chain_on_a_turning_shaft_has_the_critical_speeds_of_the_hanging_chain(unstable: int) -> None:
    """Of 24 rods: λ² = ω² - λ_k², λ_k the frequencies of the chain that hangs; one is lost at each of them."""
    count = 24
    k = np.arange(count)
    beyond = count - 1 - np.maximum(k[:, None], k[None, :])
    mass = M * L**2 * (beyond + np.where(k[:, None] == k[None, :], 1 / 3, 1 / 2))
    squares = eigh(np.diag(M * G * L * (count - 1 - k + 0.5)), mass, eigvals_only=True)
    speed = float(np.sqrt(0.5 * squares[0] if not unstable else 0.5 * (squares[unstable - 1] + squares[unstable])))
    (straight, *bent) = steady_motions(turning(rods(count), speed)).motions
    assert set(straight.state.values()) == {0.0}
    assert straight.momenta["p_psi"] == pytest.approx(SHAFT * speed)
    assert straight.verdict is not None
    np.testing.assert_allclose(own_roots(straight), np.sqrt(squares[unstable:] - speed**2), rtol=1e-8)
    growing = np.sort(straight.verdict.roots.real)[::-1][:unstable]
    np.testing.assert_allclose(growing, np.sqrt(speed**2 - squares[:unstable]), rtol=1e-8)
    assert straight.verdict.word == ("unstable" if unstable else "stable")
    assert straight.verdict.zero_roots == 1
    assert not bent  # nothing falls from where everything balances


def test_Q3_chain_of_points_bends_as_the_tensions_of_its_rods_say() -> None:
    """Of 20 rods: tan θ_k = ω² Σ m ρ_j / Σ m g over what hangs from it, ρ the distances from the axis; fast enough to bend."""
    count, speed = 20, 5.5
    found = steady_motions(turning(points(count), speed, 0.4))
    assert not found.found.complete
    assert any("not searched" in note and "effective energy" in note for note in found.found.notes)
    stable = [m for m in found.motions if m.verdict is not None and m.verdict.word == "stable"]
    assert len(stable) == 1
    for motion in found.motions:
        angles = np.cumsum([motion.state[f"q{k}"] for k in range(count)])
        pull = speed**2 * np.cumsum((L * np.cumsum(np.sin(angles)))[::-1])[::-1]
        weight = G * np.arange(count, 0, -1)
        np.testing.assert_allclose(np.sin(angles) * weight, np.cos(angles) * pull, atol=1e-8 * G * count)
    angles = np.cumsum([stable[0].state[f"q{k}"] for k in range(count)])
    assert np.all(np.sin(angles) * np.sin(angles[0]) > 0)  # all to one side
    inertia = SHAFT + M * np.sum((L * np.cumsum(np.sin(angles))) ** 2)
    assert stable[0].momenta["p_psi"] == pytest.approx(inertia * speed, rel=1e-10)


def test_Q3_beads_on_hoops_of_one_shaft_at_its_momentum() -> None:
    """17 of them: cos θ = g/(ω² l); K = diag(m l² ω² sin² θ) + DᵀD/I at fixed momentum, D = ∂(Iω)/∂θ."""
    speed, lengths = 9.0, np.linspace(0.2, 0.4, 17)
    own = {"axis": [0, 1, 0], "mass": M}
    beads = [
        body(f"b{k}", "shaft", f"q{k}", [0, 0, 0], center=[0, 0, -x], inertia={"xx": M * x**2, "yy": M * x**2}, **own)
        for k, x in enumerate(lengths)
    ]
    angles = np.arccos(G / (speed**2 * lengths))
    inertia = SHAFT + float(np.sum(M * (lengths * np.sin(angles)) ** 2))
    initial = {f"q{k}": float(a) + 0.1 for k, a in enumerate(angles)}
    system = System(gravity=[0, 0, -G], body=[shaft(), *beads], initial=initial)
    (motion,) = steady_motions(system, {"p_psi": inertia * speed}).motions
    assert motion.speeds["psi'"] == pytest.approx(speed, rel=1e-10)
    np.testing.assert_allclose(list(motion.state.values()), angles, rtol=1e-9)
    slope = 2 * M * lengths**2 * np.sin(angles) * np.cos(angles) * speed
    stiffness = np.diag(M * (lengths * speed * np.sin(angles)) ** 2) + np.outer(slope, slope) / inertia
    squares = eigh(stiffness, np.diag(M * lengths**2), eigvals_only=True)
    np.testing.assert_allclose(own_roots(motion), np.sqrt(squares), rtol=1e-8)
    assert motion.verdict is not None
    assert motion.verdict.theorem.startswith("Routh")


CASES: dict[str, tuple[System, dict[str, float]]] = {
    "free": (turning(rods(4, 0.1), 9.0, -1.2), {"psi'": 9.0}),
    "momentum": (turning(rods(4, 0.1), 9.0, -1.2), {"p_psi": 0.4}),
    "driven with friction": (
        turning(rods(3, 0.1), 9.0, -1.2, inputs={"u": 0}, forces={"psi": "u - 0.01*psi'", "q0": "-0.02*q0'*psi'"}),
        {"psi'": 9.0},
    ),
    "held by inputs": (
        turning(rods(3, 0.1), 9.0, -1.2, inputs={"u": 0, "w": 0}, forces={"psi": "u", "q1": "w - 0.01*q1'"}),
        {"psi'": 9.0, "q0": -1.0},
    ),
    "slides, one of an unknown speed": (
        System(
            gravity=[0, 0, -G],
            body=[slide("a", "ground", "x", [1, 0, 0]), slide("shaft", "a", "y", [1, 1, 0]), *rods(2, 0.1)[1:]],
            initial={"x'": 1.0, "q0": -0.2},
            inputs={"u": 0, "w": 0},
            forces={"x": "u - 0.2*x' - 0.1*q0'", "y": "w - 0.1*y'*(1 + q0^2)", "q0": "-0.01*q0'"},
        ),
        {"p_x": 0.4, "w": 0.02},
    ),
    "two shafts": (
        System(
            gravity=[0, 0, -G],
            body=[*rods(1, 0.1), *({**b, "name": f"other {b['name']}"} for b in other_rods())],
            initial={"psi'": 9.0, "q0": -1.2, "other_q0": -1.2},
        ),
        {"psi'": 9.0, "p_other_psi": 0.2},
    ),
    "closed": (
        turning(
            rods(4, 0.1),
            9.0,
            -1.2,
            point=[{"name": "tip", "body": "b3", "at": [0, 0, -L]}],
            constraint=[{"name": "table", "equation": "tip_z = -0.15", "dependent": ["q3"]}],
        ),
        {"psi'": 9.0},
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_Q1_recursions_find_what_the_written_equations_have(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same motions, matrices, roots, verdicts and hypotheses by both roads."""
    system, fix = CASES[name]
    monkeypatch.setattr(LONGEST, 2)
    found = steady_motions(system, fix)
    assert found.motions
    monkeypatch.setattr(LONGEST, 16)
    written = SteadySearch(system, fix, {}, boxed=True)
    for motion in found.motions:
        here = Equilibrium({**motion.state, **motion.speeds, **motion.momenta}, motion.inputs, {}, {}, None, None)
        same = written.motion(here, None)
        assert same.approximation is not None  # it was refused if nothing rested there
        assert motion.approximation is not None
        for one, other in (
            (motion.approximation.A, same.approximation.A),
            (motion.approximation.B, same.approximation.B),
        ):
            np.testing.assert_allclose(one, other, atol=1e-10 * max(1.0, np.abs(other).max(initial=0.0)))
        assert motion.approximation.dependent == same.approximation.dependent
        for known in ("momenta", "speeds"):
            assert getattr(motion, known) == pytest.approx(getattr(same, known), rel=1e-10)
        for verdict, expected in ((motion.verdict, same.verdict), (motion.at_fixed_momenta, same.at_fixed_momenta)):
            assert verdict is not None
            assert expected is not None
            np.testing.assert_allclose(np.sort_complex(verdict.roots), np.sort_complex(expected.roots), atol=1e-8)
            assert (verdict.word, verdict.theorem, verdict.zero_roots) == (
                expected.word,
                expected.theorem,
                expected.zero_roots,
            )


def test_Q5_regulators_about_steady_motions_are_those_of_the_written_equations(monkeypatch: pytest.MonkeyPatch) -> None:
    """K, drift and the conserved momentum, in both kinds of variables, with a measured speed."""
    bodies = rods(3, 0.1)
    driven = turning(bodies, 9.0, -1.2, inputs={"u": 0, "w": 0}, forces={"psi": "u - 0.01*psi'", "q0": "w - 0.02*q0'"})
    free = turning(bodies, 9.0, -1.2, inputs={"w": 0}, forces={"q0": "w"})
    asked: list[tuple[System, dict[str, str]]] = [
        (driven, {}),
        (driven, {"variables": "routh", "measure": "q0, psi'"}),
        (free, {}),
    ]
    for system, words in asked:
        designs = []
        for longest in (2, 16):
            monkeypatch.setattr(LONGEST, longest)
            designs.append(regulate(system, fix={"psi'": 9.0, "w": 0.0}, **words))  # type: ignore[arg-type]
        long, written = designs
        assert long.variables == written.variables
        np.testing.assert_allclose(long.K, written.K, atol=1e-8 * np.abs(written.K).max())
        assert [d.weights for d in long.conserved] == [pytest.approx(d.weights, rel=1e-8) for d in written.conserved]
        for q, drift in written.drift.items():
            assert long.drift[q] == pytest.approx(drift, rel=1e-6, abs=1e-8)


@pytest.mark.parametrize(
    ("forces", "start"),
    [
        ({"psi": "u - 0.01*psi'", "q0": "w - 0.02*q0'"}, {"psi'": 9.2, "q1'": 0.1}),
        ({"psi": "u - 0.01*psi'", "q0": "w - 0.02*q0'"}, {"p_psi": 0.35}),
        ({"q0": "w"}, {"q0": -1.2}),
        ({"q0": "w"}, {"psi'": 9.2}),
    ],
)
def test_Q5_closed_loops_of_the_whole_tree_move_as_those_of_the_routhian_system(
    forces: dict[str, str], start: dict[str, float], monkeypatch: pytest.MonkeyPatch
) -> None:
    """From perturbed positions, speeds and momenta, conserved ones among them; inputs too."""
    limited: dict[str, Any] = {"u": {"value": 0, "low": -0.3, "high": 0.3}, "w": 0}
    inputs = {name: given for name, given in limited.items() if any(name in force for force in forces.values())}
    system = turning(rods(2, 0.1), 9.0, -1.2, inputs=inputs, forces=forces)
    trials = []
    for longest in (2, 16):
        monkeypatch.setattr(LONGEST, longest)
        trials.append(regulate(system, fix={"psi'": 9.0, "w": 0.0}).run(start, 2.0)["regulator"])
    whole, routhian = trials
    assert whole.motion.finished
    assert (whole.failed, whole.shifted) == (routhian.failed, routhian.shifted)
    for name in ("q0", "q1", "q0'", "q1'"):
        np.testing.assert_allclose(whole.transient.plant[name], routhian.transient.plant[name], atol=1e-7)
    for name, column in routhian.transient.inputs.items():
        np.testing.assert_allclose(whole.transient.inputs[name], column, atol=1e-6)


def test_L4_regulator_of_many_bodies_on_a_driven_shaft() -> None:
    """It returns, from another position and speed, in the motion of the whole tree."""
    count = 17
    forces = {"psi": "u - 0.2*psi'", "q0": "w - 0.05*q0'", **{f"q{k}": f"-0.05*q{k}'" for k in range(1, count)}}
    system = turning(rods(count, 0.1), 6.0, -0.6, inputs={"u": 0, "w": 0}, forces=forces)
    found = regulate(system, fix={"psi'": 6.0, "w": 0.0})
    assert found.chosen.equilibrium.inputs["u"] == pytest.approx(1.2)
    assert found.variables[-1] == "psi'"
    assert (found.design.closed_roots(found.plant).real < 0).all()
    run = found.run({"q0": found.plant.state["q0"] + 0.005, "psi'": 6.005}, 8.0)["regulator"]
    assert (run.answer, run.shifted) == ("returned", False)
    final = {name: run.motion.column(name)[-1] for name in ("q0", "psi'")}
    assert final == pytest.approx({"q0": found.plant.state["q0"], "psi'": 6.0}, abs=1e-4)
    with pytest.raises(ModelError, match="not run with an observer"):
        regulate(system, fix={"psi'": 6.0, "w": 0.0}, measure=[f"q{k}" for k in range(count)] + ["psi'"]).run()
    with pytest.raises(ModelError, match="run it from single starts"):
        found.basin(count=2)
    with pytest.raises(ModelError, match="design at single values"):
        found.margin("g", (9.0, 10.0))


def test_L4_falling_effective_energy_leaves_saddles_of_a_symmetric_start() -> None:
    """Rods in space that start in a vertical plane: where they stay in it, the energy is least in the plane alone."""
    flat = rods(19, 0.1)
    space = [{**b, "axis": [1, 0, 0]} if k % 2 == 0 and k else b for k, b in enumerate(flat)]
    found = steady_motions(turning(space, 9.0, 0.3))
    words = [m.verdict.word for m in found.motions if m.verdict is not None]
    assert "stable" in words
    assert len(words) == 2


def test_points_of_long_trees_that_turn_with_the_shaft_leave_nothing_cyclic() -> None:
    tip = {"name": "tip", "body": "b17", "at": [0, 0, -L]}
    held = turning(rods(18), 2.0, point=[tip], constraint=[{"name": "wall", "equation": "tip_x = 0.5"}])
    with pytest.raises(ModelError, match="no coordinate is cyclic"):
        steady_motions(held)


def test_N1_2_6_what_is_not_done_for_many_bodies_is_said_at_once() -> None:
    system = turning(rods(20), 2.0)
    with pytest.raises(ModelError, match="branches of steady motions with 20 unknowns are not followed"):
        steady_branches(system, "psi'", (1.0, 9.0))
    with pytest.raises(ModelError, match="'p_psi' cannot be an unknown"):
        steady_motions(system, box={"p_psi": (0.1, 1.0)})
    rubbed = turning(rods(20), 2.0, forces={"psi": "-psi'"})
    with pytest.raises(ModelError, match="psi' is prescribed, and 0 inputs left to hold it"):
        steady_motions(rubbed, {"psi'": 3.0})
