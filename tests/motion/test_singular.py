"""Singular points: an event instead of an overflow, the published jump over them, and regular coordinates."""

from __future__ import annotations

import numpy as np
import pytest

from svyaz import System, gallery, load, loads
from svyaz.constraints import Crossing, crossing
from svyaz.dynamics import measure_of
from svyaz.expr import ModelError
from svyaz.motion import simulate

GAINS = {"E": [[-5, -1], [-1, -1]]}
BYPASS = {"watch": "beta", "at": "pi/2", "window": 0.05, "jump": 0.1}


def ball(coordinates: str = "printed", **words: object) -> System:
    """The ball whose attitude is given by angles; as it was printed it comes to beta = pi/2, a singular point."""
    text = gallery.find("ball-on-plane", {"coordinates": coordinates})
    assert text is not None
    return System.from_words({**loads(text, "ball").words, **words})


def norm(motion) -> np.ndarray:
    return np.sqrt(sum(values**2 for values in motion.residuals.values()))


@pytest.mark.parametrize("stabilize", ["off", GAINS])
def test_000_A21_the_singular_point_of_the_angles_is_an_event(stabilize) -> None:
    motion = simulate(ball(), method="euler", step=0.01, stabilize=stabilize)
    assert motion.status == "singular"
    assert "singular point" in motion.reason
    assert "beta = 1.5" in motion.reason
    assert motion.column("beta")[-1] == pytest.approx(np.pi / 2, abs=0.03)
    assert np.isfinite(motion.states).all()
    assert np.abs(motion.states).max() < 100


def test_000_A22_the_published_jump_passes_the_point_and_the_constraints_recover() -> None:
    motion = simulate(ball(bypass=BYPASS), method="euler", step=0.01, stabilize=GAINS)
    assert motion.finished, motion.reason
    assert motion.jumps
    violation = norm(motion)
    first = min(jump.t for jump in motion.jumps)
    peak = violation[motion.times >= first - 1e-9].max()
    assert violation[-1] < 0.1 * peak
    for jump in motion.jumps:
        assert abs(jump.after - jump.before) == pytest.approx(0.1, abs=0.02)
        assert jump.violation > 0
        assert jump.recovery is None or jump.recovery > 0
        # the window is cleared by one jump
        assert abs(abs(jump.after) - np.pi / 2) > 0.04


def test_the_jump_does_not_bring_back_the_trajectory() -> None:
    """Only the constraints recover: the centre ends far from its circle, as the verification found."""
    jumped = simulate(ball(bypass=BYPASS), method="euler", step=0.01, stabilize=GAINS)
    exact = simulate(ball("quaternion"), method="dop853", rtol=1e-10, stabilize="off", every=10.0)
    end = [np.hypot(m.column("x")[-1], m.column("y")[-1]) for m in (jumped, exact)]
    distance = np.hypot(jumped.column("x")[-1] - exact.column("x")[-1], jumped.column("y")[-1] - exact.column("y")[-1])
    assert end[1] > 1
    assert 0.1 < distance < 3


def test_a_unit_quaternion_has_no_singular_point() -> None:
    motion = simulate(ball("quaternion"), method="euler", step=0.01, stabilize=5)
    assert motion.finished
    assert not [note for note in motion.notes if "singular" in note]


def test_a_fine_step_passes_the_singular_point_of_the_angles() -> None:
    """Measured: max |f| 0.15 with the step 0.001."""
    motion = simulate(ball(), method="euler", step=0.001, stabilize=GAINS)
    assert motion.finished
    assert norm(motion).max() == pytest.approx(0.15, abs=0.02)


@pytest.mark.parametrize(
    ("bypass", "message"),
    [
        ({**BYPASS, "jump": 0.09}, "jump ≥ 2 window"),
        ({**BYPASS, "watch": "Omega"}, "watches a coordinate"),
        ({**BYPASS, "watch": "beta'''"}, "watches a coordinate"),
        ({**BYPASS, "at": []}, "this list is empty"),
        ({**BYPASS, "at": ["pi/2", "bta"]}, "bta"),
    ],
)
def test_a_bypass_that_cannot_work_is_refused(bypass, message) -> None:
    with pytest.raises(ModelError, match=message):
        simulate(ball(bypass=bypass), method="euler", step=0.01, stabilize=GAINS)


def test_a_bypass_watches_several_positions_velocities_and_accelerations() -> None:
    """x' = 1, later x' = -t: each value is jumped over in the direction of the change."""
    words = {"name": "point", "coordinates": ["x"], "kinetic": "x'^2/2", "forces": {"x": "-a"}, "parameters": {"a": 0}}
    how = {"method": "euler", "step": 0.01, "until": 4.0, "stabilize": "off"}
    twice = System(**words, initial={"x'": 1.0}, bypass={"watch": "x", "at": [1, 3], "window": 0.05, "jump": 0.15})
    motion = simulate(twice, **how)
    assert [round(j.before, 2) for j in motion.jumps] == [0.94, 2.94]
    assert motion.states[-1, 0] == pytest.approx(4.0 + 2 * 0.14, abs=1e-9)
    fast = System(**words | {"parameters": {"a": 1}}, bypass={"watch": "x'", "at": -1, "window": 0.05, "jump": 0.15})
    motion = simulate(fast, **how)
    (jump,) = motion.jumps
    assert (jump.coordinate, round(jump.before, 2), round(jump.after, 2)) == ("x'", -0.94, -1.09)
    near = {"watch": "x''", "at": 10, "window": 0.5, "jump": 0.25}
    pole = System(**words | {"forces": {"x": "1/x"}}, initial={"x": -0.5, "x'": 2.0}, bypass=near)
    motion = simulate(pole, **how | {"until": 0.5})
    assert motion.jumps
    first = motion.jumps[0]
    assert first.after - first.before == pytest.approx(0.25, abs=0.05)
    assert first.after > 0 > first.before


def test_a_bypass_needs_a_fixed_step() -> None:
    with pytest.raises(ModelError, match="fixed step"):
        simulate(ball(bypass=BYPASS), method="dop853", rtol=1e-8, stabilize="off")


def cross(x: float, speed: float) -> System:
    """A point on the pair of lines x y = 0: at their crossing the constraint has no gradient."""
    return System(
        name="crossing lines",
        coordinates=["x", "y"],
        kinetic="(x'^2 + y'^2)/2",
        constraint=[{"name": "lines", "equation": "x*y = 0"}],
        initial={"x": x, "x'": speed},
    )


def test_C5_a_singular_start_is_named() -> None:
    """At rest there, nothing tells the branch; a velocity does."""
    motion = simulate(cross(0.0, 1.0), method="rk4", step=0.01, until=1)
    np.testing.assert_allclose(motion.states[-1], [1, 0, 1, 0], atol=1e-12)
    motion = simulate(cross(0.0, 0.0), method="rk4", step=0.01, until=1)
    assert motion.status == "singular"
    assert "the gradient of constraint 'lines' vanishes at t = 0" in motion.reason


def test_C5_a_singular_point_on_the_way_that_is_met_exactly() -> None:
    """Its row has no multiplier, but a state and an energy; the motion goes on along its line."""
    motion = simulate(cross(1.0, -1.0), method="euler", step=0.125, until=2, stabilize="off")
    assert motion.finished
    np.testing.assert_allclose(motion.states[:, 0], 1.0 - motion.times, atol=1e-14)
    is_met = motion.states[8, 0] == 0.0  # the way through the crossing may round it by 1e-17, on some machines
    assert np.isnan(motion.multipliers["lines"][8]) == is_met
    (said,) = [note for note in motion.notes if "singular point" in note]
    assert "'lines'" in said
    assert "velocities and energy are continuous" in said


def test_C5_a_singular_point_that_is_stepped_over_is_noted() -> None:
    motion = simulate(cross(1.0, -1.0), method="euler", step=0.03, until=2, stabilize="off")
    assert motion.finished
    notes = [note for note in motion.notes if "singular point" in note]
    assert len(notes) == 1
    assert "near t = 1 (" in notes[0]


def rhombus(side: float) -> System:
    """A slider-crank; with equal bars it folds: at the crank angle pi/2 the loop has a bifurcation."""
    text = gallery.find("slider-crank")
    assert text is not None
    return loads(text, "slider-crank").with_settings({"l": side})


@pytest.mark.parametrize("how", [{"method": "rk4", "step": 0.01}, {"method": "dop853", "rtol": 1e-9}])
@pytest.mark.parametrize("stabilize", ["off", 10])
def test_C5_a_folding_slider_crank_is_not_passed_silently(how, stabilize) -> None:
    motion = simulate(rhombus(1.0), **how, stabilize=stabilize, until=1.5)
    told = motion.reason + " ".join(motion.notes)
    assert "singular point" in told or "lost" in told


def point(coordinates: str, kinetic: str, equation: str, **initial: float) -> System:
    """A point on one constraint."""
    return System(
        name="point",
        coordinates=coordinates.split(),
        kinetic=kinetic,
        constraint=[{"name": "path", "equation": equation}],
        initial={name.replace("_", "'"): value for name, value in initial.items()},
    )


PLANE, POLAR = "(x'^2 + y'^2)/2", "(r'^2 + r^2*phi'^2)/2"

BRANCHING, COORDINATES = "the mechanism itself branches", "the kinetic energy degenerates there"


@pytest.mark.parametrize(
    ("system", "step", "told", "bounded"),
    [
        pytest.param(cross(1.0, -1.0), 0.03, BRANCHING, True, id="crossing lines"),
        pytest.param(
            point("x y", PLANE, "(x^2 + y^2)^2 = x^2 - y^2", x=1.0, y_=-1.0), 0.007, BRANCHING, None, id="lemniscate"
        ),
        pytest.param("equal-rods", 0.01, BRANCHING, True, id="equal rods"),
        pytest.param(rhombus(1.0), 0.01, BRANCHING, True, id="slider-crank of equal rods"),
        pytest.param(
            point("r phi", POLAR, "r*cos(phi) = 0", r=1.0, phi=np.pi / 2, r_=-1.0), 0.03, COORDINATES, True, id="polar"
        ),
        pytest.param(ball("printed"), 0.01, COORDINATES, False, id="angles of a ball"),
    ],
)
def test_N1_1_8_singularities_of_the_mechanism_are_told_from_those_of_coordinates(
    system, step, told, bounded, case
) -> None:
    """Lines and lemniscate have a node, rods of equal length fold; a straight line in polar coordinates is regular."""
    made = load(case(system)) if isinstance(system, str) else system
    method = "euler" if told == COORDINATES else "rk4"
    motion = simulate(made, method=method, step=step, until=10 if bounded is False else 2.5, stabilize="off")
    (said, *_) = [text for text in (*motion.notes, motion.reason) if "singular point" in text]
    assert told in said
    assert (BRANCHING if told == COORDINATES else COORDINATES) not in said
    assert "without bound" not in said
    assert bounded is None or ("the accelerations stay bounded" in said) is bounded


@pytest.mark.parametrize(
    ("equation", "expected"),
    [
        ("x*y = 0", Crossing.BRANCHES),
        ("x^2 + 3*y^2 = 0", Crossing.ALONE),
        ("y^2 = x^3", Crossing.UNDECIDED),
        ("x + y^2 = 0", None),
    ],
)
def test_N1_1_8_what_positions_there_are_about_a_singular_one(equation, expected) -> None:
    measure = measure_of(point("x y", PLANE, equation).derive())
    assert crossing(measure, measure.at(np.zeros(4), 0.0), np.ones(2)) is expected


def test_N1_1_12_singular_points_are_told_in_coordinates_of_the_model(case) -> None:
    motion = simulate(load(case("equal-rods")), form="maggi")
    (said,) = [note for note in motion.notes if "singular point" in note]
    assert "(a = 1.57" in said
    assert "u1" not in said


def test_regular_mechanisms_raise_no_alarm() -> None:
    for name in ("slider-crank", "four-bar", "pendulum-xy", "sling-hooked", "rolling-disc", "three-link"):
        text = gallery.find(name)
        assert text is not None
        motion = simulate(loads(text, name), method="rk4", step=0.002, stabilize="off")
        assert motion.finished
        assert not [note for note in motion.notes if "singular" in note], name


def test_a_run_that_explodes_without_a_singular_point_diverged() -> None:
    text = gallery.find("sleigh")
    assert text is not None
    for kappa in (-2, 2100):
        motion = simulate(loads(text, "sleigh"), method="euler", step=0.001, stabilize=kappa, force=True)
        assert motion.status == "diverged"
