"""Mechanisms pass positions at which their constraints branch along their own branch."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import quad, solve_ivp

from svyaz import System, load, loads, simulate

TIGHT = {"rtol": 1e-12, "atol": 1e-12}
END = [0.328458, 0.944519]


def angle(states: list[str], motion) -> np.ndarray:
    """Of the first side of a chain of windows with the vertical, and how unlike the windows are."""
    x, y = ([states.index(f"{c}{k}") for k in range(3)] for c in "xy")
    rows = motion.states
    unlike = max(np.ptp(rows[:, x] - np.arange(3), axis=1).max(), np.ptp(rows[:, y], axis=1).max())
    assert unlike < 1e-9
    return rows[-1, [x[0], y[0]]]


@pytest.fixture
def windows(case) -> System:
    return load(case("windows2"))


@pytest.mark.parametrize("how", [{"method": "rk4", "step": 1e-3}, {"method": "dop853", "rtol": 1e-9}])
@pytest.mark.parametrize("stabilize", ["off", 10, "projection"])
def test_K4_windows_stay_alike_through_all_their_singular_positions(windows, how, stabilize) -> None:
    """IFToMM A02: the published end, to its last digit."""
    motion = simulate(windows, **how, stabilize=stabilize, until=10)
    assert motion.finished
    end = angle(list(windows.states), motion)
    np.testing.assert_allclose(end, END, atol=2e-6)
    (note,) = [n for n in motion.notes if "singular point" in n]
    assert "near t = 0.714" in note
    assert note.count(",") > 9


def test_K4_windows_with_gains_that_are_chosen(windows) -> None:
    """Alike windows are one pendulum: Σm/3 = 3/3 + 2 = 3 in θ̈ = Σ m g … sin θ, integrated apart."""
    inertia, torque = 3 / 3 + 2.0, (3 / 2 + 2) * 9.81
    alone = solve_ivp(
        lambda t, y: [y[1], torque * np.sin(y[0]) / inertia], (0, 1.5), [0.0, 1.0], method="DOP853", **TIGHT
    )
    motion = simulate(windows, method="rk4", step=2e-3, stabilize="auto", until=1.5)
    expected = [np.sin(alone.y[0, -1]), np.cos(alone.y[0, -1])]
    np.testing.assert_allclose(angle(list(windows.states), motion), expected, atol=1e-8)


def chain(count: int) -> System:
    """Windows of point masses in x, y: all of them become dependent at once where they lie flat, and branch there."""
    points = range(count + 1)
    return System(
        coordinates=[f"{c}{k}" for c in "xy" for k in points],
        kinetic=" + ".join(f"(x{k}'^2 + y{k}'^2)/2" for k in points),
        potential=" + ".join(f"9.81*y{k}" for k in points),
        constraint=[
            *({"name": f"v{k}", "equation": f"(x{k} - {k})^2 + y{k}^2 = 1"} for k in points),
            *({"name": f"h{k}", "equation": f"(x{k + 1} - x{k})^2 + (y{k + 1} - y{k})^2 = 1"} for k in range(count)),
        ],
        initial={f"x{k}": float(k) for k in points} | {f"y{k}": 1.0 for k in points} | {f"x{k}'": 1.0 for k in points},
    )


@pytest.mark.parametrize("count", [1, 10, 45])
def test_K4_a_position_branches_however_many_windows_there_are(count) -> None:
    motion = chain(count).simulate(method="euler", step=0.004, until=0.9, stabilize="off")
    (note,) = [n for n in motion.notes if "singular point" in n]
    fallen = quad(lambda angle: (1 + 2 * 9.81 * (1 - np.cos(angle))) ** -0.5, 0, np.pi / 2)[0]  # a single pendulum
    assert float(note.partition("near t = ")[2].split()[0]) == pytest.approx(fallen, abs=0.01)
    assert "the mechanism itself branches" in note


@pytest.mark.parametrize("step", [0.05, 0.0377, 0.01])
@pytest.mark.parametrize("form", ["multipliers", "maggi"])
def test_K4_a_slider_crank_of_equal_rods_goes_on(case, step, form) -> None:
    """On its branch a = b: (T_a + T_b + 4 m_s sin² a) a'²/2 is kept, integrated apart."""
    motion = simulate(load(case("equal-rods")), form=form, method="rk4", step=step, until=3, stabilize="off")

    def rates(t: float, y: np.ndarray) -> list[float]:
        inertia = 1.6 + 3.2 * np.sin(y[0]) ** 2
        return [y[1], -3.2 * np.sin(y[0]) * np.cos(y[0]) * y[1] ** 2 / inertia]

    alone = solve_ivp(rates, (0, 3), [0.8, 1.0], method="DOP853", **TIGHT)
    a, b = motion.states[-1, :2]
    assert abs(a - b) < 1e-9
    assert a == pytest.approx(alone.y[0, -1], abs=10 * step**4)


def test_K4_rods_that_are_nearly_equal_turn_off_as_they_must() -> None:
    """x y = 1e-4 is no pair of lines: the point turns from the one to the other."""
    start = {"x": 1.0, "y": 1e-4, "x'": -1.0, "y'": 1e-4}
    one = {"name": "hyperbola", "equation": "x*y = 1e-4"}
    system = System(
        name="hyperbola", coordinates=["x", "y"], kinetic="(x'^2 + y'^2)/2", constraint=[one], initial=start
    )
    motion = simulate(system, method="dop853", rtol=1e-10, until=2, stabilize=10)
    assert motion.finished
    assert motion.states[-1, 1] == pytest.approx(1.0, abs=0.05)
    assert not [n for n in motion.notes if "passed" in n]


@pytest.mark.parametrize("every", [None, 0.3])
def test_K4_rows_at_given_times_and_a_lemniscate(every) -> None:
    """A free point on a lemniscate keeps its speed and runs through the node again and again."""
    one = {"name": "path", "equation": "(x^2 + y^2)^2 = x^2 - y^2"}
    start = {"x": 1.0, "y'": -1.0}
    system = System(
        name="lemniscate", coordinates=["x", "y"], kinetic="(x'^2 + y'^2)/2", constraint=[one], initial=start
    )
    motion = simulate(system, method="dop853", rtol=1e-10, until=9, every=every, stabilize="projection")
    assert motion.finished
    assert every is None or len(motion.times) == 31
    np.testing.assert_allclose(np.hypot(*motion.states[:, 2:].T), 1.0, atol=1e-8)
    # arc length of a quarter: Γ(1/4)²/(4 √(2π)); after four of them the point is back
    quarter = 3.625609908221908**2 / (4 * np.sqrt(2 * np.pi))
    assert motion.times[-1] > 6 * quarter
    last = 9 - 4 * quarter
    again = simulate(system, method="dop853", rtol=1e-10, until=last, stabilize="projection")
    np.testing.assert_allclose(motion.states[-1], again.states[-1], atol=1e-6)


@pytest.mark.parametrize("how", [{"method": "rk4", "step": 1e-3}, {"method": "dop853", "rtol": 1e-9}])
def test_K4_events_and_limits_at_a_branching_position_are_seen(case, how) -> None:
    """The side of the windows falls below the horizontal where they fold: θ = π/2, and on to sin = -0.001, integrated apart."""
    text = case("windows2").read_text()
    limited = loads(f"{text}\n[limits]\ny0 = [-0.001, 5]\n", "limited")
    motion = simulate(limited, **how, stabilize=10, until=3, on_failure="return")
    assert motion.status == "left"

    def fallen(t: float, y: np.ndarray) -> float:
        return np.cos(y[0]) + 0.001

    rates = lambda t, y: [y[1], 3.5 * 9.81 * np.sin(y[0]) / 3]  # noqa: E731
    alone = solve_ivp(rates, (0, 3), [0.0, 1.0], method="DOP853", events=fallen, **TIGHT)
    assert motion.times[-1] == pytest.approx(alone.t_events[0][0], abs=1e-8)
    far = loads(f"{text}\n[limits]\nx0 = [-2, 2]\n", "far")
    np.testing.assert_allclose(angle(list(far.states), simulate(far, **how, stabilize=10, until=10)), END, atol=2e-6)


AT_BRANCHING = {
    "name": "crank of equal rods, folded",
    "coordinates": ["a", "b", "s"],
    "kinetic": "0.5*a'^2 + 0.3*b'^2 + 0.4*s'^2",
    "constraint": [
        {"name": "x", "equation": "cos(a) + cos(b) = s"},
        {"name": "y", "equation": "sin(a) = sin(b)"},
    ],
}


@pytest.mark.parametrize(
    "how",
    [
        {"method": "rk4", "step": 0.01, "stabilize": "off"},
        {"method": "dop853", "rtol": 1e-10, "stabilize": "auto"},
        {"method": "dop853", "rtol": 1e-10, "stabilize": "projection", "every": 0.5},
    ],
)
def test_K4_a_start_at_a_branching_position_leaves_along_its_velocities(how) -> None:
    """Both branches from a = b = pi/2: on a = b (T_a + T_b + 4 m_s sin² a) a'²/2 is kept, on b = pi - a rods turn freely."""

    def rates(t: float, y: np.ndarray) -> list[float]:
        inertia = 1.6 + 3.2 * np.sin(y[0]) ** 2
        return [y[1], -3.2 * np.sin(y[0]) * np.cos(y[0]) * y[1] ** 2 / inertia]

    place = {"a": "pi/2", "b": "pi/2", "s": 0}
    alone = solve_ivp(rates, (0, 2), [np.pi / 2, 1.0], method="DOP853", **TIGHT)
    together = simulate(System(**AT_BRANCHING, initial={**place, "a'": 1, "b'": 1, "s'": -2}), until=2, **how)
    assert together.finished, together.reason
    np.testing.assert_allclose(together.states[-1, :2], [alone.y[0, -1]] * 2, atol=1e-8)
    apart = simulate(System(**AT_BRANCHING, initial={**place, "a'": 1, "b'": -1, "s'": 0}), until=2, **how)
    np.testing.assert_allclose(apart.states[-1, :3], [np.pi / 2 + 2, np.pi / 2 - 2, 0], atol=1e-9)
    assert "branches" in " ".join(apart.notes)


def test_K4_a_start_at_a_branching_position_in_a_run_with_events() -> None:
    """On b = pi - a the rods turn freely until a stop catches them at a = pi/2 + 1.5, where all rests."""
    stop = {"name": "stop", "equation": "a = pi/2 + 1.5", "on": "a - pi/2 - 1.5", "impact": "inelastic"}
    words = {**AT_BRANCHING, "constraint": [*AT_BRANCHING["constraint"], stop]}
    place = {"a": "pi/2", "b": "pi/2", "s": 0, "a'": 1, "b'": -1, "s'": 0}
    motion = simulate(System(**words, initial=place), until=2, method="dop853", rtol=1e-10, stabilize=10)
    assert motion.finished, motion.reason
    assert [phase.t for phase in motion.phases] == pytest.approx([0.0, 1.5], abs=1e-9)
    np.testing.assert_allclose(motion.states[-1], [np.pi / 2 + 1.5, np.pi / 2 - 1.5, 0, 0, 0, 0], atol=1e-9)


@pytest.mark.parametrize("speeds", [{}, {"a'": 1, "b'": 0.5, "s'": -1.5}])
def test_K4_a_start_at_a_branching_position_along_no_branch_is_singular(speeds) -> None:
    system = System(**AT_BRANCHING, initial={"a": "pi/2", "b": "pi/2", "s": 0, **speeds})
    motion = simulate(system, until=1, method="rk4", step=0.01, stabilize="off", on_failure="return")
    assert motion.status == "singular"


def inversor() -> System:
    """Peaucellier's linkage: D runs on the straight line x = (p² - s²)/2r while C turns about (r, 0); its rhombus folds."""
    p, s, r = 5.0, 2.0, 1.9
    near, far = 2 * r, (p * p - s * s) / (2 * r)
    middle = (near + far) / 2
    height = np.sqrt(p * p - middle**2)

    def rod(name: str, one: str, other: str) -> dict[str, str]:
        return {"name": name, "equation": f"(x{one} - x{other})^2 + (y{one} - y{other})^2 = 4"}

    return System(
        coordinates=[f"{c}{k}" for k in "abcd" for c in "xy"],
        kinetic=" + ".join(f"(x{k}'^2 + y{k}'^2)/4" for k in "abcd"),
        potential="9.81/2*(ya + yb + yc + yd)",
        constraint=[
            {"name": "OA", "equation": "xa^2 + ya^2 = 25"},
            {"name": "OB", "equation": "xb^2 + yb^2 = 25"},
            rod("AC", "a", "c"),
            rod("BC", "b", "c"),
            rod("AD", "a", "d"),
            rod("BD", "b", "d"),
            {"name": "crank", "equation": "(xc - 1.9)^2 + yc^2 = 1.9^2"},
        ],
        initial={"xa": middle, "xb": middle, "ya": height, "yb": -height, "xc": near, "xd": far},
    )


@pytest.mark.parametrize("how", [{"stabilize": "off"}, {"stabilize": 10}, {"stabilize": 10, "every": 0.1}])
def test_N1_2_6_steps_along_a_branch_that_is_not_taken_are_not_made(how) -> None:
    """Where A and B meet the method would creep on with both of them at one place, a million steps and more, and stall."""
    system = inversor()
    motion = simulate(system, until=1, method="dop853", rtol=1e-9, **how)
    assert motion.finished
    assert motion.evaluations < 200_000
    np.testing.assert_allclose(motion.column("xd"), 21 / 3.8, atol=1e-8)
    assert np.abs(motion.column("ya") - motion.column("yb"))[-1] > 0.1
    other = simulate(system, until=1, method="rk4", step=1e-3, stabilize="projection")
    np.testing.assert_allclose(motion.states[-1], other.states[-1], atol=1e-5)


@pytest.mark.parametrize(
    ("stabilize", "steps"),
    [
        ("off", {"method": "dop853", "rtol": 1e-10}),
        ("projection", {"method": "dop853", "rtol": 1e-10}),
        ("projection", {"method": "rk4", "step": 0.01}),
    ],
)
def test_W2_a_parallelogram_of_bodies_folds_and_unfolds_by_recursions(stabilize, steps) -> None:
    """Without forces it turns uniformly, the coupler of length 2 parallel to the ground: all four points are in one line at the
    angles π, 2π and 3π.
    """

    def rod(name: str, base: str, pole: float, center: float) -> dict[str, object]:
        own = {"joint": "revolute", "coordinate": name, "axis": [0, 0, 1], "pole": [pole, 0, 0]}
        return {"name": name, "base": base, **own, "mass": 1, "center": [center, 0, 0], "inertia": {"zz": 1.5}}

    speeds = {"a": 1.0, "c": -1.0, "b": 1.0}
    system = System(
        name="parallelogram",
        body=[rod("a", "ground", 0, 0.5), rod("c", "a", 1, 1), rod("b", "ground", 2, 0.5)],
        point=[{"name": "p", "body": "c", "at": [2, 0, 0]}, {"name": "r", "body": "b", "at": [1, 0, 0]}],
        constraint=[{"name": x, "equation": f"p_{x} = r_{x}"} for x in "xy"],
        initial={name: value for q, v in speeds.items() for name, value in ((q, 0.6 * v), (f"{q}'", v))},
    )
    motion = simulate(system, form="articulated", **steps, stabilize=stabilize, until=10)
    assert motion.finished
    np.testing.assert_allclose(motion.states[-1], [10.6, -10.6, 10.6, 1, -1, 1], atol=1e-9)
    if stabilize == "off" or "step" in steps:  # steps of the method's choice become half a turn long with projection
        assert any("passed a singular point" in note for note in motion.notes)
    if "step" in steps:
        assert any(f"near t = {np.pi - 0.6:.6g} " in note for note in motion.notes)
