"""The masses of a tree under names: what its joints carry, the first moments of augmented bodies, the inertias.

Names go by bodies: ``dx4`` and ``Iyy3`` for bodies '4' and '3', ``dx_hand`` for a body 'hand'; ``m4`` is the mass of a body
that carries nothing, ``M3`` that of a body with all that it carries.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import symengine as se

from svyaz.expr import ZERO, Expression, evaluate, names_in
from svyaz.forms import Coefficient, Harmonics, LinearForm, Scalar, accumulate, exact, is_zero, value_of
from svyaz.model import MOMENTS, Tree
from svyaz.program import distinct, identifier


class LinearConditions:
    """form = 0 for every row; ``rows`` maps the unknown of a row (with coefficient 1) to the row."""

    def __init__(self, forms: Iterable[LinearForm] = (), order: Sequence[int] | None = None) -> None:
        self.order = order
        """Unknowns in the order in which rows claim them; without it the largest or plainest coefficient decides."""
        self.rows: dict[int, LinearForm] = {}
        for form in forms:
            self.add(form)

    def add(self, form: LinearForm) -> bool:
        """Add a condition; False when it follows from those that are there."""
        rest = self.reduced(form)
        if not rest:
            return False
        pivot = self._pivot(rest)
        lead = rest[pivot]
        row = {place: 1 if place == pivot else quotient(c, lead) for place, c in rest.items()}
        for other, known in self.rows.items():
            if pivot in known:
                factor = -1 * known[pivot]
                changed = dict(known)
                accumulate(changed, row, factor)
                changed.pop(pivot, None)
                self.rows[other] = changed
        self.rows[pivot] = row
        return True

    def reduced(self, form: LinearForm) -> LinearForm:
        """The form with the unknowns of all rows eliminated: empty when it vanishes under the conditions."""
        found = dict(form)
        for pivot in [place for place in form if place in self.rows]:
            factor = -1 * found[pivot]
            accumulate(found, self.rows[pivot], factor)
            found.pop(pivot, None)
        return found

    def reduced_function(self, function: Harmonics) -> Harmonics:
        """A function of the coordinates under the conditions."""
        if not self.rows:
            return function
        parts = {key: self.reduced(form) for key, form in function.parts.items()}
        return Harmonics({key: form for key, form in parts.items() if form})

    def ordered(self, order: Sequence[int]) -> LinearConditions:
        """The same conditions, rows claiming unknowns in this order (reduced echelon form)."""
        places = {place: number for number, place in enumerate(order)}
        left = [dict(row) for row in self.rows.values()]
        found = LinearConditions(order=order)
        while left:
            # the row whose first unknown comes first goes next, so that no later row can claim an earlier unknown
            left.sort(key=lambda row: min(places[place] for place in row))
            found.add(left.pop(0))
            left = [rest for row in left if (rest := found.reduced(row))]
        found.rows = dict(sorted(found.rows.items(), key=lambda item: places[item[0]]))
        return found

    def _pivot(self, form: LinearForm) -> int:
        if self.order is not None:
            return next(place for place in self.order if place in form)
        return max(form, key=lambda place: (not isinstance(form[place], Scalar), abs(value_of(form[place]))))


def quotient(a: Coefficient, b: Coefficient) -> Coefficient:
    """a/b, exact where both are."""
    if isinstance(a, (int, Fraction)) and isinstance(b, (int, Fraction)):
        found = Fraction(a) / b
        return found.numerator if found.denominator == 1 else found
    if isinstance(a, Scalar) or isinstance(b, Scalar):
        return a / b
    return value_of(a) / value_of(b)


LETTERS = "xyz"


@dataclass(frozen=True)
class Quantity:
    """One of the unknowns: its name, the body, what it is in words, and what the model as written makes of it.

    ``open`` says that the model gives it, or the place of the mass that it belongs to, as a number: a condition on it is
    then stated under its name, and met by changing that number.
    """

    name: str
    body: str
    meaning: str
    expression: Expression
    open: bool
    sign: str
    """The name in a form that is shown with subscripts: d_x_4."""


def quantities(tree: Tree, taken: Iterable[str]) -> list[Quantity]:
    """All unknowns of a tree without fixed joints, in their places; ``taken`` are names of the model itself."""
    masses: list[Expression] = [se.sympify(body.mass) for body in tree.bodies]
    for k in range(len(tree.bodies) - 1, -1, -1):
        if tree.parents[k] >= 0:
            masses[tree.parents[k]] += masses[k]
    found: list[Quantity] = []
    for k, body in enumerate(tree.bodies):
        found.append(_mass(tree, k, masses[k]))
        for c, letter in enumerate(LETTERS):
            found.append(_moment(tree, k, c, letter, masses))
        for name, entry in zip(MOMENTS, body.inertia, strict=True):
            what = f"inertia {name} of '{body.name}' about its pole"
            found.append(_quantity(f"I{name}", body.name, what, se.expand(entry), bool(names_in(se.sympify(entry)))))
    return _under_free_names(found, taken)


def _mass(tree: Tree, k: int, mass: Expression) -> Quantity:
    body = tree.bodies[k]
    if not tree.carried[k]:
        return _quantity("m", body.name, f"mass of '{body.name}'", mass, bool(names_in(mass)))
    what = f"mass of '{body.name}' with all that it carries"
    return _quantity("M", body.name, what, se.expand(mass), bool(names_in(mass)))


def _moment(tree: Tree, k: int, c: int, letter: str, masses: Sequence[Expression]) -> Quantity:
    body = tree.bodies[k]
    total = se.expand(
        body.mass * body.center[c] + sum((masses[j] * tree.bodies[j].pole[c] for j in tree.carried[k]), ZERO)
    )
    what = f"first moment {letter} of '{body.name}'"
    if tree.carried[k]:
        what += " with the masses it carries in their poles"
    return _quantity(f"d{letter}", body.name, what, total, bool(names_in(se.sympify(body.center[c]))))


def _quantity(prefix: str, body: str, meaning: str, expression: Expression, symbolic: bool) -> Quantity:
    plain = identifier(body)
    name = f"{prefix}{body}" if body.isdigit() else f"{prefix}_{plain}"
    sign = "_".join(filter(None, (prefix[0], prefix[1:], plain.lstrip("n") if body.isdigit() else plain)))
    return Quantity(name, body, meaning, expression, open=not symbolic and expression != 0, sign=sign)


def _under_free_names(found: Sequence[Quantity], taken: Iterable[str]) -> list[Quantity]:
    """Names that the model uses for something else are changed."""
    used = set(taken) - {q.name for q in found if q.expression == se.Symbol(q.name)}
    names = distinct([q.name for q in found], used, "{0}_{1}")
    return [replace(q, name=name) for name, q in zip(names, found, strict=True)]


def form_text(form: LinearForm, first: int | None, names: Sequence[str], show: Callable[[Expression], str]) -> str:
    """A linear form as a line, the unknown ``first`` (if any) leading and the others in their order."""
    line = ""
    for place in sorted(form, key=lambda place: (place != first, place)):
        term = tidy(exact(form[place])) * se.Symbol(names[place])
        text, opposite = show(term), show(-term)
        if not line:
            line = text
        else:
            line += f" - {opposite}" if text.startswith("-") and not opposite.startswith("-") else f" + {text}"
    return line or "0"


def in_parameters(form: LinearForm, known: Sequence[Quantity]) -> Expression:
    """The same in the parameters of the model; what is open keeps its name."""
    terms = []
    for place, c in form.items():
        q = known[place]
        terms.append(tidy(exact(c)) * (se.Symbol(q.name) if q.open else q.expression))
    return se.expand(se.Add(*terms))


def tidy(coefficient: Expression) -> Expression:
    """A coefficient expanded; a number in disguise as that number, and floats without the noise of rounding."""
    names = names_in(coefficient)
    if names:
        first, second = (
            evaluate(coefficient, {name: 0.37 + 0.11 * k + shift * (k + 1) for k, name in enumerate(sorted(names))})
            for shift in (0.0, 0.0617)
        )
        if abs(first - second) < 1e-12 and abs(first * 720 - round(first * 720)) < 1e-9:
            return se.Rational(round(first * 720), 720)
    return round_numbers(se.expand(coefficient))


def round_numbers(expression: Expression) -> Expression:
    """Floats to ten digits, whole ones as integers: what rounding and right angles of few digits leave is not shown."""
    return expression.xreplace({number: _round_number(float(number)) for number in expression.atoms(se.RealDouble)})


def _round_number(number: float) -> Expression:
    value = float(f"{number:.10g}")
    return se.Integer(int(value)) if value == int(value) and abs(value) < 1e15 else se.RealDouble(value)


def shortest(form: LinearForm, rows: Sequence[LinearForm]) -> LinearForm:
    """A linear form plus multiples of conditions, with as few terms as a greedy search finds."""
    best = dict(form)
    while True:
        tried = []
        for row in rows:
            for place in row:
                if place in best:
                    changed = dict(best)
                    accumulate(changed, row, -1 * quotient(best[place], row[place]))
                    changed = {p: c for p, c in changed.items() if not is_zero(c)}
                    if _length(changed) < _length(best):
                        tried.append(changed)
        if not tried:
            return best
        best = min(tried, key=_length)


def _length(form: LinearForm) -> tuple[int, int]:
    """Terms, and characters of their coefficients."""
    return len(form), sum(len(str(exact(c))) for c in form.values())
