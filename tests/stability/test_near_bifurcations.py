"""Lists of equilibria near bifurcations: every part of the box is accounted for, and nothing false is called complete."""

from __future__ import annotations

import numpy as np
import pytest
from bench.equilibria.bifurcations import near_bifurcation
from bench.equilibria.near_bifurcations import compared

from svyaz import System
from svyaz.stability import boxes
from svyaz.stability.rest import rest_equations

HOOP = {
    "coordinates": ["x", "z"],
    "kinetic": "(x'^2 + z'^2 + w2*x^2)/2",
    "potential": "9.81*z",
    "parameters": {"w2": 9.81000981},
    "constraint": [{"equation": "x^2 + z^2 = 1", "name": "hoop"}],
    "initial": {"z": -1.0},
    "box": {"x": [-1.1, 1.2], "z": [-1.2, 1.1]},
}


@pytest.mark.parametrize(
    "seed", [0, 1, 2, 3, 4, 5, 6, 8, 36, 37, 45, 46, 47, 49, 50, 51, 53, 54, 55, 58, 59, 62, 63, 64, 65]
)
def test_V1_near_bifurcations_nothing_false_is_called_complete(seed: int) -> None:
    """Pitchforks, folds, exchanges of stability, hoops, struts, magnets, trusses, redundant coordinates: the roots are those
    of polynomials and bisections with 40 digits. What is missing from a list makes it incomplete, and here nothing is.
    """
    found = compared(near_bifurcation(seed))
    assert not found.false_claim, found
    assert not found.missed, found


@pytest.mark.parametrize("seed", [2, 3, 4, 14, 36, 37])
def test_V1_every_part_of_the_box_is_accounted_for(monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    """After each round a known zero lies in a part that is still divided, in one that is undecided, or it is in the answer."""
    near = near_bifurcation(seed)
    rest = rest_equations(System(**near.words))
    d, keep = len(rest.bounded), boxes._kept
    checked = 0

    def contains(low: np.ndarray, high: np.ndarray, q: np.ndarray) -> np.ndarray:
        return np.all((low[:, :d] <= q + 1e-9) & (high[:, :d] >= q - 1e-9), axis=1)

    def watched(problem, parts, found, width, fine):
        nonlocal checked
        held = [np.array(q) for q in near.known if contains(*parts, np.array(q)).any()]
        left = keep(problem, parts, found, width, fine)
        open_parts = [left, *(([lo], [hi]) for lo, hi in found.undecided), *found.unbounded]
        for q in held:
            inside = any(contains(np.array(lo), np.array(hi), q).any() for lo, hi in open_parts if len(lo))
            known = any(np.all(np.abs(zero.point[:d] - q) <= zero.doubt[:d] + 1e-9) for zero in found.zeros)
            assert inside or known, (near.kind, q)
            checked += 1
        return left

    monkeypatch.setattr(boxes, "_kept", watched)
    found = boxes.all_zeros(rest.problem, rest.low, rest.high)
    assert checked >= len(near.known)
    told = [zero for zero in found.zeros if rest.inside(zero.point, 1e-9)]
    assert not found.complete or len(told) == len(near.known)
    for zero in told:
        inside = [q for q in near.known if np.all((zero.low[:d] <= q) & (zero.high[:d] >= q))]
        assert len(inside) == 1, zero
    assert all(a.beside(b) for k, a in enumerate(found.zeros) for b in found.zeros[:k])


def test_V1_the_initial_position_is_tried_first_and_told() -> None:
    """A search that is cut at once has what the initial position leads to, is not complete, and says which limit it met."""
    cut = System(**HOOP).equilibria(seconds=0.0)
    assert not cut.complete
    assert cut.left
    assert any(e.state["z"] == pytest.approx(-1) for e in cut.equilibria)
    assert any("its time limit of 0 s" in note for note in cut.notes)
    whole = System(**HOOP).equilibria()
    assert whole.complete
    side = (1 - (9.81 / 9.81000981) ** 2) ** 0.5
    assert sorted(e.state["x"] for e in whole.equilibria) == pytest.approx([-side, 0, 0, side], abs=1e-9)


def test_V1_a_cut_of_atan2_in_the_box_is_no_obstacle() -> None:
    """A rod with a spiral spring over the whole turn: it rests upright; below, where the angle jumps by a turn, it does not."""
    words = {
        "coordinates": ["x", "y"],
        "kinetic": "(x'^2 + y'^2)/2",
        "potential": "atan2(x, y)^2/2 + 0.3*y",
        "constraint": [{"equation": "x^2 + y^2 = 1", "name": "rod"}],
        "box": {"x": [-1.2, 1.3], "y": [-1.3, 1.2]},
    }
    found = System(**words).equilibria()
    assert [(e.state["x"], e.state["y"]) for e in found.equilibria] == [pytest.approx((0, 1), abs=1e-9)]
    assert found.complete
    assert found.equilibria[0].verdict.roots[:2].imag == pytest.approx([0.7**0.5, -(0.7**0.5)])
