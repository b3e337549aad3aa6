"""The equation between positions behind an integrable velocity constraint."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

import numpy as np
import symengine as se

from svyaz.arrays import Array
from svyaz.constraints.frobenius import Ideal
from svyaz.constraints.potentials import antiderivative, flattened, potential, vanishes
from svyaz.constraints.weighing import weighed
from svyaz.dynamics import pivots
from svyaz.expr import ONE, ZERO, Expression, differentiate, expanded_size, factors, gradient, is_zero

LARGEST_ENTRY = 60
"""Rows whose entries would have more terms than this are not combined with others."""

ROUNDING = 1e-12
"""Values below this part of the sum of the magnitudes of their terms are zero."""


def readable_number(x: float) -> Expression:
    """A number as a fraction with a small denominator when it is one, else as it is."""
    fraction = Fraction(x).limit_denominator(24)
    if abs(float(fraction) - x) <= 1e-7 * max(1.0, abs(x)):
        return se.Rational(fraction.numerator, fraction.denominator)
    return se.RealDouble(x)


def integral_of_row(ideal: Ideal, r: int) -> Expression | None:
    """P with dP in the span of the forms and not without row r: the row itself, with an integrating factor, or reduced
    by the other rows. None when no such way led to a potential."""
    form = ideal.forms[r]
    found = integrated(form, ideal.variables)
    if found is None and len(ideal.forms) > 1:
        reduced = _reduced(ideal, r)
        if reduced is not None:
            # A variable that another row holds constant may be treated as a constant: its differential is in the span.
            fixed = _fixed_variables(ideal, r)
            left = [k for k in range(len(reduced)) if k not in fixed]
            found = integrated([reduced[k] for k in left], [ideal.variables[k] for k in left])
    return found


def follows_at(ideal: Ideal, integral: Expression | None, start: Array, points: Array) -> bool:
    """Is dP in the span of the forms at the start? Where they lose the rank that they have at points it need not be.

    Without P the rank decides. True also where there is no value: nothing is known against it then.
    """
    if integral is None:
        return _rank(ideal, [], start) >= max((_rank(ideal, [], point) for point in points), default=0)
    slopes = gradient(integral, ideal.variables)
    return _rank(ideal, slopes, start) == _rank(ideal, [], start)


def _rank(ideal: Ideal, further: Sequence[Expression], point: Array) -> int:
    """The rank at a point of the forms and a further one; that of the forms where the further one has no value."""
    values, sizes = weighed([*(a for form in ideal.forms for a in form), *further], ideal.at(point[None, :]))
    rows = np.where(np.abs(values) > ROUNDING * sizes, values, 0.0).reshape(-1, len(point))
    return len(pivots(rows[np.isfinite(rows).all(axis=1)])[0])


def _fixed_variables(ideal: Ideal, r: int) -> set[int]:
    """Columns that stand alone in some row other than r."""
    others = [form for k, form in enumerate(ideal.forms) if k != r]
    filled = [[j for j, a in enumerate(form) if not is_zero(a)] for form in others]
    return {columns[0] for columns in filled if len(columns) == 1}


def integrated(form: Sequence[Expression], variables: Sequence[se.Symbol]) -> Expression | None:
    """The potential of a form, or of the form times a simple integrating factor."""
    for factor in _integrating_factors(form, variables):
        scaled = [flattened(factor * a) for a in form]
        if _closed(scaled, variables):
            found = potential(scaled, variables)
            if found is not None:
                return found
    return None


def _closed(form: Sequence[Expression], variables: Sequence[se.Symbol]) -> bool:
    n = len(variables)
    return all(
        vanishes(differentiate(form[j], variables[i]) - differentiate(form[i], variables[j]))
        for i in range(n)
        for j in range(i + 1, n)
    )


def _integrating_factors(form: Sequence[Expression], variables: Sequence[se.Symbol]) -> Iterator[Expression]:
    """1; functions of one variable; reciprocals of coefficients, of their products and squares."""
    yield ONE
    present = [a for a in form if not is_zero(a)]
    if len(present) < 2:
        yield from (ONE / a for a in present)
        return
    yield from _factors_of_one_variable(form, variables)
    changing = [a for a in present if a.free_symbols & set(variables)]
    yield from (ONE / a for a in changing)
    yield from (ONE / a**2 for a in changing)
    yield from (ONE / (a * b) for k, a in enumerate(changing) for b in changing[:k])


def _factors_of_one_variable(form: Sequence[Expression], variables: Sequence[se.Symbol]) -> Iterator[Expression]:
    """μ = exp ∫ s dq_i where dω = -(s dq_i) ∧ ω, that is s = -(∂a_j/∂q_i - ∂a_i/∂q_j) / a_j depends on q_i alone."""
    for i, q in enumerate(variables):
        for j, a in enumerate(form):
            if j == i or is_zero(a):
                continue
            slope = flattened((differentiate(form[i], variables[j]) - differentiate(a, q)) / a)
            if is_zero(slope) or slope.free_symbols & set(variables) - {q}:
                continue
            exponent = antiderivative(slope, q)
            if exponent is not None:
                yield _exponential(exponent)
            break


def _exponential(exponent: Expression) -> Expression:
    """exp of the exponent, with exp(k log u) written as u^k."""
    number, powers = factors(exponent)
    if len(powers) == 1:
        ((base, power),) = powers.items()
        if power == 1 and isinstance(base, type(se.log(se.Symbol("u")))):
            return base.args[0] ** number
    return se.exp(exponent)


def _reduced(ideal: Ideal, r: int) -> list[Expression] | None:
    """Row r with the pivot columns of the other rows eliminated, as long as the entries stay short."""
    target = list(ideal.forms[r])
    others = [list(form) for k, form in enumerate(ideal.forms) if k != r]
    n = len(target)
    while others:
        row = min(others, key=lambda f: sum(expanded_size(a) for a in f if not is_zero(a)))
        others.remove(row)
        filled = [j for j in range(n) if not is_zero(flattened(row[j]))]
        if not filled:
            continue
        pivot = min(filled, key=lambda j: (len(row[j].free_symbols), expanded_size(row[j])))
        for other in [target, *others]:
            factor = other[pivot] / row[pivot]
            for j in range(n):
                other[j] = ZERO if j == pivot else flattened(other[j] - factor * row[j])
                if expanded_size(other[j]) > LARGEST_ENTRY:
                    return None
    return target
