"""Rules of sources for the state after a step: one file in ``svyaz_published/rules`` for each table."""

from __future__ import annotations

import sys

import pytest

import svyaz_published.rules as rules
from svyaz import ModelError, System
from svyaz.model.reading.rules import rule_tables

HALVE = """
import symengine as se
from svyaz.model import EXPRESSION, STEP, StepRule

def read(reader, given, names):
    words = reader.known_words(given, {"rate": EXPRESSION}, ("halve",))
    rate = reader.value(("halve", "rate"), words.get("rate", 0), names)
    return StepRule("the halving ([halve])", "x", se.Symbol("x") / 2 + rate * STEP, least=0.1)
"""

WORDS = {"coordinates": ["x"], "kinetic": "x'^2/2", "potential": "0", "initial": {"x": 1}}


@pytest.fixture
def halve(tmp_path, monkeypatch):
    """A rule of a file of its own: x is halved after each step, and moved by a rate times the step."""
    (tmp_path / "halve.py").write_text(HALVE, encoding="utf-8")
    monkeypatch.setattr(rules, "__path__", [*rules.__path__, str(tmp_path)])
    rule_tables.cache_clear()
    yield
    rule_tables.cache_clear()
    sys.modules.pop("svyaz_published.rules.halve", None)


def test_W5_a_rule_is_added_by_one_file(halve) -> None:
    """x ← x/2 + r h from x = 1: x_n = 2 r h + (1 - 2 r h)/2ⁿ."""
    motion = System(**WORDS, halve={"rate": 0.5}).simulate(method="rk4", step=0.1, until=0.5)
    assert motion.column("x") == pytest.approx([0.1 + 0.9 / 2**n for n in range(6)], abs=1e-14)
    assert [(j.t, j.before) for j in motion.jumps] == [
        pytest.approx((0.1, 1.0)),
        pytest.approx((0.2, 0.55)),
        pytest.approx((0.3, 0.325)),
    ]


def test_W5_mistakes_in_the_table_of_a_rule_are_reported(halve) -> None:
    with pytest.raises(ModelError, match="no key 'rat' in \\[halve\\]"):
        System(**WORDS, halve={"rat": 1})
    with pytest.raises(ModelError, match="one rule is applied after a step"):
        System(**WORDS, halve={"rate": 1}, bypass={"watch": "x", "at": 0, "window": 1, "jump": 2})
    with pytest.raises(ModelError, match="needs a fixed step"):
        System(**WORDS, halve={"rate": 1}).simulate(rtol=1e-6, until=1)


def test_without_its_file_a_table_is_unknown() -> None:
    with pytest.raises(ModelError, match="there is no key 'halve'"):
        System(**WORDS, halve={"rate": 1})
