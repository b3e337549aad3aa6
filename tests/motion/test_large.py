"""Chains of hundreds of coordinates and constraints, against closed forms and the equations of a pendulum in angles.

For N rods of length 1 with masses 1 at their ends, u the angles with the vertical,

    Σ_j (N + 1 - max(i, j)) (cos(u_i - u_j) u_j'' + sin(u_i - u_j) u_j'²) + (N + 1 - i) g sin u_i = 0.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from svyaz import Equations, derive, load, loads, simulate
from svyaz.forms import rates_of, rates_program
from svyaz.program import choose_orders, compile_program

G = 9.81
RODS, MOVED = 200, 60


def windows(count: int) -> str:
    """A chain of parallelogram windows, points of mass 1 in x, y, upright and moving to the right."""
    points = range(count + 1)
    names = [f'"{c}{i}"' for c in "xy" for i in points]
    lines = [f"coordinates = [{', '.join(names)}]"]
    lines.append('kinetic = "' + " + ".join(f"(x{i}'^2 + y{i}'^2)/2" for i in points) + '"')
    lines.append('potential = "' + " + ".join(f"9.81*y{i}" for i in points) + '"')
    lines += ["[initial]"]
    lines += [f'x{i} = {i}\ny{i} = 1\n"x{i}\'" = 1' for i in points]
    lines += [f'[[constraint]]\nname = "v{i}"\nequation = "(x{i} - {i})^2 + y{i}^2 = 1"' for i in points]
    beams = [f"(x{i + 1} - x{i})^2 + (y{i + 1} - y{i})^2 = 1" for i in range(count)]
    lines += [f'[[constraint]]\nname = "h{i}"\nequation = "{beam}"' for i, beam in enumerate(beams)]
    return "\n".join(lines)


def rods(angles: np.ndarray, speeds: np.ndarray) -> str:
    """A chain of rods by the places of its masses, hanging from the origin."""
    links = range(1, len(angles) + 1)
    x, y = np.cumsum(np.sin(angles)), -np.cumsum(np.cos(angles))
    a, b = np.cumsum(np.cos(angles) * speeds), np.cumsum(np.sin(angles) * speeds)
    names = ", ".join(f'"x{i}", "y{i}"' for i in links)
    lines = [f"coordinates = [{names}]"]
    lines.append('kinetic = "' + " + ".join(f"(x{i}'^2 + y{i}'^2)/2" for i in links) + '"')
    lines.append('potential = "' + " + ".join(f"{G}*y{i}" for i in links) + '"')
    lines.append("[initial]")
    for i in links:
        k = i - 1
        lines.append(f"x{i} = {float(x[k])!r}\ny{i} = {float(y[k])!r}")
        lines.append(f'"x{i}\'" = {float(a[k])!r}\n"y{i}\'" = {float(b[k])!r}')
    lines += ['[[constraint]]\nname = "rod 1"\nequation = "x1^2 + y1^2 = 1"']
    for i in range(2, len(angles) + 1):
        lines.append(f'[[constraint]]\nname = "rod {i}"\nequation = "(x{i} - x{i - 1})^2 + (y{i} - y{i - 1})^2 = 1"')
    return "\n".join(lines)


def turning(angles: np.ndarray, speeds: np.ndarray) -> np.ndarray:
    """u'' of a pendulum, from the equations above."""
    n = len(angles)
    share = n - np.maximum.outer(np.arange(n), np.arange(n))
    apart = np.subtract.outer(angles, angles)
    push = (share * np.sin(apart)) @ speeds**2 + G * share.diagonal() * np.sin(angles)
    return -np.linalg.solve(share * np.cos(apart), push)


def accelerated(equations: Equations, state: np.ndarray) -> np.ndarray:
    """The rates of all states, by the program of a run."""
    sample = dict(zip(("t", *equations.states), [0.0, *state], strict=True))
    values = equations.system.constants
    code = compile_program(choose_orders(rates_program(equations, rates_of(equations)), values, sample))
    return code.evaluate(np.concatenate([[0.0], state]), code.constants(values))


@pytest.mark.parametrize("stabilize", ["off", 10, "projection"])
def test_L1_windows_move_as_one_pendulum(stabilize) -> None:
    """All masses have the angle θ'' = g sin θ of one side, through the position at t = 0.747 where all sides lie flat."""
    system = loads(windows(30))
    motion = simulate(system, method="rk4", step=1e-3, until=0.8, stabilize=stabilize)
    assert motion.finished
    side = solve_ivp(lambda _, u: [u[1], G * np.sin(u[0])], (0, 0.8), [0.0, 1.0], rtol=1e-12, atol=1e-12).y[:, -1]
    states, end = list(system.states), motion.states[-1]
    x = np.array([end[states.index(f"x{i}")] - i for i in range(31)])
    y = np.array([end[states.index(f"y{i}")] for i in range(31)])
    np.testing.assert_allclose(x, np.sin(side[0]), atol=1e-8)
    np.testing.assert_allclose(y, np.cos(side[0]), atol=1e-8)
    assert any("singular point near t = 0.7471" in note for note in motion.notes)
    assert not any("predicted" in note for note in motion.notes)


def test_L2_accelerations_of_rods_in_x_and_y_are_those_in_angles() -> None:
    rng = np.random.default_rng(2)
    equations = derive(loads(rods(np.zeros(RODS), np.zeros(RODS))))
    for _ in range(3):
        angles, speeds = rng.uniform(-3, 3, RODS), rng.uniform(-1, 1, RODS)
        state = np.array(loads(rods(angles, speeds)).initial_state())
        rates = dict(zip(equations.states, accelerated(equations, state), strict=True))
        second = turning(angles, speeds)
        x = np.cumsum(np.cos(angles) * second - np.sin(angles) * speeds**2)
        y = np.cumsum(np.sin(angles) * second + np.cos(angles) * speeds**2)
        size = max(np.abs(x).max(), np.abs(y).max())
        np.testing.assert_allclose([rates[f"x{i + 1}'"] for i in range(RODS)], x, atol=1e-9 * size)
        np.testing.assert_allclose([rates[f"y{i + 1}'"] for i in range(RODS)], y, atol=1e-9 * size)


def test_L2_rods_in_x_and_y_move_as_in_angles() -> None:
    angles, speeds = np.full(MOVED, np.pi / 3), np.zeros(MOVED)
    system = loads(rods(angles, speeds))
    motion = simulate(system, method="rk4", step=1e-3, until=0.2, stabilize="off")
    assert motion.finished
    u = solve_ivp(
        lambda _, s: np.concatenate([s[MOVED:], turning(s[:MOVED], s[MOVED:])]),
        (0, 0.2),
        np.concatenate([angles, speeds]),
        method="DOP853",
        rtol=1e-11,
        atol=1e-12,
    ).y[:MOVED, -1]
    states, end = list(system.states), motion.states[-1]
    np.testing.assert_allclose([end[states.index(f"x{i + 1}")] for i in range(MOVED)], np.cumsum(np.sin(u)), atol=1e-8)
    np.testing.assert_allclose([end[states.index(f"y{i + 1}")] for i in range(MOVED)], -np.cumsum(np.cos(u)), atol=1e-8)


def test_L3_a_long_pendulum_in_angles() -> None:
    count, rng = 60, np.random.default_rng(3)
    system = load(f"pendulum:{count}")
    equations = derive(system)
    angles, speeds = rng.uniform(-3, 3, count), rng.uniform(-1, 1, count)
    named = {f"u{i + 1}": angles[i] for i in range(count)} | {f"u{i + 1}'": speeds[i] for i in range(count)}
    rates = dict(
        zip(equations.states, accelerated(equations, np.array([named[s] for s in equations.states])), strict=True)
    )
    found, wanted = np.array([rates[f"u{i + 1}'"] for i in range(count)]), turning(angles, speeds)
    np.testing.assert_allclose(found, wanted, atol=1e-9 * np.abs(wanted).max())


def test_L3_pendulums_of_hundreds_of_links_are_read() -> None:
    """Nothing that the gallery writes is too long for it."""
    system = load("pendulum:180")
    assert len(system.coordinates) == 180
