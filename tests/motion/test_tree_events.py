"""Constraints of long trees that events switch: conditions, contacts and impacts by recursions, no equations written out."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from svyaz import Motion, System
from svyaz.dynamics import measure_of
from svyaz.dynamics.recursions.closed_trees import closed_equations
from svyaz.forms import NumericTree
from svyaz.gallery.random_mechanisms import random_tree

FLOOR = {"name": "floor", "equation": "tip_y = -0.3", "on": "-0.3 - tip_y", "off": "-lambda_floor"}


def chain(count: int, constraints: list[dict[str, Any]], **words: Any) -> System:
    """Equal slender links, together 1 long and 1 heavy, that turn about z and lie along x where all angles are zero."""
    length = 1.0 / count
    across = length**2 / (3 * count)
    bodies = [
        {
            "name": f"b{k}",
            "base": f"b{k - 1}" if k else "ground",
            "joint": "revolute",
            "coordinate": f"q{k}",
            "axis": [0, 0, 1],
            "pole": [length if k else 0, 0, 0],
            "mass": 1.0 / count,
            "center": [length / 2, 0, 0],
            "inertia": {"xx": 1e-3 * across, "yy": across, "zz": across},
        }
        for k in range(count)
    ]
    points = [{"name": "tip", "body": f"b{count - 1}", "at": [length, 0, 0]}]
    return System(gravity=[0, -9.81, 0], body=bodies, point=points, constraint=constraints, **words)


def tip(state: np.ndarray, count: int) -> np.ndarray:
    """x and y of the tip, from sums of the angles."""
    angles = np.cumsum(state[:count])
    return np.array([np.cos(angles).sum(), np.sin(angles).sum()]) / count


def upward(state: np.ndarray, count: int) -> np.ndarray:
    """∂ tip_y/∂q: the horizontal arm from each joint to the tip."""
    return np.asarray(np.cumsum(np.cos(np.cumsum(state[:count]))[::-1])[::-1] / count)


def by_both_routes(system: System, **options: Any) -> tuple[Motion, Motion]:
    """By recursions, and by equations that are written out; the same events at the same times."""
    given = {"method": "dop853", "rtol": 1e-11, "stabilize": "projection", **options}
    found, expected = system.simulate(**given), system.simulate(**{**given, "form": "multipliers"})
    assert (found.form, expected.form) == ("articulated", "multipliers")
    assert [(e.on, e.off) for e in found.phases] == [(e.on, e.off) for e in expected.phases]
    for one, other in zip(found.phases, expected.phases, strict=True):
        assert one.t == pytest.approx(other.t, abs=1e-8)
        assert dict(one.impulses) == pytest.approx(dict(other.impulses), abs=1e-8)
        assert dict(one.velocity_jump) == pytest.approx(dict(other.velocity_jump), abs=1e-7)
        assert (one.energy_before, one.energy_after) == pytest.approx(
            (other.energy_before, other.energy_after), abs=1e-9
        )
    return found, expected


@pytest.mark.parametrize(
    ("words", "until"),
    [
        ({"impact": "newton", "restitution": 0.8}, 0.36),
        ({"impact": "poisson", "restitution": 0.5}, 0.345),
        ({"impact": "inelastic"}, 0.465),
    ],
)
def test_L4_a_chain_falls_on_a_floor_as_its_written_equations_say(words: dict[str, Any], until: float) -> None:
    """Impacts with rebound, and one without, after which the floor is let go by its reaction and met again."""
    system = chain(18, [{**FLOOR, **words}], initial={"q0": 0.3})
    found, expected = by_both_routes(system, until=until, every=0.05)
    assert len(found.phases) > 2
    np.testing.assert_allclose(found.states[-1], expected.states[-1], atol=1e-7)
    if words["impact"] == "inelastic":
        assert [e.off for e in found.phases][2] == ("floor",)
    assert found.balance is not None
    assert abs(found.balance.remainder[-1]) < 1e-9
    assert found.balance.impacts[-1] > 1e-3


@pytest.mark.parametrize(
    ("e", "stabilize", "log"),
    [
        (0.0, 20, ["", "on", "off"]),
        (0.0, "projection", ["", "on", "off"]),
        (0.5, 20, [""] * 13 + ["on", "off"]),
        (0.5, "projection", [""] * 13 + ["on", "off"]),
        (1.0, "projection", [""] * 5),
    ],
)
def test_W2_a_short_chain_comes_to_rest_on_a_floor_at_the_same_hop_by_both_routes(
    e: float, stabilize: Any, log: list[str]
) -> None:
    """Every event of both logs, the last hop that counts among them; tip_y'⁺ = -e tip_y'⁻ by the arms to the tip.

    Where the hops end is no matter of writing: what is small is measured alike for both.
    """
    words = {"impact": "newton", "restitution": e} if e else {"impact": "inelastic"}
    system = chain(3, [{**FLOOR, **words}], initial={"q0": 0.3})
    found, expected = by_both_routes(system, until=0.8, form="articulated", stabilize=stabilize)
    assert ["on" if p.on else "off" if p.off else "" for p in found.phases] == log
    assert len(found.notes) == len(expected.notes) == (1 if e == 0.5 else 0)
    np.testing.assert_allclose(found.states[-1], expected.states[-1], atol=1e-9)
    for event in [p for p in found.phases if p.velocity_jump][:5]:
        row = int(np.searchsorted(found.times, event.t))
        before, after = found.states[row], found.states[row + 1]
        g = upward(before, 3)
        assert g @ after[3:] == pytest.approx(-e * (g @ before[3:]), abs=1e-9)


def test_W2_the_lowest_hops_on_a_floor_at_zero_are_located_by_both_routes() -> None:
    """With e = 1/2 and a constant push, each hop lasts half as long as the one before, and all later ones as long as it."""
    floor = {**FLOOR, "equation": "tip_y = 0", "on": "-tip_y", "impact": "newton", "restitution": 0.5}
    found, _ = by_both_routes(chain(3, [floor], initial={"q0'": 1.0}), until=0.3, form="articulated")
    lasting = np.diff([p.t for p in found.phases[-5:]])
    np.testing.assert_allclose(lasting[1:] / lasting[:-1], [0.5, 0.5, 1.0], rtol=1e-3)


def test_L4_a_loop_that_opens_at_a_reaction_moves_as_its_written_equations_say() -> None:
    """A triangle of 20 links on two supports; both rows of its pin go when the push along x falls below 2."""
    pin = [
        {"name": f"pin {axis}", "equation": f"tip_{axis} = {at}", "off": "2 - lambda_pin_x"}
        for axis, at in (("x", 0.5), ("y", 0))
    ]
    system = chain(20, pin, initial={"q0": "-pi/3", "q10": "2*pi/3"})
    found, expected = by_both_routes(system, until=0.2)
    assert found.phases[1].off == ("pin x", "pin y")
    np.testing.assert_allclose(found.states[-1], expected.states[-1], atol=1e-8)
    last = np.flatnonzero(np.isfinite(found.multipliers["pin x"]))[-1]
    assert found.multipliers["pin x"][last] == pytest.approx(2.0, abs=1e-9)


def test_L4_anchors_and_limits_of_long_trees_by_the_places_of_points() -> None:
    """The tip is caught where it is when it has fallen to -0.2, and the run ends where a limit of the middle is passed."""
    hooks = [
        {"name": f"hook {a}", "equation": f"tip_{a} = at_{a}", "on": "-0.2 - tip_y", "impact": "inelastic"}
        | {"anchor": {f"at_{a}": f"tip_{a}"}}
        for a in "xy"
    ]
    system = chain(18, hooks, limits={"turn": {"of": "q9 - tip_y", "high": 0.25}})
    found = system.simulate(method="dopri5", rtol=1e-10, stabilize="projection", until=0.5, on_failure="return")
    caught = found.phases[1]
    assert caught.on == ("hook x", "hook y")
    row = int(np.searchsorted(found.times, caught.t))
    there = tip(found.states[row], 18)
    assert there[1] == pytest.approx(-0.2, abs=1e-12)
    np.testing.assert_allclose(tip(found.states[-1], 18), there, atol=1e-11)
    assert found.status == "left"
    assert found.column("q9")[-1] == pytest.approx(0.05, abs=1e-9)


def test_L4_an_impact_of_200_bodies_gives_back_its_part_and_no_more() -> None:
    """tip_y'⁺ = -e tip_y'⁻, M Δv = Gᵀ Λ by inverse dynamics, and the energy ½ (1 - e²) g²/(G M⁻¹ Gᵀ) is lost."""
    count, e = 200, 0.6
    system = chain(count, [{**FLOOR, "impact": "newton", "restitution": e}])
    motion = system.simulate(method="dopri5", rtol=1e-9, until=0.248)
    event = motion.phases[1]
    row = int(np.searchsorted(motion.times, event.t))
    before, after = motion.states[row], motion.states[row + 1]
    np.testing.assert_array_equal(before[:count], after[:count])
    g, jump, pushed = upward(before, count), (after - before)[count:], event.impulses["floor"]
    assert g @ after[count:] == pytest.approx(-e * (g @ before[count:]), abs=1e-11)
    tree, still = NumericTree(system.tree, system.parameters), np.zeros((1, count))
    moved = tree.inverse_dynamics(before[None, :count], still, jump[None, :])
    weight = tree.inverse_dynamics(before[None, :count], still, still)
    np.testing.assert_allclose((moved - weight)[0], g * pushed, atol=1e-11)
    lost = 0.5 * (1 - e**2) * (g @ before[count:]) ** 2 / (g @ jump / pushed)
    assert event.kinetic_before is not None
    assert event.kinetic_after is not None
    assert event.kinetic_before - event.kinetic_after == pytest.approx(lost, rel=1e-9)


def test_L4_bodies_give_way_to_forces_as_the_mass_matrix_says() -> None:
    """M⁻¹ f by articulated bodies, on a random tree with joints of both kinds."""
    system = System(**dict(random_tree(20, 3, joints=("revolute", "prismatic"), branching=1.5)))
    state = np.random.default_rng(0).uniform(-1, 1, 40)
    snapshot = measure_of(closed_equations(system, ())).at(state, 0.0)
    forces = np.random.default_rng(1).uniform(-1, 1, (3, 20))
    mass = NumericTree(system.tree, system.parameters).mass_matrix(state[None, :20])[0]
    expected = np.linalg.solve(mass, forces.T).T
    found = [snapshot.mobility.pushed(force) for force in forces]
    np.testing.assert_allclose(found, expected, atol=1e-9 * np.abs(expected).max())
    assert snapshot.mobility.eases(forces[:1])[0] == pytest.approx(np.sqrt(forces[0] @ expected[0]), rel=1e-9)


def test_L4_a_chain_with_dry_friction_meets_a_floor_as_its_written_equations_say() -> None:
    """Conditions by reactions along a motion that is held where forces jump."""
    system = chain(17, [{**FLOOR, "impact": "inelastic"}], forces={"q2": "-0.06*sign(q2')"})
    found, expected = by_both_routes(system, until=0.26)
    assert found.phases[1].on == ("floor",)
    assert [s.surface for s in found.slides] == [s.surface for s in expected.slides]
    assert [s.end for s in found.slides] == pytest.approx([s.end for s in expected.slides], abs=1e-8)
    np.testing.assert_allclose(found.states[-1], expected.states[-1], atol=1e-7)
