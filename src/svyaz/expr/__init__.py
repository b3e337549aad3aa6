"""Expressions: symbols, the safe parser, calculus, mistakes with their places, printing."""

from typing import TYPE_CHECKING

from svyaz import open_door

if TYPE_CHECKING:
    from svyaz.expr.calculus import HALF as HALF
    from svyaz.expr.calculus import ONE as ONE
    from svyaz.expr.calculus import TIME as TIME
    from svyaz.expr.calculus import ZERO as ZERO
    from svyaz.expr.calculus import Expression as Expression
    from svyaz.expr.calculus import acceleration as acceleration
    from svyaz.expr.calculus import add_up as add_up
    from svyaz.expr.calculus import cornered_parts as cornered_parts
    from svyaz.expr.calculus import differentiate as differentiate
    from svyaz.expr.calculus import evaluate as evaluate
    from svyaz.expr.calculus import from_leaves as from_leaves
    from svyaz.expr.calculus import gradient as gradient
    from svyaz.expr.calculus import gradients as gradients
    from svyaz.expr.calculus import has_corners as has_corners
    from svyaz.expr.calculus import is_zero as is_zero
    from svyaz.expr.calculus import names_in as names_in
    from svyaz.expr.calculus import occurs as occurs
    from svyaz.expr.calculus import outside as outside
    from svyaz.expr.calculus import real_value as real_value
    from svyaz.expr.calculus import substitute as substitute
    from svyaz.expr.calculus import symbols_in as symbols_in
    from svyaz.expr.calculus import total_derivative as total_derivative
    from svyaz.expr.calculus import velocities_of as velocities_of
    from svyaz.expr.calculus import velocity as velocity
    from svyaz.expr.calculus import with_corners as with_corners
    from svyaz.expr.collecting import uncollected as uncollected
    from svyaz.expr.errors import Advice as Advice
    from svyaz.expr.errors import ModelError as ModelError
    from svyaz.expr.errors import NoSuchName as NoSuchName
    from svyaz.expr.errors import Place as Place
    from svyaz.expr.errors import Problem as Problem
    from svyaz.expr.errors import printable as printable
    from svyaz.expr.errors import start_of as start_of
    from svyaz.expr.evaluating import Evaluator as Evaluator
    from svyaz.expr.latex import to_latex as to_latex
    from svyaz.expr.lexer import is_name as is_name
    from svyaz.expr.names import latex_name as latex_name
    from svyaz.expr.names import superscript as superscript
    from svyaz.expr.names import unicode_name as unicode_name
    from svyaz.expr.numbers import at_points as at_points
    from svyaz.expr.parser import parse as parse
    from svyaz.expr.parser import parse_each as parse_each
    from svyaz.expr.parser import parse_equation as parse_equation
    from svyaz.expr.quadratic_forms import is_quadratic_form as is_quadratic_form
    from svyaz.expr.quadratic_forms import quadratic as quadratic
    from svyaz.expr.scope import RESERVED as RESERVED
    from svyaz.expr.scope import Later as Later
    from svyaz.expr.scope import Scope as Scope
    from svyaz.expr.sides import Surface as Surface
    from svyaz.expr.sides import interpolate as interpolate
    from svyaz.expr.sides import jumping_parts as jumping_parts
    from svyaz.expr.sides import put_in as put_in
    from svyaz.expr.sides import select as select
    from svyaz.expr.sides import split as split
    from svyaz.expr.sides import unfold as unfold
    from svyaz.expr.sides import without_poles as without_poles
    from svyaz.expr.text import to_text as to_text
    from svyaz.expr.text import to_unicode as to_unicode
    from svyaz.expr.trig import combine as combine
    from svyaz.expr.trig import expanded as expanded
    from svyaz.expr.trig import expanded_size as expanded_size
    from svyaz.expr.trig import factors as factors
    from svyaz.expr.trig import product as product
    from svyaz.expr.units import Mismatch as Mismatch
    from svyaz.expr.units import Unit as Unit
    from svyaz.expr.units import UnitError as UnitError
    from svyaz.expr.units import read_unit as read_unit
    from svyaz.expr.units import simplified as simplified
    from svyaz.expr.units import told_unit as told_unit
    from svyaz.expr.units import unit_of as unit_of
else:
    open_door(__name__)
