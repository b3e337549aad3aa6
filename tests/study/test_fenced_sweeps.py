"""Sweeps of models with limits: native loops for members that stay far from them, whole simulations for the others."""

from __future__ import annotations

import numpy as np
import pytest

from svyaz import System, simulate
from svyaz.study import sweep, sweeping

BEAD = System(
    name="bead on an ellipse",
    coordinates=["x", "y"],
    kinetic="m/2*(x'^2 + y'^2)",
    potential="m*g*y",
    dissipation="c/2*(x'^2 + y'^2)",
    parameters={"m": 0.5, "g": 9.81, "c": 0.1, "side": 0.8},
    constraint=[{"name": "ellipse", "equation": "x^2/4 + y^2 = 1"}],
    limits={"x": ["-side", 3]},
    initial={"x": 2},
    run={"until": 2, "method": "rk4", "step": 0.005, "stabilize": 5},
)


@pytest.mark.parametrize("options", [{}, {"rtol": 1e-8, "method": "dop853"}])
def test_members_with_limits_are_what_simulations_of_them_are(options) -> None:
    """More drag keeps the bead on its side of the limit; near to it, and beyond it, members are simulated whole."""
    drags = np.linspace(0.02, 1.5, 12)
    found = sweep(BEAD, {"c": drags}, ["final", "residual"], workers=1, **options)
    statuses = [row.status for row in found.rows]
    assert set(statuses) == {"left", "finished"}
    for row in found.rows:
        alone = simulate(BEAD.with_(c=float(row.point[0])), **options, on_failure="return")
        assert row.status == alone.status
        assert row.reason == str(alone.reason)
        assert [row.measures[f"final.{name}"] for name in BEAD.states] == alone.states[-1].tolist()


def test_only_members_near_a_limit_are_simulated_whole(monkeypatch) -> None:
    asked = []
    crew = sweeping._crew

    def counted(work, members, total, hands):
        asked.append(len(list(members.missing())))
        return crew(work, members, total, hands)

    monkeypatch.setattr(sweeping, "_crew", counted)
    found = sweep(BEAD, {"c": np.linspace(0.02, 1.5, 12)}, ["final"], workers=1)
    assert asked[0] == 12
    assert sum(row.status == "left" for row in found.rows) <= asked[1] < 8
    assert found.finished


def test_a_start_beyond_a_limit_is_left_at_once() -> None:
    found = sweep(BEAD, {"side": [0.8, -2.5]}, ["final.x", "t"], workers=1)
    assert [row.status for row in found.rows][1] == "left"
    assert found.rows[1].measures["t"] == 0.0
