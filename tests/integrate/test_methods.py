"""The tableaus themselves: order conditions by rooted trees, interpolants, stability functions, names."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cache
from itertools import combinations_with_replacement
from typing import Any

import numpy as np
import pytest

from svyaz.integrate.methods import method, method_names
from svyaz.integrate.tableau import Tableau

Tree = tuple[Any, ...]  # a rooted tree is the sorted tuple of the trees that hang on its root

ORDERS = {"euler": 1, "rk2": 2, "rk4": 4, "rkf45": 5, "dopri5": 5, "dop853": 8, "radau": 5}  # as published
ALL = [*method_names(), "rk2:0.75", "rk2:0.25", "rk2:-1"]
INTERPOLATED = [name for name in method_names() if method(name).dense is not None]


@cache
def trees(order: int) -> tuple[Tree, ...]:
    """All rooted trees with that many vertices."""
    found: set[Tree] = set()
    for parts in partitions(order - 1, order - 1):
        choices: list[list[Tree]] = [[]]
        for size in sorted(set(parts)):
            chosen = list(combinations_with_replacement(trees(size), parts.count(size)))
            choices = [[*before, *some] for before in choices for some in chosen]
        found.update(tuple(sorted(choice)) for choice in choices)
    return tuple(sorted(found))


def partitions(total: int, largest: int) -> list[tuple[int, ...]]:
    if total == 0:
        return [()]
    return [(k, *rest) for k in range(min(total, largest), 0, -1) for rest in partitions(total - k, k)]


def vertices(tree: Tree) -> int:
    return 1 + sum(vertices(branch) for branch in tree)


def density(tree: Tree) -> int:
    """γ(t): the number of vertices times the densities of the branches."""
    product = vertices(tree)
    for branch in tree:
        product *= density(branch)
    return product


def weights(tree: Tree, a: np.ndarray) -> np.ndarray:
    """Φᵢ(t) = Π over branches u of Σⱼ aᵢⱼ Φⱼ(u)."""
    product = np.full(len(a), 1 + 0 * a[0, 0])
    for branch in tree:
        product = product * (a @ weights(branch, a))
    return product


def exactly(values: np.ndarray) -> np.ndarray:
    """Doubles of fractions back to these fractions (their denominators are below 400 000)."""
    return np.asarray(np.vectorize(lambda v: Fraction(float(v)).limit_denominator(400_000), otypes=[object])(values))


def rational(name: str) -> bool:
    tableau = method(name)
    return all(np.array_equal(exactly(v).astype(float), v) for v in (tableau.a, tableau.b, tableau.c))


def extended(tableau: Tableau) -> np.ndarray:
    """The matrix A of all slopes: stages, slope at the end, stages of dense output."""
    assert tableau.dense is not None
    s, height = tableau.stages, len(tableau.dense)
    a = np.zeros((height, height))
    a[:s, :s] = tableau.a
    a[s, :s] = tableau.b
    if tableau.extra_a is not None:
        a[s + 1 :] = tableau.extra_a
    return a


def interpolant(tableau: Tableau, theta: float) -> np.ndarray:
    """Weights bᵢ(θ) in the basis θ, θ(1 - θ), θ²(1 - θ), …"""
    assert tableau.dense is not None
    basis = [theta ** ((j + 2) // 2) * (1 - theta) ** ((j + 1) // 2) for j in range(tableau.dense.shape[1])]
    return np.asarray(tableau.dense @ np.array(basis))


def test_number_of_rooted_trees() -> None:
    assert [len(trees(k)) for k in range(1, 9)] == [1, 1, 2, 4, 9, 20, 48, 115]


@pytest.mark.parametrize("name", [name for name in ALL if rational(name)])
def test_S4_order_conditions_hold_exactly(name: str) -> None:
    tableau = method(name)
    a, b, c = exactly(tableau.a), exactly(tableau.b), exactly(tableau.c)
    assert (a.sum(axis=1) == c).all()
    for order in range(1, tableau.order + 1):
        for tree in trees(order):
            assert b @ weights(tree, a) == Fraction(1, density(tree)), tree
    assert any(b @ weights(tree, a) != Fraction(1, density(tree)) for tree in trees(tableau.order + 1))


@pytest.mark.parametrize("name", [name for name in ALL if not rational(name)])
def test_S4_order_conditions_hold_to_rounding(name: str) -> None:
    tableau = method(name)
    np.testing.assert_allclose(tableau.a.sum(axis=1), tableau.c, atol=2e-15)
    for order in range(1, tableau.order + 1):
        for tree in trees(order):
            assert tableau.b @ weights(tree, tableau.a) == pytest.approx(1 / density(tree), abs=1e-14)
    defects = [abs(tableau.b @ weights(t, tableau.a) - 1 / density(t)) for t in trees(tableau.order + 1)]
    assert max(defects) > 1e-8


@pytest.mark.parametrize(("name", "orders"), [("rkf45", (4,)), ("dopri5", (4,)), ("dop853", (5, 3))])
def test_error_estimates_compare_with_a_solution_of_lower_order(name: str, orders: Sequence[int]) -> None:
    tableau = method(name)
    a = extended(tableau)[: tableau.stages + 1, : tableau.stages + 1]
    for row, lower in zip(tableau.errors, orders, strict=True):
        values = {k: max(abs(row @ weights(tree, a)) for tree in trees(k)) for k in range(1, lower + 2)}
        assert all(values[k] < 1e-13 for k in range(1, lower + 1))
        assert values[lower + 1] > 1e-5


@pytest.mark.parametrize("name", INTERPOLATED)
@pytest.mark.parametrize("theta", [0.1, 0.37, 0.5, 0.81, 1.0])
def test_dense_output_has_its_order_at_every_point_of_the_step(name: str, theta: float) -> None:
    tableau = method(name)
    a, b = extended(tableau), interpolant(method(name), theta)
    for order in range(1, tableau.dense_order + 1):
        for tree in trees(order):
            assert b @ weights(tree, a) == pytest.approx(theta**order / density(tree), abs=2e-13)


@pytest.mark.parametrize("name", INTERPOLATED)
def test_dense_output_joins_the_steps_smoothly(name: str) -> None:
    tableau = method(name)
    at_end = np.zeros(len(extended(tableau)))
    at_end[: tableau.stages] = tableau.b
    np.testing.assert_allclose(interpolant(tableau, 1.0), at_end, atol=1e-15)
    assert tableau.dense is not None
    # derivatives at both ends are the slopes there: b'(0) = φ'(0) weights, b'(1) likewise
    first, last = np.eye(len(at_end))[0], np.eye(len(at_end))[tableau.stages]
    np.testing.assert_allclose(tableau.dense[:, 0] + tableau.dense[:, 1], first, atol=1e-13)
    np.testing.assert_allclose(tableau.dense[:, 0] - tableau.dense[:, 1] - tableau.dense[:, 2], last, atol=1e-13)


def one_step(tableau: Tableau, z: complex) -> complex:
    """y₁ of y' = λy, y₀ = 1, from the stages, which are a linear system."""
    slopes = np.linalg.solve(np.eye(tableau.stages) - z * tableau.a, np.ones(tableau.stages))
    return complex(1 + z * (tableau.b @ slopes))


@pytest.mark.parametrize("name", ALL)
def test_stability_function_is_one_step_on_the_linear_equation(name: str) -> None:
    tableau = method(name)
    z = np.array([-0.3, -2.5 + 1j, 1.5j, 0.7 - 0.2j, -10.0])
    np.testing.assert_allclose(tableau.stability(z), [one_step(tableau, complex(v)) for v in z], rtol=1e-10)
    small = np.array([1e-2 + 1e-2j])
    assert abs(tableau.stability(small) - np.exp(small))[0] < 2 * abs(small[0]) ** (tableau.order + 1) + 1e-15


def test_stability_intervals_on_the_real_axis() -> None:
    published: dict[str, float] = {"euler": 2.0, "rk2": 2.0, "rk2:0.75": 2.0, "rk4": 2.785293563405282}
    for name, end in published.items():
        inside, outside = method(name).stability([-end * (1 - 1e-9), -end * (1 + 1e-9)])
        assert abs(inside) < 1 < abs(outside)


def test_radau_stability_function_is_the_pade_approximation() -> None:
    numerator, denominator = method("radau").stability_fraction()
    np.testing.assert_allclose(numerator, [1, 2 / 5, 1 / 20, 0], atol=1e-14)
    np.testing.assert_allclose(denominator, [1, -3 / 5, 3 / 20, -1 / 60], atol=1e-14)
    assert abs(method("radau").stability(-1e9)) < 1e-8
    with pytest.raises(ValueError, match="fraction"):
        method("radau").stability_polynomial()


def test_polynomial_of_the_classical_method() -> None:
    np.testing.assert_allclose(method("rk4").stability_polynomial(), [1, 1, 1 / 2, 1 / 6, 1 / 24])


def test_family_of_second_order() -> None:
    heun, midpoint, ralston = method("rk2"), method("rk2:1"), method("rk2:0.75")
    np.testing.assert_allclose(heun.b, [0.5, 0.5])
    assert heun.c[1] == 1
    np.testing.assert_allclose(midpoint.b, [0, 1])
    assert midpoint.c[1] == 0.5
    np.testing.assert_allclose(ralston.b, [0.25, 0.75])
    assert ralston.c[1] == 2 / 3


def test_flags() -> None:
    assert {name: method(name).order for name in ORDERS} == ORDERS
    assert [name for name in ORDERS if method(name).embedded] == ["rkf45", "dopri5", "dop853", "radau"]
    assert [name for name in ORDERS if method(name).implicit] == ["radau"]
    assert [name for name in ORDERS if method(name).fsal] == ["dopri5"]
    assert {name for name in ORDERS if rational(name)} == ORDERS.keys() - {"dop853", "radau"}


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("rk5", "did you mean 'rk"),
        ("Dopri5", "did you mean 'dopri5'"),
        ("runge", ", ".join(method_names())),
        ("runge", "rk2:0.75 sets the weight of the second slope"),
        ("rk2:0", "must not be zero"),
        ("rk2:fast", "must be a number"),
        ("rk2:", "no method"),
        ("rk4:2", "no method"),
        ("", "no method"),
    ],
)
def test_unknown_methods_are_refused_with_the_names(name: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        method(name)


def test_methods_answer_for_themselves() -> None:
    check: Callable[[str], Tableau] = method
    assert all(check(name).name == name for name in ALL)
