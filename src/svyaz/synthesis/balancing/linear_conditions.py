"""Systems of homogeneous linear conditions, kept reduced: each has an unknown of its own that occurs in no other."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction

from svyaz.forms import Coefficient, Harmonics, LinearForm, Scalar, accumulate, value_of


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
