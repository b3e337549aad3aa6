"""Matrices that are taken apart are finite, wherever that is done."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import svyaz
from svyaz import ModelError, matrices
from svyaz.control.pairs import controllability, kalman_matrix
from svyaz.control.regulators import lqr

SOURCES = Path(svyaz.__file__).parent
ITERATING = re.compile(
    r"linalg\.(?:svd|svdvals|pinv|lstsq|eig\w*|cond|matrix_rank)\b|linalg\.norm\([^=]*, 2\)|matrix_balance\("
)


def test_N1_2_5_nothing_that_iterates_on_a_matrix_is_called_past_the_guard() -> None:
    """LAPACK fails or never ends on numbers that are none: one module looks at them first, and all others go through it."""
    past = [
        f"{file.relative_to(SOURCES)}: {line.strip()}"
        for file in SOURCES.rglob("*.py")
        if file.name != "matrices.py"
        for line in file.read_text(encoding="utf-8").splitlines()
        if ITERATING.search(line)
    ]
    assert past == []


@pytest.mark.parametrize("wrong", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize(
    "taken",
    ["svd", "singular_values", "matrix_rank", "cond", "spectral_norm", "pinv", "eigvals", "eigvalsh", "eig", "balance"],
)
def test_N1_2_5_what_is_not_finite_is_refused_in_words(taken: str, wrong: float) -> None:
    matrix = np.array([[1.0, 2.0], [wrong, 3.0]])
    with pytest.raises(ModelError, match="run out of range"):
        getattr(matrices, taken)(matrix)
    with pytest.raises(ModelError, match="run out of range"):
        matrices.lstsq(np.eye(2), matrix[:, 0])


@pytest.mark.parametrize("size", [1e308, 1e-308, 1e160, 1e-160])
def test_N1_2_5_extreme_sizes_are_no_obstacle(size: float) -> None:
    """A⁺A = E and the singular values of sizes times a matrix are size times its own."""
    matrix = np.array([[0.3, 0.1], [0.2, -0.4]])
    assert matrices.singular_values(size * matrix) == pytest.approx(size * matrices.singular_values(matrix), rel=1e-9)
    if size > 1e-300:  # the inverse itself is a number
        assert matrices.pinv(size * matrix) * size @ matrix == pytest.approx(np.eye(2), abs=1e-9)
    stacked = np.stack([size * matrix, matrix])
    assert matrices.pinv(stacked)[1] == pytest.approx(np.linalg.inv(matrix), rel=1e-12)


def test_N1_2_5_pairs_and_regulators_run_out_of_range_in_words() -> None:
    fast = np.array([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1e170, 0.0, 0.0]])
    push = np.array([0.0, 0.0, 1.0])
    assert np.isfinite(kalman_matrix(1e200 * np.diag([1.0, 2.0, 3.0]), np.ones(3))).all()
    assert controllability(fast, push).complete
    with np.errstate(invalid="ignore"):
        nowhere = fast * np.inf
    for a, b in ((nowhere, push), (fast, push * np.nan)):
        for asked in (controllability, lqr):
            with pytest.raises(ModelError, match=r"run out of range|'[ab]' must hold finite numbers"):
                asked(a, b)


@pytest.mark.parametrize("count", [60, 100, 300])
def test_N1_1_4_large_singular_matrices_have_a_least_singular_value_of_zero(count: int) -> None:
    """M of points that only their relative velocities give energy, beside a constraint: rounding makes it indefinite."""
    path = np.diag([1.0, *[2.0] * (count - 2), 1.0]) - np.eye(count, k=1) - np.eye(count, k=-1)
    scales = np.sqrt(np.diag(path))
    matrix = np.zeros((count + 2, count + 2))
    matrix[0, 0] = matrix[-1, 0] = matrix[0, -1] = 1.0
    matrix[1:-1, 1:-1] = path / np.outer(scales, scales)
    assert matrices.is_large(matrix)
    largest, least = matrices.extreme_singular_values(matrix)
    assert largest == pytest.approx(2.0, rel=2e-3)
    assert least < 1e-12
