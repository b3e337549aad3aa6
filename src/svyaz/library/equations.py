"""Equations of motion with verbs: as numbers, as code, as formulas, for SymPy."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from svyaz import forms, motion, program, show, stabilise
from svyaz.arguments import check_arguments
from svyaz.expr import Expression, ModelError, Problem, gradient, substitute
from svyaz.library.dressing import dress
from svyaz.library.sympy_words import SympyEquations, in_sympy
from svyaz.shown import Shown

if TYPE_CHECKING:
    from svyaz.forms import NumericEquations
    from svyaz.model import System
    from svyaz.motion import Stabilize


class WorkingEquations(Shown, forms.Equations):
    """Equations of motion in some form, and all that can be asked of them.

    ``mass_matrix``, ``bias``, ``constraint_jacobian`` and ``constraint_bias`` are expressions:
    M q̈ + bias = Gᵀ λ, G q̈ + constraint_bias = 0.

    >>> import svyaz
    >>> equations = svyaz.load("pendulum:1").derive()
    >>> print(equations)
    m1*L1^2*u1'' + m1*g*L1*sin(u1) = 0
    """

    __qualname__ = "Equations"

    def function(self) -> NumericEquations:
        """f(t, x, u, p) as integrators take it, with M, bias, G, energies and points of its own; compiled when first used."""
        return forms.NumericEquations(self)

    @cached_property
    def rhs(self) -> dict[str, Expression]:
        """The rate of every state as an expression of the states: the linear system solved once and for all.

        Meant for small systems; the native code never needs it.
        """
        found = forms.rates_of(self)
        rates = dict(found.rates)
        for linear in found.systems:
            (unknowns,), (side,) = linear.unknowns, linear.sides
            solution = forms.solve(linear.matrix, [[entry] for entry in side])
            if solution is None:
                raise ModelError([Problem("the accelerations are not determined: the matrix is singular everywhere")])
            put = {unknown: row[0] for unknown, row in zip(unknowns, solution, strict=True)}
            rates = {name: substitute(rate, put) for name, rate in rates.items()}
        return rates

    @check_arguments
    def jacobian(self, by: tuple[str, ...] | list[str] | None = None) -> list[list[Expression]]:
        """∂ rhs/∂ x: a row for each state, a column for each state, or for each of the names (inputs, parameters)."""
        import symengine as se

        variables = [se.Symbol(name) for name in (self.states if by is None else by)]
        return [gradient(rate, variables) for rate in self.rhs.values()]

    @check_arguments
    def to_sympy(self, *, functions: bool = False) -> SympyEquations:
        """The same for SymPy: matrices of plain symbols, or of functions of the time and their derivatives."""
        return in_sympy(self, functions=functions)

    @check_arguments
    def code(self, language: str = "c", *, reactions: bool = False) -> str:
        """A program for M, bias, accelerations, multipliers and the rates of all states in one of the languages."""
        return program.export(stabilise.export_equations(self, reactions=reactions), language)

    @property
    def latex(self) -> str:
        """The equations as a document in LaTeX."""
        return show.latex_document(self)

    def __str__(self) -> str:
        return "\n".join(show.text_lines(self))

    def __repr__(self) -> str:
        name, count = self.system.name, len(self.states)
        return f"<Equations of '{name}' in the form '{self.form}': {count} states, {len(self.deviations)} constraints>"


Equations = WorkingEquations
Equations.__name__ = "Equations"


def derive(system: System, form: str | None = None, *, stabilize: Stabilize = "off") -> WorkingEquations:
    """The equations of motion of a system in the form asked for, else in that of the model or in the natural one.

    With ``stabilize`` the constraints contain their stabilising terms, and the system of the equations has the gains
    among its parameters; see :func:`svyaz.motion.with_gains`.

    >>> import svyaz
    >>> print(svyaz.derive(svyaz.load("pendulum:1")))
    m1*L1^2*u1'' + m1*g*L1*sin(u1) = 0
    """
    plain = stabilize == "off"
    found = motion.without_gains(system, form) if plain else motion.with_gains(system, form, stabilize=stabilize)
    return dress(WorkingEquations, found.equations)
