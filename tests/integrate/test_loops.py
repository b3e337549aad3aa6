"""Pieces of the native loops."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numba.core.dispatcher import Dispatcher

import svyaz
from svyaz.integrate import compiling
from svyaz.integrate.implicit import factorise, substitute
from svyaz.integrate.methods import method
from svyaz.integrate.newton import GAMMA, MU, T_INVERSE, T
from svyaz.integrate.stages import scheme


@pytest.mark.parametrize("kind", [np.float64, np.complex128])
@pytest.mark.parametrize("n", [1, 2, 5, 17])
def test_factors_solve_linear_systems(kind: Any, n: int) -> None:
    generator = np.random.default_rng(n)
    matrix = generator.normal(size=(n, n)).astype(kind)
    if kind is np.complex128:
        matrix += 1j * generator.normal(size=(n, n))
    matrix[0, 0] = 0.0 if n > 1 else 2.0  # needs a pivot
    right = generator.normal(size=n).astype(kind)
    factors, pivots, solution = matrix.copy(), np.zeros(n, dtype=np.int64), right.copy()
    assert factorise(factors, pivots)
    substitute(factors, pivots, solution)
    np.testing.assert_allclose(solution, np.linalg.solve(matrix, right), rtol=1e-10)


@pytest.mark.parametrize("matrix", [[[1.0, 2.0], [2.0, 4.0]], [[np.nan, 1.0], [1.0, 1.0]], [[0.0]]])
def test_singular_matrices_are_refused(matrix: list[list[float]]) -> None:
    a = np.array(matrix)
    assert not factorise(a, np.zeros(len(a), dtype=np.int64))


def test_newton_transformation_diagonalises_the_inverse_of_the_tableau() -> None:
    blocks = T_INVERSE @ np.linalg.inv(method("radau").a) @ T
    expected = [[GAMMA, 0, 0], [0, MU.real, -MU.imag], [0, MU.imag, MU.real]]
    np.testing.assert_allclose(blocks, expected, atol=1e-13)
    np.testing.assert_allclose(T_INVERSE @ T, np.eye(3), atol=1e-15)


@pytest.mark.parametrize("name", ["euler", "rk4", "dopri5", "dop853"])
def test_scheme_leaves_out_zeros_and_nothing_else(name: str) -> None:
    tableau = method(name)
    rule = scheme(tableau)
    assert (rule.weight != 0).all()
    rows = [*tableau.a, tableau.b, *([] if tableau.extra_a is None else tableau.extra_a), *tableau.errors]
    assert len(rule.first) == len(rows) + 1
    for i, row in enumerate(rows):
        places = slice(rule.first[i], rule.first[i + 1])
        rebuilt = np.zeros(len(row))
        rebuilt[rule.column[places]] = rule.weight[places]
        np.testing.assert_array_equal(rebuilt, row)


def test_loops_are_kept_in_memory_where_no_folder_can_be_written(monkeypatch: pytest.MonkeyPatch) -> None:
    def double(x: float) -> float:
        return 2 * x

    def refuse(self: Any) -> None:
        raise RuntimeError("cannot cache function: no locator available")

    monkeypatch.setattr(Dispatcher, "enable_caching", refuse)
    assert compiling.compiled(double)(2.0) == 4.0


STALE = """
from svyaz.integrate import Flow, solve
from numba import cfunc, types
import numpy as np
pointer = types.CPointer(types.double)
@cfunc(types.int32(pointer, pointer, pointer))
def rates(x, c, out):
    out[0] = -x[1]
    return 0
path = solve(Flow(rates.address, np.zeros(1), 1, rates), [1.0], (0.0, 1.0), method="euler", step=0.5)
print(path.states[-1, 0])
"""


def test_loops_are_made_anew_when_a_piece_in_another_file_has_changed(tmp_path: Path) -> None:
    """A state is stored by `copy`, a piece of another file than that of the loop."""
    shutil.copytree(Path(svyaz.__file__).parent, tmp_path / "svyaz")

    def end() -> str:
        done = subprocess.run(
            [sys.executable, "-c", STALE],
            env={**os.environ, "PYTHONPATH": str(tmp_path)},
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stdout.strip()

    assert end() == "0.25"
    shared = tmp_path / "svyaz" / "integrate" / "calls.py"
    text = shared.read_text(encoding="utf-8")
    piece = "        write(target, m, read(source, m))"
    assert text.count(piece) == 1
    shared.write_text(text.replace(piece, piece.replace("read(source, m)", "2.0 * read(source, m)")), encoding="utf-8")
    assert end() != "0.25"
