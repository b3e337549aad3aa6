"""Equilibria and verdicts on random systems against a search and eigenvalues that share nothing with them."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def _path(monkeypatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT))


def module(name: str):
    return import_module(f"bench.equilibria.{name}")


@pytest.mark.parametrize("group", range(4))
def test_N3_nothing_is_missed_and_nothing_is_wrong(group: int) -> None:
    draws, compared = module("draws"), module("random_systems").compared
    for seed in range(10 * group, 10 * group + 10):
        found = compared(draws.drawn(seed, draws.SMALL), seed)
        assert (found.missed, found.wrong, found.complete) == ((), (), True), found.draw


def test_N3_the_oracle_knows_a_pendulum_in_x_and_y() -> None:
    """Roots ±√(g/l) i and ±√(g/l), and friction to the left."""
    draws = module("draws")
    sides = {"x": (-1.1, 1.2), "y": (-1.3, 1.1)}
    unit = (("1", "0"), ("0", "1"))
    rod = draws.Draw("rod", ("x", "y"), unit, "9.81*y", sides, {}, ("x^2 + y^2 - 1",))
    bottom, top = module("oracle").Oracle(rod).found(0)
    assert (bottom.word, top.word) == ("stable", "unstable")
    assert sorted(bottom.roots.imag) == pytest.approx([-(9.81**0.5), 9.81**0.5])
    assert sorted(top.roots.real) == pytest.approx([-(9.81**0.5), 9.81**0.5])


def test_N3_a_wrong_word_and_a_wrong_root_are_noticed() -> None:
    draws, checks = module("draws"), module("random_systems")
    draw = draws.Draw("line", ("x",), (("1",),), "x^2/2", {"x": (-1.0, 1.3)}, {"x": "-x'"}, conservative=False)
    (right,) = module("oracle").Oracle(draw).found(0)
    (ours,) = import_module("svyaz").System(**draw.words).equilibria().equilibria
    assert checks.disagreements(right, ours) == []
    changed = module("oracle").Rest(right.position, right.roots + np.array([0.0, 0.1]), "unstable")
    assert len(checks.disagreements(changed, ours)) == 2
