"""The sling of Kutsenko and Kolochavin: released at once, and held by its hook for half a second."""

from __future__ import annotations

import csv
from functools import cache

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from svyaz import gallery, loads
from svyaz.motion import simulate
from svyaz.show import as_json

MASS = np.array([1.0, 10.0, 10.0, 1.0, 1.0])
LENGTH = np.array([1.0, 1.0, 3.0, 1.0, 1.0])
GRAVITY = 9.81
ALPHA = np.arcsin(3 / 4)
ANGLES = np.array([-ALPHA, -ALPHA, np.pi / 2, np.pi + ALPHA, np.pi + ALPHA])
RELEASE = 0.5


def closed_form(t, state):
    """Rates of the free chain from the closed form of M and bias."""
    u, v = state[:5], state[5:]
    carried = np.cumsum(MASS[::-1])[::-1]
    weight = carried[np.maximum.outer(np.arange(5), np.arange(5))] * np.outer(LENGTH, LENGTH)
    difference = u[:, None] - u[None, :]
    bias = (weight * np.sin(difference)) @ v**2 + carried * GRAVITY * LENGTH * np.sin(u)
    return np.concatenate([v, np.linalg.solve(weight * np.cos(difference), -bias)])


def free_motion(start, span, times):
    path = solve_ivp(closed_form, span, start, "DOP853", rtol=1e-12, atol=1e-12, t_eval=times)
    return path.y.T


def joints(u):
    """Positions of the masses (…, 5, 2) from the angles (…, 5)."""
    steps = np.stack([LENGTH * np.sin(u), -LENGTH * np.cos(u)], axis=-1)
    return np.cumsum(steps, axis=-2)


@cache
def sling(name: str):
    return simulate(loads(gallery.find(name), name))


@cache
def held_sling():
    """With nothing added to the constraint rows: the multipliers are the reaction and nothing else."""
    return simulate(loads(gallery.find("sling-hooked")), rtol=1e-12, stabilize="off")


def angles(motion):
    return motion.states[:, :5]


def at(motion, time: float) -> int:
    rows = np.flatnonzero(np.abs(motion.times - time) < 1e-12)
    assert len(rows) == 1, f"one row at t = {time}"
    return int(rows[0])


def test_S3_end_point_is_at_the_hook_at_the_start() -> None:
    start = np.array(loads(gallery.find("sling")).initial_state())
    assert start == pytest.approx(np.concatenate([ANGLES, np.zeros(5)]), abs=1e-15)
    assert np.abs(joints(start[:5])[-1]).max() < 1e-14


def test_S3_states_equal_an_independent_integration() -> None:
    motion = sling("sling")
    times = [0.25, 0.5, 0.75, 1.0]
    expected = free_motion(np.concatenate([ANGLES, np.zeros(5)]), (0, 1), times)
    assert motion.finished
    found = np.array([motion.states[at(motion, t)] for t in times])
    assert np.abs(found - expected).max() < 1e-7


def test_S3_csv_is_the_row_of_the_paper(svyaz, tmp_path) -> None:
    done = svyaz("simulate", "sling", "--csv", "sling.csv")
    assert done.returncode == 0, done.stderr
    with (tmp_path / "sling.csv").open(encoding="utf-8") as file:
        header, *rows = csv.reader(file)
    assert header == ["t", "u1", "u1'", "u2", "u2'", "u3", "u3'", "u4", "u4'", "u5", "u5'"]
    table = np.array(rows, dtype=float)
    (row,) = table[np.isclose(table[:, 0], 0.25, atol=1e-12)]
    expected = free_motion(np.concatenate([ANGLES, np.zeros(5)]), (0, 0.25), [0.25])[0]
    assert row[1::2] == pytest.approx(expected[:5], abs=1e-7)
    assert row[2::2] == pytest.approx(expected[5:], abs=1e-7)


def test_S3_hook_holds_the_end_until_the_release() -> None:
    motion = sling("sling-hooked")
    assert motion.finished
    ends = joints(angles(motion))[:, -1]
    held = motion.times <= RELEASE
    assert np.abs(ends[held]).max() < 1e-9
    assert np.abs(ends[-1]).max() > 0.1, "it has let go"
    moved = np.abs(angles(motion)[held] - ANGLES).max()
    assert moved > 0.01, "the straight slings are no equilibrium: the held loop sags and swings"


def test_S3_energy_is_constant_through_the_release() -> None:
    energy = sling("sling-hooked").integrals["energy"]
    positions = joints(ANGLES)
    assert energy[0] == pytest.approx(GRAVITY * MASS @ positions[:, 1], rel=1e-13)
    assert np.abs(energy - energy[0]).max() < 1e-8
    assert as_json(sling("sling-hooked"))["integrals"]["energy"]["drift"] < 1e-8


def test_S3_release_makes_no_jump() -> None:
    """One row at the moment of the release; the rows beside it differ by no more than the rates allow."""
    motion = sling("sling-hooked")
    k = at(motion, RELEASE)
    assert np.all(np.diff(motion.times) > 0)
    change = np.abs(np.diff(motion.states, axis=0)).max(axis=1)
    assert change[k] < 2 * change[k - 1] + 2 * change[k + 1]
    assert abs(motion.integrals["energy"][k + 1] - motion.integrals["energy"][k - 1]) < 1e-9


def test_S3_after_the_release_it_is_the_free_chain() -> None:
    motion = sling("sling-hooked")
    k = at(motion, RELEASE)
    expected = free_motion(motion.states[k], (RELEASE, 1), [0.75, 1.0])
    found = np.array([motion.states[at(motion, t)] for t in (0.75, 1.0)])
    assert np.abs(found - expected).max() < 1e-7


def test_S3_multipliers_are_absent_after_the_release() -> None:
    motion = sling("sling-hooked")
    for name in ("hook x", "hook y"):
        assert np.isfinite(motion.multipliers[name][motion.times < RELEASE]).all()
        assert np.isnan(motion.multipliers[name][motion.times > RELEASE]).all()


# The independent model: five point masses in the plane, rods of fixed length as constraints, the last mass held.
# λ scales: a rod's constraint is ½(|r_i - r_{i-1}|² - L²), so its force on the outer mass is λ (r_i - r_{i-1}).


def cartesian_solution(r, v):
    """(accelerations (5, 2), rod multipliers (5,), force of the hook (2,)) at positions r and velocities v (5, 2)."""
    rods = np.diff(r, axis=0, prepend=np.zeros((1, 2)))
    speeds = np.diff(v, axis=0, prepend=np.zeros((1, 2)))
    jacobian = np.zeros((7, 10))
    for i in range(5):
        jacobian[i, 2 * i : 2 * i + 2] = rods[i]
        if i > 0:
            jacobian[i, 2 * i - 2 : 2 * i] = -rods[i]
    jacobian[5, 8] = jacobian[6, 9] = 1.0
    side = np.concatenate([np.tile([0.0, -GRAVITY], 5) * np.repeat(MASS, 2), -(speeds**2).sum(axis=1), [0.0, 0.0]])
    matrix = np.block([[np.diag(np.repeat(MASS, 2)), -jacobian.T], [jacobian, np.zeros((7, 7))]])
    solution = np.linalg.solve(matrix, side)
    return solution[:10].reshape(5, 2), solution[10:15], solution[15:]


@cache
def cartesian_motion(times: tuple[float, ...]):
    """Positions and velocities (k, 5, 2) of the held loop, integrated in Cartesian coordinates."""

    def rates(t, y):
        r, v = y[:10].reshape(5, 2), y[10:].reshape(5, 2)
        return np.concatenate([y[10:], cartesian_solution(r, v)[0].ravel()])

    start = np.concatenate([joints(ANGLES).ravel(), np.zeros(10)])
    path = solve_ivp(rates, (0, RELEASE), start, "DOP853", rtol=1e-13, atol=1e-13, t_eval=times)
    return path.y[:10].T.reshape(-1, 5, 2), path.y[10:].T.reshape(-1, 5, 2)


def held_rows(motion):
    rows = np.flatnonzero(motion.times < RELEASE)[::10]
    return rows, tuple(float(t) for t in motion.times[rows])


def test_S3_reaction_of_the_hook_equals_that_of_a_cartesian_model() -> None:
    motion = held_sling()
    rows, times = held_rows(motion)
    positions, velocities = cartesian_motion(times)
    assert joints(angles(motion)[rows]) == pytest.approx(positions, abs=1e-8)
    expected = np.array([cartesian_solution(r, v)[2] for r, v in zip(positions, velocities, strict=True)])
    found = np.column_stack([motion.multipliers["hook x"][rows], motion.multipliers["hook y"][rows]])
    assert np.abs(found - expected).max() < 1e-8
    assert np.abs(expected).max() > 10


def test_S3_hook_and_pivot_carry_the_sum_of_mass_times_acceleration_less_gravity() -> None:
    """The hook's force and the accelerations are ours, the pivot's force is that of the Cartesian model."""
    motion = held_sling()
    rows, times = held_rows(motion)
    positions, velocities = cartesian_motion(times)
    hook = np.column_stack([motion.multipliers["hook x"][rows], motion.multipliers["hook y"][rows]])
    pivot = np.array([cartesian_solution(r, v)[1][0] * r[0] for r, v in zip(positions, velocities, strict=True)])
    u, v = motion.states[rows, :5], motion.states[rows, 5:]
    a = np.column_stack([motion.quantities[f"u{i}''"][rows] for i in range(1, 6)])
    across = LENGTH * (a * np.cos(u) - v**2 * np.sin(u))
    up = LENGTH * (a * np.sin(u) + v**2 * np.cos(u))
    total = np.stack([np.cumsum(across, axis=1), np.cumsum(up, axis=1) + GRAVITY], axis=-1)
    assert np.abs(hook + pivot - np.einsum("i,kij->kj", MASS, total)).max() < 1e-8
