"""Constant inertia, inverse problems, conditions of Helmholtz."""

from typing import TYPE_CHECKING

from svyaz import open_door

if TYPE_CHECKING:
    from svyaz.synthesis.balancing.balanced import Balanced as Balanced
    from svyaz.synthesis.balancing.balanced import balance_tree as balance_tree
    from svyaz.synthesis.balancing.balanced_model import BalancedMasses as BalancedMasses
    from svyaz.synthesis.balancing.balanced_model import Infeasible as Infeasible
    from svyaz.synthesis.balancing.quantities import form_text as form_text
    from svyaz.synthesis.balancing.quantities import in_parameters as in_parameters
    from svyaz.synthesis.balancing.quantities import rounded_numbers as rounded_numbers
    from svyaz.synthesis.inverse.construction import FieldFamily as FieldFamily
    from svyaz.synthesis.inverse.construction import family as family
    from svyaz.synthesis.inverse.construction import is_family as is_family
    from svyaz.synthesis.inverse.helmholtz_conditions import Helmholtz as Helmholtz
    from svyaz.synthesis.inverse.helmholtz_conditions import helmholtz as helmholtz
    from svyaz.synthesis.inverse.inversion import Inverse as Inverse
    from svyaz.synthesis.inverse.inversion import inverse_model as inverse_model
    from svyaz.synthesis.inverse.inversion import inverse_program as inverse_program
    from svyaz.synthesis.inverse.inversion import invert as invert
else:
    open_door(__name__)
