"""Functions: named tables of a state as arrays of their shapes, in one row or many, with values bound."""

from __future__ import annotations

import numpy as np
import pytest
import symengine as se

from svyaz.program import Linear, SingularSystem, function, once_for_each, remembered
from svyaz.program import functions as module

X, Y, A, U = se.symbols("x y a u")


def made(**options):
    return function(
        {"row": [X + Y, A * X], "single": X * Y, "matrix": [[X, Y], [A, X * X]]}, ("x", "y"), {"a": 3.0}, **options
    )


def test_tables_have_their_shapes_at_one_row_and_at_many() -> None:
    f = made()
    one = f(np.array([2.0, 5.0]))
    assert one["row"].tolist() == [7.0, 6.0]
    assert one["single"] == 10.0
    assert one["matrix"].tolist() == [[2.0, 5.0], [3.0, 4.0]]
    rows = np.array([[2.0, 5.0], [1.0, -1.0], [0.0, 4.0]])
    many = f(rows)
    assert many["matrix"].shape == (3, 2, 2)
    assert many["single"].shape == (3,)
    for k, row in enumerate(rows):
        for name, table in f(row).items():
            assert np.array_equal(many[name][k], table)


def test_other_values_do_not_touch_the_first() -> None:
    f = made()
    assert f.with_values({"a": -1.0})(np.array([2.0, 5.0]))["row"].tolist() == [7.0, -2.0]
    assert f(np.array([2.0, 5.0]))["row"].tolist() == [7.0, 6.0]


def test_only_some_tables_are_taken_in_pieces(monkeypatch) -> None:
    monkeypatch.setattr(module, "TOGETHER", 50)
    rows = np.random.default_rng(1).normal(size=(40, 2))
    found = made()(rows, only=("matrix",))
    assert list(found) == ["matrix"]
    assert np.array_equal(found["matrix"], np.stack([made()(row)["matrix"] for row in rows]))


def test_what_needs_no_system_is_known_where_it_is_singular() -> None:
    system = Linear([[X]], [[Y]], [[U]])
    f = function({"solved": [U, X + U], "plain": [X + Y]}, ("x", "y"), {}, systems=[system])
    rows = np.array([[2.0, 4.0], [0.0, 4.0]])
    assert f(rows)["solved"][0].tolist() == [2.0, 4.0]
    assert np.isnan(f(rows)["plain"][1]).all()
    assert f.known(rows, ("plain",))["plain"].tolist() == [[6.0], [4.0]]
    assert f.known(rows[1], ("plain",))["plain"].tolist() == [4.0]
    with pytest.raises(SingularSystem):
        f(rows[1])


def test_empty_tables_are_empty() -> None:
    f = function({"none": [], "one": [X]}, ("x",), {})
    assert f(np.array([[1.0], [2.0]]))["none"].shape == (2, 0)


def test_what_was_made_is_remembered_by_identity() -> None:
    calls = []

    @remembered
    def length(row: list[int]) -> int:
        calls.append(row)
        return len(row)

    first, second = [1, 2], [1, 2]
    assert [length(first), length(first), length(second)] == [2, 2, 2]
    assert len(calls) == 2


def test_what_is_equal_to_itself_alone_is_made_once() -> None:
    calls = []

    @once_for_each
    def number(key: object) -> int:
        calls.append(key)
        return len(calls)

    first, second = object(), object()
    assert [number(first), number(second), number(first)] == [1, 2, 1]


def test_L1_a_table_of_many_rows_is_computed_by_its_few_entries() -> None:
    names = [f"x{k}" for k in range(20)]
    x = [se.Symbol(name) for name in names]
    band = [[x[i] * x[j] if abs(i - j) < 2 else se.Integer(0) for j in range(20)] for i in range(20)]
    f = function({"band": band, "full": [[a + b for b in x] for a in x]}, names, {})
    assert list(f.sparse) == ["band"]
    assert len(f.program.outputs) == 58 + 400
    rows = np.random.default_rng(2).normal(size=(5, 20))
    near = np.abs(np.subtract.outer(np.arange(20), np.arange(20))) < 2
    expected = np.where(near, rows[:, :, None] * rows[:, None, :], 0.0)
    np.testing.assert_allclose(f(rows)["band"], expected, rtol=1e-15)
    (entries,) = f.entries(rows, "band")
    np.testing.assert_allclose(entries.values, expected[:, entries.rows, entries.columns], rtol=1e-15)
