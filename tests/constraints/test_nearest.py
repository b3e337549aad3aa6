"""The nearest point on constraints: closed forms, and how many evaluations it takes."""

from __future__ import annotations

import numpy as np
import pytest

from svyaz.arrays import Array
from svyaz.dynamics.corrections import Rows, nearest


def on_ellipse(counted: list[Array], a: float, b: float):
    """x²/a² + y²/b² = 1."""

    def at(z: Array) -> Rows:
        counted.append(z)
        x, y = z
        value = x**2 / a**2 + y**2 / b**2 - 1
        return Rows(np.array([value]), np.array([[2 * x / a**2, 2 * y / b**2]]), np.array([1.0 + abs(value)]))

    return at


@pytest.mark.parametrize("away", [1e-9, 1e-3, 0.1, 0.4])
def test_nearest_point_of_an_ellipse_along_its_normal(away) -> None:
    """From P + away n the nearest point is P: the foot of the normal."""
    a, b, angle = 2.0, 1.0, 0.7
    foot = np.array([a * np.cos(angle), b * np.sin(angle)])
    normal = np.array([foot[0] / a**2, foot[1] / b**2])
    counted: list[Array] = []
    found = nearest(on_ellipse(counted, a, b), np.eye(2), foot + away * normal / np.linalg.norm(normal))
    assert found.met
    assert found.z == pytest.approx(foot, abs=1e-14)
    assert len(counted) < 80  # at rounding nothing is tried over and over
