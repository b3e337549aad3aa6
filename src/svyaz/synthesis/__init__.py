"""Constant inertia, inverse problems, conditions of Helmholtz."""

from typing import TYPE_CHECKING

from svyaz import open_door

if TYPE_CHECKING:
    from svyaz.synthesis.augmented import in_parameters as in_parameters
    from svyaz.synthesis.balance_page import balance_latex as balance_latex
    from svyaz.synthesis.balance_page import balance_text as balance_text
    from svyaz.synthesis.balanced_model import Infeasible as Infeasible
    from svyaz.synthesis.balancing import Balanced as Balanced
    from svyaz.synthesis.balancing import balance_tree as balance_tree
    from svyaz.synthesis.families import Family as Family
    from svyaz.synthesis.families import family as family
    from svyaz.synthesis.families import is_family as is_family
    from svyaz.synthesis.helmholtz_conditions import Helmholtz as Helmholtz
    from svyaz.synthesis.helmholtz_conditions import helmholtz as helmholtz
    from svyaz.synthesis.inverse import Inverse as Inverse
    from svyaz.synthesis.inverse import invert as invert
    from svyaz.synthesis.inverse_written import inverse_latex as inverse_latex
    from svyaz.synthesis.inverse_written import inverse_model as inverse_model
    from svyaz.synthesis.inverse_written import inverse_program as inverse_program
else:
    open_door(__name__)
