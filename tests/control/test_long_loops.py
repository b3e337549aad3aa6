"""Closed loops of long trees: recursions run them, with the estimates of an observer as further states."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from svyaz import ModelError, System
from svyaz.control import closed_loop
from svyaz.control.closed import closed_system
from svyaz.gallery.random_mechanisms import random_tree
from svyaz.motion import simulate


def hanging(**run: Any) -> System:
    """A tree of seventeen bodies that springs hold, driven at two joints."""
    words: dict[str, Any] = dict(random_tree(17, 2, branching=1.3, taper=1.0, axes="parallel"))
    words |= {"gravity": [0, 0, 0], "inputs": {"u": {"value": 0.0}, "p": {"value": 0.0}}}
    words["forces"] = {f"q{k}": f"-5*q{k} - 0.5*q{k}'" for k in range(1, 18)}
    words["forces"] |= {"q1": "u - 5*q1 - 0.5*q1'", "q9": "p - 5*q9 - 0.5*q9'"}
    return System(**words, run=run)


def test_L4_a_closed_loop_of_a_long_tree_moves_as_its_written_equations_say() -> None:
    """The same states by recursions and by the equations of the loop, estimates among them."""
    design = hanging().regulate(measure=["q1", "q5", "q9"]).design
    start = {"q1": 0.2, "q7'": -0.3}
    run = closed_loop(design).run(start, 0.2, rows=4)
    written = simulate(closed_system(design), form="lagrange", start=start, rtol=1e-10, until=0.2, every=0.05)
    assert run.motion.form == "articulated"
    assert len(run.motion.state_names) == 4 * 17
    np.testing.assert_allclose(run.motion.states, written.states, rtol=0, atol=1e-7)


def test_L4_a_loop_that_is_not_written_out_is_run_from_single_starts() -> None:
    design = hanging(written=16).regulate().design
    loop = closed_loop(design)
    assert loop.run({"q1": 0.1}, 0.05, rows=2).status == "finished"
    with pytest.raises(ModelError, match="many starts are run with equations"):
        loop.rates_at(loop.at_rest)
