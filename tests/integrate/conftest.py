"""Problems with known solutions, as native right-hand sides `int32 f(x, c, out)`, x = [t, y…]."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from math import cos, exp, log, sin, sqrt
from typing import Any

import numpy as np
import pytest
from numba import cfunc, types
from scipy.special import ellipj

from svyaz.integrate import Flow, Ode

_NUMBERS = types.CPointer(types.double)
SIGNATURE = types.int32(_NUMBERS, _NUMBERS, _NUMBERS)


@dataclass(frozen=True)
class Problem:
    """Equations ẏ = f(t, y), their start and span, and the exact solution where there is one."""

    flow: Flow
    jacobian: Flow
    start: np.ndarray
    span: tuple[float, float]
    exact: Callable[[Any], np.ndarray]
    rates: Callable[[float, np.ndarray], np.ndarray]

    @property
    def ode(self) -> Ode:
        return Ode(self.flow, self.jacobian)


def native(function: Callable[..., int], constants: list[float], size: int) -> Flow:
    compiled = cfunc(SIGNATURE)(function)
    return Flow(compiled.address, np.array(constants), size, compiled)


def _oscillator(x, c, out):
    out[0] = x[2]
    out[1] = -c[0] * x[1]
    return 0


def _oscillator_jacobian(x, c, out):
    out[0], out[1], out[2], out[3] = 0.0, 1.0, -c[0], 0.0
    return 0


def _transcendental(x, c, out):
    t, u, v = x[0], x[1], x[2]
    out[0] = u * v
    out[1] = -log(u)
    out[2] = v - t * log(u)
    return 0


def _transcendental_jacobian(x, c, out):
    t, u, v = x[0], x[1], x[2]
    out[0], out[1], out[2] = v, u, 0.0
    out[3], out[4], out[5] = -1.0 / u, 0.0, 0.0
    out[6], out[7], out[8] = -t / u, 1.0, 0.0
    return 0


def _kepler(x, c, out):
    r2 = x[1] * x[1] + x[2] * x[2]
    if r2 == 0.0:
        return 1
    r3 = r2 * sqrt(r2)
    out[0], out[1] = x[3], x[4]
    out[2], out[3] = -x[1] / r3, -x[2] / r3
    return 0


def _kepler_jacobian(x, c, out):
    q, p = x[1], x[2]
    r2 = q * q + p * p
    r5 = r2 * r2 * sqrt(r2)
    for i in range(16):
        out[i] = 0.0
    out[2] = out[7] = 1.0
    out[8], out[9] = (3 * q * q - r2) / r5, 3 * q * p / r5
    out[12], out[13] = 3 * q * p / r5, (3 * p * p - r2) / r5
    return 0


def _kepler_exact(t: Any) -> np.ndarray:
    """Eccentricity 0.6, semi-axis 1: x = cos E - e, y = √(1 - e²) sin E, t = E - e sin E."""
    time, e = np.asarray(t, dtype=float), 0.6
    anomaly = time + e * np.sin(time)
    for _ in range(50):
        anomaly = anomaly - (anomaly - e * np.sin(anomaly) - time) / (1 - e * np.cos(anomaly))
    rate = 1 / (1 - e * np.cos(anomaly))
    side = np.sqrt(1 - e * e)
    return np.array(
        [np.cos(anomaly) - e, side * np.sin(anomaly), -np.sin(anomaly) * rate, side * np.cos(anomaly) * rate]
    )


def _rigid_body(x, c, out):
    out[0] = x[2] * x[3]
    out[1] = -x[1] * x[3]
    out[2] = -c[0] * x[1] * x[2]
    return 0


def _rigid_body_jacobian(x, c, out):
    out[0], out[1], out[2] = 0.0, x[3], x[2]
    out[3], out[4], out[5] = -x[3], 0.0, -x[1]
    out[6], out[7], out[8] = -c[0] * x[2], -c[0] * x[1], 0.0
    return 0


def _rotation_exact(t: Any) -> np.ndarray:
    """Euler's equations of a free body in the scaling sn' = cn dn, cn' = -sn dn, dn' = -m sn cn, m = 0.51."""
    sn, cn, dn, _ = ellipj(np.asarray(t, dtype=float), 0.51)
    return np.array([sn, cn, dn])


def _transcendental_exact(t: Any) -> np.ndarray:
    return np.array([np.exp(np.sin(t)), np.cos(t), t * np.cos(t)])


@cache
def _problem(name: str) -> Problem:
    table: dict[str, tuple[Any, Any, list[float], list[float], tuple[float, float], Callable[[Any], np.ndarray]]] = {
        "oscillator": (
            _oscillator,
            _oscillator_jacobian,
            [4.0],
            [1.0, 0.0],
            (0.0, 3.0),
            lambda t: np.array([np.cos(2 * t), -2 * np.sin(2 * t)]),
        ),
        "transcendental": (
            _transcendental,
            _transcendental_jacobian,
            [0.0],
            [exp(sin(0.5)), cos(0.5), 0.5 * cos(0.5)],
            (0.5, 2.5),
            _transcendental_exact,
        ),
        "kepler": (_kepler, _kepler_jacobian, [0.0], [0.4, 0.0, 0.0, 2.0], (0.0, 10.0), _kepler_exact),
        "rigid body": (_rigid_body, _rigid_body_jacobian, [0.51], [0.0, 1.0, 1.0], (0.0, 12.0), _rotation_exact),
    }
    function, jacobian, constants, start, span, exact = table[name]

    def rates(t: float, y: np.ndarray) -> np.ndarray:
        out = np.zeros(len(start))
        function(np.concatenate(([t], y)), constants, out)
        return out

    size = len(start)
    return Problem(
        native(function, constants, size), native(jacobian, constants, size), np.array(start), span, exact, rates
    )


@pytest.fixture
def problem() -> Callable[[str], Problem]:
    """The problem of that name: oscillator, transcendental, kepler or rigid body."""
    return _problem


@pytest.fixture
def as_native() -> Callable[..., Flow]:
    """Make a native right-hand side: as_native(function, constants, size)."""
    return native
