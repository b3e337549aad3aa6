"""Rates that jump: located, crossed or slid along, against closed forms and independent integration."""

from __future__ import annotations

from itertools import product
from math import asin, atan2, cos, hypot, pi, sin, sqrt

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from svyaz import System, load, simulate
from svyaz.control import Regulation
from svyaz.expr import jumping_parts, split
from svyaz.forms import derive, jumps, sided
from svyaz.motion.events.ways import Bounds, sides_by_pivots, way_on
from svyaz.show import as_json
from svyaz.study import sweep

SPRING = System(
    name="block on a rough table, held by a spring",
    coordinates=["x"],
    kinetic="m*x'^2/2",
    potential="k*x^2/2",
    forces={"x": "-F*sign(x')"},
    parameters={"m": 1, "k": 1, "F": 0.3},
    initial={"x": 2},
)

METHODS = [
    ("dop853", None, 1e-8),
    ("dopri5", None, 1e-8),
    ("radau", None, 1e-7),
    ("rk4", 0.02, 1e-7),
    ("radau", 0.05, 1e-6),
    ("euler", 0.001, 0.02),
]


def at_rest_after(start: float, friction: float, stiffness: float, mass: float) -> tuple[float, float]:
    """Where and when a block on a spring comes to rest: each half of a cycle takes 2 F/k off its amplitude."""
    x, dead, count = start, friction / stiffness, 0
    while abs(x) > dead:
        x = -(abs(x) - 2 * dead) * np.sign(x)
        count += 1
    return x, count * pi * sqrt(mass / stiffness)


@pytest.mark.parametrize(("method", "step", "near"), METHODS)
@pytest.mark.parametrize("rows", [None, 0.7])
def test_N1_2_2_a_block_on_a_spring_stops_in_the_dead_zone(
    method: str, step: float | None, near: float, rows: float | None
) -> None:
    place, when = at_rest_after(2.0, 0.3, 1.0, 1.0)
    motion = SPRING.simulate(method=method, step=step, until=20, every=rows)
    assert motion.finished
    assert motion.column("x")[-1] == pytest.approx(place, abs=near)
    assert motion.column("x'")[-1] == 0.0
    (slide,) = motion.slides
    assert slide.surface == "x'"
    assert slide.start == pytest.approx(when, abs=100 * near)
    assert slide.end == 20
    after = motion.times > slide.start
    assert np.abs(motion.column("x''")[after]).max() < 1e-12  # friction is what holds it, not F or -F
    record = as_json(motion)["slides"]
    assert record == [{"surface": "x'", "from": slide.start, "until": 20.0}]
    assert any("x' = 0 is held from" in note for note in motion.notes)


def test_N1_2_2_fixed_steps_keep_their_order_through_jumps() -> None:
    """Between events the rates are smooth: halving the step of rk4 divides the error by about 16."""
    place, _ = at_rest_after(2.0, 0.3, 1.0, 1.0)
    errors = [
        abs(SPRING.simulate(method="rk4", step=step, until=12).column("x")[-1] - place) for step in (0.1, 0.05, 0.025)
    ]
    assert errors[0] / errors[1] > 10
    assert errors[1] / errors[2] > 10


def test_N1_2_2_random_blocks_stop_where_the_closed_form_says() -> None:
    random = np.random.default_rng(5)
    for _ in range(8):
        m, k, friction, start = (float(x) for x in random.uniform([0.5, 0.5, 0.05, -3], [3, 8, 0.6, 3]))
        place, when = at_rest_after(start, friction, k, m)
        here = SPRING.with_settings({"m": m, "k": k, "F": friction})
        motion = here.simulate(start={"x": start}, until=when + 1, max_steps=5000)
        assert motion.column("x")[-1] == pytest.approx(place, abs=1e-6)
        assert motion.column("x'")[-1] == 0.0


@pytest.mark.parametrize("slope", [0.3, 0.6])
def test_N1_2_2_a_block_on_an_incline_sticks_or_slides(slope: float) -> None:
    g, mu = 9.81, 0.5
    system = System(
        coordinates=["x"],
        kinetic="x'^2/2",
        potential="-g*sin(a)*x",
        forces={"x": "-mu*g*cos(a)*sign(x')"},
        parameters={"mu": mu, "a": slope, "g": g},
    )
    pull, grip = g * sin(slope), mu * g * cos(slope)
    motion = system.simulate(until=2)
    assert motion.column("x")[-1] == pytest.approx(2 * max(pull - grip, 0.0), abs=1e-9)
    pushed = system.simulate(until=4, start={"x'": -3.0})  # uphill, until it stops, and then back or not
    up, stop = 4.5 / (pull + grip), 3 / (pull + grip)
    assert pushed.column("x")[-1] == pytest.approx(max(pull - grip, 0.0) * (4 - stop) ** 2 / 2 - up, abs=1e-8)
    assert bool(pushed.slides) == (pull < grip)


def belt(until: float) -> list[tuple[float, float]]:
    """Stick and slip of a block on a spring over a belt of speed 0.2, by SciPy and its own events: when it sticks."""
    v, stuck, time, state, found = 0.2, False, 0.0, np.array([0.0, 0.0]), []

    def friction(s: float) -> float:
        return 1 + 0.5 * np.exp(-abs(s))

    while time < until:
        if stuck:
            end = min(until, time + (1.5 - state[0]) / v)
            found.append((time, end))
            time, state, stuck = end, np.array([state[0] + v * (end - time), v]), False
            continue

        def reached(t: float, y: np.ndarray) -> float:
            return y[1] - v

        reached.terminal, reached.direction = True, 1
        start = state + np.array([0, -1e-13])
        run = solve_ivp(
            lambda t, y: [y[1], -y[0] + friction(y[1] - v)],
            (time, until),
            start,
            events=reached,
            rtol=1e-11,
            atol=1e-12,
        )
        time, state, stuck = run.t[-1], run.y[:, -1], run.status == 1
    return found


def test_N1_2_2_a_block_on_a_belt_sticks_and_slips() -> None:
    system = System(
        coordinates=["x"],
        kinetic="x'^2/2",
        potential="x^2/2",
        forces={"x": "-(1 + 0.5*exp(-abs(x' - v)))*sign(x' - v)"},
        parameters={"v": 0.2},
    )
    motion = system.simulate(until=24)
    found, expected = [(s.start, s.end) for s in motion.slides], belt(24)
    assert len(found) == len(expected) >= 3
    assert np.array(found) == pytest.approx(np.array(expected), abs=1e-6)
    for run in (motion, system.simulate(until=24, every=3.0)):  # what friction does while it holds is work too
        balance = run.balance
        assert balance is not None
        assert np.abs(balance.remainder).max() < 1e-7
        assert balance.work[-1] == pytest.approx(sum(run.states[-1] ** 2) / 2, abs=1e-7)


def moreau(until: float, step: float) -> np.ndarray:
    """Two blocks joined by a spring, both with dry friction, by implicit stepping of velocities with Coulomb's law."""
    place, speed, friction = np.zeros(2), np.zeros(2), np.array([0.5, 0.3])
    for k in range(round(until / step)):
        middle = place + step / 2 * speed
        pull = 4 * (middle[1] - middle[0])
        free = speed + step * np.array([pull + 2 * np.sin((k + 0.5) * step), -pull])
        speed = np.sign(free) * np.maximum(np.abs(free) - step * friction, 0.0)
        place = middle + step / 2 * speed
    return np.array([*place, *speed])


TWO = System(
    coordinates=["x", "y"],
    kinetic="(x'^2 + y'^2)/2",
    potential="2*(x - y)^2",
    forces={"x": "-0.5*sign(x') + 2*sin(t)", "y": "-0.3*y'/abs(y')"},
)


def test_N1_2_2_two_blocks_stick_and_slip_each_for_itself() -> None:
    motion = TWO.simulate(until=12)
    assert motion.finished
    assert {slide.surface for slide in motion.slides} == {"x'", "y'"}
    assert motion.states[-1] == pytest.approx(moreau(12, 2e-4), abs=2e-3)
    first = motion.slides[0]
    assert (first.surface, first.start) == ("x'", 0.0)
    assert first.end == pytest.approx(asin(0.25), abs=1e-7)  # 2 sin t = 1/2


def test_N1_2_2_the_upper_block_is_carried_by_the_lower_one() -> None:
    """Friction between two blocks: C has entries beside its diagonal. Pulled gently they move as one."""
    stack = System(
        coordinates=["x", "y"],
        kinetic="(x'^2 + y'^2)/2",
        forces={"x": "P - 0.4*sign(x' - y') - 0.2*sign(x')", "y": "0.4*sign(x' - y')"},
        parameters={"P": 0.8},
    )
    together = stack.simulate(until=2)
    assert together.states[-1] == pytest.approx([0.6, 0.6, 0.6, 0.6], abs=1e-9)  # (P - 0.2)/2 · t²/2
    assert [s.surface for s in together.slides] == ["x' - y'"]
    apart = stack.with_settings({"P": 1.4}).simulate(until=2)  # 0.8 for the lower one, 0.4 for the upper one
    assert apart.states[-1] == pytest.approx([1.6, 0.8, 1.6, 0.8], abs=1e-9)
    held = stack.with_settings({"P": 0.15}).simulate(until=2)
    assert not held.states[-1].any()


FRICTION = {"x": "F*y*sign(x*y' - y*x')", "y": "-F*x*sign(x*y' - y*x')"}


@pytest.mark.parametrize("options", [{"form": "multipliers"}, {"form": "shulgin"}, {"stabilize": "projection"}])
def test_N1_2_2_friction_in_the_joint_of_a_constrained_pendulum(options: dict[str, str]) -> None:
    angle = atan2(0.8, 0.6)
    plain = System(
        coordinates=["u"],
        kinetic="u'^2/2",
        potential="-9.81*cos(u)",
        forces={"u": "-2*sign(u')"},
        initial={"u": angle},
    ).simulate(until=4)
    system = System(
        coordinates=["x", "y"],
        kinetic="(x'^2 + y'^2)/2",
        potential="9.81*y",
        constraint=[{"name": "rod", "equation": "x^2 + y^2 = 1", "dependent": "y"}],
        forces=FRICTION,
        parameters={"F": 2},
        initial={"x": 0.8, "y": -0.6},
    )
    motion = system.simulate(until=4, **options)
    assert motion.finished
    end = plain.column("u")[-1]
    assert motion.states[-1] == pytest.approx([sin(end), -cos(end), 0, 0], abs=1e-7)
    assert motion.slides[-1].start == pytest.approx(plain.slides[-1].start, abs=1e-6)
    # weight along the rod, with 2 x λ as the force: the friction that holds it has no part in it
    assert motion.multipliers["rod"][-1] == pytest.approx(-9.81 * cos(end) / 2, abs=1e-6)
    assert hypot(*motion.states[-1, :2]) == pytest.approx(1.0, abs=1e-8)


@pytest.mark.parametrize("form", ["multipliers", "chaplygin", "voronets", "maggi", "appell"])
def test_N1_2_2_in_every_form(form: str) -> None:
    system = System(
        coordinates=["x", "y"],
        kinetic="(x'^2 + y'^2)/2",
        constraint=[{"name": "track", "equation": "y' = x'", "dependent": "y"}],
        forces={"x": "-sign(y')"},
        initial={"x'": 1, "y'": 1},
    )
    motion = system.simulate(form=form, until=5)
    assert motion.states[-1] == pytest.approx([1, 1, 0, 0], abs=1e-8)
    assert (motion.slides[0].start, motion.slides[0].end) == (pytest.approx(2.0, abs=1e-8), 5.0)


def test_N1_2_2_events_and_friction_go_together() -> None:
    """A block is pushed against a wall with a force 2 and the friction 1: the wall carries 2, friction nothing."""
    system = System(
        coordinates=["x"],
        kinetic="x'^2/2",
        forces={"x": "2 - sign(x')"},
        initial={"x'": 0.5},
        constraint=[{"name": "wall", "equation": "x = 1", "on": "x - 1", "off": "lambda_wall", "impact": "inelastic"}],
    )
    motion = system.simulate(until=4, stabilize="off")
    assert motion.finished
    assert motion.phases[1].t == pytest.approx(1.0, abs=1e-8)  # t/2 + t²/2 = 1
    assert motion.multipliers["wall"][-1] == pytest.approx(-2.0, abs=1e-9)
    assert abs(motion.column("x")[-1] - 1) < 1e-9


def test_N1_2_2_other_laws() -> None:
    rates = System(states=["x"], rates={"x": "-sign(x) + sin(t)/2"}, initial={"x": 1}).simulate(until=6)
    assert rates.column("x")[-1] == 0.0
    square = System(states=["x"], rates={"x": "sign(sin(t))"}).simulate(until=4)
    assert square.column("x")[-1] == pytest.approx(2 * pi - 4, abs=1e-9)
    relay = System(coordinates=["x"], kinetic="x'^2/2", forces={"x": "-sign(x)"}, initial={"x'": 1})
    assert relay.simulate(until=10).states[-1] == pytest.approx([0, -1], abs=1e-8)  # its period is 4
    assert not relay.simulate(until=10, start={"x'": 0.0}).states.any()
    canonical = System(coordinates=["x"], momenta=["p"], hamiltonian="p^2/2 + abs(x)", initial={"p": 1})
    assert canonical.simulate(until=4).states[-1] == pytest.approx([0, 1], abs=1e-8)
    given = System(coordinates=["x"], accelerations={"x": "-sign(x')"}, initial={"x'": 1}).simulate(until=3)
    assert given.states[-1] == pytest.approx([0.5, 0], abs=1e-9)


def test_N1_2_2_a_law_of_an_input_may_jump() -> None:
    """u = -sign(x') and a limit of the input at 1/2."""
    system = System(
        coordinates=["x"],
        kinetic="x'^2/2",
        forces={"x": "u"},
        inputs={"u": {"value": 0, "low": -0.5, "high": 0.5}},
        initial={"x'": 1},
    )
    motion = system.simulate(inputs={"u": "-sign(x')"}, until=4)
    assert motion.states[-1] == pytest.approx([1.0, 0.0], abs=1e-8)


SMOOTH = [
    {"x": "-x'*abs(x')"},
    {"x": "-sqrt(abs(x) + 1)"},
    {"x": "max(x, 0)"},
    {"x": "-sign(x)*x^2"},
    {"x": "-sign(2 - m)"},
    {"x": "min(1, max(-1, x'))"},
]


@pytest.mark.parametrize("forces", SMOOTH)
def test_N1_2_2_what_does_not_jump_is_left_alone(forces: dict[str, str]) -> None:
    system = System(coordinates=["x"], kinetic="m*x'^2/2", parameters={"m": 1}, forces=forces)
    assert not jumps(derive(system))


def test_N1_2_2_energies_with_corners() -> None:
    kink = System(coordinates=["x"], kinetic="x'^2/2", potential="abs(x)", dissipation="0.1*abs(x')")
    _, surfaces = sided(derive(kink))
    assert {str(s.expression) for s in surfaces} == {"x", "x'"}
    soft = System(coordinates=["x"], kinetic="x'^2/2", potential="max(1 - x, 0)^2", dissipation="abs(x')^3")
    assert not jumps(derive(soft))


def test_N1_2_2_sides_are_the_expression_on_each_side() -> None:
    """Whatever the mixture of corners: with the side put in, the expression has its own value on that side."""
    import symengine as se

    x, y = se.symbols("x y")
    a = x - 2 * y
    mixtures = [
        se.sign(a) * x + se.Abs(a) ** 3,
        a / se.Abs(a) + se.Max(x, 2 * y),
        se.sign(-a) ** 3 * y + se.Min(2 * y, x) * se.sign(a),
        se.sign(a + se.sign(y)) + se.sign(y) * x,
    ]
    for e, point in product(mixtures, [(1.3, 0.2), (-0.4, 0.9), (2.0, -1.0)]):
        values = dict(zip((x, y), point, strict=True))
        (found,), surfaces = split([e], {"x", "y"})
        assert surfaces
        assert not jumping_parts([found])
        for surface in surfaces:
            level = float(surface.expression.subs(values | {s.side: 0 for s in surfaces[:0]}).subs(values))
            values[surface.side] = 1 if level > 0 else -1
        exact = {x: point[0], y: point[1]}
        assert float(found.subs(values)) == pytest.approx(plain_value(e, exact))


def plain_value(e: object, at: dict[object, float]) -> float:
    """The value of an expression by Python's own functions."""
    import math

    text = str(e).replace("^", "**")
    names = {"sign": lambda v: math.copysign(1, v), "abs": abs, "max": max, "min": min, "Abs": abs, "Max": max}
    return float(eval(text, {"__builtins__": {}}, names | {str(k): v for k, v in at.items()}))


def test_N1_2_2_the_way_on_is_coulombs_law() -> None:
    """Random friction of up to 9 contacts, C = -J M⁻¹ Jᵀ F: a way on exists, and every contact obeys the law."""
    random = np.random.default_rng(3)
    for _ in range(60):
        n = int(random.integers(1, 10))
        rows = random.normal(size=(n, n + 1))
        effect = -rows @ rows.T @ np.diag(random.uniform(0.1, 2, n))
        drift = random.normal(size=n) * 3
        found = way_on(drift, effect, np.zeros(n))
        assert found is not None
        sides, slid = found
        speeds = drift + effect @ sides
        for k in range(n):
            if k in slid:
                assert abs(speeds[k]) < 1e-9
                assert abs(sides[k]) <= 1 + 1e-9
            else:
                assert abs(sides[k]) == 1
                assert speeds[k] * sides[k] >= -1e-9


def test_N1_2_2_sweeps_and_basins_follow_jumps() -> None:
    found = sweep(SPRING, {"F": np.array([0.3, 0.5])}, ["final.x"], until=20.0, workers=1)
    places = [at_rest_after(2.0, friction, 1.0, 1.0)[0] for friction in (0.3, 0.5)]
    assert found.column("final.x") == pytest.approx(places, abs=1e-8)
    driven = System(
        coordinates=["x"],
        kinetic="x'^2/2",
        forces={"x": "u - 0.2*sign(x - 5)"},
        inputs={"u": 0},
        box={"x": [-1, 1]},
    )
    design = driven.regulate(fix={"x": 0.0})
    assert isinstance(design, Regulation)
    assert not design.loop().smooth
    assert design.basin({"x": (-0.5, 0.5)}, count=3, until=12).returned.all()


def test_N1_2_2_the_example_is_bounded_and_exact(root: object) -> None:
    """Friction 1 and the speed 1: at rest at t = 1, x = 1/2, in a handful of rows."""
    system = System(coordinates=["x"], kinetic="x'^2/2", forces={"x": "-sign(x')"}, initial={"x'": 1}, run={"until": 3})
    motion = system.simulate()
    assert motion.finished
    assert motion.states[-1] == pytest.approx([0.5, 0.0], abs=1e-12)
    assert len(motion.times) < 50
    assert motion.slides[0].start == pytest.approx(1.0, abs=1e-12)


def test_N1_2_2_what_cannot_be_followed_ends_with_advice() -> None:
    """Two surfaces that are met ever faster (the twisting algorithm ends in finite time after endless switching)."""
    twist = System(states=["x", "v"], rates={"x": "v", "v": "-2*sign(x) - sign(v)"}, initial={"x": 1})
    motion = twist.simulate(until=10, on_failure="return")
    assert motion.status == "singular"
    assert "the rates jump too often" in motion.reason
    assert "tanh" in motion.reason
    assert motion.steps < 5000
    assert len(motion.times) < 5000
    assert load("pendulum:2").simulate(until=1).slides == ()


def test_N1_2_2_rows_and_steps_are_bounded_where_nothing_else_helps() -> None:
    """The friction of a point in the plane, v/|v|, has no surface to slide along: near rest steps lead nowhere."""
    point = System(
        coordinates=["x", "y"],
        kinetic="(x'^2 + y'^2)/2",
        forces={"x": "-x'/sqrt(x'^2 + y'^2)", "y": "-y'/sqrt(x'^2 + y'^2)"},
        initial={"x'": 1, "y'": 1},
    )
    motion = point.simulate(until=3, on_failure="return")
    assert motion.status == "singular"
    assert motion.times[-1] == pytest.approx(sqrt(2), abs=0.1)
    assert "jump at t = 1.4" in motion.reason
    assert len(motion.times) < 600_000
    assert motion.steps < 5_000_000


@pytest.mark.parametrize("method", ["dopri5", "radau"])
def test_N1_2_2_rates_that_jump_at_a_point_end_a_motion_as_singular(method: str) -> None:
    """Friction of a point in the plane, v/|v|: it comes to rest after |v₀|/μ, at |v₀|²/(2μ) along v₀."""
    words = {"coordinates": ["x", "y"], "kinetic": "(x'^2 + y'^2)/2", "initial": {"x'": 0.6, "y'": 0.8}}
    forces = {q: f"-{q}'/sqrt(x'^2 + y'^2)" for q in "xy"}
    motion = System(**words, potential="0", forces=forces).simulate(
        until=3, method=method, max_steps=30_000, on_failure="return"
    )
    assert motion.status == "singular"
    assert "the rates d(x')/dt, d(y')/dt jump at t = 1.0" in motion.reason
    assert "v/sqrt(v^2 + small^2)" in motion.reason
    assert [motion.column("x")[-1], motion.column("y")[-1]] == pytest.approx([0.3, 0.4], abs=1e-6)


@pytest.mark.parametrize("potential", ["-1/x", "5e11*x^2"])
def test_N1_2_2_poles_and_stiff_motions_are_no_jumps(potential: str) -> None:
    fall = System(coordinates=["x"], kinetic="x'^2/2", potential=potential, initial={"x": 1.0})
    motion = fall.simulate(until=3, max_steps=3000, on_failure="return")
    assert motion.status == "diverged"
    assert "jump at t" not in motion.reason


@pytest.mark.parametrize("seed", range(20))
def test_N1_2_2_lemke_finds_what_trying_all_ways_finds(seed: int) -> None:
    """Friction by reactions of up to seven surfaces: bounds that depend a little on all forces leave one motion."""
    random = np.random.default_rng(seed)
    n = int(random.integers(2, 8))
    rows = random.normal(size=(n, n + 1))
    effect, drift = -rows @ rows.T, 3 * random.normal(size=n)
    bounds = Bounds(random.uniform(0.1, 2, n), 0.02 * random.normal(size=(n, n)), np.ones(n))
    tried = way_on(drift, effect, np.zeros(n), bounds)
    assert tried is not None
    found = sides_by_pivots(drift, effect, bounds)
    assert found is not None
    assert np.flatnonzero(found == 0.0).tolist() == sorted(tried[1])
    slipping = found != 0.0
    assert found[slipping].tolist() == tried[0][slipping].tolist()


def test_K5_nine_blocks_that_land_at_once_do_as_each_alone() -> None:
    """Nine frictions in one impact: 3⁹ ways to stick and slip."""

    def blocks(speeds: list[float]) -> System:
        numbers = range(len(speeds))
        floor = [
            {
                "name": f"floor{k}",
                "equation": f"y{k} = 0",
                "on": f"-y{k}",
                "off": f"-lambda_floor{k}",
                "impact": "newton",
                "restitution": 0.2,
                "friction": {"sliding": 0.3, "static": 0.4, "along": f"x{k}'"},
            }
            for k in numbers
        ]
        return System(
            coordinates=[f"{q}{k}" for k in numbers for q in "xy"],
            kinetic=" + ".join(f"(x{k}'^2 + y{k}'^2)/2" for k in numbers),
            potential="9.81*(" + " + ".join(f"y{k}" for k in numbers) + ")",
            constraint=floor,
            initial={f"y{k}": 0.02 for k in numbers} | {f"x{k}'": speed for k, speed in enumerate(speeds)},
        )

    speeds = [0.1 * (k - 4) for k in range(9)]
    together = simulate(blocks(speeds), until=0.068, rtol=1e-8)
    assert together.finished, together.reason
    for k, speed in enumerate(speeds):
        alone = simulate(blocks([speed]), until=0.068, rtol=1e-8)
        for name in "xy":
            assert together.column(f"{name}{k}")[-1] == pytest.approx(alone.column(f"{name}0")[-1], abs=1e-8)
            assert together.column(f"{name}{k}'")[-1] == pytest.approx(alone.column(f"{name}0'")[-1], abs=1e-7)
