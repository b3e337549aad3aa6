"""Integrability of velocity constraints: which of them come from positions.

The constraints are read as forms ω_r = Σ a_ri dq_i (+ a_r0 dt, when time or an inhomogeneous term occurs) that vanish
on the motion. The fields X that all ω annihilate span D. Frobenius: all rows together are integrable if and only if
dω_r(X, Y) = 0 for all X, Y in D and every r, which is dω_r ∧ ω_1 ∧ … ∧ ω_m = 0 for independent rows. If they are not,
the integrable ones among them are those that also annihilate all brackets of fields of D, brackets of brackets
included (the last derived system; R. L. Bryant et al., Exterior Differential Systems, ch. II).

Nothing is inverted symbolically: with the columns split into pivots and others, A = [A_p A_f] and U = A_p⁻¹, the
fields are X_j = e_j - Σ_p (U A_f)_pj e_p, the entries of U are symbols with the known derivative ∂U = -U ∂A_p U, and
their values are put in at the points of the test. All comparisons are made against the sum of the magnitudes of the
terms, so that neither units nor cancellation decide.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, product

import numpy as np
import symengine as se
from numpy.typing import NDArray

from svyaz.arrays import Array
from svyaz.constraints.weighing import weighed
from svyaz.dynamics import balanced, independent_rows, pivots
from svyaz.expr import ONE, ZERO, Expression, add_up, differentiate, gradient, total_derivative
from svyaz.integrate import COUNTED, Budget, clock
from svyaz.matrices import cond, lstsq, svd
from svyaz.program import build, compile_program

Form = tuple[Expression, ...]
Field = tuple[Expression, ...]

TOLERANCE = 1e-9
POINTS = 6
LARGEST_CLOSURE = 14
"""With more variables than this brackets of brackets are not formed."""

_TOO_MANY = f"brackets of fields are formed for at most {LARGEST_CLOSURE} variables"


@dataclass(frozen=True)
class Ideal:
    """Forms over variables, with the numbers that are constant. The rows are independent of any state."""

    variables: tuple[se.Symbol, ...]
    forms: tuple[Form, ...]
    constants: Mapping[str, float]

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(str(v) for v in self.variables)

    def at(self, points: Array) -> dict[str, Array | float]:
        """Values of the variables at points (count, variables), and the constants."""
        return {**self.constants, **dict(zip(self.names, points.T, strict=True))}


@dataclass(frozen=True)
class Integrability:
    """For each row: does it come from positions jointly with the others, and alone? ``combinations``: how many
    independent combinations of the rows do, as far as that was found out.

    ``undecided`` are the rows of which it was not. ``told`` says that brackets were not formed, or were long in forming.
    """

    joint: tuple[bool, ...]
    alone: tuple[bool, ...]
    combinations: int
    undecided: tuple[bool, ...]
    told: str = ""


def sample_points(ideal: Ideal, held: Sequence[Expression], start: Mapping[str, float]) -> Array:
    """Points (count, variables) near the start at which the forms are numbers, on held = 0 where it can be reached."""
    rng = np.random.default_rng(20)
    centre = np.array([start.get(name, 0.0) for name in ideal.names])
    sizes = np.maximum(np.abs(centre), 1.0)
    entries = [a for form in ideal.forms for a in form]
    found: list[Array] = []
    for radius in (0.5, 0.5, 0.05, 0.005):
        points = centre + radius * sizes * rng.uniform(-1.0, 1.0, (2 * POINTS, len(centre)))
        points = _onto(ideal, held, points)
        good = np.isfinite(weighed(entries, ideal.at(points))[0]).all(axis=1)
        found.extend(points[good])
        if len(found) >= POINTS:
            break
    return np.array(found[:POINTS]).reshape(-1, len(centre))


def start_point(ideal: Ideal, held: Sequence[Expression], start: Mapping[str, float]) -> Array:
    """The values of the variables at the start, on held = 0 where it can be reached."""
    return np.asarray(_onto(ideal, held, np.array([[start.get(name, 0.0) for name in ideal.names]]))[0])


def _onto(ideal: Ideal, held: Sequence[Expression], points: Array) -> Array:
    """Newton's method with the least correction, time left alone; a point that fails stays near the set."""
    if not held:
        return points
    moving = [v for v in ideal.variables if str(v) != "t"]
    count = len(moving)
    expressions = [*held, *(e for h in held for e in gradient(h, moving))]
    outputs = [(f"value {k}", e) for k, e in enumerate(expressions)]
    native = compile_program(build(outputs, inputs=ideal.names, parameters=tuple(ideal.constants)))
    constants = native.constants(ideal.constants)
    points = points.copy()
    for _ in range(20):
        values = native.evaluate(points, constants)
        for point, value in zip(points, values, strict=True):
            if np.isfinite(value).all():
                jacobian = value[len(held) :].reshape(len(held), count)
                step = lstsq(jacobian, value[: len(held)], rcond=1e-8)
                largest = 0.5 * (1.0 + float(np.abs(point).max()))
                point[:count] -= step * min(1.0, largest / max(float(np.abs(step).max(initial=0.0)), 1e-300))
    return points


def integrability(ideal: Ideal, points: Array) -> Integrability:
    """The joint test of Frobenius, the test of each row alone, and the integrable rows when the joint test fails."""
    n, m = len(ideal.variables), len(ideal.forms)
    points, values, curls, bounds = _derivatives(ideal, points)
    joint = np.ones(m, dtype=bool)
    alone = np.ones(m, dtype=bool)
    for a, curl, bound in zip(values, curls, bounds, strict=True):
        fields = _kernel(a)
        for r in range(m):
            joint[r] &= _annihilates(curl[r], bound[r], fields)
            alone[r] &= _annihilates(curl[r], bound[r], _kernel(a[r : r + 1]))
    rank = max((len(pivots(a)[0]) for a in values), default=0)
    none = (False,) * m
    if joint.all():
        return Integrability(tuple(joint.tolist()), tuple(alone.tolist()), rank, none)
    if m == 1:
        return Integrability(none, tuple(alone.tolist()), 0, none)
    closure = _last_derived(ideal, points, values) if n <= LARGEST_CLOSURE else _Closure(joint, 0, True, _TOO_MANY)
    inside = joint & closure.inside
    if not closure.cut:
        brackets = closure.brackets
        return Integrability(tuple(inside.tolist()), tuple(alone.tolist()), rank - brackets, none, closure.told)
    sure = joint & alone
    undecided = tuple((inside & ~alone).tolist())
    return Integrability(tuple(sure.tolist()), tuple(alone.tolist()), int(sure.sum()), undecided, closure.told)


def constant_combinations(ideal: Ideal, points: Array) -> Array:
    """Rows c with Σ c_r dω_r = 0 at all points: combinations with constant coefficients that are differentials."""
    _, _, curls, bounds = _derivatives(ideal, points)
    m = len(ideal.forms)
    if m == 0 or not len(points):
        return np.zeros((0, m))
    stacked = curls.transpose(0, 2, 3, 1).reshape(-1, m)
    sizes = bounds.transpose(0, 2, 3, 1).reshape(-1, m).max(axis=1)
    stacked = stacked[sizes > 0] / sizes[sizes > 0, None]
    if not len(stacked):
        return np.eye(m)
    _, singular, right = svd(stacked, full_matrices=True)
    rank = int(np.sum(singular > 1e-8 * max(1.0, float(singular[0]))))
    return _tidy(right[rank:])


def _tidy(rows: Array) -> Array:
    """The same span with leading ones and zeros between them, as a person would write it."""
    rows = rows.copy()
    done = 0
    for column in range(rows.shape[1]):
        if done == len(rows):
            break
        k = done + int(np.argmax(np.abs(rows[done:, column])))
        if abs(rows[k, column]) < 1e-6:
            continue
        rows[[done, k]] = rows[[k, done]]
        rows[done] /= rows[done, column]
        for other in range(len(rows)):
            if other != done:
                rows[other] -= rows[other, column] * rows[done]
        done += 1
    rounded = np.round(rows)
    return np.where(np.abs(rows - rounded) < 1e-7, rounded, rows)


def _derivatives(ideal: Ideal, points: Array) -> tuple[Array, Array, Array, Array]:
    """Points where all are numbers; a (points, m, n); dω (points, m, n, n); sums of magnitudes of its terms."""
    n, m = len(ideal.variables), len(ideal.forms)
    entries = [a for form in ideal.forms for a in form]
    pairs = list(combinations(range(n), 2))
    parts = [
        (differentiate(form[j], ideal.variables[i]), differentiate(form[i], ideal.variables[j]))
        for form in ideal.forms
        for i, j in pairs
    ]
    values, sizes = weighed([*entries, *(e for pair in parts for e in pair)], ideal.at(points))
    finite = np.isfinite(values).all(axis=1)
    values, sizes = values[finite], sizes[finite, m * n :]
    count = len(values)
    a, slopes = values[:, : m * n].reshape(count, m, n), values[:, m * n :]
    curl = np.zeros((count, m, n, n))
    bound = np.zeros((count, m, n, n))
    if pairs:
        i, j = np.array(pairs).T
        skew = (slopes[:, ::2] - slopes[:, 1::2]).reshape(count, m, len(pairs))
        curl[:, :, i, j], curl[:, :, j, i] = skew, -skew
        bound[:, :, i, j] = bound[:, :, j, i] = (sizes[:, ::2] + sizes[:, 1::2]).reshape(count, m, len(pairs))
    return points[finite], a, curl, bound


def _kernel(a: Array) -> Array:
    """A basis (d, n) of the vectors that all rows of a annihilate: unit in the free columns."""
    rows, chosen = pivots(a)
    n = a.shape[1]
    free = [k for k in range(n) if k not in chosen]
    basis = np.zeros((len(free), n))
    basis[np.arange(len(free)), free] = 1.0
    if rows:
        basis[:, chosen] = -np.linalg.solve(a[np.ix_(rows, chosen)], a[np.ix_(rows, free)]).T
    return basis


def _annihilates(curl: Array, bound: Array, fields: Array) -> bool:
    """Is dω(X, Y) = 0 for all fields?"""
    value = np.abs(fields @ curl @ fields.T)
    limit = np.abs(fields) @ bound @ np.abs(fields).T
    return bool(np.all(value <= TOLERANCE * limit))


BRACKET = 2e-4
"""Counted seconds of a bracket, and of each of its terms."""


@dataclass(frozen=True)
class _Closure:
    """Rows that annihilate all brackets, the dimension of the span of the brackets outside D; ``cut``: of those formed."""

    inside: NDArray[np.bool_]
    brackets: int
    cut: bool
    told: str


def _last_derived(ideal: Ideal, points: Array, values: Array) -> _Closure:
    """Brackets, and brackets of those that are new with the fields, until none is new, all space is filled, or time is up."""
    budget = Budget.started()
    rows, chosen = pivots(values[0])
    usable = np.array([cond(balanced(a[np.ix_(rows, chosen)])[0]) < 1e8 for a in values])
    calculus = _Calculus(ideal, rows, chosen)
    inputs = np.array([calculus.inputs(p, a) for p, a in zip(points[usable], values[usable], strict=True)])
    fields = calculus.fields()
    inside = np.ones(len(ideal.forms), dtype=bool)
    known = np.zeros((0, len(rows)))
    pairs, cut = list(combinations(fields, 2)), False
    while pairs and not cut:
        new = []
        for x, y in pairs:
            if clock() >= budget.end:
                cut = True
                break
            new.append(calculus.bracket(x, y))
            COUNTED.seconds += BRACKET * (1 + sum(len(e.args) for e in new[-1]))
        vectors, limits = calculus.values(new, inputs)
        for a, z, limit in zip(values[usable], vectors, limits, strict=True):
            action = np.abs(a[:, chosen] @ z.T)
            inside &= np.all(action <= 1e-8 * (np.abs(a[:, chosen]) @ limit.T), axis=1)
        nonzero = np.abs(vectors[0]) > TOLERANCE * limits[0]
        kept = []
        for k in np.flatnonzero(nonzero.any(axis=1)):
            candidate = np.vstack([known, vectors[0][k]])
            if independent_rows(candidate) == len(candidate):
                known = candidate
                kept.append(new[k])
        if len(known) == len(rows):  # nothing is left that could be integrable
            pairs, cut = [], False
        else:
            pairs = list(product(fields, kept))
    told = (
        f"the brackets of fields {'were cut after' if cut else 'took'} {budget.told}" if clock() >= budget.end else ""
    )
    return _Closure(inside, len(known), cut, told)


class _Calculus:
    """Fields with the entries of U = A_p⁻¹ as further symbols, and their brackets."""

    def __init__(self, ideal: Ideal, rows: Sequence[int], chosen: Sequence[int]) -> None:
        self.ideal, self.rows, self.chosen = ideal, list(rows), list(chosen)
        m = len(self.rows)
        self.inverse = [[se.Symbol(f"inverse {i} {j}") for j in range(m)] for i in range(m)]

    def fields(self) -> list[Field]:
        """X_j for the free columns."""
        n, m = len(self.ideal.variables), len(self.rows)
        made = []
        for j in (k for k in range(n) if k not in self.chosen):
            field = [ZERO] * n
            field[j] = ONE
            for i, p in enumerate(self.chosen):
                field[p] = -add_up(self.inverse[i][k] * self.ideal.forms[self.rows[k]][j] for k in range(m))
            made.append(tuple(field))
        return made

    def bracket(self, x: Field, y: Field) -> Field:
        """[X, Y]; only the pivot components can differ from zero."""
        forward, backward = self._rates(x), self._rates(y)
        result = [ZERO] * len(x)
        for c in self.chosen:
            result[c] = total_derivative(y[c], forward) - total_derivative(x[c], backward)
        return tuple(result)

    def _rates(self, x: Field) -> dict[se.Symbol, Expression]:
        """What the variables and U change by along a field: X(U) = -U X(A_p) U."""
        own = {v: rate for v, rate in zip(self.ideal.variables, x, strict=True) if rate != ZERO}
        forms, u, m = self.ideal.forms, self.inverse, range(len(self.rows))
        change = [[total_derivative(forms[i][p], own) for p in self.chosen] for i in self.rows]
        half = [[add_up(u[i][k] * change[k][o] for k in m) for o in m] for i in m]
        return own | {u[i][j]: -add_up(half[i][o] * u[o][j] for o in m) for i in m for j in m}

    def inputs(self, point: Array, a: Array) -> Array:
        """Values of the variables and of U."""
        return np.concatenate([point, np.linalg.inv(a[np.ix_(self.rows, self.chosen)]).ravel()])

    def values(self, fields: Sequence[Field], inputs: Array) -> tuple[Array, Array]:
        """Pivot components (points, fields, m) and the sums of the magnitudes of their terms."""
        parts = [field[c] for field in fields for c in self.chosen]
        names = [*self.ideal.names, *(str(u) for row in self.inverse for u in row)]
        values, sizes = weighed(parts, {**self.ideal.constants, **dict(zip(names, inputs.T, strict=True))})
        shape = (len(inputs), len(fields), len(self.chosen))
        return values.reshape(shape), sizes.reshape(shape)
