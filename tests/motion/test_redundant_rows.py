"""Constraints that follow from others: the motion is that of the others, and what is not determined is called so."""

from __future__ import annotations

import numpy as np
import pytest

from svyaz import System, gallery, load, loads, simulate
from svyaz.motion import program_text, with_gains

HOW = [{"method": "dop853", "rtol": 1e-11}, {"method": "rk4", "step": 2e-3}]


def same(one, other, tolerance: float = 1e-9) -> None:
    assert one.finished, one.reason
    assert other.finished, other.reason
    np.testing.assert_allclose(one.states[-1], other.states[-1], atol=tolerance, rtol=tolerance)


@pytest.fixture
def bricard(case) -> tuple[System, System]:
    """With all five closing equations, and without the fourth."""
    text = case("bricard").read_text()
    piece = '[[constraint]]\nname = "ay"\nequation = "pin_y = tip_y"\n'
    assert piece in text
    return load(case("bricard")), loads(text.replace(piece, ""), "four")


@pytest.mark.parametrize("how", HOW, ids=["dop853", "rk4"])
@pytest.mark.parametrize("stabilize", ["off", 10, "projection"])
def test_K3_bricard_with_five_rows_is_the_reduced_motion(bricard, stabilize, how) -> None:
    five, four = (simulate(s, **how, stabilize=stabilize, until=1) for s in bricard)
    same(five, four)
    assert five.undetermined == ("cx", "cy", "cz", "ay", "az")
    assert all(np.isnan(five.multipliers[name]).all() for name in five.undetermined)
    assert np.max(np.abs(five.residuals["az"])) < 1e-7
    assert any("'az' follows from 'cx', 'cy', 'cz' and 'ay'" in note for note in five.notes)


@pytest.mark.parametrize("form", ["maggi", "voronets"])
def test_K3_bricard_in_other_forms_and_with_chosen_gains(bricard, form) -> None:
    five = simulate(bricard[0], form=form, method="dop853", rtol=1e-10, until=0.5, stabilize="auto")
    same(five, simulate(bricard[1], method="dop853", rtol=1e-10, until=0.5, stabilize="off"))


@pytest.mark.parametrize("how", HOW, ids=["dop853", "rk4"])
def test_K3_a_four_bar_with_a_repeated_and_a_scaled_row(how) -> None:
    text = gallery.find("four-bar")
    assert text is not None
    again = '[[constraint]]\nname = "again"\nequation = "xB^2 + yB^2 = a^2"\n'
    scaled = '[[constraint]]\nname = "scaled"\nequation = "-1e4*((xC - d)^2 + yC^2 - c^2) = 0"\n'
    more, plain = loads(f"{text}\n{again}\n{scaled}", "more"), loads(text, "four-bar")
    one, other = (simulate(s, **how, stabilize=5, until=1) for s in (more, plain))
    same(one, other, 1e-12)
    assert one.undetermined == ("crank", "rocker", "again", "scaled")
    np.testing.assert_allclose(one.multipliers["coupler"], other.multipliers["coupler"], atol=1e-9)


def chain(axis: list[float], gravity: list[float], closing: dict[str, str]) -> System:
    """Three equal rods in space that turn about parallel axes; the end of the last one is held."""
    rod = {"joint": "revolute", "axis": axis, "mass": 1, "center": [0.5, 0, 0]}
    rod["central_inertia"] = {"xx": 0.1, "yy": 0.1, "zz": 0.1}
    bodies = [
        {"name": name, "base": base, "coordinate": f"q{k}", "pole": [float(k > 0), 0, 0], **rod}
        for k, (name, base) in enumerate(zip("abc", ["ground", "a", "b"], strict=True))
    ]
    points = [{"name": "tip", "body": "c", "at": [1, 0, 0]}, {"name": "pin", "body": "c", "at": [1.0, *axis[1:]]}]
    return System(
        name="chain",
        gravity=gravity,
        body=bodies,
        point=points,
        constraint=[{"name": name, "equation": e} for name, e in closing.items()],
        initial={"q0": np.pi / 2, "q1": -np.pi / 2, "q2": -np.pi / 2 + 0.0},
    )


def test_K3_a_closed_spatial_chain_with_three_redundant_rows() -> None:
    """A four-bar in a tilted plane, closed by two points in space, is the plane one with the gravity in its plane."""
    plane = chain([0, 0, 1], [-4.0, -9.81 * 0.8, 0], {"x": "tip_x = 1", "y": "tip_y = 0"})
    closing = {"x": "tip_x = 1", "y": "tip_y = 0", "z": "tip_z = 0", "pin x": "pin_x = 1", "pin y": "pin_y = -0.6"}
    tilted = chain([0, -0.6, 0.8], [-4.0, -9.81 * 0.8 * 0.8, -9.81 * 0.8 * 0.6], closing)
    how = {"method": "dop853", "rtol": 1e-11, "until": 0.5, "stabilize": 5}
    one, other = simulate(tilted, **how), simulate(plane, **how)
    same(one, other)
    (note,) = [note for note in one.notes if "left out" in note]
    assert len(note.split("left out")[0].split("states nearby")) == 4
    assert set(one.residuals) == set(closing)


def pendulum(*constraints: dict[str, object], **words: object) -> System:
    return System(
        name="pendulum",
        coordinates=["x", "y"],
        kinetic="(x'^2 + y'^2)/2",
        potential="9.81*y",
        constraint=list(constraints),
        initial={"x": 1.0},
        **words,
    )


ROD = {"name": "rod", "equation": "x^2 + y^2 = 1"}


@pytest.mark.parametrize(
    "more",
    [
        pytest.param([ROD, {"name": "late", "equation": "2*x^2 + 2*y^2 = 2", "from": 0.3}], id="begins to act"),
        pytest.param([{"name": "early", "equation": "x^2 = 1 - y^2", "until": 0.3}, ROD], id="ceases to act"),
        pytest.param([{"name": "fading", "equation": "(t - 0.3)*(x^2 + y^2 - 1) = 0"}, ROD], id="a row that vanishes"),
        pytest.param([{"name": "squared", "equation": "y*(x^2 + y^2) = y"}, ROD], id="another row that vanishes"),
        pytest.param([ROD, {"name": "rate", "equation": "x*x' + y*y' = 0"}], id="positions and velocities"),
    ],
)
@pytest.mark.parametrize("stabilize", ["off", 10, "projection"])
def test_K3_rows_that_become_dependent_on_the_way(more, stabilize) -> None:
    how = {"method": "dop853", "rtol": 1e-11, "until": 1, "stabilize": stabilize}
    same(simulate(pendulum(*more), **how), simulate(pendulum(ROD), **how))


def test_K3_contradictions_are_refused_when_they_appear() -> None:
    """x = sin t and x = t agree at t = 0 up to the second derivative."""
    moving = [{"name": "a", "equation": "x = sin(t)"}, {"name": "b", "equation": "x = t"}]
    system = System(
        name="moved", coordinates=["x", "y"], kinetic="(x'^2 + y'^2)/2", constraint=moving, initial={"x'": 1}
    )
    motion = simulate(system, method="rk4", step=0.01, until=1, stabilize="off", on_failure="return")
    assert motion.status == "singular"
    assert "contradict each other" in motion.reason
    assert motion.times[-1] < 0.1
    other = simulate(pendulum(ROD, {"name": "longer", "equation": "x^2 + y^2 = 1.1"}), until=1, on_failure="return")
    assert other.status == "singular"
    assert "contradict each other" in other.reason


@pytest.mark.parametrize("form", ["multipliers", "articulated"])
def test_W2_contradictions_of_trees_are_refused_when_they_appear(form: str) -> None:
    """c = sin t and the place t of the carriage's point agree at t = 0 up to the second derivative."""
    system = System(
        name="carriage",
        body=[
            {"name": "1", "base": "ground", "joint": "prismatic", "coordinate": "c", "axis": [1, 0, 0], "mass": 1},
            {"name": "2", "base": "1", "joint": "revolute", "coordinate": "a", "axis": [0, 0, 1], "mass": 1}
            | {"center": [0, -1, 0]},
        ],
        gravity=[0, -9.81, 0],
        point=[{"name": "p", "body": "1", "at": [0, 0, 0]}],
        constraint=[{"name": "moved", "equation": "c = sin(t)"}, {"name": "also", "equation": "p_x = t"}],
        initial={"c'": 1},
    )
    motion = simulate(system, form=form, method="rk4", step=0.01, until=1, stabilize="off", on_failure="return")
    assert motion.status == "singular"
    assert "contradict each other" in motion.reason
    assert 0 < motion.times[-1] < 0.1


def cart(*more: dict[str, object]) -> System:
    """A pendulum on a cart that a force moves."""
    return System(
        name="cart",
        coordinates=["c", "x", "y"],
        kinetic="(c'^2 + x'^2 + y'^2)/2",
        potential="9.81*y",
        inputs={"u": 0.0},
        forces={"c": "u"},
        constraint=[{"name": "rod", "equation": "(x - c)^2 + y^2 = 1"}, *more],
        initial={"y": 1},
        box={"c": [-1, 1], "x": [-2, 2], "y": [-2, 2]},
        run={"method": "dop853", "rtol": 1e-9, "until": 1, "stabilize": 5},
    )


def test_K3_equilibria_regulators_and_sweeps_of_redundant_rows() -> None:
    again = {"name": "again", "equation": "2*(x - c)^2 = 2 - 2*y^2"}
    twice, once = cart(again), cart()
    found, plain = (s.equilibria(fix={"c": 0}) for s in (twice, once))
    assert [e.word for e in found.equilibria] == [e.word for e in plain.equilibria]
    assert all(not e.multipliers for e in found.equilibria)
    assert any("'again' repeats 'rod'" in note for note in found.notes)
    one, other = (s.regulate(fix={"c": 0}, near={"y": 1}) for s in (twice, once))
    np.testing.assert_allclose(one.design.regulator.gain, other.design.regulator.gain, rtol=1e-9)
    vary = {"initial.c'": [0.1, 0.3], "initial.x'": [0.1]}
    rows = [s.sweep(vary, ["final.c"], workers=1, project=True).rows for s in (twice, once)]
    assert [row.status for row in rows[0]] == ["finished"] * 2
    np.testing.assert_allclose(
        [r.measures["final.c"] for r in rows[0]], [r.measures["final.c"] for r in rows[1]], rtol=1e-7
    )
    alone = twice.sweep({"initial.c'": [0.1]}, ["final.c"], workers=1)
    assert alone.rows[0].status == "finished", alone.rows[0].reason


def test_K3_code_is_written_with_independent_rows() -> None:
    again = {"name": "again", "equation": "2*(x - c)^2 = 2 - 2*y^2"}
    text = program_text(with_gains(cart(again), stabilize="off"), "python")
    names: dict[str, object] = {}
    exec(text, names)  # the text is our own
    rates = names["rates"](0.0, [0.0, 0.6, 0.8, 0.0, 0.0, 0.0], names["constants"]([0.0]))
    # of the free fall y'' = -g the rod, at (0.6, 0.8) with the cart, takes λ = g·0.8/(0.36·2 + 0.64) along it
    push = 9.81 * 0.8 / (2 * 0.36 + 0.64)
    np.testing.assert_allclose(rates[3:], [-0.6 * push, 0.6 * push, 0.8 * push - 9.81], atol=1e-12)


@pytest.mark.parametrize("more", [{"on": "-y", "impact": "inelastic"}, {"from": 0.7}], ids=["with it", "later"])
def test_K3_rows_that_an_event_makes_dependent(more) -> None:
    """A point falls on a floor that is described twice, at once or later, and slides on with its velocity."""
    floor = {"name": "floor", "equation": "y = 0", "on": "-y", "impact": "inelastic"}
    system = System(
        name="floor",
        coordinates=["x", "y"],
        kinetic="(x'^2 + y'^2)/2",
        potential="9.81*y",
        constraint=[floor, {"name": "again", "equation": "2*y = 0", **more}],
        initial={"y": 1.0, "x'": 1.0},
    )
    motion = simulate(system, method="rk4", step=0.01, until=1, stabilize=5)
    assert motion.finished, motion.reason
    np.testing.assert_allclose(motion.states[-1], [1.0, 0.0, 1.0, 0.0], atol=1e-12)
    assert motion.undetermined == ("floor", "again")
