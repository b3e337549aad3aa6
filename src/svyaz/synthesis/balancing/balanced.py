"""Balancing a tree: conditions for a constant inertia matrix under readable names, proved, and a model that satisfies them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import symengine as se

from svyaz.expr import Expression, ModelError, Problem, evaluate, names_in, substitute, to_text
from svyaz.forms import FLOATS, MOST_WRITTEN, LinearForm, LongFormula, exact, expressions, welded
from svyaz.json_types import Record
from svyaz.model import System, Tree, constant_tree, numbers, tree_of
from svyaz.shown import Shown
from svyaz.synthesis.balancing.balanced_model import BalancedMasses, Infeasible, balance_masses, words_of_balanced
from svyaz.synthesis.balancing.constant_inertia import Balance, balance
from svyaz.synthesis.balancing.proof import Proof, prove
from svyaz.synthesis.balancing.quantities import (
    LinearConditions,
    Quantity,
    form_text,
    in_parameters,
    quantities,
    shortest,
)
from svyaz.synthesis.balancing.sampled import sample_balance

Triple = tuple[Expression, Expression, Expression]

SLIGHT, ROUNDING = 1e-5, 1e-12
"""Parts of numeric axes (and of the longest pole) that are taken as zero: with a note, and without one."""


@dataclass(frozen=True, repr=False)
class Balanced(Shown):
    """Conditions on the masses of a tree under which its inertia matrix is constant.

    ``conditions`` are rows of the reduced system, ``known`` the quantities they are about. ``proof`` says what numbers said;
    ``masses`` are masses that satisfy the conditions, or the reason why no bodies do.

    >>> import svyaz
    >>> found = svyaz.load("planar-2r").balance()
    >>> bool(found.known)
    True
    """

    system: System
    found: Balance
    known: tuple[Quantity, ...]
    proof: Proof
    masses: BalancedMasses | Infeasible
    notes: tuple[str, ...]

    @property
    def rows(self) -> list[LinearForm]:
        """All conditions, each = 0."""
        return list(self.found.conditions.rows.values())

    @cached_property
    def formulas(self) -> list[Expression]:
        """The conditions in the parameters of the model: those that hold by themselves left out, and repetitions."""
        return _independent([in_parameters(row, self.known) for row in self.rows])

    @cached_property
    def matrix(self) -> list[list[LinearForm]]:
        """The inertia matrix under the conditions, as short linear forms of the quantities."""
        rows = self.rows
        return [[shortest(entry, rows) for entry in row] for row in self.found.matrix]

    def line(self, form: LinearForm, first: int | None = None) -> str:
        """A linear form of the quantities as text."""
        return form_text(form, first, [q.name for q in self.known], to_text)

    @property
    def gravity_lines(self) -> list[str]:
        """What must vanish besides for gravity to drop out of the equations."""
        return [self.line(row, pivot) for pivot, row in self.found.gravity.rows.items()]

    @property
    def used_quantities(self) -> list[Quantity]:
        """Those that occur in the conditions, in the matrix, or with gravity."""
        forms = [*self.rows, *self.found.gravity.rows.values(), *(entry for row in self.matrix for entry in row)]
        return [self.known[place] for place in sorted({place for form in forms for place in form})]

    @property
    def has_gravity(self) -> bool:
        """Is there any gravity?"""
        return any(g != 0 for g in tree_of(self.system).gravity)

    def value(self, row: LinearForm) -> float:
        """What the model as it is makes of a condition."""
        values = self.system.parameters
        return sum(evaluate(exact(c), values) * evaluate(self.known[p].expression, values) for p, c in row.items())

    def balanced_words(self) -> Record:
        """The words of the model with balanced masses; there must be such."""
        assert isinstance(self.masses, BalancedMasses), "no bodies satisfy the conditions"
        tree = _straighten(tree_of(self.system), self.system.parameters, [])
        return words_of_balanced(self.system, tree, self.masses)


def balance_tree(system: System) -> Balanced:
    """Find, name and prove the conditions, and look for bodies that satisfy them."""
    stated = constant_tree(system, "balancing")
    if not stated.freedoms:
        raise ModelError([Problem("nothing moves in this tree: all its joints are fixed")])
    if len(stated.bodies) > MOST_WRITTEN:
        message = f"conditions are found for trees of at most {MOST_WRITTEN} bodies, not {len(stated.bodies)}"
        raise ModelError([Problem(message)])
    notes: list[str] = []
    tree = _without_zero_lengths(welded(stated, expressions()), system.parameters, notes)
    tree = _straighten(tree, system.parameters, notes)
    numeric = welded(numbers(stated, system.parameters), FLOATS)
    numeric = _with_geometry_of(numeric, tree, system.parameters)
    found, proof, why = _prove(tree, numeric, system.parameters)
    if why:
        notes.append(f"{why}: the conditions are for the numbers of the lengths, not for any lengths")
    taken = [*system.parameters, *system.states, *system.inputs]
    masses = balance_masses(system, numeric, found)
    if not tree.by_rates:
        notes.append(
            "the matrix is that of the velocities in body axes: of a free joint gyroscopic terms of the bias remain"
        )
    return Balanced(system, found, tuple(quantities(tree, taken)), proof, masses, tuple(notes))


def _prove(tree: Tree, numeric: Tree, parameters: Mapping[str, float]) -> tuple[Balance, Proof, str]:
    """Conditions that the numbers confirm, for any lengths if that can be, else for their numbers and why."""
    lengths = _lengths(tree, parameters)
    why = "the lengths of this model are special"
    for known in ({}, lengths) if lengths else ({},):
        try:
            found = balance(tree, known)
        except LongFormula:
            why = "formulas for this tree are beyond reading"
            continue
        proof = prove(numeric, found.conditions, parameters)
        if proof.holds:
            return found, proof, why if known else ""
    found = sample_balance(tree, numeric)
    return found, prove(numeric, found.conditions, parameters), "axes of this tree are nearly parallel or perpendicular"


def _lengths(tree: Tree, parameters: Mapping[str, float]) -> dict[str, float]:
    entries = [e for body in tree.bodies for e in (*body.axis, *body.pole)]
    names = set().union(*(names_in(se.sympify(e)) for e in entries))
    return {name: parameters[name] for name in names}


def _without_zero_lengths(tree: Tree, parameters: Mapping[str, float], notes: list[str]) -> Tree:
    """Lengths whose number is zero are zero: what they multiply is no condition."""
    zero = sorted(name for name, value in _lengths(tree, parameters).items() if value == 0.0)
    if not zero:
        return tree
    notes.append(f"taken as zero, as the model says: {', '.join(zero)}")
    known = {se.Symbol(name): se.Integer(0) for name in zero}

    def vector(entries: Triple) -> Triple:
        x, y, z = (substitute(se.sympify(e), known) for e in entries)
        return x, y, z

    bodies = tuple(replace(b, axis=vector(b.axis), pole=vector(b.pole)) for b in tree.bodies)
    return Tree(bodies, tree.gravity)


def _straighten(tree: Tree, parameters: Mapping[str, float], notes: list[str]) -> Tree:
    """Parts of axes and poles that are zero but for the few digits of right angles (1.5708) made zero.

    They would ask for conditions of their own.
    """
    sizes = [abs(evaluate(se.sympify(e), parameters)) for body in tree.bodies for e in body.pole]
    longest = max(sizes)
    told: list[str] = []

    def vector(name: str, entries: Triple, scale: float) -> Triple:
        values = [abs(evaluate(se.sympify(e), parameters)) for e in entries]
        if any(ROUNDING * scale < value < SLIGHT * scale for value in values):
            told.append(name)
        x, y, z = (se.Integer(0) if v < SLIGHT * scale else e for v, e in zip(values, entries, strict=True))
        return x, y, z

    bodies = []
    for body in tree.bodies:
        axis = vector(body.name, body.axis, 1.0)
        length = sum(evaluate(se.sympify(e), parameters) ** 2 for e in axis) ** 0.5
        if length not in (0.0, 1.0) and not any(names_in(se.sympify(e)) for e in axis):
            axis = se.sympify(axis[0]) / length, se.sympify(axis[1]) / length, se.sympify(axis[2]) / length
        bodies.append(replace(body, axis=axis, pole=vector(body.name, body.pole, longest)))
    if told:
        names = ", ".join(f"'{name}'" for name in dict.fromkeys(told))
        notes.append(f"parts below {SLIGHT:g} of the axes and poles of {names} are taken as zero")
    return Tree(tuple(bodies), tree.gravity)


def _with_geometry_of(numeric: Tree, tree: Tree, parameters: Mapping[str, float]) -> Tree:
    """Numbers with the axes and poles of another tree of the same bodies."""

    def vector(entries: Triple) -> Triple:
        x, y, z = (evaluate(se.sympify(e), parameters) for e in entries)
        return x, y, z

    bodies = [
        replace(body, axis=vector(other.axis), pole=vector(other.pole))
        for body, other in zip(numeric.bodies, tree.bodies, strict=True)
    ]
    return Tree(tuple(bodies), numeric.gravity)


def _independent(formulas: Sequence[Expression]) -> list[Expression]:
    """Formulas that are not combinations, with numbers, of those before them."""
    known = LinearConditions()
    monomials: dict[Expression, int] = {}
    kept = []
    for formula in formulas:
        terms = formula.args if formula.is_Add else (formula,)
        numbers: dict[int, float] = {}
        for term in terms:
            number, rest = _split_number(term)
            place = monomials.setdefault(rest, len(monomials))
            numbers[place] = numbers.get(place, 0.0) + number
        form: LinearForm = {place: number for place, number in numbers.items() if number != 0.0}
        if form and known.add(form):
            kept.append(formula)
    return kept


def _split_number(term: Expression) -> tuple[float, Expression]:
    """A term as number times the rest."""
    if term.is_Number:
        return float(term), se.Integer(1)
    factors = term.args if term.is_Mul else (term,)
    number = float(np.prod([float(f) for f in factors if f.is_Number]))
    return number, se.Mul(*[f for f in factors if not f.is_Number])
