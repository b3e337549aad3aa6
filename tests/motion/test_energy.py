"""What is told of the energy and of other integrals: which of them a system has, and how far they went."""

from __future__ import annotations

import csv
import io

import numpy as np
import pytest

import svyaz
from svyaz.motion import simulate
from svyaz.show import as_json
from svyaz.show.plots import overview, velocities_title

HELD = """
name = "held oscillator"
coordinates = ["x"]
kinetic = "x'^2/2"
potential = "x^2/2"
[[integral]]
name = "total"
expression = "(x'^2 + x^2)/2"
value = 1.0
hold = true
gain = 2.0
[initial]
x = 1
[run]
until = 4
every = 0.1
"""


def test_N1_1_3_what_is_shown_of_an_integral_with_a_value_is_its_deviation() -> None:
    """The deviation decays by its own law, g̃ = -½ e^{-2t}, while the drift grows to the distance from start to value."""
    motion = simulate(svyaz.loads(HELD))
    wanted = -0.5 * np.exp(-2.0 * motion.times)
    assert motion.deviations["total"] == pytest.approx(wanted, abs=1e-8)
    record = as_json(motion)["integrals"]
    assert list(record) == ["total"], "the energy is declared under a name of its own and stands there once"
    assert record["total"]["drift"] == pytest.approx(0.5 - 0.5 * np.exp(-8.0), abs=1e-8)
    assert record["total"]["deviation"] == pytest.approx({"initial": -0.5, "final": wanted[-1], "max": 0.5}, abs=1e-8)
    text = io.StringIO()
    motion.to_csv(text)
    rows = list(csv.reader(text.getvalue().splitlines()))
    assert rows[0] == ["t", "x", "x'", "deviation of total"]
    assert [float(row[3]) for row in rows[1:]] == pytest.approx(wanted, abs=1e-8)
    assert motion.to_xarray()["deviation of total"].values == pytest.approx(wanted, abs=1e-8)
    panel = overview(motion).axes[-2]
    assert panel.get_title(loc="left") == "Deviations of integrals"
    assert np.asarray(panel.get_lines()[0].get_ydata()) == pytest.approx(-wanted, abs=1e-8)


def test_N1_1_3_a_value_without_holding_and_no_value() -> None:
    free = simulate(svyaz.loads(HELD.replace("hold = true", "hold = false")))
    assert as_json(free)["integrals"]["total"]["deviation"] == pytest.approx(
        dict.fromkeys(("initial", "final"), -0.5) | {"max": 0.5}
    )
    assert "deviation" not in as_json(simulate(svyaz.loads(HELD.replace("value = 1.0", ""))))["integrals"]["total"]


@pytest.mark.parametrize(
    ("model", "title"),
    [
        ("coordinates = ['x']\nmomenta = ['p']\nhamiltonian = 'p^2/2 + x^2/2'", "Momenta"),
        ("coordinates = ['x']\nkinetic = \"x'^2/2\"", "Velocities"),
        ("coordinates = ['x']\nkinetic = \"x'^2/2\"\nstates = ['w']\nrates.w = 'x'", "Velocities and further states"),
        (
            "coordinates = ['x']\nmomenta = ['p']\nstates = ['w']\nhamiltonian = 'p^2/2'\nrates.w = 'x'",
            "Momenta and further states",
        ),
    ],
)
def test_N1_1_3_momenta_and_further_states_are_no_velocities(model: str, title: str) -> None:
    system = svyaz.loads(f"name = 'named'\n{model}\ninitial.x = 1\nrun.until = 0.1")
    assert velocities_title(simulate(system)) == title
