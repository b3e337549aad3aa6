"""Several one-sided constraints: which of them an impact keeps, and that none is entered unnoticed."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from svyaz import System
from svyaz.forms import free_equations, lagrange_terms
from svyaz.motion import simulate
from svyaz.motion.events.contacts import contacts_of
from svyaz.show import as_json

G = 9.81


def feet(heights: dict[str, str], standing: tuple[str, ...] = ()) -> list[dict]:
    """A constraint for each height that the ground may push and not pull; those that stand act from the beginning."""
    return [
        {
            "name": name,
            "equation": f"{height} = 0",
            "on": f"-({height})",
            "off": f"-lambda_{name}",
            "impact": "inelastic",
            "active": name in standing,
        }
        for name, height in heights.items()
    ]


def bar(a: float, b: float, k: float, more: dict[str, str] | None = None, **words) -> System:
    """A bar with the radius of gyration k and ends at a and b from its centre, which stands on its left end, tilted by 0.1."""
    heights = {"left": "y - a*sin(phi)", "right": "y + b*sin(phi)", **(more or {})}
    given = {
        "coordinates": ["x", "y", "phi"],
        "kinetic": "m/2*(x'^2 + y'^2 + k^2*phi'^2)",
        "potential": "m*g*y",
        "parameters": {"m": 2, "a": a, "b": b, "k": k, "g": G},
        "constraint": feet(heights, ("left",)),
        "initial": {"y": "a*sin(0.1)", "phi": 0.1, "x'": 0.3},
    }
    return System(**{**given, **words})


def jump(motion, number: int, name: str) -> tuple[float, float]:
    """A velocity before and after an event."""
    rows = motion.column(name)[np.flatnonzero(motion.times == motion.phases[number].t)]
    return float(rows[0]), float(rows[-1])


def falls(motion) -> bool:
    """Does no event add energy?"""
    return all(e.energy_after <= e.energy_before + 1e-9 for e in motion.phases[1:])


@pytest.mark.parametrize(("a", "b", "k"), [(0.5, 0.5, 0.7), (0.3, 0.9, 0.6), (0.9, 0.3, 0.55)])
@pytest.mark.parametrize("stabilize", ["projection", 20])
def test_a_bar_of_large_inertia_lifts_the_end_on_which_it_stood(a, b, k, stabilize) -> None:
    """k² > ab: the left end rises, and φ'⁺ = φ'⁻ (k² - ab)/(k² + b²)."""
    motion = simulate(bar(a, b, k), until=0.35, stabilize=stabilize, rtol=1e-11)
    assert (motion.phases[1].on, motion.phases[1].off) == (("right",), ("left",))
    before, after = jump(motion, 1, "phi'")
    assert before < 0
    assert after / before == pytest.approx((k * k - a * b) / (k * k + b * b), rel=1e-7)
    assert falls(motion)


@pytest.mark.parametrize(("a", "b", "k"), [(0.5, 0.5, 0.3), (0.3, 0.9, 0.5), (0.9, 0.3, 0.5)])
def test_a_bar_of_small_inertia_stops_on_both_ends(a, b, k) -> None:
    """k² < ab: both impulses push, and nothing moves any more but along the floor."""
    motion = simulate(bar(a, b, k), until=0.6, stabilize="projection", rtol=1e-11)
    assert motion.finished
    assert [p.active for p in motion.phases] == [("left",), ("left", "right")]
    assert all(impulse > 0 for impulse in motion.phases[1].impulses.values())
    assert motion.states[-1] == pytest.approx([0.18, 0, 0, 0.3, 0, 0], abs=1e-9)
    assert falls(motion)


@pytest.mark.parametrize("k", [0.7, 0.3])
def test_a_third_contact_between_the_ends_changes_nothing(k) -> None:
    """When the bar is level three contacts touch, and any two of them say what all three do."""
    plain = simulate(bar(0.5, 0.5, k), until=0.3, stabilize="projection", rtol=1e-11)
    three = simulate(bar(0.5, 0.5, k, {"middle": "y"}), until=0.3, stabilize="projection", rtol=1e-11)
    assert three.finished, three.reason
    assert jump(three, 1, "phi'") == pytest.approx(jump(plain, 1, "phi'"), abs=1e-9)
    assert three.states[-1] == pytest.approx(plain.states[-1], abs=1e-8)
    assert np.min(three.column("y")) > -1e-9
    assert falls(three)


def enumerated(mass: np.ndarray, rows: np.ndarray, speed: np.ndarray) -> np.ndarray:
    """v⁺ of 0 ≤ G v⁺ ⊥ Λ ≥ 0, M (v⁺ - v⁻) = Gᵀ Λ, by trying all sets of independent rows."""
    inverse = np.linalg.inv(mass)
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


def collision(mass: np.ndarray, rows: np.ndarray, standing: int, rng: np.random.Generator) -> tuple[System, np.ndarray]:
    """Free motion, on the first rows at rest, that reaches all the other rows at t = 1/4."""
    n = len(mass)
    speed = rng.normal(size=n)
    held = rows[:standing]
    speed -= np.linalg.pinv(held) @ held @ speed if standing else 0.0
    rows = np.array([row if k < standing or row @ speed < 0 else -row for k, row in enumerate(rows)])
    place = -0.25 * speed  # all heights are zero at t = 1/4
    names = [f"c{k}" for k in range(len(rows))]
    heights = {
        name: " + ".join(f"({g!r})*q{j}" for j, g in enumerate(row))
        for name, row in zip(names, rows.tolist(), strict=True)
    }
    kinetic = " + ".join(f"({x!r})/2*q{i}'*q{j}'" for (i, j), x in np.ndenumerate(mass.astype(object)))
    start = {f"q{j}": float(q) for j, q in enumerate(place)} | {f"q{j}'": float(v) for j, v in enumerate(speed)}
    constraints = feet(heights, tuple(names[:standing]))
    return System(coordinates=[f"q{j}" for j in range(n)], kinetic=kinetic, constraint=constraints, initial=start), rows


def check_collision(mass: np.ndarray, rows: np.ndarray, standing: int, rng: np.random.Generator) -> None:
    """The impact is that of the complementarity problem, and nothing else happens before or after it."""
    system, rows = collision(mass, rows, standing, rng)
    n = len(mass)
    motion = simulate(system, until=0.5, method="rk4", step=0.1, stabilize="off")
    assert motion.finished, motion.reason
    before, *_, after = motion.states[np.flatnonzero(motion.times == motion.phases[1].t)][:, n:]
    expected = enumerated(mass, rows, before)
    assert after == pytest.approx(expected, abs=1e-9)
    assert np.min(rows @ motion.states[-1, n:]) > -1e-9
    assert np.min(rows @ motion.states[-1, :n]) > -1e-9
    assert all(impulse > -1e-9 for impulse in motion.phases[1].impulses.values())
    assert falls(motion)


@pytest.mark.parametrize("seed", range(12))
def test_random_contacts_against_all_sets(seed) -> None:
    rng = np.random.default_rng(seed)
    n, count = 4 + seed % 3, 3 + seed % 2
    root = rng.normal(size=(n, n))
    check_collision(root @ root.T + 0.05 * np.eye(n), rng.normal(size=(count, n)), seed % 3, rng)


@pytest.mark.parametrize("seed", range(8))
def test_a_box_that_drops_on_its_four_corners(seed) -> None:
    """Height of the centre (1 on the floor), two small angles: three of the corners say all; one or two may stand already."""
    rng = np.random.default_rng(100 + seed)
    a, b = rng.uniform(0.3, 1.0, 2)
    corners = np.array([[1.0, s * a, t * b] for s, t in [(1, 1), (1, -1), (-1, -1), (-1, 1)]])
    mass = np.diag([1.0, *rng.uniform(0.05, 1.0, 2)])
    mass[1, 2] = mass[2, 1] = 0.02
    standing = seed % 3
    while True:  # a fall in which all corners that do not stand come down
        speed = rng.normal(size=3)
        speed -= np.linalg.pinv(corners[:standing]) @ corners[:standing] @ speed if standing else 0.0
        if np.all(corners[standing:] @ speed < 0):
            break
    expected = enumerated(mass, corners, speed)
    start = {f"q{j}": -0.25 * v for j, v in enumerate(speed)} | {f"q{j}'": v for j, v in enumerate(speed)}
    start["q0"] += 1.0
    heights = {
        f"c{k}": "-1 + " + " + ".join(f"({g!r})*q{j}" for j, g in enumerate(row))
        for k, row in enumerate(corners.tolist())
    }
    system = System(
        coordinates=["q0", "q1", "q2"],
        kinetic=" + ".join(f"({x!r})/2*q{i}'*q{j}'" for (i, j), x in np.ndenumerate(mass.astype(object))),
        constraint=feet(heights, tuple(f"c{k}" for k in range(standing))),
        initial={name: float(value) for name, value in start.items()},
    )
    motion = simulate(system, until=0.5, method="rk4", step=0.1, stabilize="off")
    assert motion.finished, motion.reason
    assert motion.states[-1, 3:] == pytest.approx(expected, abs=1e-9)
    assert np.min(corners @ motion.states[-1, :3]) > 1 - 1e-9
    assert falls(motion)


def test_of_two_contacts_that_pull_one_may_have_to_stay() -> None:
    """A bar with k² < ab on both ends, lifted at the right one: the left one is pressed down, the bar turns about it."""
    a, b, k, force = 0.5, 0.5, 0.3, 40.0
    system = bar(
        a,
        b,
        k,
        constraint=feet({"left": "y - a*sin(phi)", "right": "y + b*sin(phi)"}, ("left", "right")),
        forces={"y": str(force), "phi": f"{force}*b*cos(phi)"},
        initial={},
    )
    motion = simulate(system, until=0.05, stabilize="projection", rtol=1e-11)
    assert motion.finished, motion.reason
    assert motion.phases[-1].active == ("left",)
    assert motion.phases[-1].t == 0.0
    angle = (force * (a + b) - 2 * G * a) / (2 * (k * k + a * a)) * 0.05**2 / 2
    assert as_json(motion)["final"]["phi"] == pytest.approx(angle, rel=1e-3)
    left = motion.column("y") - a * np.sin(motion.column("phi"))
    assert np.max(np.abs(left)) < 1e-12


def test_a_contact_that_is_entered_slowly_is_noticed() -> None:
    """A mass at rest on a floor that does not act yet; after an event elsewhere a force presses it down, slowly."""
    floor = feet({"floor": "y"})
    clock = {"name": "clock", "equation": "x' = 1", "on": "t - 1", "impact": "inelastic"}
    system = System(
        coordinates=["x", "y"],
        kinetic="(x'^2 + y'^2)/2",
        forces={"y": "-max(0, t - 1)^3"},
        initial={"x'": 1},
        constraint=[*floor, clock],
    )
    motion = simulate(system, until=2, rtol=1e-10)
    assert motion.finished, motion.reason
    assert motion.phases[-1].on == ("floor",)
    assert motion.column("y") == pytest.approx(np.zeros(len(motion.times)), abs=1e-6)
    assert as_json(motion)["multipliers"]["floor"] == pytest.approx(1.0, rel=1e-6)


def test_an_impact_without_a_solution_is_told() -> None:
    """The sign of ``off`` is wrong: the floor would have to let go whatever falls on it."""
    floor = {"name": "floor", "equation": "y = 0", "on": "-y", "off": "lambda_floor", "impact": "inelastic"}
    system = System(coordinates=["y"], kinetic="y'^2/2", potential="9.81*y", initial={"y": 1}, constraint=[floor])
    motion = simulate(system, until=1)
    assert motion.status == "infeasible"
    assert "'floor'" in motion.reason
    assert "has no solution" in motion.reason
    assert motion.times[-1] == pytest.approx(np.sqrt(2 / G), abs=1e-9)


def test_a_rod_that_breaks_is_not_taken_back() -> None:
    """``on`` of a string rises when it breaks; it limits the tension, it is not one-sided, and the mass flies on."""
    rope = {
        "name": "string",
        "equation": "x = l",
        "on": "x - l",
        "off": "-lambda_string - F",
        "active": True,
        "impact": "inelastic",
    }
    system = System(
        coordinates=["x"],
        kinetic="x'^2/2",
        potential="-t*x",
        parameters={"l": 1, "F": 2},
        initial={"x": 1},
        constraint=[rope],
    )
    motion = simulate(system, until=3, rtol=1e-11)
    assert [p.t for p in motion.phases] == pytest.approx([0, 2], abs=1e-9)
    assert motion.states[-1] == pytest.approx([1 + 1 + 1 / 6, 2.5], abs=1e-8)


@pytest.mark.parametrize("seed", range(4))
def test_a_tumbling_box_stays_above_the_floor_and_gains_nothing(seed) -> None:
    """Four corners, thrown with spin; it bounces from corner to corner and comes to rest on a side."""
    rng = np.random.default_rng(seed)
    half, high = rng.uniform(0.2, 0.6, 2).tolist()
    signs = {"a": (1, 1), "b": (1, -1), "c": (-1, -1), "d": (-1, 1)}
    heights = {name: f"y + ({s * half!r})*sin(phi) + ({t * high!r})*cos(phi)" for name, (s, t) in signs.items()}
    system = System(
        coordinates=["y", "phi"],
        kinetic=f"y'^2/2 + {(half**2 + high**2) / 6!r}*phi'^2",
        potential="9.81*y",
        constraint=feet(heights),
        initial={"y": 1.5, "phi": float(rng.uniform(0, 3)), "phi'": float(rng.normal(0, 3))},
    )
    motion = simulate(system, until=2.0, stabilize="projection", rtol=1e-9)
    assert motion.finished or "chatter" in motion.reason
    y, phi = motion.column("y"), motion.column("phi")
    lowest = min(float(np.min(y + s * half * np.sin(phi) + t * high * np.cos(phi))) for s, t in signs.values())
    assert lowest > -2e-6
    assert len(motion.phases) > 2
    assert falls(motion)


@pytest.mark.parametrize("speed", [1e-31, 1e-17])
def test_V5_contacts_that_act_and_part_by_rounding_alone_do_not_shorten_a_run(speed: float) -> None:
    """Balls that lie on each other with velocities that are rounding, while another one falls: time goes on."""
    gaps = {"low": "a", "high": "b - a", "top": "c - b"}
    system = System(
        coordinates=["a", "b", "c"],
        kinetic="a'^2/2 + b'^2/6 + c'^2/14",
        potential=f"{G}*(a + b/3 + c/7)",
        constraint=feet(gaps, ("low", "high")),
        initial={"c": 0.02, "c'": -1.0, "b'": speed},
    )
    motion = simulate(system, until=0.3, rtol=1e-8)
    assert motion.finished, motion.reason
    assert np.abs([motion.column(name)[-1] for name in "abc"]).max() < 1e-9


def test_V5_only_open_contacts_tell_how_soon_to_look_for_hops() -> None:
    """-on'/on'' of those that act is rounding over rounding."""
    system = System(
        coordinates=["a", "b"],
        kinetic="a'^2/2 + b'^2/2",
        potential=f"{G}*(a + b)",
        constraint=feet({"low": "a", "high": "b - a"}),
    )
    contacts = contacts_of(free_equations(system, "multipliers", *lagrange_terms(system)), system.constraints)
    state, slopes = np.array([0.0, 0.0, 1e-31, 1.0]), np.array([1e-31, 1.0, -1e-14, -G])
    assert contacts.shortest_rise(0.1, state, slopes, {"low", "high"}) == pytest.approx(1e-17)
    assert contacts.shortest_rise(0.1, state, slopes, {"high"}) == pytest.approx(1.0 / G)
    assert contacts.shortest_rise(0.1, state, slopes, ()) == np.inf


@pytest.mark.parametrize("masses", [(1.0, 1e6), (1.0, 1e12), (1.0, 1e6, 1e12), (1.0, 1.0, 1.0, 1e7)])
def test_V5_heavy_bodies_come_to_rest_on_light_ones(masses) -> None:
    """Each at its height, and each contact carries the weight of all that lies above it."""
    names = [f"y{k}" for k in range(len(masses))]
    heights = {"c0": "y0 - 0.1", **{f"c{k}": f"y{k} - y{k - 1} - 0.2" for k in range(1, len(masses))}}
    system = System(
        coordinates=names,
        kinetic=" + ".join(f"{m!r}*{y}'^2/2" for m, y in zip(masses, names, strict=True)),
        potential="10*(" + " + ".join(f"{m!r}*{y}" for m, y in zip(masses, names, strict=True)) + ")",
        constraint=feet(heights),
        initial={y: 0.2 + 0.3 * k for k, y in enumerate(names)},
    )
    motion = simulate(system, until=1, rtol=1e-8)
    assert motion.status == "finished", motion.reason
    assert motion.states[-1, : len(masses)] == pytest.approx([0.1 + 0.2 * k for k in range(len(masses))], abs=1e-8)
    for k in range(len(masses)):
        assert motion.multipliers[f"c{k}"][-1] == pytest.approx(10.0 * sum(masses[k:]), rel=1e-6)
