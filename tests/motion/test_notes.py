"""Notes: told once, and true."""

from __future__ import annotations

import numpy as np
import pytest

from svyaz import System, load
from svyaz.motion import simulate
from svyaz.motion.notes import told_once


def test_N1_1_12_notes_that_differ_in_numbers_alone_are_counted() -> None:
    gains = [f"κ = {k}e-0{k} chosen from 18 trial runs" for k in range(1, 9)]
    moments = [f"at t = {k} the chart changes" for k in range(5)]
    assert told_once([*gains, "one", "one", *moments], gains) == (
        gains[0],
        "… and 7 more notes like this one, with other numbers",
        "one",
        *moments,
    )


def test_N1_1_12_auto_tells_of_many_phases_in_few_notes() -> None:
    """A pendulum whose rod is let go and caught eight times by the clock: nine phases with gains of their own."""
    rods = [
        {"name": f"rod {k}", "equation": "x^2 + y^2 = 1", "from": 0.1 * k, "until": 0.1 * (k + 1)} for k in range(9)
    ]
    system = System(
        name="pendulum",
        coordinates=["x", "y"],
        kinetic="(x'^2 + y'^2)/2",
        potential="9.81*y",
        constraint=rods,
        initial={"x": 1},
    )
    motion = simulate(system, method="rk4", step=0.01, until=0.9)
    assert motion.finished, motion.reason
    assert len([note for note in motion.notes if "chosen from" in note]) <= 2
    assert any("more notes like this one" in note for note in motion.notes)


def test_N1_1_12_halved_steps_are_told_in_one_line() -> None:
    motion = simulate(load("sleigh"), method="euler", step=0.01, until=2, tolerance=1e-5)
    lines = [note for note in motion.notes if "the step is halved" in note]
    assert len(lines) == 1
    assert "the steps 0.01, 0.005" in lines[0]


@pytest.mark.parametrize("stabilize", [5.0, "off", "projection"])
def test_N1_1_11_a_tolerance_that_was_exceeded_is_noted(stabilize) -> None:
    """Whatever keeps the constraint, or nothing: what the run left is compared with what was allowed."""
    how = {"method": "rk2", "step": 0.02, "until": 2, "stabilize": stabilize}
    system = load("pendulum-xy")
    reached = np.abs(simulate(system, **how).residuals["rod"]).max()
    for factor, told in ((0.5, True), (2.0, False)):
        motion = simulate(system, **how, tolerance=factor * reached, force=True)
        assert any("more than the tolerance" in note for note in motion.notes) is told


@pytest.mark.parametrize(("size", "told"), [(1e-12, True), (1e-3, False)])
def test_N1_1_11_motions_that_are_small_in_their_units_say_that_atol_is_not(size: float, told: bool) -> None:
    """x = A cos ωt with A = 1e-12 m and ω = 1e5/s: an absolute error of 1e-9 is larger than the whole motion."""
    w, end = 1e5, 1e-3
    system = System(name="atom", coordinates=["x"], kinetic="x'^2/2", potential=f"{w}^2*x^2/2", initial={"x": size})
    plain = simulate(system, until=end, rtol=1e-9)
    notes = [note for note in plain.notes if "atol" in note]
    assert bool(notes) is told
    if told:
        (note,) = notes
        assert abs(plain.column("x")[-1] / size - np.cos(w * end)) > 1e-6
        atol = float(note.rpartition("atol = ")[2])
        better = simulate(system, until=end, rtol=1e-9, atol=atol)
        assert not [n for n in better.notes if "atol" in n]
        assert abs(better.column("x")[-1] / size - np.cos(w * end)) < 1e-6


def test_an_angle_that_begins_many_turns_away_is_asked_about() -> None:
    """120 for an angle is probably degrees; 120*deg, and a length of 120, are taken as they are."""
    words = {"coordinates": ["u"], "kinetic": "u'^2/2", "initial": {"u": 120}}
    (note,) = simulate(System(**words, potential="-9.81*cos(u)"), until=0.1).notes
    assert note == "'u' begins at 120 rad, which is 19 turns; did you mean 120*deg?"
    assert not simulate(System(**words, potential="9.81*u"), until=0.1).notes
    degrees = System(**{**words, "initial": {"u": "120*deg"}}, potential="-9.81*cos(u)")
    assert not simulate(degrees, until=0.1).notes
