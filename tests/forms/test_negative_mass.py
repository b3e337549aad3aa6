"""A negative mass is an error where it makes the kinetic energy negative."""

from __future__ import annotations

import numpy as np
import pytest

from svyaz import ModelError, System, check, equilibria, load, loads, regulate, simulate, sweep
from svyaz.forms import find_negative_mass

PAIR = """\
coordinates = ["x", "y"]
kinetic = "m/2*x'^2 + M/2*(x' + y')^2"
potential = "x^2 + y^2"
[parameters]
m = -1
M = 2
[inputs]
F = 0
[forces]
x = "F"
"""


def test_V3_a_negative_mass_is_an_error_with_its_place_and_value() -> None:
    """Runs, searches and designs refuse it and name velocity and parameter; `check` tells it."""
    told = "the kinetic energy is negative for x', y' at the start: mass m = -1"
    system = loads(PAIR)
    for verb in (simulate, equilibria, System.steady, regulate):
        with pytest.raises(ModelError, match=f"5:5: {told}"):
            verb(system)
    assert told in check(system).wrong
    with pytest.raises(ModelError, match="negative for y' at the start: mass m = -2"):
        simulate(load("pendulum-xy").with_settings({"m": -2}))
    good = loads(PAIR.replace("m = -1", "m = 1"))
    with pytest.raises(ModelError, match=f"^{told}"):  # a value from Python has no place in the file
        equilibria(good, fix={"m": -1})
    with pytest.raises(ModelError, match=f"^{told}"):
        sweep(good, {"m": [-1.0, 1.0]}, until=0.1)
    assert simulate(good, until=0.1).finished


@pytest.mark.parametrize(
    "words",
    [
        {"kinetic": "m/2*x'^2 + y'^2", "constraint": [{"equation": "x = y"}]},  # positive on the constraint
        {"kinetic": "x'^2 + y'^2 + m*x'*y'"},  # a product of inertia has either sign
        {"kinetic": "(x' + m*y')^2/2 + y'^2"},
        {"kinetic": "(x'^2 - y'^2)/2 + 0*m*x'^2"},  # not by a parameter: left to notes and verdicts
        {"lagrangian": "m/2*x'^2 + y'^2"},  # not stated as a kinetic energy
        {"kinetic": "x'^2/2 + m*x^2*y'^2"},  # nothing beyond zero at the start
    ],
)
def test_V3_parameters_below_zero_that_do_no_harm_are_no_error(words) -> None:
    """Only what is negative on the velocities that the constraints allow is refused, and only where a sign is to blame."""
    system = System(coordinates=["x", "y"], parameters={"m": -1}, **words)
    assert find_negative_mass(system) is None


@pytest.mark.parametrize("seed", range(12))
def test_V3_masses_of_random_points_are_refused_where_the_matrix_is_not_positive(seed) -> None:
    """T = Σ m_k (a_k·v)²/2 with some m_k < 0 and a constraint: as the eigenvalues of NumPy on its plane say, in any units."""
    rng = np.random.default_rng(seed)
    a, masses = rng.integers(-2, 3, (4, 3)), rng.uniform(0.5, 2.0, 4) * np.where(rng.uniform(size=4) < 0.3, -1, 1)
    unit, normal = 10.0 ** rng.integers(-4, 5, 3), rng.integers(-2, 3, 3)
    speeds = [f"{q}'*{u!r}" for q, u in zip("xyz", unit.tolist(), strict=True)]
    rows = [
        " + ".join(f"({n})*{v}" for n, v in zip(row, speeds, strict=True)) for row in [*a.tolist(), normal.tolist()]
    ]
    system = System(
        coordinates=["x", "y", "z"],
        kinetic=" + ".join(f"m{k}/2*({row})^2" for k, row in enumerate(rows[:4])),
        parameters={f"m{k}": m for k, m in enumerate(masses.tolist())},
        constraint=[{"equation": f"{rows[4]} = 0"}] if normal.any() else [],
    )
    free = np.linalg.svd(normal[None, :].astype(float))[2][int(normal.any()) :]
    least = np.linalg.eigvalsh(free @ (a.T * masses) @ a @ free.T)[0]
    assert (find_negative_mass(system) is not None) == (least < -1e-9)
