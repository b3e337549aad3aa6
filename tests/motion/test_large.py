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
RODS, LINKS = 200, 60
"""Rods whose accelerations are compared, and links of which a motion is; 200 of them move in the bench of large systems."""


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


def swung(angles: np.ndarray, speeds: np.ndarray) -> np.ndarray:
    """The angles of a pendulum 0.2 s later, from the same equations by SciPy."""
    n = len(angles)
    return solve_ivp(
        lambda _, s: np.concatenate([s[n:], turning(s[:n], s[n:])]),
        (0, 0.2),
        np.concatenate([angles, speeds]),
        method="DOP853",
        rtol=1e-11,
        atol=1e-12,
    ).y[:n, -1]


def accelerated(equations: Equations, states: np.ndarray) -> np.ndarray:
    """The rates at rows of states, by the program of a run."""
    sample = dict(zip(("t", *equations.states), [0.0, *states[0]], strict=True))
    values = equations.system.constants
    code = compile_program(choose_orders(rates_program(equations, rates_of(equations)), values, sample))
    return code.evaluate(np.insert(states, 0, 0.0, axis=1), code.constants(values))


def placed(angles: np.ndarray, rates: np.ndarray, turns: np.ndarray) -> np.ndarray:
    """x, y or their rates, of all masses: Σ of (cos u, sin u) u'' and of (-sin u, cos u) u'², by u', u'' as given."""
    x = np.cumsum(np.cos(angles) * turns - np.sin(angles) * rates**2)
    y = np.cumsum(np.sin(angles) * turns + np.cos(angles) * rates**2)
    return np.stack([x, y], axis=1).ravel()


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
    """200 rods at ten states that are drawn."""
    rng = np.random.default_rng(2)
    equations = derive(loads(rods(np.zeros(RODS), np.zeros(RODS))))
    angles, speeds = rng.uniform(-3, 3, (10, RODS)), rng.uniform(-1, 1, (10, RODS))
    places = np.stack([np.cumsum(np.sin(angles), axis=1), -np.cumsum(np.cos(angles), axis=1)], axis=2)
    nothing = np.zeros(RODS)
    moving = [placed(u, nothing, w) for u, w in zip(angles, speeds, strict=True)]
    assert equations.states == tuple(f"{c}{i}{p}" for p in ("", "'") for i in range(1, RODS + 1) for c in "xy")
    rates = accelerated(equations, np.column_stack([places.reshape(10, -1), moving]))
    for found, u, w in zip(rates[:, 2 * RODS :], angles, speeds, strict=True):
        wanted = placed(u, w, turning(u, w))
        np.testing.assert_allclose(found, wanted, atol=1e-9 * np.abs(wanted).max())


def test_L2_rods_in_x_and_y_move_as_in_angles() -> None:
    angles, speeds = np.full(LINKS, np.pi / 3), np.zeros(LINKS)
    system = loads(rods(angles, speeds))
    motion = simulate(system, method="rk4", step=1e-3, until=0.2, stabilize="off")
    assert motion.finished
    u = swung(angles, speeds)
    places = np.stack([np.cumsum(np.sin(u)), -np.cumsum(np.cos(u))], axis=1).ravel()
    np.testing.assert_allclose(motion.states[-1][: 2 * LINKS], places, atol=1e-8)


def test_L3_a_long_pendulum_in_angles() -> None:
    """Accelerations at a state that is drawn, and the motion from rest."""
    rng = np.random.default_rng(3)
    system = load(f"pendulum:{LINKS}")
    equations = derive(system)
    angles, speeds = rng.uniform(-3, 3, LINKS), rng.uniform(-1, 1, LINKS)
    assert equations.states == tuple(f"u{i}{p}" for p in ("", "'") for i in range(1, LINKS + 1))
    (rates,) = accelerated(equations, np.array([[*angles, *speeds]]))
    wanted = turning(angles, speeds)
    np.testing.assert_allclose(rates[LINKS:], wanted, atol=1e-9 * np.abs(wanted).max())
    motion = simulate(equations, until=0.2, rtol=1e-10, atol=1e-12)
    start = np.array(system.initial_state())
    np.testing.assert_allclose(motion.states[-1][:LINKS], swung(start[:LINKS], start[LINKS:]), atol=1e-8)


def test_L3_pendulums_of_hundreds_of_links_are_read() -> None:
    """Nothing that the gallery writes is too long for it."""
    system = load("pendulum:180")
    assert len(system.coordinates) == 180
