"""Sines and cosines of native code: to one unit in the last place for all angles, however many there are."""

from __future__ import annotations

import math

import numpy as np
import pytest
from mpmath import mp

from svyaz.program.native import compile_program
from svyaz.program.tape import Program


def _angles(tape, count: int) -> Program:
    """Sines and cosines of the inputs, the last angle being the sum of the first two."""
    t = tape()
    angles = [t("input", k) for k in range(count)]
    angles.append(t("add", angles[0], angles[1]))
    outputs = [(f"{op} {k}", t(op, angle)) for k, angle in enumerate(angles) for op in ("sin", "cos")]
    return Program((), tuple(f"x{k}" for k in range(count)), tuple(t.nodes), tuple(outputs))


def _hard_angles() -> np.ndarray:
    """Next to multiples of pi/2, at all magnitudes, on both sides of the limit of the fast reduction."""
    random = np.random.default_rng(4)
    multiples = np.concatenate([np.arange(-40, 41), random.integers(1, 2**22, 300), [2_670_176, 2_670_177]]) * (
        np.pi / 2
    )
    beside = np.concatenate([np.nextafter(multiples, np.inf), multiples, np.nextafter(multiples, -np.inf)])
    spread = np.concatenate(
        [random.uniform(-10, 10, 1000), random.choice([-1, 1], 600) * 10.0 ** random.uniform(-320, 300, 600)]
    )
    limit = 2.0**22
    return np.concatenate([beside, spread, [0.0, -0.0, limit, -limit, np.nextafter(limit, 1e9), 1e22]])


def test_angles_are_accurate(tape):
    angles = _hard_angles()
    angles = angles[: len(angles) // 3 * 3].reshape(-1, 3)
    native = compile_program(_angles(tape, 3))
    found = native.evaluate(angles, native.constants([]))
    with mp.workdps(400):
        for row, values in zip(angles, found, strict=True):
            for k, angle in enumerate([*row, row[0] + row[1]]):
                exact = mp.mpf(float(angle))
                for value, expected in ((values[2 * k], mp.sin(exact)), (values[2 * k + 1], mp.cos(exact))):
                    assert abs(mp.mpf(float(value)) - expected) <= math.ulp(float(expected)), float(angle)


def test_angles_that_are_not_finite(tape):
    native = compile_program(_angles(tape, 2))
    found = native.evaluate([0.5, math.inf], native.constants([]))
    np.testing.assert_allclose(found[:2], [math.sin(0.5), math.cos(0.5)], rtol=1e-15)
    assert np.isnan(found[2:]).all()


@pytest.mark.parametrize("count", [2, 3, 4, 5, 9])
def test_any_number_of_angles(tape, count):
    native = compile_program(_angles(tape, count))
    angles = np.random.default_rng(count).uniform(-5, 5, count)
    found = native.evaluate(angles, native.constants([])).reshape(-1, 2)
    everything = np.append(angles, angles[0] + angles[1])
    np.testing.assert_allclose(found, np.transpose([np.sin(everything), np.cos(everything)]), rtol=0, atol=3e-16)
