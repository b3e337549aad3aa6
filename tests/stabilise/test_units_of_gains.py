"""Gains are judged alike in all units: lengths by 100, masses by 1000, times by 60 change no verdict and no range of κτ."""

from __future__ import annotations

import pytest

import svyaz
from svyaz import System
from svyaz.motion import check

UNITS = {"centimetres": (100.0, 1.0, 1.0), "grams and minutes": (1.0, 1000.0, 1 / 60)}
"""How many of them are in a metre, a kilogram, a second."""

DIMENSIONS = {
    "sleigh": {
        "m": (0, 1, 0),
        "a": (1, 0, 0),
        "J": (2, 1, 0),
        "g": (1, 0, -2),
        "initial.y": (1, 0, 0),
        "initial.phi'": (0, 0, -1),
    },
    "slider-crank": {
        **dict.fromkeys(("m1", "m2", "m3"), (0, 1, 0)),
        **dict.fromkeys(("r", "l"), (1, 0, 0)),
        "g": (1, 0, -2),
        "omega": (0, 0, -1),
    },
    "ball-on-plane": {
        "m": (0, 1, 0),
        "r": (1, 0, 0),
        "J": (2, 1, 0),
        **dict.fromkeys(("Omega", "spin"), (0, 0, -1)),
        **dict.fromkeys(("vx", "vy"), (1, 0, -1)),
    },
}
"""Powers of length, mass and time; what is not named is a pure number."""

TOLERANCES = {
    "sleigh": {"blade": (1e-3, (1, 0, -1))},
    "slider-crank": {"crank": (1e-4, (2, 0, 0)), "rod": (1e-4, (2, 0, 0))},
    "ball-on-plane": {
        "rolling x": (1e-4, (1, 0, -1)),
        "rolling y": (1e-4, (1, 0, -1)),
        "unit quaternion": (1e-4, (0, 0, 0)),
    },
}


def size(unit: tuple[float, ...], powers: tuple[int, ...]) -> float:
    length, mass, time = (u**p for u, p in zip(unit, powers, strict=True))
    return length * mass * time


def measured_in(name: str, unit: tuple[float, ...]) -> System:
    """The model with its numbers in other units."""
    plain = svyaz.load(name)
    known = {**plain.parameters, **{f"initial.{state}": value for state, value in plain.initial.items()}}
    return plain.with_settings({key: known[key] * size(unit, powers) for key, powers in DIMENSIONS[name].items()})


@pytest.mark.parametrize(
    ("name", "method", "kappa"),
    [("sleigh", "euler", 30.0), ("slider-crank", "rk4", 40.0), ("ball-on-plane", "rk4", 40.0)],
)
def test_N1_1_4_verdict_and_range_depend_on_no_units(name, method, kappa) -> None:
    found = {}
    for words, unit in {"metres": (1.0, 1.0, 1.0), **UNITS}.items():
        tau = unit[2]
        limits = {c: value * size(unit, powers) for c, (value, powers) in TOLERANCES[name].items()}
        how = {"method": method, "step": 0.004 * tau, "until": 1.0 * tau, "stabilize": kappa / tau, "tolerance": limits}
        gains = check(measured_in(name, unit), **how).gains
        expected = [gains.prediction.expected[c] / limit for c, limit in limits.items()]
        box = [c.value for c in gains.certificates]
        found[words] = (gains.word, *(x * tau for x in gains.limits), *expected, *box)
    for words in UNITS:
        assert found[words][0] == found["metres"][0]
        assert found[words][1:] == pytest.approx(found["metres"][1:], rel=1e-6, abs=1e-9), words
