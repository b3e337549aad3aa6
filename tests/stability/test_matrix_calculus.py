"""The rules of matrix calculus behind the first approximation, on rectangular data, with the derivatives of the package.

A^x = [∂A/∂x₁ … ∂A/∂xₙ] has its blocks side by side, A^{x'} one below the other; vec stacks columns.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
import symengine as se

from svyaz import System
from svyaz.expr.calculus import Expression, add_up, differentiate, evaluate, gradient, total_derivative, velocity
from svyaz.forms import lagrangian as lagrangian_of
from svyaz.forms.derivation import derive
from svyaz.forms.named.lagrange import applied_forces
from svyaz.forms.named.shulgin import redundancy, shulgin_equations
from svyaz.gallery.random_mechanisms import random_mechanism
from svyaz.stability.linearisation import first_approximation

ROWS, COLUMNS = 3, 2
TOLERANCE = 1e-10

X = [se.Symbol(f"x{k}") for k in range(4)]
Y = [se.Symbol(f"y{k}") for k in range(3)]
VALUES = {str(s): 0.17 * (k + 1) - 0.4 for k, s in enumerate([*X, *Y])}


def entry(random: np.random.Generator, symbols: Sequence[se.Symbol]) -> Expression:
    """A smooth function of all the symbols."""
    inner = add_up(se.RealDouble(c) * s for c, s in zip(random.normal(size=len(symbols)), symbols, strict=True))
    return se.sin(inner) + se.RealDouble(random.normal()) * symbols[0] * symbols[-1] + se.RealDouble(random.normal())


def matrix(random: np.random.Generator, rows: int, columns: int, symbols: Sequence[se.Symbol] = X) -> np.ndarray:
    return np.array([[entry(random, symbols) for _ in range(columns)] for _ in range(rows)], dtype=object)


def number(table: np.ndarray) -> np.ndarray:
    flat = [evaluate(se.sympify(e), VALUES) for e in table.ravel()]
    return np.array(flat, dtype=float).reshape(table.shape)


def blocks(table: np.ndarray, by: Sequence[se.Symbol]) -> list[np.ndarray]:
    """∂A/∂x₁, ∂A/∂x₂, … as numbers."""
    return [number(np.vectorize(lambda e, s=s: differentiate(e, s), otypes=[object])(table)) for s in by]


def across(table: np.ndarray, by: Sequence[se.Symbol] = X) -> np.ndarray:
    """A^x."""
    return np.hstack(blocks(table, by))


def down(table: np.ndarray, by: Sequence[se.Symbol] = X) -> np.ndarray:
    """A^{x'}."""
    return np.vstack(blocks(table, by))


def vec(table: np.ndarray) -> np.ndarray:
    return table.T.reshape(-1, 1)


def slopes(entries: np.ndarray, by: Sequence[se.Symbol] = X) -> np.ndarray:
    """The Jacobian of a column of expressions."""
    return np.array([[evaluate(e, VALUES) for e in gradient(se.sympify(f), by)] for f in entries.ravel()])


def close(left: np.ndarray, right: np.ndarray) -> bool:
    assert left.shape == right.shape
    return float(np.abs(left - right).max()) < TOLERANCE


@pytest.fixture
def random() -> np.random.Generator:
    return np.random.default_rng(32)


def test_003_A32_rule_7_slope_of_a_bilinear_form(random: np.random.Generator) -> None:
    a, y, x = matrix(random, ROWS, COLUMNS), random.normal(size=ROWS), random.normal(size=COLUMNS)
    form = np.array([add_up(y[i] * a[i, j] * x[j] for i in range(ROWS) for j in range(COLUMNS))])
    assert close(slopes(form)[0], np.kron(np.eye(len(X)), y[None]) @ down(a) @ x)


def test_003_A32_rule_13_slope_of_a_product(random: np.random.Generator) -> None:
    b, y = matrix(random, ROWS, COLUMNS), matrix(random, COLUMNS, 1)
    right = np.kron(number(y).T, np.eye(ROWS)) @ slopes(vec(b)) + number(b) @ slopes(y)
    assert close(slopes(b @ y), right)


def test_003_A32_rules_18_and_25_rate_of_a_matrix(random: np.random.Generator) -> None:
    b, speed = matrix(random, ROWS, COLUMNS), random.normal(size=(len(X), 1))
    rates = {s: se.RealDouble(float(v)) for s, v in zip(X, speed[:, 0], strict=True)}
    rate = number(np.vectorize(lambda e: total_derivative(e, rates), otypes=[object])(b))
    assert close(rate, across(b) @ np.kron(speed, np.eye(COLUMNS)))
    assert close(rate, np.kron(speed.T, np.eye(ROWS)) @ down(b))


def test_003_A32_rules_26_and_27_need_the_transpose(random: np.random.Generator) -> None:
    a, x, c = matrix(random, ROWS, COLUMNS), random.normal(size=(len(X), 1)), random.normal(size=(COLUMNS, 1))
    right = np.kron(np.eye(ROWS), c.T) @ slopes(vec(a.T)) @ x
    assert close(np.kron(x.T, np.eye(ROWS)) @ down(a) @ c, right)
    b, y = random.normal(size=(len(X), 3)), random.normal(size=(3, 1))
    assert close(np.kron((b @ y).T, np.eye(ROWS)) @ down(a) @ c, np.kron(np.eye(ROWS), c.T) @ slopes(vec(a.T)) @ b @ y)
    square, c = matrix(random, ROWS, ROWS), random.normal(size=(ROWS, 1))
    left = np.kron(x.T, np.eye(ROWS)) @ down(square) @ c
    assert close(left, np.kron(np.eye(ROWS), c.T) @ slopes(vec(square.T)) @ x)
    assert not close(left, np.kron(np.eye(ROWS), c.T) @ slopes(vec(square)) @ x)  # as printed


def test_003_A32_rules_28_and_29_exchange_of_factors(random: np.random.Generator) -> None:
    a, y, c = matrix(random, ROWS, COLUMNS), random.normal(size=(ROWS, 1)), random.normal(size=(COLUMNS, 1))
    unit = np.eye(len(X))
    assert close(np.kron(unit, y.T) @ down(a) @ c, np.kron(unit, c.T) @ down(a.T) @ y)
    symmetric = a @ a.T
    first, second = random.normal(size=(2, ROWS, 1))
    assert close(np.kron(unit, first.T) @ down(symmetric) @ second, np.kron(unit, second.T) @ down(symmetric) @ first)


def test_003_A32_rules_30_and_31_slopes_of_contractions(random: np.random.Generator) -> None:
    a, d = matrix(random, ROWS, COLUMNS), matrix(random, ROWS, 1)
    c, p = random.normal(size=ROWS), random.normal(size=COLUMNS)
    form = np.array([add_up(c[i] * a[i, j] * p[j] for i in range(ROWS) for j in range(COLUMNS))])
    assert close(np.kron(np.eye(len(X)), c[None]) @ down(a) @ p, slopes(form)[0])
    assert close(slopes(d).T @ c, slopes(np.array([add_up(c[i] * d[i, 0] for i in range(ROWS))]))[0])


def test_003_A32_rules_32_and_33_first_terms_of_a_product(random: np.random.Generator) -> None:
    """The derivative of B(a + εx, b + εy) D(a + εx, b + εy) by ε at ε = 0."""
    both, eps = [*X, *Y], se.Symbol("eps")
    b, d = matrix(random, ROWS, COLUMNS, both), matrix(random, COLUMNS, 1, both)
    x, y = random.normal(size=(len(X), 1)), random.normal(size=(len(Y), 1))
    moves = dict(zip(map(str, both), np.vstack([x, y])[:, 0], strict=True))
    shift = {s: s + eps * se.RealDouble(float(moves[str(s)])) for s in both}

    def first_terms(table: np.ndarray) -> np.ndarray:
        moved = np.vectorize(lambda e: differentiate(e.xreplace(shift), eps).xreplace({eps: se.Integer(0)}), [object])
        return number(moved(table))

    assert close(first_terms(d), slopes(d) @ x + slopes(d, Y) @ y)
    d0, b0 = number(d), number(b)
    by_a = across(b) @ np.kron(np.eye(len(X)), d0) + b0 @ slopes(d)
    by_b = across(b, Y) @ np.kron(np.eye(len(Y)), d0) + b0 @ slopes(d, Y)
    assert close(first_terms(b @ d), by_a @ x + by_b @ y)


@pytest.mark.parametrize("sizes", [(1, 2), (3, 1), (2, 3)])
def test_003_A32_second_order_terms_are_those_of_the_kronecker_products(sizes: tuple[int, int]) -> None:
    """C^B = (B')^r (E ⊗ D₀) + (B')^s (E ⊗ D₀) B₀ with B as an expression, against what the linearisation uses."""
    mechanism = random_mechanism(5, *sizes, 1)
    system = mechanism.system
    found = first_approximation(system, mechanism.state, mechanism.inputs)
    split = redundancy(derive(system, "multipliers"), found.dependent)
    values = {**system.constants, **mechanism.state, **mechanism.inputs}
    r, s = ([se.Symbol(q) for q in names] for names in (found.independent, found.dependent))

    def of(e: Expression) -> float:
        return evaluate(se.sympify(e), values)

    def bent(by: Sequence[se.Symbol]) -> np.ndarray:
        turned = [[[of(differentiate(e, x)) for e in row] for row in split.matrix] for x in by]
        return np.hstack([np.array(block).T for block in turned])

    still = {velocity(q): se.Integer(0) for q in system.coordinates}
    energy = -lagrangian_of(system).xreplace(still)
    forces = dict(zip(system.coordinates, applied_forces(system), strict=True))
    d0 = np.array([[of(differentiate(energy, x)) + of(forces[str(x)].xreplace(still))] for x in s])
    expected = bent(r) @ np.kron(np.eye(len(r)), d0) + bent(s) @ np.kron(np.eye(len(s)), d0) @ found.slope
    assert close(found.second_order, expected)


@pytest.mark.parametrize("sizes", [(1, 2), (2, 1), (2, 2)])
def test_003_A32_explicit_equations_of_shulgin(sizes: tuple[int, int]) -> None:
    """a_rr r̈ + … = Q_r* + B'Q_s* written with Kronecker products, against the equations of the form, at a moving state."""
    n, m = sizes
    system = random_mechanism(7, n, m, 1).system
    names = system.coordinates
    random = np.random.default_rng(7)
    values = {**system.constants, **{name: float(random.uniform(-0.6, 0.6)) for name in system.states}}
    values |= dict.fromkeys(system.inputs, 0.3) | {"t": 0.0}
    equations = shulgin_equations(system, dependent=names[n:])
    split = redundancy(derive(system, "multipliers"), names[n:])
    b = np.array(split.matrix, dtype=object).reshape(m, n)
    values |= {f"{s}'": evaluate(e, values) for s, e in split.rates.items()}
    left, right = _explicit(system, b, n, values)
    mass = np.array([[evaluate(e, values) for e in row] for row in equations.mass_matrix])
    bias = np.array([evaluate(e, values) for e in equations.bias])
    assert np.abs(mass - left).max() < TOLERANCE
    assert np.abs(bias - right).max() < TOLERANCE * max(1.0, float(np.abs(bias).max()))


def _explicit(system: System, b: np.ndarray, n: int, values: dict[str, float]) -> tuple[np.ndarray, np.ndarray]:
    """(a_rr, everything else on the left minus the forces) of the explicit equations."""
    names = system.coordinates
    q, v = [se.Symbol(x) for x in names], [velocity(x) for x in names]
    r, s, m = q[:n], q[n:], len(names) - n
    still = {x: se.Integer(0) for x in v}
    L = lagrangian_of(system)
    momenta = [L.diff(x) for x in v]
    A2 = np.array([[p.diff(x) for x in v] for p in momenta], dtype=object)
    A1 = np.array([[p.xreplace(still)] for p in momenta], dtype=object)
    W = -L.xreplace(still)
    along = np.vstack([np.array([[se.Integer(int(i == j)) for j in range(n)] for i in range(n)], dtype=object), b])
    a_rr, a_r = along.T @ A2 @ along, along.T @ A1

    def of(table: np.ndarray) -> np.ndarray:
        return np.array([evaluate(se.sympify(e), values) for e in table.ravel()]).reshape(table.shape)

    def stacked(table: np.ndarray, by: Sequence[se.Symbol]) -> np.ndarray:
        return np.vstack([of(np.vectorize(lambda e, x=x: se.sympify(e).diff(x), [object])(table)) for x in by])

    def jacobian(column: np.ndarray, by: Sequence[se.Symbol]) -> np.ndarray:
        return of(np.array([[se.sympify(e).diff(x) for x in by] for e in column.ravel()], dtype=object))

    B, speed = of(b), np.array([[values[f"{x}'"]] for x in names[:n]])
    by_r, by_s = stacked(a_rr, r), stacked(a_rr, s)
    E_n, E_m = np.eye(n), np.eye(m)
    inertial = np.kron(speed.T, E_n) @ by_r @ speed + np.kron(speed.T @ B.T, E_n) @ by_s @ speed
    inertial -= 0.5 * np.kron(E_n, speed.T) @ by_r @ speed + 0.5 * B.T @ np.kron(E_m, speed.T) @ by_s @ speed
    dr, ds = jacobian(a_r, r), jacobian(a_r, s)
    gyroscopic = (dr - dr.T + ds @ B - B.T @ ds.T) @ speed
    pull = jacobian(np.array([W]), r).T + B.T @ jacobian(np.array([W]), s).T
    force = of(np.array([[-e] for e in applied_forces(system)], dtype=object))
    return of(a_rr), (inertial + gyroscopic + pull - force[:n] - B.T @ force[n:])[:, 0]
