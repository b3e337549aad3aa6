"""Linear systems inside programs: definite, saddle with a singular mass matrix, ill pivots, singular, badly scaled."""

from __future__ import annotations

import numpy as np
import pytest

from svyaz.program.elimination import choose_orders
from svyaz.program.native import compile_program
from svyaz.program.tape import SingularSystem


def _saddle(random, n, m, *, singular_mass=False):
    factor = random.normal(size=(n, n))
    if singular_mass:
        factor[:, : min(m, n)] = 0.0
    mass = factor.T @ factor
    jacobian = random.normal(size=(m, n))
    return np.block([[mass, jacobian.T], [jacobian, np.zeros((m, m))]])


def _definite(random, n):
    factor = random.normal(size=(n, n))
    return factor @ factor.T + 0.1 * np.eye(n)


def _banded(random, n):
    matrix = np.diag(random.uniform(2, 3, n)) + np.diag(random.uniform(-1, 1, n - 1), 1)
    return matrix + np.diag(np.diag(matrix, 1), -1)


KINDS = {
    "definite": (lambda random: _definite(random, 7), True),
    "banded": (lambda random: _banded(random, 30), True),
    "large definite": (lambda random: _definite(random, 33), True),
    "very large saddle": (lambda random: _saddle(random, 70, 20), True),
    "saddle": (lambda random: _saddle(random, 5, 2), True),
    "saddle, singular mass": (lambda random: _saddle(random, 5, 3, singular_mass=True), True),
    "saddle, no symmetry told": (lambda random: _saddle(random, 4, 2, singular_mass=True), False),
    "general": (lambda random: random.normal(size=(6, 6)), False),
    "one": (lambda random: random.normal(size=(1, 1)), False),
}


def _backward_error(matrix, found, side):
    """‖A x - b‖ / (‖A‖ ‖x‖ + ‖b‖) in the largest-entry norm."""
    scale = np.abs(matrix).sum(axis=1).max() * np.abs(found).max() + np.abs(side).max()
    return np.abs(matrix @ found - side).max() / scale


@pytest.mark.parametrize("ordered", [True, False], ids=["ordered", "pivoted"])
@pytest.mark.parametrize("kind", KINDS)
def test_systems_are_solved(linear, kind, ordered):
    make, symmetric = KINDS[kind]
    random = np.random.default_rng(5)
    sample = make(random)
    size = len(sample)
    solver = linear(sample != 0, symmetric, sides=2)
    program = solver.program
    if ordered:
        program = choose_orders(program, [], solver.row(sample, random.normal(size=(2, size))))
        assert (program.systems[0].order is None) == ("large" in kind)
    native = compile_program(program)
    for _ in range(3 if size > 50 else 50):
        matrix, sides = make(random), random.normal(size=(2, size))
        found = native.evaluate(solver.row(matrix, sides), native.constants([])).reshape(2, size)
        for solution, side in zip(found, sides, strict=True):
            assert _backward_error(matrix, solution, side) < 1e-12
            expected = np.linalg.solve(matrix, side)
            tolerance = 1e-13 * np.linalg.cond(matrix) * np.abs(expected).max()
            np.testing.assert_allclose(solution, expected, rtol=0, atol=tolerance)


def test_diagonal_order_for_definite_and_sparse_saddle(linear):
    random = np.random.default_rng(1)
    matrix = _banded(random, 40)
    order = choose_orders(linear(matrix != 0, True).program, [], linear(matrix != 0, True).row(matrix, np.ones(40)))
    assert order.systems[0].order is not None
    assert order.systems[0].order[0] == order.systems[0].order[1]


def test_pivots_that_vanish_at_another_state(linear):
    """The order of the sample would divide by zero, or by next to nothing, at the other states."""
    solver = linear(np.ones((3, 3), dtype=bool), False)
    sample = np.diag([4.0, 5.0, 6.0]) + 0.01
    program = choose_orders(solver.program, [], solver.row(sample, np.ones(3)))
    assert program.systems[0].order is not None
    native = compile_program(program)
    swap = np.array([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]])
    for small in (0.0, 1e-300, 1e-20, 1e-16, 1e-12, 1e-8, 1e-3):
        matrix = swap + small * np.array([[1.0, 2.0, 1.0], [0.5, 1.0, 1.0], [1.0, 1.0, -1.0]])
        found = native.evaluate(solver.row(matrix, np.array([1.0, 2.0, 3.0])), native.constants([]))
        np.testing.assert_allclose(found, np.linalg.solve(matrix, [1.0, 2.0, 3.0]), rtol=1e-13)


@pytest.mark.parametrize("size", [2, 5, 9])
def test_definite_at_the_sample_and_indefinite_elsewhere(linear, size):
    random = np.random.default_rng(size)
    solver = linear(np.ones((size, size), dtype=bool), True)
    native = compile_program(choose_orders(solver.program, [], solver.row(_definite(random, size), np.ones(size))))
    for _ in range(100):
        matrix = random.normal(size=(size, size))
        matrix += matrix.T
        matrix[0, 0] = random.choice([0.0, 1e-18, 1.0])
        side = random.normal(size=size)
        found = native.evaluate(solver.row(matrix, side), native.constants([]))
        assert _backward_error(matrix, found, side) < 1e-13


def test_saddle_whose_constraints_almost_repeat(linear):
    random = np.random.default_rng(8)
    sample = _saddle(random, 4, 2)
    solver = linear(sample != 0, True)
    native = compile_program(choose_orders(solver.program, [], solver.row(sample, np.ones(6))))
    for gap in (1e-1, 1e-3, 1e-5):
        matrix = sample.copy()
        matrix[5, :4] = matrix[4, :4] + gap * np.array([1.0, -1.0, 2.0, 0.5])
        matrix[:4, 5] = matrix[5, :4]
        side = random.normal(size=6)
        found = native.evaluate(solver.row(matrix, side), native.constants([]))
        assert _backward_error(matrix, found, side) < 1e-13


@pytest.mark.parametrize("ordered", [True, False], ids=["ordered", "pivoted"])
@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "one"])
def test_singular_systems_are_told(linear, kind, ordered):
    make, symmetric = KINDS[kind]
    random = np.random.default_rng(3)
    sample = make(random)
    size = len(sample)
    solver = linear(np.ones_like(sample, dtype=bool) if kind == "banded" else sample != 0, symmetric)
    program = solver.program
    if ordered:
        program = choose_orders(program, [], solver.row(sample, np.ones(size)))
    native = compile_program(program)
    good, side = make(random), np.ones(size)
    if "saddle" in kind:  # the last constraint repeats the first
        bad = good.copy()
        first = next(i for i in range(size) if good[i, i] == 0 and not good[i, i:].any())
        bad[-1, :first] = 3.0 * bad[first, :first]
        bad[:first, -1] = bad[-1, :first]
    elif kind == "general":
        bad = good.copy()
        bad[-1] = bad[0] - 2.0 * bad[1]
    else:  # a direction without inertia
        direction = random.normal(size=size)
        projection = np.eye(size) - np.outer(direction, direction) / (direction @ direction)
        bad = projection @ good @ projection
    with pytest.raises(SingularSystem):
        native.evaluate(solver.row(bad, side), native.constants([]))
    rows = np.array([solver.row(good, side), solver.row(bad, side), solver.row(0 * good, side), solver.row(good, side)])
    outputs, statuses = native.evaluate_batch(rows, native.constants([]))
    assert statuses.tolist() == [0, 1, 1, 0]
    assert np.isnan(outputs[1:3]).all()
    assert _backward_error(good, outputs[3], side) < 1e-13


def test_units_do_not_make_a_system_singular(linear):
    """Rows and columns scaled by many powers of ten: the scaled solution comes back."""
    random = np.random.default_rng(2)
    matrix, side = random.normal(size=(5, 5)), random.normal(size=5)
    expected = np.linalg.solve(matrix, side)
    solver = linear(np.ones((5, 5), dtype=bool), False)
    native = compile_program(solver.program)
    for _ in range(20):
        rows, columns = (10.0 ** random.integers(-60, 60, 5) for _ in range(2))
        found = native.evaluate(solver.row(rows[:, None] * matrix * columns, rows * side), native.constants([]))
        np.testing.assert_allclose(found * columns, expected, rtol=1e-12)


@pytest.mark.parametrize("ordered", [True, False], ids=["ordered", "pivoted"])
def test_what_is_not_a_number_stays_so(linear, ordered):
    solver = linear(np.ones((3, 3), dtype=bool), True)
    sample = _definite(np.random.default_rng(0), 3)
    program = choose_orders(solver.program, [], solver.row(sample, np.ones(3))) if ordered else solver.program
    native = compile_program(program)
    for value in (np.nan, np.inf):
        outputs, statuses = native.evaluate_batch(
            solver.row(np.full((3, 3), value), np.ones(3))[None, :], native.constants([])
        )
        assert statuses.tolist() == [0]
        assert np.isnan(outputs).all()
