"""Long programs and large sparse systems, which are interpreted: against dense solutions and the plain interpreter."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import symengine as se

from svyaz.program import (
    Entries,
    Linear,
    Program,
    SingularSystem,
    SparseRow,
    bordered,
    build_as_written,
    choose_orders,
    compile_program,
    evaluate,
    from_text,
    to_text,
)

FREE, TIES = 40, 20
VALUES = {"a": 0.3}


def _program(weight: se.Basic | int = 3) -> Program:
    """A chain of FREE unknowns with a band of inertia, tied in pairs; every kind of operation occurs."""
    q = [se.Symbol(f"q{i}") for i in range(FREE)]
    rows: list[dict[int, se.Basic]] = [{i: se.sin(q[i]) + weight} for i in range(FREE)]
    for i in range(FREE - 1):
        rows[i][i + 1] = rows[i + 1][i] = se.cos(q[i] * q[i + 1]) / 3
    ties = [
        {2 * k: q[2 * k] * q[2 * k + 1], 2 * k + 1: se.exp(-q[2 * k]) + q[2 * k] / q[2 * k + 1]} for k in range(TIES)
    ]
    for k, tie in enumerate(ties):
        for i, entry in tie.items():
            rows[i][FREE + k] = entry
    x = [se.Symbol(f"x{i}") for i in range(FREE + TIES)]
    side = [se.Max(q[i % FREE], se.Rational(1, 5)) ** 2 - se.Symbol("a") for i in range(FREE + TIES)]
    system = Linear([SparseRow(row, FREE + TIES) for row in (*rows, *ties)], [side], [x], symmetric=True)
    outputs = [(f"o{i}", 2 * x[i] - se.log(q[i % FREE])) for i in range(FREE + TIES)]
    outputs += [("odd", se.sign(q[3] - q[4]) * se.atan2(q[0], q[1]) + se.Abs(q[2]) ** se.Symbol("a") + se.tanh(q[5]))]
    return build_as_written(outputs, inputs=[str(s) for s in q], parameters=["a"], systems=[system])


def _points(count: int) -> np.ndarray:
    return np.random.default_rng(1).uniform(0.3, 1.0, (count, FREE))


@pytest.fixture(scope="module")
def ordered() -> Program:
    return choose_orders(_program(), VALUES, _points(1)[0])


def test_L1_a_sparse_elimination_agrees_with_a_dense_solution(ordered: Program) -> None:
    assert ordered.systems[0].order is not None
    native, points = compile_program(ordered), _points(9)
    found = native.evaluate(points, native.constants(VALUES))
    for row, point in zip(found, points, strict=True):
        np.testing.assert_allclose(row, list(evaluate(ordered, VALUES, point).values()), rtol=1e-12, atol=1e-14)


def test_L1_rows_alone_and_in_a_batch_have_the_same_bits(ordered: Program) -> None:
    native, points = compile_program(ordered), _points(11)
    constants = native.constants(VALUES)
    together = native.evaluate(points, constants)
    for row, point in zip(together, points, strict=True):
        assert row.tobytes() == native.evaluate(point, constants).tobytes()


def test_L1_pivots_that_go_bad_are_pivoted_anew() -> None:
    """The order of a definite M is taken where the first diagonal entry of M vanishes up to rounding."""
    order = choose_orders(_program(), VALUES, _points(1)[0]).systems[0].order
    light = _program(-se.sin(se.Symbol("q0")))
    light = replace(light, systems=(replace(light.systems[0], order=order),))
    native, points = compile_program(light), _points(6)
    found = native.evaluate(points, native.constants(VALUES))
    for row, point in zip(found, points, strict=True):
        np.testing.assert_allclose(row, list(evaluate(light, VALUES, point).values()), rtol=1e-9, atol=1e-11)


def test_L1_what_is_no_number_stays_in_its_row(ordered: Program) -> None:
    native, points = compile_program(ordered), _points(8)
    points[5, :2] = np.nan
    found, _ = native.evaluate_batch(points, native.constants(VALUES))
    assert np.isnan(found[5]).any()
    assert np.isfinite(np.delete(found, 5, axis=0)).all()


def test_L1_a_singular_system_is_told_of_in_its_row_alone() -> None:
    a, b, x = se.Symbol("a"), se.Symbol("b"), [se.Symbol(f"x{i}") for i in range(60)]
    one = Linear([SparseRow({i: a if i else b}, 60) for i in range(60)], [[se.Integer(1)] * 60], [x])
    program = build_as_written([("x", x[3])], inputs=["a", "b"], parameters=[], systems=[one])
    native = compile_program(choose_orders(program, [], [1.0, 2.0]))
    points = np.array([[1.0, 2.0], [1.0, 0.0], [2.0, 2.0], [3.0, 1.0], [1.0, 0.0]])
    assert native.evaluate_batch(points, np.zeros(1))[1].tolist() == [0, 1, 0, 0, 1]
    with pytest.raises(SingularSystem):
        native.evaluate(points[1], np.zeros(1))


def test_the_text_of_a_sparse_system_is_read_back(ordered: Program) -> None:
    assert from_text(to_text(ordered)) == ordered


@pytest.mark.parametrize("count", [5, 40])
def test_L1_extreme_values_of_bordered_matrices(count: int) -> None:
    """Against LAPACK: determinants, least singular values, least inertia along the constraints."""
    rng = np.random.default_rng(count)
    g = np.zeros((3, count, 2 * count))
    for k in range(count):
        g[:, k, 2 * k : 2 * k + 3] = rng.normal(size=(3, min(3, 2 * count - 2 * k)))
    mass = np.zeros((3, 2 * count, 2 * count))
    mass[:, np.arange(2 * count), np.arange(2 * count)] = rng.uniform(1.0, 2.0, (3, 2 * count))
    ties, inertia = (_entries(a) for a in (g, mass))
    alone, weighted = bordered(None, ties), bordered(inertia, ties)
    assert alone is not None
    assert weighted is not None
    least = np.linalg.svd(g, compute_uv=False)[:, -1]
    np.testing.assert_allclose(alone.least_gradients(), least, rtol=1e-6)
    whole = np.zeros((3, 3 * count, 3 * count))
    whole[:, : 2 * count, : 2 * count], whole[:, 2 * count :, : 2 * count] = mass, g
    whole[:, : 2 * count, 2 * count :] = g.transpose(0, 2, 1)
    sign, size = np.linalg.slogdet(whole)
    np.testing.assert_allclose(weighted.log_determinants()[1], size, rtol=1e-12)
    assert weighted.log_determinants()[0].tolist() == sign.tolist()
    for k, value in enumerate(weighted.least_inertia()):
        free = np.linalg.svd(g[k])[2][count:]
        assert value == pytest.approx(np.linalg.eigvalsh(free @ mass[k] @ free.T)[0], rel=1e-6)


def _entries(matrices: np.ndarray) -> Entries:
    rows, columns = np.nonzero(np.any(matrices != 0.0, axis=0))
    return Entries(matrices[:, rows, columns], rows, columns, matrices.shape[1:])


def test_numbers_that_stand_in_the_sides_of_a_system_alone_are_known_to_the_interpreter() -> None:
    x, u, v = se.symbols("x u v")
    two, one = se.Integer(2), se.Integer(1)
    system = Linear([[x, two], [one, x * x]], [[se.RealDouble(-9.81), se.RealDouble(0.37)]], [[u, v]])
    program = build_as_written([("u", u), ("v", v), ("x", x)], inputs=["x"], parameters=[], systems=[system])
    native = compile_program(program, longest=0)
    rows = np.array([[1.5], [3.0], [-2.0], [0.7], [5.0]])
    for row, found in zip(rows[:, 0], native.evaluate(rows, native.constants({})), strict=True):
        expected = np.linalg.solve([[row, 2.0], [1.0, row * row]], [-9.81, 0.37])
        np.testing.assert_allclose(found, [*expected, row], rtol=1e-13)
