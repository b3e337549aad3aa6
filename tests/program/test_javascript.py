"""JavaScript: every operation, hard names, linear systems in orders and pivoted; Node runs it against native code."""

from __future__ import annotations

import json
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from sample_programs import close, everything, native, states, sum_of_all

from svyaz.program.elimination import choose_orders
from svyaz.program.exports import export
from svyaz.program.tape import Program

NODE = shutil.which("node")
RESERVED = ("await", "of", "yield", "x", "c", "out", "constants", "Math", "solution0_0", "v1", "let", "eval", "_")

SCRIPT = """
const m = require("./model.js"), [p, rows] = require("./numbers.json");
const c = m.constants(p), out = new Float64Array(m.names.outputs.length);
const found = rows.map((x) => { const fault = m.step(x, c, out); return fault ? fault : Array.from(out); });
const rates = m.rates ? m.rates(rows[0][0], rows[0].slice(1), c) : [];
console.log(JSON.stringify([found, rates, m.names]));
"""


def in_node(program: Program, parameters: np.ndarray, inputs: np.ndarray, folder: Path) -> list:
    """Outputs for each row of inputs (a number where a linear system is singular), rates of the first row, names."""
    if NODE is None:
        pytest.skip("no Node on this machine: JavaScript cannot be run")
    (folder / "model.js").write_text(export(program, "javascript"))
    (folder / "numbers.json").write_text(json.dumps([list(parameters), inputs.tolist()]))
    (folder / "run.js").write_text(SCRIPT)
    done = subprocess.run([NODE, "run.js"], cwd=folder, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("which", ["everything", "pendulum", "ordered pendulum", "ordered everything"])
def test_javascript_gives_the_native_numbers(which, tape, pendulum, tmp_path) -> None:
    program = everything(tape) if "everything" in which else pendulum(4)
    parameters, inputs = states(program)
    if "ordered" in which:
        sample = dict(zip(program.inputs, inputs[0], strict=True))
        program = choose_orders(program, dict(zip(program.parameters, parameters, strict=True)), sample)
        assert any(system.order is not None for system in program.systems)
    found, rates, names = in_node(program, parameters, inputs, tmp_path)
    close(np.array(found), native(program, parameters, inputs))
    assert rates == found[0][len(found[0]) - len(rates) :]
    assert names["parameters"] == list(program.parameters)


def test_a_bad_order_is_left_for_pivoting(pendulum, tmp_path) -> None:
    """The order of the sample has zero pivots at other states: the unknowns are right all the same."""
    program = pendulum(3)
    parameters, inputs = states(program)
    order = ((0, 1, 2), (1, 2, 0))
    wrong = replace(program, systems=tuple(replace(system, order=order, symmetric=False) for system in program.systems))
    inputs[0, 1:4] = (0.0, np.pi / 2, 0.3)
    found, _, _ = in_node(wrong, parameters, inputs, tmp_path)
    close(np.array(found), native(program, parameters, inputs))


def test_singular_systems_are_told(pendulum, tmp_path) -> None:
    if NODE is None:
        pytest.skip("no Node on this machine: JavaScript cannot be run")
    program = pendulum(2)
    (tmp_path / "model.js").write_text(export(program, "javascript"))
    script = (
        'const m = require("./model.js"); const c = m.constants([1, 1, 1, 0, 9.8]);'
        "console.log(m.step([0, 0, 0, 0, 0], c, new Float64Array(99)));"
    )
    done = subprocess.run([NODE, "-e", script], cwd=tmp_path, capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.splitlines() == ["1"]


@pytest.mark.parametrize(
    "names", [RESERVED, ('"; process.exit(1)\n//', "${process.exit()}", "`", "\\", "*/ process.exit() /*", "</script>")]
)
def test_names_of_the_language_and_hostile_ones_stay_names(names, tape, tmp_path) -> None:
    program = sum_of_all(names, tape)
    parameters, inputs = states(program, 2)
    found, _, _ = in_node(program, parameters, inputs, tmp_path)
    close(np.array(found), native(program, parameters, inputs))
