"""Many runs at once are the runs one by one, bit by bit; those that fail do not disturb the others."""

from __future__ import annotations

import numpy as np
import symengine as se

from svyaz import System
from svyaz.integrate import Flow, Ode, solve, solve_each, solve_many
from svyaz.program import build, compile_program


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


def test_several_constants_are_runs_one_by_one_and_the_first_is_always_made() -> None:
    """ẏ = -a y, y(0) = 1: each path is that of ``solve``, and ends near exp(-a)."""
    y, a = se.symbols("y a")
    native = compile_program(build([("y'", -a * y)], inputs=["t", "y"], parameters=["a"]))
    gains = [0.5, 1.0, 2.0]
    rows = native.constants_each({"a": gain} for gain in gains)
    flows = [Flow(native.address, row, 1, native) for row in rows]
    asked = {"method": "rk4", "step": 0.01, "rtol": None, "atol": None, "output": None, "max_steps": 1000}
    together = solve_each(Ode(flows[0]), rows, [1.0], (0.0, 1.0), **asked, seconds=np.inf)
    alone = [solve(flow, [1.0], (0.0, 1.0), method="rk4", step=0.01) for flow in flows]
    assert all(np.array_equal(p.states, q.states) for p, q in zip(together, alone, strict=True))
    np.testing.assert_allclose([p.states[-1, 0] for p in together], np.exp(-np.array(gains)), rtol=1e-8)
    assert len(solve_each(Ode(flows[0]), rows, [1.0], (0.0, 1.0), **asked, seconds=0.0)) == 1
