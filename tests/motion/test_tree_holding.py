"""Integrals that are declared for long trees: reported, examined and held where recursions run them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from svyaz import ModelError, System
from svyaz.dynamics.recursions.closed_trees import closed_equations
from svyaz.gallery.random_mechanisms import random_tree
from svyaz.stabilise import OFF, held_integrals, options_for, perturbation, prepare


def swinging(size: int, **options: Any) -> dict[str, Any]:
    """A random tree with a filter, beside a pendulum of its own: their integrals are short, however long the tree is."""
    words: dict[str, Any] = dict(random_tree(size, 3, branching=1.5, **options))
    link = {"name": "swing", "base": "ground", "joint": "revolute", "coordinate": "s", "axis": [0, 1, 0]}
    link |= {"pole": [0, 0, 0], "mass": 2, "center": [0, 0, -0.5], "inertia": {"xx": 0.6, "yy": 0.6, "zz": 0.2}}
    words["body"] = [*words["body"], link]
    words |= {"gravity": [0, 0, -9.81], "states": ["w"], "rates": {"w": "q1' + cos(q2)*q2'"}}
    words["integral"] = [
        {"name": "swinging", "expression": "0.3*s'^2 - 9.81*cos(s)", "hold": True, "gain": 3.0, "value": -9.0},
        {"name": "filtered", "expression": "w - q1 - sin(q2)", "hold": True, "gain": 2.0},
    ]
    return words | {"initial": {"s": 0.3, "s'": 0.2, "q1": 0.1, "q2'": 0.4, "w": 0.5}}


def test_L4_rates_with_held_integrals_equal_the_written_ones() -> None:
    system = System(**swinging(17, axes="coordinate"))
    start, options = np.array(system.initial_state()), options_for(system, {})
    held = held_integrals(system, start, 0.0, None)
    rows = np.column_stack([np.zeros(10), np.random.default_rng(1).uniform(-1, 1, (10, len(system.states)))])
    found = []
    for equations in (closed_equations(system, ()), system.derive(form="lagrange")):
        segment = prepare(equations, perturbation(equations, OFF), held, options, 0.0, start)
        found.append(segment.code.evaluate(rows, segment.constants))
    np.testing.assert_allclose(found[0], found[1], rtol=0, atol=1e-9 * np.abs(found[1]).max())


def test_L4_held_integrals_of_long_trees_are_held_as_those_of_written_equations() -> None:
    """The deviation dies out as e^-κt in both; verdicts and values told are the same."""
    system = System(**swinging(17, axes="parallel"))
    options: dict[str, Any] = {"method": "dop853", "rtol": 1e-11, "until": 0.2, "every": 0.1}
    fast, written = system.simulate(**options), system.simulate(form="lagrange", **options)
    assert (fast.form, fast.status) == ("articulated", "finished")
    np.testing.assert_allclose(fast.states, written.states, rtol=0, atol=1e-8)
    first = 0.3 * 0.2**2 - 9.81 * np.cos(0.3)
    expected = -9.0 + (first + 9.0) * np.exp(-3.0 * fast.times)
    np.testing.assert_allclose(fast.integrals["swinging"], expected, rtol=0, atol=1e-8)
    assert np.ptp(fast.integrals["filtered"]) < 1e-9
    assert fast.gains is not None
    assert written.gains is not None
    assert (fast.gains.word, dict(fast.gains.held)) == (written.gains.word, dict(written.gains.held))
    assert system.check().wrong == ()


def test_L4_what_is_no_integral_of_a_long_tree_is_not_held() -> None:
    words = swinging(20, axes="parallel")
    words["integral"] = [{"name": "false", "expression": "s'^2", "hold": True}]
    motion = System(**words).simulate(until=0.1, on_failure="return")
    assert motion.status == "infeasible"
    assert motion.reason.startswith("'false' is not a first integral")
    words["integral"] = [{"name": "false", "expression": "s'^2"}]
    told = System(**words).simulate(until=0.1)
    assert told.finished
    assert any(note.startswith("'false' is not a first integral") for note in told.notes)


def test_L4_the_size_of_trees_that_are_written_out_is_a_choice() -> None:
    """A refusal names what recursions do not know, and how the equations are had all the same."""
    words: dict[str, Any] = dict(random_tree(18, 1, axes="parallel"))
    words["constraint"] = [{"name": "gear", "equation": "q1 = q2"}]
    words |= {"states": ["w"], "rates": {"w": "q3'"}}
    words["integral"] = [{"name": "filtered", "expression": "w - q3", "hold": True}]
    with pytest.raises(ModelError, match="do not know integrals that are held beside constraints") as refused:
        System(**words, run={"written": 17}).simulate(until=0.01)
    assert "'written = 18' in [run]" in str(refused.value)
    written = System(**words, run={"written": 18}).simulate(until=0.01)
    assert written.form == "multipliers"
    with pytest.raises(ModelError, match="not written out; at most 17 are"):
        System(**words, run={"written": 17}).derive()
