"""Friction laws of the textbooks: the force of the side that applies, and nothing of the other one."""

from __future__ import annotations

import numpy as np
import pytest

from svyaz import System

G = 9.81


def block(force: str, speed: float, **parameters: float) -> System:
    return System(
        coordinates=["x"],
        kinetic="x'^2/2",
        parameters=parameters,
        forces={"x": force},
        initial={"x'": speed},
    )


@pytest.mark.parametrize("scale", [0.06, 0.05, 0.002])
@pytest.mark.parametrize("method", ["dop853", "radau", "rk4"])
def test_V1_stribeck_friction_does_not_vanish(scale: float, method: str) -> None:
    """At speeds far above vs the force is 0.3: x'(1) = 2 - 0.3, x(1) = 2 - 0.3/2, in few steps."""
    system = block("-sign(x')*(0.3 + 0.2*exp(-abs(x')/vs))", 2.0, vs=scale)
    length = {"step": 0.1} if method == "rk4" else {"rtol": 1e-9}
    motion = system.simulate(until=1.0, method=method, **length)
    assert motion.states[-1] == pytest.approx([1.85, 1.7], abs=1e-8)
    assert motion.steps < 30


def test_V1_the_example_of_the_documentation_slows_down() -> None:
    """A coefficient of friction that depends on the slip: x'(1) = 4 - 0.3 g."""
    law = {"sliding": "0.3 + 0.1*exp(-abs(x')/0.05)", "along": ["1", "0"]}
    system = System(
        coordinates=["x", "y"],
        kinetic="m/2*(x'^2 + y'^2)",
        potential="m*g*y",
        parameters={"m": 1, "g": G},
        constraint=[{"name": "base", "equation": "y = 0", "off": "-lambda_base", "friction": law}],
        initial={"x'": 4},
    )
    motion = system.simulate(until=1.0)
    assert motion.states[-1, 2] == pytest.approx(4 - 0.3 * G, abs=1e-8)


def test_V1_power_drag_beside_dry_friction() -> None:
    """v' = -0.3 - 0.2 v^1.5 from v = 2, by quadrature in SciPy: the numbers were found once and for all."""
    motion = block("-0.3*sign(x') - 0.2*sign(x')*abs(x')^1.5", -2.0).simulate(until=1.0, rtol=1e-10)
    assert motion.states[-1] == pytest.approx([-1.61988786, -1.28516437], abs=1e-8)


@pytest.mark.parametrize("method", ["dop853", "radau", "rk4"])
def test_V1_a_coefficient_that_jumps_with_the_place_is_followed_or_told(method: str) -> None:
    """A block slides from a floor with 0.2 onto one with 0.5: error control follows that, equal steps say that they do not."""
    base = {"name": "base", "equation": "y = 0", "friction": {"sliding": "0.35 + 0.15*sign(x - 1)", "along": "x'"}}
    system = System(
        name="block on two floors",
        coordinates=["x", "y"],
        kinetic="(x'^2 + y'^2)/2",
        potential="9.81*y",
        constraint=[base],
        initial={"x'": 4.0},
    )
    how = {"step": 0.001} if method == "rk4" else {"rtol": 1e-9}
    motion = system.simulate(until=0.6, method=method, stabilize="off", **how)
    speed = np.sqrt(16.0 - 2.0 * 0.2 * 9.81)  # where the second floor begins
    rest = 0.6 - (4.0 - speed) / (0.2 * 9.81)
    end = [1.0 + speed * rest - 0.5 * 9.81 * rest**2 / 2.0, speed - 0.5 * 9.81 * rest]
    told = any("coefficient of friction of 'base' jumps" in note for note in motion.notes)
    assert told == (method == "rk4")
    np.testing.assert_allclose([motion.column("x")[-1], motion.column("x'")[-1]], end, atol=3e-3 if told else 1e-7)
