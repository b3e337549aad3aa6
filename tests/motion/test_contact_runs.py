"""Contacts along whole runs: nothing is entered, nothing pulls, no energy comes from nowhere, bodies rest where they should.

`svyaz bench contacts` runs all of the columns, discs, rods, blocks and cradles of which these are a sample.
"""

from __future__ import annotations

import re
from dataclasses import replace
from importlib import import_module
from itertools import combinations, pairwise
from pathlib import Path

import numpy as np
import pytest

from svyaz import System
from svyaz.dynamics import dynamics_of, measure_of
from svyaz.forms import Equations, free_equations, lagrange_terms, with_switches
from svyaz.motion import simulate
from svyaz.motion.events import switching
from svyaz.motion.events.conditions import conditions
from svyaz.motion.events.contacts import RISING, contacts_of
from svyaz.motion.events.lemke import solve_complementarity
from svyaz.motion.events.roots import find_root
from svyaz.stabilise import observed, options_for, prepare
from svyaz.stabilise.perturbations import critical

G = 9.81
ROOT = Path(__file__).parents[2]


def without_constraints(system: System) -> Equations:
    return free_equations(system, "multipliers", *lagrange_terms(system))


@pytest.fixture(autouse=True)
def _path(monkeypatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT))


def contact(name: str, gap: str, restitution: float = 0.5, **more) -> dict:
    """A constraint that pushes and does not pull where the gap is closed."""
    given = {"name": name, "equation": f"{gap} = 0", "on": f"-({gap})", "off": f"-lambda_{name}"}
    return given | {"impact": "newton", "restitution": restitution} | more


def side_by_side(a: float, b: float) -> System:
    """Two balls that do not know of each other."""
    return System(
        coordinates=["a", "b"],
        kinetic="a'^2/2 + b'^2/2",
        potential=f"{G}*(a + b)",
        constraint=[contact("floor_a", "a"), contact("floor_b", "b")],
        initial={"a": a, "b": b},
    )


def test_V5_two_balls_side_by_side_both_come_to_rest() -> None:
    """Each rests where its own series of impacts ends, at 3 √(2h/g) for the restitution 1/2, whatever the other does."""
    motion = simulate(side_by_side(0.04, 0.041), until=1)
    assert motion.finished, motion.reason
    assert motion.states[-1] == pytest.approx(np.zeros(4), abs=1e-12)
    assert motion.column("a").min() > -1e-9
    assert motion.column("b").min() > -1e-9
    rests = {name: e.t for e in motion.phases for name in e.on}
    assert rests["floor_a"] == pytest.approx(3 * np.sqrt(2 * 0.04 / G), abs=1e-9)
    assert rests["floor_b"] == pytest.approx(3 * np.sqrt(2 * 0.041 / G), abs=1e-9)


@pytest.mark.parametrize(
    ("masses", "restitution", "radius", "start", "words"),
    [
        ((0.5, 1.24, 1.98, 0.87), 0.2, 0.04, (0.07, 0.1713, 0.2819, 0.3801), {"until": 2, "rtol": 1e-9}),
        ((1, 1, 1, 1, 1), 0.3, 0.05, (0.063, 0.17, 0.28, 0.393, 0.5), {"until": 1, "rtol": 1e-7}),
    ],
)
def test_V5_columns_whose_impacts_collapse_come_to_rest(masses, restitution, radius, start, words) -> None:
    """Impacts of neighbours alternate without end in a finite time; the balls rest one upon the other."""
    rows = range(len(masses))
    gaps = [f"y0 - {radius}", *(f"y{k} - y{k - 1} - {2 * radius}" for k in rows[1:])]
    system = System(
        coordinates=[f"y{k}" for k in rows],
        kinetic=" + ".join(f"{m}/2*y{k}'^2" for k, m in enumerate(masses)),
        potential=f"{G}*(" + " + ".join(f"{m}*y{k}" for k, m in enumerate(masses)) + ")",
        constraint=[contact(f"c{k}", gap, restitution) for k, gap in enumerate(gaps)],
        initial={f"y{k}": y for k, y in enumerate(start)},
    )
    motion = simulate(system, **words)
    assert motion.finished, motion.reason
    count = len(masses)
    assert motion.states[-1, :count] == pytest.approx([radius * (2 * k + 1) for k in rows], abs=1e-8)
    assert motion.states[-1, count:] == pytest.approx(np.zeros(count), abs=1e-8)
    energy = motion.column("energy")
    assert (energy - np.minimum.accumulate(energy)).max() < 1e-8 * energy[0]
    weights = [G * sum(masses[k:]) for k in rows]
    assert [motion.multipliers[f"c{k}"][-1] for k in rows] == pytest.approx(weights, rel=1e-6)


def test_V5_a_contact_that_events_forget_ends_the_run(monkeypatch) -> None:
    """The watch does not rely on events: one that loses a contact makes the run infeasible, with name, moment and gap."""
    monkeypatch.setattr(
        switching,
        "switched",
        lambda system, phase, events, now: tuple(c for c in phase.active if c.name != "floor_a"),
    )
    monkeypatch.setattr(switching, "collision_of", lambda *given: None)
    motion = simulate(side_by_side(0.04, 0.5), until=1)
    assert motion.status == "infeasible"
    assert "the gap of the contact 'floor_a' is -" in motion.reason
    assert "at t = 0.09" in motion.reason
    assert motion.column("a").min() > -1e-5


def test_V5_a_contact_that_pulls_ends_the_run(monkeypatch) -> None:
    """A ball that a force lifts from the floor at t = 1, while nobody looks at the reaction."""
    system = System(
        coordinates=["y"],
        kinetic="y'^2/2",
        forces={"y": "t - 1"},
        constraint=[contact("floor", "y", active=True, off="-lambda_floor")],
    )
    plain = simulate(system, until=2)
    assert plain.finished
    assert plain.phases[-1].t == pytest.approx(1, abs=1e-9)
    monkeypatch.setattr(switching, "conditions", _deaf)
    motion = simulate(system, until=2)
    assert motion.status == "infeasible"
    assert "the contact 'floor' pulls at t = " in motion.reason


def _deaf(*given, **more):
    """Conditions that switch nothing."""
    found = conditions(*given, **more)
    return replace(found, keys=tuple(("on", "nobody") for _ in found.keys), reacting=(False,) * len(found.keys))


def test_V5_the_end_of_a_series_is_printed_with_the_digits_that_are_right() -> None:
    """A spring pushes the ball down: a flight with the speed v takes 2/ω atan(v ω/g), and e v is left after it."""
    k, e, height = 40.0, 0.6, 0.3
    system = System(
        coordinates=["y"],
        kinetic="y'^2/2",
        potential=f"{G}*y + {k}/2*y^2",
        constraint=[contact("floor", "y", e)],
        initial={"y": height},
    )
    motion = simulate(system, until=2, rtol=1e-10)
    assert motion.finished, motion.reason
    w = np.sqrt(k)
    speed = np.sqrt(2 * G * height + k * height**2)
    end = np.arctan(speed * w / G) / w + sum(2 / w * np.arctan(speed * e**n * w / G) for n in range(1, 200))
    note = next(note for note in motion.notes if "accumulate" in note)
    printed = re.search(r"rest from t = ([0-9.]+),", note)[1]
    assert len(printed) > 8
    assert abs(float(printed) - end) <= 10.0 ** -len(printed.split(".")[1])
    assert motion.phases[-1].t == pytest.approx(end, abs=1e-9)


def test_V5_a_body_on_a_floor_at_the_start_does_not_sink() -> None:
    """The gap is zero and the weight presses: the contact acts from the beginning, though nobody said active = true."""
    system = System(
        coordinates=["y"], kinetic="y'^2/2", potential=f"{G}*y", constraint=[contact("floor", "y")], initial={"y": 0}
    )
    motion = simulate(system, until=1)
    assert motion.finished, motion.reason
    assert motion.states[-1] == pytest.approx(np.zeros(2), abs=1e-12)
    assert motion.multipliers["floor"][-1] == pytest.approx(G)


def test_V5_a_start_within_another_body_is_refused() -> None:
    system = System(
        coordinates=["y"],
        kinetic="y'^2/2",
        potential=f"{G}*y",
        constraint=[contact("floor", "y - 1")],
        initial={"y": 0.5},
    )
    motion = simulate(system, until=1)
    assert motion.status == "infeasible"
    assert "the gap of the contact 'floor' is -0.5 at t = 0" in motion.reason


def test_V5_discs_pressed_against_walls_stay_there() -> None:
    """A disc lies upon two others between walls, along which nothing else pulls them: the walls take W/2 tan θ each."""
    r, half = 0.05, 0.07
    height = np.sqrt(4 * r**2 - half**2)
    gaps = {"floor_a": "ya", "floor_b": "yb", "left": f"xa + {half}", "right": f"{half} - xb"}
    gaps |= {f"on_{k}": f"sqrt((xc - x{k})^2 + (yc - y{k})^2) - {2 * r}" for k in "ab"}
    names = [f"{q}{k}" for k in "abc" for q in "xy"]
    system = System(
        coordinates=names,
        kinetic=" + ".join(f"{q}'^2/2" for q in names),
        potential=f"{G}*(ya + yb + yc)",
        constraint=[contact(name, gap) for name, gap in gaps.items()],
        initial={"xa": -half, "xb": half, "yc": height + 0.01},
    )
    motion = simulate(system, until=0.6, rtol=1e-7)
    assert motion.finished, motion.reason
    assert motion.states[-1] == pytest.approx([-half, 0, half, 0, 0, height, *[0] * 6], abs=1e-6)
    walls = [motion.multipliers[name][-1] for name in ("left", "right")]
    assert walls == pytest.approx([G / 2 * half / height] * 2, rel=1e-5)


def test_V5_speeds_and_reactions_of_rounding_are_small_beside_the_sizes_of_their_contacts() -> None:
    """A wall along which nothing pulls has the speed of a fall as its measure, a contact of bodies that fly together, where
    all reactions vanish, that of its weight; both let rounding be told from motion.
    """
    case = import_module("bench.contacts.models").discs(2)
    contacts = contacts_of(without_constraints(case.system), case.system.constraints)
    state = np.concatenate([case.system.initial_state()[:4], np.full(4, 1e-18)])
    gaps = contacts.at(0.0, state)
    assert (np.abs(gaps.rate) < RISING * gaps.rate_size).all()
    column = import_module("bench.contacts.models").column(3, 0).system
    masses = [float(m) for m in re.findall(r"([0-9.]+)/2", str(column.words["kinetic"]))]
    contacts = contacts_of(without_constraints(column), column.constraints)
    found = contacts.reactions(0.0, np.array([*column.initial_state()[:3], 1.0, 1.0, 1.0]))
    between = [2 * G / (1 / a + 1 / b) for a, b in pairwise(masses)]
    assert list(found.values()) == pytest.approx([G * masses[0], *between])


def test_V5_one_program_serves_every_set_of_contacts() -> None:
    """Numbers, rates and reactions of a set, with gains, by switches are those that a program of its own gives."""
    rng = np.random.default_rng(3)
    case = import_module("bench.contacts.models").discs(3)
    source = dynamics_of(without_constraints(case.system))
    every = case.system.constraints
    whole = with_switches(source.with_constraints(every))
    options = options_for(case.system, dict(case.options))
    for count in (1, 3, 5):
        names = {every[k].name for k in rng.choice(len(every), count, replace=False)}
        own = source.with_constraints([c for c in every if c.name in names])
        part = replace(own, within=whole)
        times, states = rng.uniform(0, 1, 4), rng.uniform(-1, 1, (4, len(own.states)))
        a, b = (measure_of(e).along(times, states) for e in (own, part))
        for field in ("mass", "jacobian", "constraint_bias", "position", "velocity_terms"):
            assert getattr(b, field) == pytest.approx(getattr(a, field), rel=1e-12, abs=1e-14)
        segments = [prepare(e, critical(e, 7.0), (), options, 0.0, states[0]) for e in (own, part)]
        rows = np.column_stack([times, states])
        rates = [s.code.evaluate(rows, s.constants) for s in segments]
        assert rates[1] == pytest.approx(rates[0], rel=1e-9, abs=1e-9)
        expected, found = (observed(s, times, states) for s in segments)
        assert {kind: list(table) for kind, table in found.items()} == {
            kind: list(table) for kind, table in expected.items()
        }
        for name in names:
            assert found["multipliers"][name] == pytest.approx(expected["multipliers"][name], rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("size", [1.0, 1e-240, 1e200])
@pytest.mark.parametrize("power", [1, 3])
def test_V5_moments_of_events_are_found_to_rounding(size, power) -> None:
    """Whatever the unit of a condition is: a simple root in a dozen looks, a threefold one in any case."""
    looks = []

    def value(x: float) -> float:
        looks.append(x)
        return size * (np.exp(x) - 3) ** power

    assert find_root(value, 0.5, 2.0) == pytest.approx(np.log(3), rel=1e-15 if power == 1 else 1e-5)
    assert len(looks) < (14 if power == 1 else 200)


@pytest.mark.parametrize("seed", range(40))
def test_V5_lemke_agrees_with_all_sets(seed) -> None:
    """Random contacts, some of them repeated: the velocities after the impact are those that trying all sets gives."""
    rng = np.random.default_rng(seed)
    count, n = int(rng.integers(1, 8)), int(rng.integers(2, 7))
    rows = rng.normal(size=(count, n))
    if seed % 3 == 0 and count > 1:
        rows[-1] = 2.0 * rows[0]
    inverse = np.diag(10.0 ** rng.uniform(-1, 1, n))
    speed = rng.normal(size=n)
    found = solve_complementarity(rows @ inverse @ rows.T, rows @ speed)
    assert found is not None
    assert speed + inverse @ rows.T @ found == pytest.approx(enumerated(inverse, rows, speed), abs=1e-9)
    pushed = rows[found > 0]
    assert np.linalg.matrix_rank(pushed) == len(pushed)


def enumerated(inverse: np.ndarray, rows: np.ndarray, speed: np.ndarray) -> np.ndarray:
    """v⁺ of 0 ≤ G v⁺ ⊥ Λ ≥ 0 by all sets of independent rows."""
    for count in range(len(rows) + 1):
        for chosen in map(list, combinations(range(len(rows)), count)):
            g = rows[chosen]
            if np.linalg.matrix_rank(g) < count:
                continue
            impulses = np.linalg.solve(g @ inverse @ g.T, -g @ speed)
            after = speed + inverse @ g.T @ impulses
            if np.all(impulses >= -1e-10) and np.all(rows @ after >= -1e-10):
                return after
    raise AssertionError("a positive definite mass matrix has a solution")


@pytest.mark.parametrize(
    ("kind", "seed"),
    [
        ("column of 3", 1),
        ("rods on both ends", 1),
        ("blocks on inclines", 0),
        ("cradles", 1),
        ("balls that reach a ceiling", 0),
        ("balls that reach a ceiling", 5),
        ("points that pass a disc", 0),
        ("points at the top of a disc", 0),
        ("points at the top of a disc", 2),
        ("pendulums that graze a wall", 0),
        ("pendulums that graze a wall", 1),
        ("blocks that reach two walls", 0),
        ("stacks on an incline", 1),
        ("stacks on an incline", 11),
        ("heaps of three discs", 0),
        ("5 discs", 100),  # a wall is touched again and again, a little deeper each time
        ("ladders", 0),
        ("boxes on two feet", 2),
        ("boxes on two feet", 7),
        ("Painlevé's rods", 0),
        ("Painlevé's rods", 1),
    ],
)
def test_V5_a_sample_of_the_bench(kind, seed) -> None:
    """No negative gap, no pull, friction within its cone, no rise of the energy, the right end, or the right refusal."""
    kinds, judging = import_module("bench.contacts.kinds"), import_module("bench.contacts.judging")
    assert judging.run_case(kinds.KINDS[kind](seed))[1] == []


def test_V5_a_box_that_bounces_and_slips_comes_to_rest() -> None:
    """It leans on its lower foot while it slips, since the friction is above b/h, and stands as soon as the slip is over."""
    b, h, angle, mu = 0.2, 0.5, 0.2, 0.45
    feet = {"left": (f"y - {b}*sin(p) - {h}*cos(p)", 1), "right": (f"y + {b}*sin(p) - {h}*cos(p)", -1)}
    rubs = {
        name: {"friction": {"sliding": mu, "along": ["1", "0", f"{h}*cos(p) + {s * b}*sin(p)"]}}
        for name, (_, s) in feet.items()
    }
    system = System(
        coordinates=["x", "y", "p"],
        kinetic=f"(x'^2 + y'^2)/2 + {(b * b + h * h) / 6}*p'^2",
        potential=f"{G * np.cos(angle)}*y - {G * np.sin(angle)}*x",
        constraint=[contact(name, gap, 0.3, **rubs[name]) for name, (gap, _) in feet.items()],
        initial={"y": h + 0.05},
    )
    motion = simulate(system, until=0.4, rtol=1e-8)
    assert motion.finished, motion.reason
    assert motion.column("y")[-1] == pytest.approx(h, abs=1e-8)
    assert motion.states[-1, 3:] == pytest.approx(np.zeros(3), abs=1e-9)
    pushes = np.array([motion.multipliers[name] for name in feet])
    assert np.nanmin(pushes) >= 0.0
    weight, lever = G * np.cos(angle), G * np.sin(angle) * h / (2 * b)
    assert pushes[:, -1] == pytest.approx([weight / 2 - lever, weight / 2 + lever], rel=1e-6)
