"""Textbook laws of friction by every road of a run; `svyaz bench friction` does ten times as many, with new seeds."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[2]

SAMPLES = {
    "force": (24, 3, 1.0),
    "export": (24, 1, 0.0),
    "sweep": (3, 16, 1.0),
    "fixed steps": (4, 5, 1.0),
    "form": (3, 4, 1.0),
    "reaction": (3, 4, 1.0),
    "multiplier": (2, 4, 1.0),
    "tree": (1, 3, 1.0),
    "long tree": (1, 2, 1.0),
}
"""By road: how many laws, how many motions of each, and until when."""


@pytest.fixture(autouse=True)
def _path(monkeypatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT))


def module(name: str):
    return import_module(f"bench.friction.{name}")


@pytest.mark.parametrize("road", SAMPLES)
def test_V1_friction_laws_move_as_their_own_formulas_say(road: str) -> None:
    """Stribeck, Tustin, LuGre, Dahl, power drags, rate and state, contacts, tyres, relays …: blocks that slide, reverse, stick
    and are broken loose, against an integration by SciPy in which every side is given.
    """
    motions = module("motions")
    laws, members, until = SAMPLES[road]
    names = [name for name, other in motions.GROUPS if other == road]
    shift = 7 * list(SAMPLES).index(road)
    chosen = [names[(shift + 5 * k) % len(names)] for k in range(laws)] if laws < len(names) else names
    compared, wrong = 0, []
    for seed, name in enumerate(chosen):
        found = motions.compare(name, road, seed, members, until)
        compared += found.count
        wrong += found.wrong
    assert wrong == []
    assert compared >= len(chosen)


def test_V1_two_hundred_motions_are_compared() -> None:
    groups = module("motions").GROUPS
    assert {road for _, road in groups} == set(SAMPLES)
    assert len({name for name, _ in groups}) >= 22
    assert sum(laws * members for laws, members, _ in SAMPLES.values()) >= 200


def test_V1_a_force_that_vanishes_would_be_seen() -> None:
    """The reference of a law without its friction is far from that with it."""
    roads, laws = module("roads"), module("laws").LAWS
    law = laws["Stribeck 1"]
    values = {"m": 1.0, "k": 0.0, "A": 0.0, "om": 1.0, "u": 0.0, "Fc": 0.3, "Fs": 0.5, "vs": 0.05, "b": 0.0}
    end = roads.reference(law, roads.Member(values, (0.0, 2.0))).solution(1.0)
    assert end == pytest.approx([1.85, 1.7], abs=1e-9)  # in closed form: the force is 0.3
    stuck = roads.reference(law, roads.Member({**values, "A": 0.4, "m": 2.0}, (0.0, 0.0))).solution(3.0)
    assert np.abs(stuck).max() < 1e-12  # 0.4 sin t never overcomes Fs


@pytest.mark.parametrize("seed", [743595505, 743596523])
def test_V2_motions_that_come_to_rest_without_any_force_raise_no_alarm(seed: int) -> None:
    """Held by a friction of 1e-17 beside a bound of 0.2: what is left of the equations is rounding, and no fault."""
    motions = module("motions")
    assert motions.compare(*motions.group(seed), seed).wrong == ()
