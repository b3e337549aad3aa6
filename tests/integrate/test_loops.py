"""Pieces of the native loops."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import svyaz
from svyaz.integrate import compiling, weaving
from svyaz.integrate.calls import read, write
from svyaz.integrate.compiling import compiled, part
from svyaz.integrate.factors import factorise, factorise_complex, substitute, substitute_complex
from svyaz.integrate.methods import method
from svyaz.integrate.newton import GAMMA, MU, T_INVERSE, T
from svyaz.integrate.stages import scheme
from svyaz.program import standalone_text


@compiled
def solved(a: Any, pivots: Any, b: Any) -> int:
    """Solve a x = b in place, where a is not singular."""
    if factorise(a, pivots):
        substitute(a, pivots, b)
        return 1
    return 0


@compiled
def solved_complex(re: Any, im: Any, pivots: Any, b: Any, c: Any) -> int:
    """Solve (re + i im) x = b + i c in place, where the matrix is not singular."""
    if factorise_complex(re, im, pivots):
        substitute_complex(re, im, pivots, b, c)
        return 1
    return 0


@pytest.mark.parametrize("n", [1, 2, 5, 17])
def test_factors_solve_linear_systems(n: int) -> None:
    generator = np.random.default_rng(n)
    matrix, right = generator.normal(size=(n, n)), generator.normal(size=n)
    matrix[0, 0] = 0.0 if n > 1 else 2.0  # needs a pivot
    factors, pivots, solution = matrix.copy(), np.zeros(n, dtype=np.int64), right.copy()
    assert solved(factors, pivots, solution) == 1
    np.testing.assert_allclose(solution, np.linalg.solve(matrix, right), rtol=1e-10)


@pytest.mark.parametrize("size", [1.0, 1e-200, 1e200])
@pytest.mark.parametrize("n", [1, 2, 5, 17])
def test_factors_solve_complex_linear_systems(n: int, size: float) -> None:
    """Also where squares of the entries would overflow or vanish."""
    generator = np.random.default_rng(n)
    matrix = generator.normal(size=(n, n)) + 1j * generator.normal(size=(n, n))
    matrix[0, 0] = 0.0 if n > 1 else 2.0
    right = generator.normal(size=n) + 1j * generator.normal(size=n)
    parts = [np.ascontiguousarray(part) * size for part in (matrix.real, matrix.imag)]
    b, c = right.real * size, right.imag * size
    assert solved_complex(*parts, np.zeros(n, dtype=np.int64), b, c) == 1
    np.testing.assert_allclose(b + 1j * c, np.linalg.solve(matrix, right), rtol=1e-10)


@pytest.mark.parametrize("matrix", [[[1.0, 2.0], [2.0, 4.0]], [[np.nan, 1.0], [1.0, 1.0]], [[0.0]]])
def test_singular_matrices_are_refused(matrix: list[list[float]]) -> None:
    a = np.array(matrix)
    assert solved(a, np.zeros(len(a), dtype=np.int64), np.zeros(len(a))) == 0


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


@part
def _twice(x: float) -> float:
    return 2.0 * x


def _doubled(a: Any) -> int:
    a[0] = _twice(a[0])
    return len(a)


def _tripled(a: Any) -> int:
    a[0] = 3.0 * a[0]
    return len(a)


def _result(function: Any) -> float:
    """What the loop makes of 2 when it is looked for anew."""
    a = np.array([2.0, 0.0])
    assert compiled(function)(a) == 2
    return float(a[0])


@pytest.fixture
def compilations(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Names of the loops that were really compiled; the cache is empty."""
    monkeypatch.setenv("SVYAZ_CACHE", str(tmp_path / "cache"))
    seen: list[str] = []
    make = weaving.woven

    def noted(function: Any, given: Any) -> weaving.Woven:
        seen.append(function.__name__)
        return make(function, given)

    monkeypatch.setattr(weaving, "woven", noted)
    return seen


def test_N1_2_4_kept_loops_are_used_while_they_are_sound_and_made_anew_otherwise(
    tmp_path: Path, compilations: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Flipped bits, a file cut off, one of another loop under this name, a pickle: none is run, and all heal.

    Text and code of a loop are kept; damaged code is made of its text, without the compiler.
    """
    monkeypatch.chdir(tmp_path)
    assert _result(_tripled) == 6.0
    others = set((tmp_path / "cache").glob("*.code"))
    assert [_result(_doubled), _result(_doubled)] == [4.0, 4.0]
    assert compilations == ["_tripled", "_doubled"]
    code, text = sorted(
        set((tmp_path / "cache").glob("*.code")) - others, key=lambda file: b"define" in file.read_bytes()
    )
    sound = {file: file.read_bytes() for file in (code, text)}
    planted, foreign = b"cos\nsystem\n(S'touch executed'\ntR.", next(iter(others)).read_bytes()
    for damaged in ([code], [code, text]):
        for spoil in (_flipped, lambda kept: kept[: len(kept) // 2], lambda kept: foreign, lambda kept: planted):
            for file in damaged:
                file.write_bytes(spoil(sound[file]))
            compilations.clear()
            assert [_result(_doubled), _result(_doubled)] == [4.0, 4.0]
            assert compilations == ["_doubled"] * (text in damaged)
    assert not (tmp_path / "executed").exists()


def _flipped(kept: bytes) -> bytes:
    content = bytearray(kept)
    for place in (3, 100, len(content) - 50):
        content[place] ^= 4
    return bytes(content)


def test_N1_2_4_what_cannot_stand_alone_serves_this_process_and_is_not_kept(
    tmp_path: Path, compilations: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(weaving, "standalone_text", lambda text, entry: None)
    assert _result(_doubled) == 4.0
    assert not (tmp_path / "cache").exists()
    pointers = compiling.callback(_negated)
    x, out = np.array([1.5]), np.zeros(1)
    assert compiling.ENTRY(pointers.address)(x.ctypes.data, None, out.ctypes.data) == 7
    assert out[0] == -1.5


def _negated(x: int, c: int, out: int) -> int:
    write(out, 0, -read(x, 0))
    return 7


def test_N1_2_4_code_that_reads_what_is_not_there_is_not_kept() -> None:
    text = (
        """
    @PyExc_ValueError = external global i8
    declare double @sqrt(double)
    define double @root(double %x) {{ %y = call double @sqrt(double %x)  ret double %y }}
    define ptr @kind(double %x) {{ ret ptr @PyExc_ValueError }}
    """.replace("{{", "{\n")
        .replace("}}", "\n}")
        .replace("  ret", "\n ret")
    )
    assert standalone_text(text, "root") is not None
    assert standalone_text(text, "kind") is None


def test_arrays_that_are_not_in_the_order_of_c_are_refused() -> None:
    with pytest.raises(TypeError, match="order of C"):
        compiled(_doubled)(np.zeros((4, 4)).T)


STALE = """
import sys
import numpy as np
from svyaz.integrate.calls import copy, place
from svyaz.integrate.compiling import compiled

@compiled
def repeated(a, b):
    copy(place(a), place(b), 1)
    return 0

b = np.zeros(1)
repeated(np.array([0.25]), b)
print(b[0], "numba" in sys.modules)
"""


def test_loops_are_made_anew_when_a_piece_in_another_file_has_changed(tmp_path: Path) -> None:
    """A number is copied by `copy`, a piece of another file than that of the loop; kept code needs no compiler."""
    shutil.copytree(Path(svyaz.__file__).parent, tmp_path / "svyaz")
    (tmp_path / "stale.py").write_text(STALE, encoding="utf-8")

    def end() -> list[str]:
        done = subprocess.run(
            [sys.executable, str(tmp_path / "stale.py")],
            env={**os.environ, "PYTHONPATH": str(tmp_path), "SVYAZ_CACHE": str(tmp_path / "cache")},
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stdout.split()

    assert end() == ["0.25", "True"]
    assert end() == ["0.25", "False"]
    shared = tmp_path / "svyaz" / "integrate" / "calls.py"
    text = shared.read_text(encoding="utf-8")
    piece = "        write(target, m, read(source, m))"
    assert text.count(piece) == 1
    shared.write_text(text.replace(piece, piece.replace("read(source, m)", "2.0 * read(source, m)")), encoding="utf-8")
    assert end() == ["0.5", "True"]


EVERY_METHOD = """
import sys
import numpy as np
from svyaz.integrate import Ode, method, method_names, solve

falling = Ode(lambda t, y: -y, lambda t, y: -np.eye(1))
for name in method_names():
    solve(falling, [1.0], (0.0, 1.0), method=name, step=0.25)
    if method(name).embedded:
        solve(falling, [1.0], (0.0, 1.0), method=name, rtol=1e-6, output=[0.0, 0.5, 1.0])
print("numba" in sys.modules)
"""


def test_N1_2_4_the_loops_of_every_method_are_kept(python: Callable[..., subprocess.CompletedProcess[str]]) -> None:
    """What a process has compiled no other one compiles again, complex divisions of implicit methods included."""
    if python("-c", EVERY_METHOD).stdout.split() != ["False"]:
        assert python("-c", EVERY_METHOD).stdout.split() == ["False"]
