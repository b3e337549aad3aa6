"""Controllability, observability, Gramians, regulators by other routes, state spaces of python-control."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.integrate import quad_vec
from scipy.linalg import expm

import control
from svyaz.control.pairs import (
    controllability,
    controllability_gramian,
    degrees_of_control,
    least_number_of_inputs,
    observability,
)
from svyaz.control.regulators import METHODS, NotSolvable, establish, lqr, observer, placed
from svyaz.control.spaces import observer_for, regulator_for
from svyaz.expr import ModelError

Matrix = NDArray[np.float64]


def two_masses(first: float, second: float) -> tuple[Matrix, Matrix]:
    """Two masses joined by a spring and a damper, pushed apart by a force between them: their centre stays where it is."""
    k, c = 3.0, 0.2
    a = np.zeros((4, 4))
    a[0, 2] = a[1, 3] = 1.0
    a[2] = np.array([-k, k, -c, c]) / first
    a[3] = np.array([k, -k, c, -c]) / second
    return a, np.array([[0.0], [0.0], [1 / first], [-1 / second]])


@pytest.mark.parametrize("ratio", [1.0, 1e-3, 1e4])
@pytest.mark.parametrize("seed", [None, 1, 2])
def test_a_double_zero_root_that_cannot_be_moved_is_found(ratio: float, seed: int | None) -> None:
    a, b = two_masses(1.3, 2.7 * ratio)
    turn = np.eye(4) if seed is None else np.random.default_rng(seed).normal(size=(4, 4))
    report = controllability(turn @ a @ np.linalg.inv(turn), turn @ b)
    assert not report.complete
    assert len(report.fixed_roots) == 1
    assert abs(report.fixed_roots[0]) < 1e-9
    assert report.gramian < 1e-9


def test_a_push_on_one_of_the_masses_moves_everything() -> None:
    a, _ = two_masses(1.3, 2.7)
    report = controllability(a, [0, 0, 1, 0])
    assert report.complete
    assert report.gramian > 1e-3
    assert observability(a, [[1, 0, 0, 0]]).complete
    unseen = observability(a, [[1, -1, 0, 0]])
    assert not unseen.complete
    assert abs(unseen.fixed_roots[0]) < 1e-9


@pytest.mark.parametrize(
    ("matrix", "count"),
    [
        (np.diag([1.0, 1.0, 2.0]), 2),
        (np.array([[0.0, 1.0], [0.0, 0.0]]), 1),
        (np.eye(3), 3),
        (np.diag([1e5, 0.001, 0.002, 0.002]), 2),
        (np.diag([1e5, 0.001, 0.002, 0.003]), 1),
    ],
)
def test_the_least_number_of_inputs_is_that_of_invariant_polynomials(matrix: Matrix, count: int) -> None:
    assert least_number_of_inputs(matrix) == count
    turn = np.random.default_rng(5).normal(size=matrix.shape)
    if np.linalg.norm(matrix) < 10:
        assert least_number_of_inputs(turn @ matrix @ np.linalg.inv(turn)) == count


def test_the_gramian_is_the_integral_that_defines_it() -> None:
    a, b = np.array([[0.3, 1.0], [-2.0, -0.1]]), np.array([[0.0], [1.0]])

    def integrand(t: float) -> Matrix:
        column = np.exp(-1.5 * t) * expm(a * t) @ b
        return column @ column.T

    assert controllability_gramian(a, b, discount=1.5) == pytest.approx(quad_vec(integrand, 0, 60)[0], rel=1e-7)
    stable = np.diag([-1.0, -2.0])
    assert controllability_gramian(stable, [1.0, 1.0]) == pytest.approx(np.array([[1 / 2, 1 / 3], [1 / 3, 1 / 4]]))
    with pytest.raises(ValueError, match="roots beyond it"):
        controllability_gramian(a, b, discount=0.0)


def test_degrees_of_control_do_not_depend_on_units() -> None:
    a, b = np.array([[0.0, 1.0], [-2.0, -0.3]]), np.array([[0.0], [1.0]])
    units = np.diag([1e3, 1e-4])
    first = degrees_of_control(a, b)
    assert degrees_of_control(units @ a @ np.linalg.inv(units), units @ b) == pytest.approx(first, rel=1e-9)


def test_establishment_goes_on_until_it_has_settled_and_tells_how_exact_it_is() -> None:
    a, b = np.array([[0.0, 1.0], [0.0, -1e-3]]), np.array([[0.0], [1.0]])
    slow = establish(a, b, np.diag([1e-6, 0.0]))
    assert slow.gain == pytest.approx(lqr(a, b, np.diag([1e-6, 0.0])).gain, rel=1e-8)
    stopped = establish(a, b, duration=1.0)
    true = np.abs(stopped.gain - lqr(a, b).gain).max()
    assert stopped.residual > 1e-3
    assert stopped.gain_error > 0.3 * true
    assert lqr(a, b).gain_error < 1e-12


def test_roots_are_placed_where_they_were_wanted() -> None:
    a, _ = two_masses(1.0, 2.0)
    wanted = [-1.0, -2.0, -1.5 + 2j, -1.5 - 2j]
    found = placed(a, [0, 0, 1, 0], wanted)
    assert np.sort_complex(found.roots) == pytest.approx(np.sort_complex(np.array(wanted)), rel=1e-9)
    assert (found.residual, found.riccati, found.gain_error) == (None, None, None)


@pytest.mark.parametrize(
    ("poles", "error", "message"),
    [
        ([-1.0, -2.0], ModelError, "4 roots to be placed, and 2 were given"),
        ([-1.0, -2.0, -3.0, -4.0 + 1j], ModelError, "each with its conjugate"),
        ([-1.0, -1.0, -1.0, -1.0], NotSolvable, "repeated"),
    ],
)
def test_roots_that_cannot_be_placed_are_refused(poles: list[complex], error: type, message: str) -> None:
    a, _ = two_masses(1.0, 2.0)
    with pytest.raises(error, match=message):
        placed(a, [0, 0, 1, 0], poles)


@pytest.mark.parametrize("method", ["schur", "establishment"])
def test_designs_for_a_given_state_space_are_those_of_python_control(method: str) -> None:
    a, _ = two_masses(1.0, 2.0)
    space = control.StateSpace(a, [[0], [0], [1], [0]], [[0, 1, 0, 0]], [[0]])
    q, r = np.diag([1.0, 2.0, 3.0, 4.0]), [[0.5]]
    found, report = regulator_for(space, q, r, METHODS[method])
    assert report.complete
    assert found.gain == pytest.approx(control.lqr(space, q, r)[0], rel=1e-8)
    watcher, _ = observer_for(space, q, r, METHODS[method])
    assert watcher.gain == pytest.approx(control.lqe(a, np.eye(4), space.C, q, r)[0], rel=1e-8)
    assert watcher.gain == pytest.approx(observer(space.A, space.C, q, r).gain, rel=1e-8)


def test_a_state_space_that_cannot_be_controlled_or_is_discrete_is_refused() -> None:
    a, b = two_masses(1.0, 2.0)
    with pytest.raises(NotSolvable, match="not controllable: the root"):
        regulator_for(control.StateSpace(a, b, np.eye(4), np.zeros((4, 1))))
    with pytest.raises(NotSolvable, match="not observable: the root"):
        observer_for(control.StateSpace(a, b, [[1, -1, 0, 0]], [[0]]))
    with pytest.raises(NotSolvable, match="discrete"):
        regulator_for(control.StateSpace(0.5 * np.eye(1), [[1]], [[1]], [[0]], 0.1))


def test_weights_that_are_not_positive_are_refused() -> None:
    a, _ = two_masses(1.0, 2.0)
    with pytest.raises(NotSolvable, match="positive semidefinite"):
        lqr(a, [0, 0, 1, 0], -np.eye(4))
    with pytest.raises(NotSolvable, match="positive definite"):
        lqr(a, [0, 0, 1, 0], np.eye(4), [[0.0]])
    v = np.array([[1.0, 2.0, 3.0, 4.0]])
    assert lqr(a, [0, 0, 1, 0], v.T @ v + 1e-3 * np.eye(4)).residual < 1e-12
