"""The mechanisms of the gallery with redundant coordinates: their equilibria, and what their closed loops do."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

import numpy as np
import pytest

from svyaz import gallery, loads
from svyaz.control import Regulation, regulate
from svyaz.control.basin import basin, consistent_starts
from svyaz.control.loop import ClosedLoop, closed_loop
from svyaz.control.trials import shifted_limit
from svyaz.stability.starts import consistent_start

STARTS = 20
Ranges = Mapping[str, tuple[float, float]]


def sides(**sizes: float) -> Ranges:
    return {name.replace("_", "'"): (-size, size) for name, size in sizes.items()}


def beam(dependent: str, **choices: str) -> tuple[str, dict[str, str], Ranges]:
    """At least |r - r₀| ≤ 0.03, |α| ≤ 0.02; where θ is free, what belongs to such angles of the beam."""
    turned = 0.15 if choices["equilibrium"] == "zero" else 0.09
    ranges = sides(r=0.03, alpha=0.02) if dependent == "theta" else sides(r=0.03, theta=turned)
    return "ball-and-beam", {**choices, "dependent": dependent}, ranges


LOOPS = [
    *(
        beam(dependent, control=control, motor=motor, equilibrium=where, energy=energy)
        for dependent, control, motor in (
            ("theta", "torque", "printed-table"),
            ("theta", "voltage", "printed-table"),
            ("alpha", "torque", "printed-table"),
            ("alpha", "voltage", "numbers"),
        )
        for where, energy in (("zero", "exact"), ("nonzero", "dissertation"))
    ),
    ("inverted-pendulum-xy", {}, sides(X=0.1, x=0.1, X_=0.3, x_=0.3)),
    ("four-bar-motor", {}, sides(theta=1.5, theta_=5.0)),
    ("furuta-linkage", {}, sides(theta=0.3, alpha=0.12, alpha_=0.8)),
    ("parallel-manipulator", {}, sides(q1=0.6, q2=0.6, q1_=3.0, q2_=3.0)),
]
NAMES = [" ".join([name, *choices.values()]) for name, choices, _ in LOOPS]


@cache
def regulated(k: int) -> tuple[Regulation, ClosedLoop, float]:
    """The control, its closed loop, and a time in which slow deviations fall by e⁻¹²."""
    name, choices, _ = LOOPS[k]
    found = regulate(loads(gallery.find(name, choices) or "", name))
    slowest = -found.design.closed_roots(found.plant).real.max()
    return found, found.loop(), 12 / slowest


@pytest.mark.parametrize("k", range(len(LOOPS)), ids=NAMES)
def test_R3_consistent_starts_inside_the_basin_return(k: int) -> None:
    found, loop, until = regulated(k)
    assert found.valid
    ranges = LOOPS[k][2]
    attraction = basin(loop, ranges, 60, until)
    if LOOPS[k][0] == "ball-and-beam":
        assert attraction.radius == 1.0
    radius = 1.0 if attraction.radius == 1.0 else 0.6 * attraction.radius
    assert radius > 0.3
    spans = np.array([ranges[name][1] for name in attraction.names])
    deviations = radius * spans * np.random.default_rng(k).uniform(-1, 1, (STARTS, len(spans)))
    starts, met = consistent_starts(loop, attraction.names, deviations)
    assert met.all()
    for start in starts:
        run = loop.run(dict(zip(loop.states, map(float, start), strict=True)), until, rows=100)
        assert run.returned
        assert run.largest_residual < 1e-9


@pytest.mark.parametrize("k", range(len(LOOPS)), ids=NAMES)
def test_R3_from_inconsistent_starts_the_loop_tends_where_it_is_said_to(k: int) -> None:
    found, loop, until = regulated(k)
    moved = {q: found.plant.state[q] + 0.004 * (1 + i) for i, q in enumerate(found.plant.dependent)}
    start = {**found.plant.state, **moved}
    limit = shifted_limit(found.design, start)
    assert limit is not None
    away = max(abs(limit[q] - found.plant.state[q]) for q in found.system.coordinates)
    assert away > 1e-3, "the limit is not the equilibrium"
    run = loop.run(start, 2 * until, rows=100)
    last = run.final
    for name, value in limit.items():
        assert last[name] == pytest.approx(value, abs=1e-6 * max(1.0, abs(value)))
    for residual in run.residuals.values():
        assert np.abs(residual - residual[0]).max() < 1e-9
    assert not run.returned


@pytest.mark.parametrize("k", [3, *range(len(LOOPS) - 4, len(LOOPS))], ids=lambda k: NAMES[k])
def test_R4_multipliers_and_shulgin_agree_under_the_same_control(k: int) -> None:
    found, loop, _ = regulated(k)
    first = found.plant.independent[0]
    start = consistent_start(found.system, found.plant.state, found.plant.dependent, {first: 0.05}).state
    other = closed_loop(found.design, form="multipliers")
    runs = [each.run(start, 10.0, rtol=1e-11) for each in (loop, other)]
    for name in found.plant.variables:
        gap = np.abs(runs[0].deviations[name] - runs[1].deviations[name]).max()
        assert gap < 1e-7 * max(1.0, float(np.abs(runs[0].deviations[name]).max()))


def test_R3_the_command_says_where_an_inconsistent_start_leads(svyaz) -> None:
    done = svyaz("regulate", "four-bar-motor", "--run", "--until", "5", "--start", "psi=1.79")  # in place of 1.759
    assert "it will not return, but tend to" in done.stderr
