"""Dependence and corrections of hundreds of rows with few entries each, against how they were made and dense algebra."""

from __future__ import annotations

import numpy as np

from svyaz import derive, loads
from svyaz.constraints import examine
from svyaz.constraints.branching import coloured
from svyaz.dynamics import least_correction, measure_of
from svyaz.dynamics.scales import are_independent, dependencies, rank_of
from svyaz.matrices import extreme_singular_values, is_large, weakest_combination


def band(rows: int, columns: int, seed: int) -> np.ndarray:
    """Unit rows with three entries each along a diagonal."""
    rng = np.random.default_rng(seed)
    found = np.zeros((rows, columns))
    for k in range(rows):
        found[k, k : k + 3] = rng.uniform(0.5, 1.5, 3) * [1.0, 4.0, 1.0]
    return found / np.linalg.norm(found, axis=1)[:, None]


def test_L1_rows_that_combine_others_are_found_among_many() -> None:
    rows = band(160, 200, 1)
    assert is_large(rows)
    assert are_independent(rows)
    assert dependencies(rows) == []
    mixed = 0.6 * rows[10] - 0.8 * rows[90]
    rows[120] = mixed / np.linalg.norm(mixed)
    rows[140] = 0.0
    assert not are_independent(rows)
    assert rank_of(rows) == 158
    (first, others), second = dependencies(rows)
    assert first == 120
    assert second == (140, {})
    assert set(others) == {10, 90}
    np.testing.assert_allclose([others[10], others[90]], np.array([0.6, -0.8]) / np.linalg.norm(mixed), atol=1e-9)


def test_L1_extreme_values_and_the_weakest_combination_of_many_rows() -> None:
    rows = band(150, 180, 2)
    left, values, _ = np.linalg.svd(rows)
    np.testing.assert_allclose(extreme_singular_values(rows), values[[0, -1]], rtol=1e-6)
    rows[70] = rows[20] + 1e-5 * rows[70]
    left, values, _ = np.linalg.svd(rows)
    assert abs(weakest_combination(rows) @ left[:, -1]) > 1.0 - 1e-6
    rows[70] = rows[20]
    np.testing.assert_allclose(weakest_combination(rows) @ rows, 0.0, atol=1e-9)


def test_L1_the_least_correction_of_many_coordinates_is_that_of_dense_algebra() -> None:
    rng = np.random.default_rng(3)
    g, mass = band(150, 180, 3) * rng.uniform(0.1, 10.0, 150)[:, None], np.diag(rng.uniform(0.5, 2.0, 180))
    wanted = rng.normal(size=150)
    whole = np.block([[mass, g.T], [g, np.zeros((150, 150))]])
    expected = np.linalg.solve(whole, np.concatenate([np.zeros(180), wanted]))[:180]
    np.testing.assert_allclose(least_correction(mass, g, wanted), expected, atol=1e-8 * np.abs(expected).max())


def test_L1_columns_of_one_colour_share_no_row() -> None:
    rng = np.random.default_rng(4)
    rows, columns = rng.integers(0, 80, 240), rng.integers(0, 100, 240)
    colours = coloured(rows, columns, 100)
    pattern = np.zeros((80, 100), dtype=bool)
    pattern[rows, columns] = True
    assert colours.min() >= 0
    for colour in range(colours.max() + 1):
        assert pattern[:, colours == colour].sum(axis=1).max() <= 1


def test_L1_a_coordinate_without_inertia_is_named_among_many() -> None:
    points = range(80)
    names = ", ".join(f'"x{i}"' for i in points)
    text = [f'coordinates = [{names}, "z"]', 'kinetic = "' + " + ".join(f"x{i}'^2/2" for i in points) + " + m*z'^2/2\""]
    text += ["[parameters]\nm = 0.0"]
    text += [f"[initial]\n{''.join(f'x{i} = {i}{chr(10)}' for i in points)}"]
    text += [f'[[constraint]]\nname = "c{i}"\nequation = "x{i + 1} - x{i} = 1"' for i in range(70)]
    report = examine(derive(loads("\n".join(text))))
    assert report.weightless == ("z",)
    assert report.full
    assert report.singular


def test_L1_a_chain_of_a_dozen_rods_is_looked_at_by_its_entries() -> None:
    count = 12
    points = range(count)
    names = ", ".join(f'"{c}{i}"' for i in points for c in "xy")
    text = [f'coordinates = [{names}]\nkinetic = "' + " + ".join(f"(x{i}'^2 + y{i}'^2)/2" for i in points) + '"']
    text += ["[initial]", *(f"x{i} = {i + 1}\ny{i} = 0" for i in points)]
    text += ['[[constraint]]\nequation = "x0^2 + y0^2 = 1"']
    text += [f'[[constraint]]\nequation = "(x{i + 1} - x{i})^2 + (y{i + 1} - y{i})^2 = 1"' for i in range(count - 1)]
    measure = measure_of(derive(loads("\n".join(text))))
    assert measure.large
    states = np.random.default_rng(5).normal(size=(3, 4 * count))
    sign, size = measure.augmented_determinants(np.zeros(3), states)
    for k, state in enumerate(states):
        places = np.vstack([[0.0, 0.0], state[: 2 * count].reshape(count, 2)])
        rods, rows = np.diff(places, axis=0), np.zeros((count, count + 1, 2))
        for i in range(count):
            rows[i, i], rows[i, i + 1] = -2.0 * rods[i], 2.0 * rods[i]
        g = rows[:, 1:].reshape(count, 2 * count)
        whole = np.block([[np.eye(2 * count), g.T], [g, np.zeros((count, count))]])
        np.testing.assert_allclose([sign[k], size[k]], np.linalg.slogdet(whole), rtol=1e-10)
