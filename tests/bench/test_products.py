"""V1: products of mechanisms end with an answer; `svyaz bench products` runs 300 of them, each with a budget of CPU."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import pytest

from svyaz.expr import calculus
from svyaz.motion import simulate

ROOT = Path(__file__).parents[2]
CHEAP = (6, 8, 14, 16, 17, 24, 30, 216, 221)
"""Seeds of products that take little: charts, contacts, friction, walls, drives, limits, motors, all methods."""


@pytest.fixture(autouse=True)
def _path(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT))


@pytest.mark.parametrize("seed", CHEAP)
def test_V1_products_of_mechanisms_end_with_an_answer(seed: int) -> None:
    """Finished, or with a reason why not; residuals, gaps, pulls and the energy balance are as physics has them."""
    verdict = import_module("bench.products.judging").judge(seed)
    assert verdict.outcome != "error", verdict.wrong
    assert verdict.wrong == ()
    assert verdict.outcome == "finished" or verdict.reason


def test_V1_products_do_not_depend_on_what_was_differentiated_before(monkeypatch: pytest.MonkeyPatch) -> None:
    """Friction by reactions has a sign() of its own: an implicit method differentiates it in a process that met no other."""
    system = import_module("svyaz").System(
        name="block",
        coordinates=["x", "y"],
        kinetic="(x'^2 + y'^2)/2",
        potential="9.81*y",
        constraint=[
            {
                "name": "base",
                "equation": "y = 0",
                "off": "-lambda_base",
                "friction": {"sliding": 0.2, "along": "x' - 0.1*cos(8*t)"},
            }
        ],
        initial={"x'": 1.0},
    )
    monkeypatch.setattr(calculus, "_corners_made", False)
    motion = simulate(system, method="radau", rtol=1e-6, until=0.1, stabilize="off")
    assert motion.finished, motion.reason
    assert motion.column("x'")[-1] == pytest.approx(1.0 - 0.2 * 9.81 * 0.1, abs=1e-6)
