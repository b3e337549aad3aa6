"""The forms of the equations of motion. Each takes a System and returns Equations."""

from typing import TYPE_CHECKING

from svyaz import open_door

if TYPE_CHECKING:
    from svyaz.forms.derivation import derive as derive
    from svyaz.forms.derivation import form_name as form_name
    from svyaz.forms.equations import Deviation as Deviation
    from svyaz.forms.equations import Equations as Equations
    from svyaz.forms.equations import Form as Form
    from svyaz.forms.named import form_names as form_names
    from svyaz.forms.named import form_of as form_of
    from svyaz.forms.named.lagrange import applied_forces as applied_forces
    from svyaz.forms.named.lagrange import free_equations as free_equations
    from svyaz.forms.named.lagrange import lagrange_terms as lagrange_terms
    from svyaz.forms.named.multipliers import with_constraints as with_constraints
    from svyaz.forms.named.multipliers import with_multipliers as with_multipliers
    from svyaz.forms.named.shulgin import redundancy as redundancy
    from svyaz.forms.named.shulgin import redundant_at as redundant_at
    from svyaz.forms.named.shulgin import shulgin_equations as shulgin_equations
    from svyaz.forms.observed import energy as energy
    from svyaz.forms.observed import first_integrals as first_integrals
    from svyaz.forms.observed import observed_quantities as observed_quantities
    from svyaz.forms.programs import Rates as Rates
    from svyaz.forms.programs import export_program as export_program
    from svyaz.forms.programs import export_with_reactions as export_with_reactions
    from svyaz.forms.programs import jacobian_program as jacobian_program
    from svyaz.forms.programs import multiplier_symbols as multiplier_symbols
    from svyaz.forms.programs import observation as observation
    from svyaz.forms.programs import rate_expressions as rate_expressions
    from svyaz.forms.programs import rates_of as rates_of
    from svyaz.forms.programs import rates_program as rates_program
    from svyaz.forms.programs import reaction_system as reaction_system
    from svyaz.forms.programs import terms_program as terms_program
    from svyaz.forms.quasi import basis as basis
    from svyaz.forms.reduction import is_nothing as is_nothing
    from svyaz.forms.reduction import shorter as shorter
    from svyaz.forms.reduction import velocity_rows as velocity_rows
    from svyaz.forms.reduction import written_size as written_size
    from svyaz.forms.reduction_choice import MOST_CHOICES as MOST_CHOICES
    from svyaz.forms.stated import kinetic_and_potential as kinetic_and_potential
    from svyaz.forms.stated import lagrangian as lagrangian
    from svyaz.forms.tree.bias_parts import BiasParts as BiasParts
    from svyaz.forms.tree.bias_parts import bias_parts as bias_parts
    from svyaz.forms.tree.conditions.harmonics import Coefficient as Coefficient
    from svyaz.forms.tree.conditions.harmonics import Harmonics as Harmonics
    from svyaz.forms.tree.conditions.harmonics import LinearForm as LinearForm
    from svyaz.forms.tree.conditions.harmonics import LongFormula as LongFormula
    from svyaz.forms.tree.conditions.harmonics import Scalar as Scalar
    from svyaz.forms.tree.conditions.harmonics import accumulate as accumulate
    from svyaz.forms.tree.conditions.harmonics import exact as exact
    from svyaz.forms.tree.conditions.harmonics import is_zero as is_zero
    from svyaz.forms.tree.conditions.harmonics import lifted as lifted
    from svyaz.forms.tree.conditions.harmonics import unit_norm as unit_norm
    from svyaz.forms.tree.conditions.harmonics import value_of as value_of
    from svyaz.forms.tree.conditions.unknown_masses import EACH as EACH
    from svyaz.forms.tree.conditions.unknown_masses import FIRST as FIRST
    from svyaz.forms.tree.conditions.unknown_masses import MASS as MASS
    from svyaz.forms.tree.conditions.unknown_masses import SECOND as SECOND
    from svyaz.forms.tree.conditions.unknown_masses import explicit_inertia as explicit_inertia
    from svyaz.forms.tree.conditions.unknown_masses import placed_with_unknowns as placed_with_unknowns
    from svyaz.forms.tree.conditions.unknown_masses import quaternions_of as quaternions_of
    from svyaz.forms.tree.native import NativeTree as NativeTree
    from svyaz.forms.tree.numeric import NumericTree as NumericTree
    from svyaz.forms.tree.recursions.algebra import FLOATS as FLOATS
    from svyaz.forms.tree.recursions.algebra import Vector as Vector
    from svyaz.forms.tree.recursions.algebra import applied as applied
    from svyaz.forms.tree.recursions.algebra import arrays as arrays
    from svyaz.forms.tree.recursions.algebra import cross as cross
    from svyaz.forms.tree.recursions.algebra import dot as dot
    from svyaz.forms.tree.recursions.algebra import expressions as expressions
    from svyaz.forms.tree.recursions.algebra import plus as plus
    from svyaz.forms.tree.recursions.algebra import tensor_applied as tensor_applied
    from svyaz.forms.tree.recursions.algebra import times as times
    from svyaz.forms.tree.recursions.articulated import loose_joint as loose_joint
    from svyaz.forms.tree.recursions.composite import Composite as Composite
    from svyaz.forms.tree.recursions.composite import joined as joined
    from svyaz.forms.tree.recursions.composite import mass_matrix as mass_matrix
    from svyaz.forms.tree.recursions.energies import MOST_WRITTEN as MOST_WRITTEN
    from svyaz.forms.tree.recursions.energies import energies as energies
    from svyaz.forms.tree.recursions.newton_euler import inverse_dynamics as inverse_dynamics
    from svyaz.forms.tree.recursions.places import Placed as Placed
    from svyaz.forms.tree.recursions.places import placed as placed
    from svyaz.forms.tree.recursions.places import welded as welded
    from svyaz.forms.tree.recursions.steps import axis_kind as axis_kind
    from svyaz.forms.tree.recursions.steps import step_programs as step_programs
    from svyaz.forms.tree.short_formulas.inertia import Inertia as Inertia
    from svyaz.forms.tree.short_formulas.inertia import matrix_at as matrix_at
    from svyaz.forms.tree.short_formulas.inertia import write_inertia as write_inertia
else:
    open_door(__name__)
