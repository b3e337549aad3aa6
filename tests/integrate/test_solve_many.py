"""Many runs at once are the runs one by one, bit by bit; those that fail do not disturb the others."""

from __future__ import annotations

import numpy as np

from svyaz import System
from svyaz.integrate import solve, solve_many


def test_a_lot_is_its_runs() -> None:
    system = System(
        coordinates=["u"],
        kinetic="u'^2/2",
        potential="9.81*cos(u)",
        inputs={"tau": {"value": 0, "low": -12, "high": 12}},
        forces={"u": "tau"},
    )
    loop = system.regulate(near={"u": 0.0}).loop()
    starts = loop.at_rest + np.array([[0.1, 0.0], [1.4, 1.5], [-0.2, 0.3], [-0.5, 0.0]])
    times = np.linspace(0.0, 3.0, 7)
    ode = loop.ode
    small = loop.small(starts, 1e-6)
    common = {"method": "radau", "rtol": 1e-6, "output": times}
    alone = [solve(ode, y, (0.0, 3.0), atol=a, **common) for y, a in zip(starts, small, strict=True)]
    trials = np.array([path.steps + path.rejected for path in alone])
    allowed = int(np.sort(trials)[1])
    expected = trials <= allowed
    rows, finished, _ = solve_many(
        ode, starts, times, method="radau", rtol=1e-6, atol=small, max_steps=int(trials.max())
    )
    assert finished.all()
    assert all(np.array_equal(states, path.states) for states, path in zip(rows, alone, strict=True))
    few, finished, _ = solve_many(ode, starts, times, method="radau", rtol=1e-6, atol=small, max_steps=allowed)
    assert finished.tolist() == expected.tolist()
    assert not expected.all()
    assert np.array_equal(few[expected], rows[expected])
    assert np.isnan(few[~expected, -1]).all()
