"""Roots are told no better than rounding lets them be known."""

from __future__ import annotations

import numpy as np
import pytest

from svyaz.show import roots_text
from svyaz.stability import roots


@pytest.mark.parametrize("seed", range(12))
def test_N1_1_12_roots_on_the_axes_are_written_on_them(seed: int) -> None:
    """M q̈ + K q = 0 with K positive, singular or not definite, in units that differ by thousands."""
    random = np.random.default_rng(seed)
    n = random.integers(1, 5)
    root = random.normal(size=(n, n))
    mass, turn = root @ root.T + np.eye(n), np.linalg.qr(random.normal(size=(n, n)))[0]
    stiff = turn @ np.diag(random.choice([-2.0, 0.0, 1.0, 1.0, 5.0, 300.0], n)) @ turn.T
    units = 10.0 ** random.uniform(-2, 2, n)
    square = np.linalg.solve(mass, stiff) * units / units[:, None]
    found = roots(np.block([[np.zeros((n, n)), np.eye(n)], [-square, np.zeros((n, n))]]))
    assert np.all((found.real == 0) | (found.imag == 0))
    told = roots_text(found)
    assert "-0," not in told + ","
    assert "e-1" not in told


def test_N1_1_12_what_is_small_but_known_is_told() -> None:
    assert roots_text(roots(np.diag([-1e-9, -1.0]))) == "-1e-09, -1"
    assert roots_text(roots([[-2e-9, 1.0], [-1.0, -2e-9]])) == "-2e-09+1i, -2e-09-1i"
    assert roots_text([complex(-0.0, 0.0), complex(-0.0, -2.5), complex(1.0, -0.0)]) == "0, -2.5i, 1"
