"""Hypotheses are examined, not asserted; zero roots beyond those of constraints are named."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from svyaz import System
from svyaz.expr import ModelError
from svyaz.stability.critical import stability
from svyaz.stability.hypotheses import special_case
from svyaz.stability.linearisation import first_approximation

BEAD: dict[str, Any] = {
    "coordinates": ["x", "y"],
    "kinetic": "(x'^2 + y'^2)/2",
    "potential": "9.81*y",
    "constraint": [{"name": "wire", "equation": "y = x^2"}],
    "box": {"x": [-1, 1], "y": [-1, 2]},
}


def test_on_a_smooth_wire_everything_holds() -> None:
    found = special_case(first_approximation(System(**BEAD), {"x": 0.0, "y": 0.0}))
    assert [h.holds for h in found] == [True] * 4
    assert "least singular value is 1 of the largest" in found[0].text
    tilted = System(**{**BEAD, "potential": "y + 2*x", "constraint": [{"name": "wire", "equation": "y = x^2 - 4*x"}]})
    slanting = special_case(first_approximation(tilted, {"x": 1.0, "y": -3.0}, dependent=["y"]))
    assert "least singular value is 0.45 of the largest" in slanting[0].text  # 1/√5


def test_on_a_wire_with_a_corner_the_slope_does_not_tend_to_its_value() -> None:
    bent = System(
        **{**BEAD, "potential": "(y - x)^2 + x^2", "constraint": [{"name": "wire", "equation": "y = abs(x)"}]}
    )
    found = special_case(first_approximation(bent, {"x": 0.0, "y": 0.0}))
    assert [h.holds for h in found] == [True, None, True, True]


def test_close_to_a_fold_the_slope_tends_to_its_value_all_the_same() -> None:
    """y² = 10⁻⁷ - x: perturbations of x by 10⁻⁴ are out of reach, and B = -1/(2y) is steep."""
    folded = System(
        **{**BEAD, "potential": "0*x", "constraint": [{"name": "wire", "equation": "y^2 = 1e-7 - x", "dependent": "y"}]}
    )
    found = special_case(first_approximation(folded, {"x": 0.0, "y": np.sqrt(1e-7)}))
    assert [h.holds for h in found] == [True] * 4


def test_a_wheel_without_inertia_is_refused_in_words() -> None:
    light = System(
        coordinates=["u", "v", "s"],
        kinetic="(u' - v' + 0*s')^2/2 + s'^2/2",
        potential="u^2 + v^2",
        constraint=[{"equation": "s = 0*u"}],
    )
    with pytest.raises(ModelError, match="move without inertia"):
        first_approximation(light, {})


def test_constraints_that_repeat_each_other_or_leave_nothing_are_named() -> None:
    rods = [{"name": "rod", "equation": "x^2 + y^2 = 1"}, {"name": "again", "equation": "2*x^2 + 2*y^2 = 2"}]
    with pytest.raises(ModelError, match="'rod', 'again' depend on each other"):
        System(**{**BEAD, "constraint": rods}).equilibria()
    pinned = System(**{**BEAD, "constraint": [rods[0], {"name": "line", "equation": "x = y"}]}).equilibria()
    assert [e.state["x"] for e in pinned.equilibria] == pytest.approx([-np.sqrt(0.5), np.sqrt(0.5)])
    assert all("nothing is left that could move" in e.notes[0] for e in pinned.equilibria)


def test_R2_exceptions_are_named_by_their_coordinates() -> None:
    """A cart that may stand anywhere, with a bead on a wire that it carries."""
    system = System(
        coordinates=["X", "x", "y"],
        kinetic="X'^2 + ((X' + x')^2 + y'^2)/2",
        potential="9.81*y",
        constraint=[{"equation": "y = x^2"}],
        box={"x": [-1, 1], "y": [-1, 1]},
    )
    verdict = stability(first_approximation(system, {}))
    assert verdict.zero_roots == 3
    assert verdict.constraint_roots == 1
    assert verdict.notes[0].startswith("3 zero roots: 1 of constraints, 2 because X may be moved")
    held = System(**{**system.words, "potential": "9.81*y + X^2"})
    verdict = stability(first_approximation(held, {}))
    assert verdict.zero_roots == 1
    assert verdict.word == "stable"
    assert verdict.notes == ("4 roots lie on the imaginary axis",)


def test_a_multiple_equilibrium_is_listed_and_told_to_be_one() -> None:
    system = System(
        coordinates=["x", "y"],
        kinetic="(x'^2 + y'^2)/2",
        potential="x^4/4 + y^3/3 + y^5/5",
        box={"x": [-1, 1], "y": [-1, 1]},
    )
    found = system.equilibria()
    assert len(found.equilibria) == 1
    assert not found.complete
    assert max(abs(v) for v in found.equilibria[0].state.values()) < 1e-6
    assert found.equilibria[0].verdict.word == "unstable"  # the cubic form takes both signs: Palamodov, Kozlov
    assert "multiple equilibrium" in " ".join(found.equilibria[0].notes)
    assert found.equilibria[0].verdict.zero_roots == 4


@pytest.mark.parametrize("seed", range(4))
def test_R5_a_bead_on_a_turning_hoop_at_slow_critical_and_fast_speeds(seed: int) -> None:
    def hoop(speed: float) -> Any:
        words = {"m": 1.0, "R": 1.0, "g": 9.81, "w": speed}
        system = System(
            coordinates=["u"],
            kinetic="m*R^2/2*(u'^2 + w^2*sin(u)^2)",
            potential="-m*g*R*cos(u)",
            parameters=words,
        )
        return system.equilibria(seed=seed)

    slow, fast = hoop(2.0), hoop(4.0)
    assert [e.state["u"] for e in slow.equilibria] == pytest.approx([0.0, np.pi])
    tilt = np.arccos(9.81 / 16)
    assert [e.state["u"] for e in fast.equilibria] == pytest.approx([-tilt, 0.0, tilt, np.pi])
    assert [e.verdict.word for e in fast.equilibria] == ["stable", "unstable", "stable", "unstable"]
    critical = hoop(np.sqrt(9.81))
    assert sorted(e.state["u"] for e in critical.equilibria) == pytest.approx([0.0, np.pi], abs=1e-4)


def test_a_parameter_is_unknown_when_it_has_a_side_in_the_box() -> None:
    system = System(
        coordinates=["u"],
        kinetic="(u'^2 + w^2*sin(u)^2)/2",
        potential="-9.81*cos(u)",
        parameters={"w": 1.0},
    )
    found = system.equilibria(fix={"u": 1.0}, box={"w": (1.0, 10.0)})
    assert [e.parameters["w"] for e in found.equilibria] == pytest.approx([np.sqrt(9.81 / np.cos(1.0))])
    family = system.equilibria(box={"w": (1.0, 10.0)})
    assert (family.dimension, set(family.free)) == (1, {"u", "w"})


def test_parameters_in_terms_of_others_follow_those_prescribed_or_unknown() -> None:
    system = System(
        coordinates=["u"],
        kinetic="u'^2/2",
        potential="-q*cos(u) + p*u/2",
        parameters={"p": 2.0, "q": "3*p - h", "h": "p^2/8"},
        box={"u": [-3, 0.1]},
    )
    prescribed = system.equilibria(fix={"p": 1.0})
    assert prescribed.equilibria[-1].state["u"] == pytest.approx(np.arcsin(-0.5 / (3 - 1 / 8)))
    unknown = system.equilibria(fix={"u": -0.2}, box={"p": (0.5, 5.0)})
    assert [e.parameters["p"] for e in unknown.equilibria] == pytest.approx([8 * (3 - 0.5 / np.sin(0.2))])
    assert unknown.equilibria[0].verdict.word == "stable"


def test_a_box_that_no_member_of_a_family_reaches_is_empty() -> None:
    system = System(
        coordinates=["x", "y"],
        kinetic="(x'^2 + y'^2)/2",
        potential="9.81*y",
        inputs={"f": 0.0},
        forces={"x": "f"},
        constraint=[{"equation": "x^2 + y^2 = 1"}],
        box={"x": [2, 3], "y": [2, 3]},
    )
    found = system.equilibria()
    assert (found.dimension, found.equilibria, found.complete) == (0, (), True)
    assert system.equilibria(box={"x": (0.1, 0.9), "y": (-1.0, 1.0)}).dimension == 1
