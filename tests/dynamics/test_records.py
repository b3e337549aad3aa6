"""Records of the loops over bodies: named fields, and no record is asked for that is not there."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from svyaz.dynamics.recursions.tree_records import BodyState
from svyaz.forms.tree.recursions.steps import FIELDS
from svyaz.integrate import record_type

CHECKED = """
import numpy as np
from svyaz.integrate import instructions
instructions.CHECKED = True
from svyaz import System
from svyaz.dynamics import closed_equations, dynamics_of, plain_rates
from svyaz.gallery.random_mechanisms import random_tree

words = dict(random_tree(12, 3, branching=1.5, joints=("revolute", "prismatic"), axes="any"))
names = [body["name"] for body in words["body"]]
words["point"] = [{"name": f"p{k}", "body": names[k], "at": [0.1, 0.2, -0.1]} for k in (5, 9, 11)]
words["constraint"] = [{"name": "pin", "equation": "p5_x = p9_x"}, {"name": "rod", "equation": "p11_y + q2 = 0.3"}]
system = System(**words)
equations = closed_equations(system, system.constraints)
tree = dynamics_of(equations)
state = np.random.default_rng(3).normal(size=len(system.states))
code = plain_rates(equations)
assert np.isfinite(code.evaluate(np.concatenate([[0.0], state]), code.constants(system.constants))).all()
found = tree.tables(np.concatenate([[0.0], state]), ("mass", "jacobian"))
assert np.isfinite(found["mass"]).all() and np.isfinite(found["jacobian"]).all()
BROKEN
"""


def test_the_state_of_a_body_is_laid_out_as_its_programs_name_it() -> None:
    fields = record_type(BodyState)
    assert fields.itemsize == 8 * len(FIELDS)
    places = {"q": "q", "s": "place", "tau": "force", "a0": "swept", "b0": "bias", "w0": "omega", "f0": "felt_bias"}
    places |= {"A0": "felt_inertia", "p0": "pull", "share": "share", "k": "free", "m0": "motion", "value": "value"}
    assert {name: 8 * FIELDS.index(name) for name in places} == {
        name: fields.fields[field][1] for name, field in places.items() if fields.fields is not None
    }


def test_loops_ask_for_no_record_that_is_not_there(tmp_path: Path) -> None:
    """Compiled with checks, which stop the process: they do nothing in sound loops, and find a body too many."""
    surroundings = {**os.environ, "SVYAZ_CACHE": str(tmp_path)}
    broken = """
from svyaz.dynamics.recursions.closure_memory import model_in
constants = code.constants(system.constants)
model_in(constants)["slots"] -= 1
code.evaluate(np.concatenate([[0.0], state]), constants)
"""
    done = [
        subprocess.run([sys.executable, "-c", CHECKED.replace("BROKEN", text)], env=surroundings, check=False)
        for text in ("", broken)
    ]
    assert done[0].returncode == 0
    assert done[1].returncode != 0
