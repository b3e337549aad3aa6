"""Stiff runs in lanes of the vector registers: the bits of one alone, whatever becomes of it and of its companions."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import symengine as se

import svyaz
from svyaz.control.basin import consistent_starts, usual_ranges
from svyaz.integrate import Flow, Ode, callback, read, solve, solve_many, write
from svyaz.integrate.calls import fused
from svyaz.integrate.compiling import part
from svyaz.integrate.kernels import Kernel, in_lanes
from svyaz.integrate.runs import Run
from svyaz.program import build, compile_program, lane_width

pytestmark = pytest.mark.skipif(lane_width() == 1, reason="this processor has no such registers")

COUNT = 5 * lane_width() + 3


def ode(rates: list[Any], states: list[Any]) -> Ode:
    """The differential equations with their Jacobian, native."""
    names = ["t", *map(str, states)]
    slopes = [rate.diff(state) for rate in rates for state in states]
    made = [
        compile_program(build([(str(k), se.sympify(e)) for k, e in enumerate(entries)], inputs=names, parameters=[]))
        for entries in (rates, slopes)
    ]
    flows = [Flow(code.address, code.constants({}), len(states), code) for code in made]
    return Ode(flows[0], flows[1])


def stiff(which: str) -> tuple[Ode, np.ndarray, float]:
    """Equations, starts and the end of time."""
    t, x, y, z = se.symbols("t x y z")
    random = np.random.default_rng(7)
    if which == "oscillator of van der Pol":  # each member is slow and fast at other times
        return ode([y, 60 * (1 - x**2) * y - x], [x, y]), random.uniform(-2, 2, (COUNT, 2)), 30.0
    if which == "running away":  # y' = y² ends within a finite time where the rest does not hold it
        return (
            ode([x**2 - 40 * (x - se.cos(t)) + 0 * y, -1000 * (y - x)], [x, y]),
            random.normal(20, 25, (COUNT, 2)),
            2.0,
        )
    # off the diagonal of J stand the largest numbers, now here, now there: rows are exchanged in some lanes
    rates = [-5 * x + 300 * y * z, -y + 100 * x * z + se.sin(t), -z - 400 * x * y]
    return ode(rates, [x, y, z]), random.normal(0, 0.3, (COUNT, 3)), 1.0


@pytest.mark.parametrize("which", ["oscillator of van der Pol", "running away", "three coupled"])
def test_L6_stiff_members_have_the_bits_of_one_alone(which, monkeypatch) -> None:
    """Members that end early, run away or take too many steps stand among others, and reject steps each for itself."""
    equations, starts, end = stiff(which)
    times, atol = np.linspace(0.0, end, 17), np.full(starts.shape, 1e-7)
    alone = [
        solve(equations, y, (0.0, end), method="radau", rtol=1e-6, atol=a, output=times)
        for y, a in zip(starts, atol, strict=True)
    ]
    assert len({path.rejected for path in alone}) > 1, "some reject more steps than others"
    assert all(path.finished for path in alone) == (which != "running away")
    tried = np.array([path.steps + path.rejected for path in alone])
    most = int(np.sort(tried)[-2])
    monkeypatch.setattr(Run, "restart", None)  # nobody is left to a run alone
    rows, finished, refused = solve_many(equations, starts, times, method="radau", rtol=1e-6, atol=atol, max_steps=most)
    assert not refused.any()
    assert not finished[tried > most].any()
    for k in np.flatnonzero(tried <= most):
        asked = np.isin(
            alone[k].times, times
        )  # the state in which a run was lost is told beside those that were asked for
        assert finished[k] == alone[k].finished
        assert rows[k, : asked.sum()].tobytes() == alone[k].states[asked].tobytes()
        assert np.isnan(rows[k, asked.sum() :]).all()


@pytest.mark.parametrize(("name", "fixed"), [("ball-and-beam", {"r": 0.2}), ("inverted-pendulum-xy", {})])
def test_L6_members_of_basins_have_the_bits_of_one_alone(name, fixed, monkeypatch) -> None:
    """Some pass a limit: each has limits of its own to remember."""
    found = svyaz.load(name).regulate(fix=fixed)
    loop, ranges = found.loop(), usual_ranges(found.design.model)
    fence, times = loop.fence(), np.linspace(0.0, 4.0, 9)
    assert fence is not None
    names = tuple(ranges)
    random = np.random.default_rng(8).uniform(-1, 1, (4 * COUNT, len(names)))
    sides = np.array([ranges[name] for name in names])
    deviations = sides.mean(axis=1) + 0.5 * (sides[:, 1] - sides[:, 0]) * random
    starts = consistent_starts(loop, names, deviations)[0][:COUNT]
    begins = np.column_stack([np.zeros(len(starts)), starts])
    alone, passed = [], []
    for start in starts:
        alone.append(loop.path(start, times, 1e-6, 10_000, fence))
        passed.append(fence.passed)
    monkeypatch.setattr(Run, "restart", None)
    rows, finished, left = solve_many(
        replace(loop.ode, after_step=fence.flow),
        starts,
        times,
        method="radau",
        rtol=1e-6,
        atol=loop.small(starts, 1e-6),
        max_steps=10_000,
        memories=fence.begun(begins),
    )
    assert left.tolist() == passed
    assert 0 < left.sum() < len(starts)
    for k, path in enumerate(alone):
        asked = np.isin(path.times, times)
        assert finished[k] == path.finished
        assert rows[k, : asked.sum()].tobytes() == path.states[asked].tobytes()


def _slope(x: int, c: int, out: int) -> int:
    write(out, 0, np.nan if read(x, 1) == 6.0 else -50.0)
    return 1 if read(x, 1) == 7.0 else 0


def test_L6_members_whose_jacobian_or_factors_do_not_exist_are_as_alone() -> None:
    """ẏ = -50 (y - cos t), with a J that is refused at y = 7, and not a number at y = 6."""
    y, t = se.symbols("y t")
    rates = compile_program(build([("y", -50 * (y - se.cos(t)))], inputs=["t", "y"], parameters=[]))
    code, none = callback(_slope), np.zeros(1)
    equations = Ode(Flow(rates.address, rates.constants({}), 1, rates), Flow(code.address, none, 1, code))
    starts = np.linspace(0.0, 3.0, COUNT)[:, None]
    starts[4], starts[5] = 7.0, 6.0
    times, asked = np.linspace(0.0, 0.5, 5), {"method": "radau", "rtol": 1e-6, "max_steps": 1000}
    rows, finished, _ = solve_many(equations, starts, times, atol=np.full(starts.shape, 1e-6), **asked)
    for k in range(3, 8):
        path = solve(equations, starts[k], (0.0, 0.5), atol=1e-6, output=times, **asked)
        told = np.isin(path.times, times)
        assert finished[k] == path.finished == (k != 5)
        assert rows[k, : told.sum()].tobytes() == path.states[told].tobytes()


@part
def _loose(a: float, b: float, c: float) -> float:
    return a * b + c


@part
def _tight(a: float, b: float, c: float) -> float:
    return fused(a, b, c)


def test_kernels_refuse_products_that_a_compiler_may_fuse_or_not() -> None:
    kernel = Kernel("sum", 4)
    vectors = [kernel.load(k) for k in range(3)]
    in_lanes(kernel, _tight)(*vectors)
    with pytest.raises(TypeError, match="fused"):
        in_lanes(kernel, _loose)(*vectors)
