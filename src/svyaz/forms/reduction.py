"""Velocity constraints solved for some of the velocities: α(q, t) q̇ + α₀(q, t) = 0 becomes q̇_D = B q̇_I + b.

The coordinates fall into dependent (D) and independent (I) ones. B = -α_D⁻¹ α_I, b = -α_D⁻¹ α₀ are found on the
expressions; where α_D loses its rank the chart (q_I) is singular, although the motion is not. tan u is
written sin u / cos u, so that products with cos u become short.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import symengine as se

from svyaz.expr import (
    ONE,
    ZERO,
    Expression,
    ModelError,
    Problem,
    add_up,
    combine,
    expanded_size,
    factors,
    from_leaves,
    is_zero,
    quadratic,
    velocity,
)
from svyaz.forms.stated import only_constant_masses, only_ideal
from svyaz.forms.vanishing import is_nothing
from svyaz.model import Constraint, System

Rows = list
LONGEST = 2000
"""Expressions that would have more terms than this are not multiplied out in the hope of something shorter."""


@dataclass(frozen=True)
class VelocityRows:
    """α (m, n) and α₀ (m,) of the velocity constraints that act."""

    constraints: tuple[Constraint, ...]
    coordinates: tuple[str, ...]
    matrix: tuple[tuple[Expression, ...], ...]
    rest: tuple[Expression, ...]

    def columns(self, names: Sequence[str]) -> list[list[Expression]]:
        """The block of α that belongs to these coordinates."""
        places = [self.coordinates.index(name) for name in names]
        return [[row[k] for k in places] for row in self.matrix]


@dataclass(frozen=True)
class Chart:
    """q̇_D = B q̇_I + b: ``coefficients`` is B (m, n - m), ``drift`` is b (m,); ``rows`` is what was solved."""

    rows: VelocityRows
    dependent: tuple[str, ...]
    independent: tuple[str, ...]
    coefficients: tuple[tuple[Expression, ...], ...]
    drift: tuple[Expression, ...]

    @property
    def velocities(self) -> dict[str, Expression]:
        """q̇ of every coordinate in terms of the independent velocities."""
        known: dict[str, Expression] = {q: velocity(q) for q in self.independent}
        for q, row, rest in zip(self.dependent, self.coefficients, self.drift, strict=True):
            known[q] = add_up([*(b * velocity(i) for b, i in zip(row, self.independent, strict=True)), rest])
        return {q: known[q] for q in self.rows.coordinates}


def reducible(system: System, form: str) -> None:
    """Refuse a tree with free or ball joints, whose velocities are no derivatives of coordinates, and servo-constraints."""
    only_ideal(system, f"the form '{form}' is", "use the form 'multipliers'")
    if system.bodies:
        only_constant_masses(system, f"of a tree the form '{form}' is", "use the form 'multipliers'")
    if system.freedoms != system.coordinates:
        message = (
            f"the form '{form}' takes velocities that are derivatives of coordinates; a free or ball joint has others"
        )
        raise ModelError([Problem(message, None, "use the form 'multipliers'")])


def velocity_rows(form: str, active: Sequence[Constraint], coordinates: Sequence[str]) -> VelocityRows:
    """The velocity constraints among those that act as linear rows; one that is not linear is refused."""
    constraints = tuple(c for c in active if c.order == 1)
    v = [velocity(q) for q in coordinates]
    matrix, rest = [], []
    for c in constraints:
        terms = quadratic(with_sines(c.expression), v)
        if terms is None or any(len(key) == 2 for key in terms):
            message = f"the form '{form}' takes constraints that are linear in the velocities, and '{c.name}' is not"
            raise ModelError([Problem(message, c.place, "use the form 'multipliers'")])
        matrix.append(tuple(terms.get((k,), ZERO) for k in range(len(v))))
        rest.append(combine(terms.get((), ZERO)))
    return VelocityRows(constraints, tuple(coordinates), tuple(matrix), tuple(rest))


def solved(rows: VelocityRows, dependent: Sequence[str]) -> Chart | None:
    """The chart with these dependent coordinates; None when their block of α has no inverse anywhere."""
    independent = tuple(q for q in rows.coordinates if q not in dependent)
    known = rows.columns(independent)
    sides = [[-e for e in (*row, rest)] for row, rest in zip(known, rows.rest, strict=True)]
    solution = solve(rows.columns(dependent), sides)
    if solution is None:
        return None
    return Chart(
        rows=rows,
        dependent=tuple(dependent),
        independent=independent,
        coefficients=tuple(tuple(row[:-1]) for row in solution),
        drift=tuple(row[-1] for row in solution),
    )


def solve(matrix: Sequence[Sequence[Expression]], sides: Sequence[Sequence[Expression]]) -> Rows | None:
    """X with matrix · X = sides, entries kept short; None when the matrix is singular everywhere.

    Pivots that stand alone in their row or column are eliminated first; what is left is solved by Cramer's rule, so that
    nothing is divided by that is not a factor of the determinant.
    """
    m = len(matrix)
    work = [[*row, *side] for row, side in zip(matrix, sides, strict=True)]
    pivots: dict[int, int] = {}
    while len(pivots) < m:
        choice = _alone(work, pivots, m)
        if choice is None:
            break
        _eliminate(work, *choice)
        pivots[choice[0]] = choice[1]
    left = [i for i in range(m) if i not in pivots]
    if left and not _solve_core(work, left, [j for j in range(m) if j not in pivots.values()], pivots, m):
        return None
    order = {column: row for row, column in pivots.items()}
    return [work[order[j]][m:] for j in range(m)]


def _alone(work: Rows, pivots: dict[int, int], m: int) -> tuple[int, int] | None:
    """The shortest entry among those that are alone in their row or column of what is left."""
    rows = [i for i in range(m) if i not in pivots]
    columns = [j for j in range(m) if j not in pivots.values()]
    filled = {(i, j) for i in rows for j in columns if not is_nothing(work[i][j])}
    single = [
        (_length(work[i][j]), i, j)
        for i, j in filled
        if sum((i, k) in filled for k in columns) == 1 or sum((k, j) in filled for k in rows) == 1
    ]
    return min(single)[1:] if single else None


def _eliminate(work: Rows, i: int, j: int) -> None:
    """Divide row i by its pivot in column j and take it out of all other rows."""
    pivot = work[i][j]
    work[i] = [ONE if k == j else combine(e / pivot) for k, e in enumerate(work[i])]
    for r in range(len(work)):
        factor = work[r][j]
        if r != i and not is_zero(factor):
            work[r] = [
                ZERO if k == j else _short(e - factor * above)
                for k, (e, above) in enumerate(zip(work[r], work[i], strict=True))
            ]


def _solve_core(work: Rows, rows: list[int], columns: list[int], pivots: dict[int, int], m: int) -> bool:
    """Solve the rows and columns left over by Cramer's rule and put the result into the other rows."""
    core = [[work[i][j] for j in columns] for i in rows]
    below = _short(determinant(core))
    if is_zero(below):
        return False
    width = len(work[0])
    solution = []
    for c in range(len(columns)):
        entries = []
        for k in range(m, width):
            replaced = [[*row[:c], work[i][k], *row[c + 1 :]] for i, row in zip(rows, core, strict=True)]
            entries.append(_short(_short(determinant(replaced)) / below))
        solution.append(entries)
    for i, j, entries in zip(rows, columns, solution, strict=True):
        work[i] = [*(ONE if k == j else ZERO for k in range(m)), *entries]
        pivots[i] = j
    for i in set(range(m)) - set(rows):
        factors_left = [work[i][j] for j in columns]
        found = [
            _short(work[i][m + k] - add_up(f * entries[k] for f, entries in zip(factors_left, solution, strict=True)))
            for k in range(width - m)
        ]
        work[i] = [*(ZERO if k in columns else e for k, e in enumerate(work[i][:m])), *found]
    return True


def determinant(matrix: Sequence[Sequence[Expression]]) -> Expression:
    """By the first column; for the small blocks that constraints have."""
    if len(matrix) == 1:
        return matrix[0][0]
    terms = []
    for i, row in enumerate(matrix):
        if not is_zero(row[0]):
            minor = [other[1:] for k, other in enumerate(matrix) if k != i]
            terms.append((-ONE) ** i * row[0] * determinant(minor))
    return add_up(terms) if terms else ZERO


def _length(entry: Expression) -> int:
    if entry.is_Number:
        return 0
    return expanded_size(entry) + len(entry.free_symbols)


def _short(entry: Expression) -> Expression:
    short = combine(entry)
    return ZERO if is_nothing(short) else short


def with_sines(expression: Expression) -> Expression:
    """tan u written as sin u / cos u."""
    tangents = expression.atoms(se.tan)
    return expression.xreplace({f: se.sin(f.args[0]) / se.cos(f.args[0]) for f in tangents}) if tangents else expression


def shorter(expression: Expression) -> Expression:
    """The expression as it is, or multiplied out and combined, whichever has fewer operations."""
    if expanded_size(expression) > LONGEST:
        return expression
    return shortest(combine(expression), expression)


def shortest(*ways: Expression) -> Expression:
    """The first of the ways of writing the same that has the fewest operations."""
    return min(ways, key=size)


def size(expression: Expression) -> int:
    """Operations of the expression written out, every shared part counted once."""
    seen: set[Expression] = set()
    waiting = [expression]
    total = 0
    while waiting:
        e = waiting.pop()
        if e in seen:
            continue
        seen.add(e)
        parts = e.args
        if parts:
            total += len(parts) - 1 if e.is_Add or e.is_Mul else 1
            waiting.extend(parts)
    return total


def written_size(expression: Expression, known: dict[Expression, int]) -> int:
    """Names, numbers and operations of the expression as text; ``known`` keeps the sizes of its parts."""
    for e, arguments in from_leaves([expression], known):
        known[e] = 1 + sum(known[a] for a in arguments)
    return known[expression]


def denominators(entries: Sequence[Expression]) -> dict[Expression, int]:
    """{base: power} of the least product that clears the fractions of all entries."""
    below: dict[Expression, int] = {}
    for entry in entries:
        for term in entry.args if entry.is_Add else (entry,):
            for base, power in factors(term)[1].items():
                if power < 0:
                    below[base] = max(below.get(base, 0), -power)
    return below
