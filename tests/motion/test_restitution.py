"""Impacts that give back a part of what they take: closed forms, sequences, accumulating impacts."""

from __future__ import annotations

import numpy as np
import pytest

from svyaz import System
from svyaz.expr import ModelError
from svyaz.motion import simulate
from svyaz.show import as_json

G = 9.81


def ball(e: float | str, law: str = "newton", **words) -> System:
    """A ball that is dropped from the height 1 while it drifts along the floor."""
    given = {
        "coordinates": ["x", "y"],
        "kinetic": "m/2*(x'^2 + y'^2)",
        "potential": "m*g*y",
        "parameters": {"m": 2, "g": G, "e": 0.5},
        "constraint": [
            {"name": "floor", "equation": "y = 0", "on": "-y", "off": "-lambda_floor", "impact": law, "restitution": e}
        ],
        "initial": {"y": 1, "x'": 0.3},
    }
    return System(**{**given, **words})


@pytest.mark.parametrize(
    ("law", "e", "words"),
    [("newton", 0.5, {"rtol": 1e-10}), ("poisson", 0.7, {"method": "rk4", "step": 0.02})],
)
def test_K5_a_bouncing_ball_rests_where_the_series_of_its_impacts_ends(law, e, words) -> None:
    """t_k = t₀ (1 + 2 (e + … + e^k)), rest at t₀ (1 + e)/(1 - e); the energy falls by e² at each impact."""
    motion = simulate(ball(e, law), until=3.5, stabilize="projection", **words)
    assert motion.finished, motion.reason
    first, events = np.sqrt(2 / G), as_json(motion)["phases"][1:]
    times = [first * (1 + 2 * sum(e**j for j in range(1, k + 1))) for k in range(len(events) - 1)]
    assert [event["t"] for event in events[:-1]] == pytest.approx(times, abs=1e-11)
    assert events[-1]["t"] == pytest.approx(first * (1 + e) / (1 - e), abs=1e-11)
    assert all(event["impacts"] == ["floor"] for event in events[:-1])
    assert (events[-1]["on"], events[-1]["active"]) == (["floor"], ["floor"])
    fallen = [event["energy_after"] - 0.09 for event in events[:8]]
    assert fallen == pytest.approx([2 * G * e ** (2 * k + 2) for k in range(8)], rel=1e-8)
    assert motion.states[-1] == pytest.approx([1.05, 0, 0.3, 0], abs=1e-9)
    assert motion.column("y").min() > -1e-12
    assert "accumulate" in " ".join(motion.notes)
    balance = motion.balance
    assert balance.totals["impacts"] == pytest.approx(2 * G, rel=1e-9)
    assert abs(balance.remainder).max() < 1e-8


@pytest.mark.parametrize(
    ("more", "told"),
    [
        ({"restitution": 1.2}, "lies between 0 and 1"),
        ({"restitution": "y"}, "y"),
        ({"impact": "inelastic"}, "belongs to impact"),
        ({"restitution": None}, "needs a 'restitution'"),
        ({"off": "abs(lambda_floor) - 3"}, "not one-sided"),
        ({"on": "-y'"}, "not one-sided"),
    ],
)
def test_K5_a_restitution_needs_a_one_sided_constraint_and_a_law(more, told) -> None:
    table = {"name": "floor", "equation": "y = 0", "on": "-y", "off": "-lambda_floor", "impact": "newton"}
    table = {k: v for k, v in {**table, "restitution": 0.5, **more}.items() if v is not None}
    with pytest.raises(ModelError) as refused:
        ball(0.5, constraint=[table])
    assert told in str(refused.value)
