"""V1: verdicts on systems with cyclic coordinates speak of positional variables at fixed momenta, and name what drifts."""

from __future__ import annotations

import numpy as np
import pytest

from svyaz import System, load
from svyaz.show import as_json


def spun(speed: float, damping: float = 0.0) -> System:
    """A bead on a hoop that turns at a given speed, fastened to a wagon that rolls freely: y is cyclic."""
    return System(
        coordinates=["theta", "y"],
        kinetic="m*l^2/2*(theta'^2 + W^2*sin(theta)^2) + M/2*y'^2",
        potential="-m*g*l*cos(theta)",
        dissipation="b/2*theta'^2",
        parameters={"m": 0.4, "l": 0.5, "g": 9.81, "M": 2.0, "W": speed, "b": damping},
    )


@pytest.mark.parametrize(
    ("part", "damping", "word"), [(0.9, 0.0, "stable"), (0.9, 0.1, "asymptotic"), (1.1, 0.0, "unstable")]
)
def test_V1_the_headline_of_an_equilibrium_is_about_its_positional_variables(part, damping, word) -> None:
    """The lowest point is stable below W² = g/l and unstable above; the wagon drifts on both sides of it."""
    found = spun(part * np.sqrt(9.81 / 0.5), damping).equilibria({"y": 0.0})
    (lowest,) = [e for e in found.equilibria if abs(e.state["theta"]) < 1e-9]
    record = as_json(lowest)
    assert (lowest.word, record["verdict"], record["drift"]) == (word, word, ["y"])
    assert lowest.verdict.zero_roots == 2


def test_V1_friction_on_a_cyclic_coordinate_stops_its_drift() -> None:
    system = System(
        coordinates=["x", "u"],
        kinetic="x'^2/2 + 0.1*((x' + 0.5*u'*cos(u))^2 + (0.5*u'*sin(u))^2)",
        potential="0.981*cos(u)",
        forces={"x": "-0.1*x'"},
    )
    (hanging,) = [e for e in system.equilibria({"x": 0.0}).equilibria if abs(e.state["u"]) > 1]
    assert (hanging.word, hanging.drift) == ("asymptotic", ())


def test_V1_a_rest_and_the_steady_motion_with_speed_zero_have_one_verdict(svyaz) -> None:
    """Two routes to the same motion: as an equilibrium, and as a steady motion at psi' = 0."""
    hoop = load("hoop")
    resting = {round(e.state["z"], 6): e for e in hoop.equilibria({"psi": 0.0}).equilibria}
    turning = {round(m.state["z"], 6): m for m in hoop.steady({"psi'": 0.0}).motions}
    assert {z: e.word for z, e in resting.items()} == {z: m.verdict.word for z, m in turning.items()}
    assert resting.keys() == turning.keys()
    assert all(m.drift == ("psi",) for m in turning.values())
    said = svyaz("equilibria", "hoop", "--fix", "psi=0").stdout
    assert "equilibrium 1: stable" in said
    assert "psi drifts when its momentum is perturbed" in said


def test_V1_routh_speaks_of_the_reduced_potential(svyaz) -> None:
    """The potential energy of the bead has no minimum at the tilted motions of the hoop: Routh's reduced one has."""
    tilted = [m for m in load("hoop").steady({"psi'": 5.0}).motions if abs(m.state["x"]) > 1e-6]
    assert len(tilted) == 2
    for m in tilted:
        assert any(
            h.text.startswith("the reduced (amended) potential energy on the constraints") for h in m.verdict.hypotheses
        )
        assert not any(h.text.startswith("the potential energy") for h in m.verdict.hypotheses)
    done = svyaz("steady", "hoop", "--fix", "psi'=5")
    assert "the potential energy on the constraints" not in done.stdout


def test_V1_damping_makes_the_verdict_at_fixed_momenta_asymptotic() -> None:
    """With friction on the bead alone: asymptotic at fixed momenta, stable when they are perturbed (Theorem 2.6.1)."""
    system = System(
        coordinates=["theta", "psi"],
        kinetic="0.125*(theta'^2 + psi'^2*sin(theta)^2) + 0.15*psi'^2",
        potential="-4.905*cos(theta)",
        dissipation="0.05*theta'^2",
    )
    tilted = [m for m in system.steady({"psi'": 6.0}).motions if 0.1 < abs(m.state["theta"]) < 3]
    assert len(tilted) == 2
    for m in tilted:
        record = as_json(m)
        assert (record["verdict"], record["at_fixed_momenta"], record["at_perturbed_momenta"]) == (
            "asymptotic",
            "asymptotic",
            "stable",
        )


def test_V1_no_first_coefficient_is_made_of_rounding() -> None:
    """A pendulum on a cart that nothing pushes is conservative: its pair of imaginary roots has no first coefficient."""
    system = System(
        coordinates=["x", "u"],
        kinetic="x'^2/2 + 0.1*((x' + 0.5*u'*cos(u))^2 + (0.5*u'*sin(u))^2)",
        potential="0.981*cos(u)",
        inputs={"F": 0},
        forces={"x": "F"},
    )
    (hanging,) = [e for e in system.equilibria({"x": 0.0}).equilibria if abs(e.state["u"]) > 1]
    assert (hanging.word, hanging.drift) == ("stable", ("x",))
