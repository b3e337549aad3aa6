"""What constraints are: kinds, ranks, potentials, scales, consistent states."""

from typing import TYPE_CHECKING

from svyaz import open_door

if TYPE_CHECKING:
    from svyaz.constraints.branching import Crossing as Crossing
    from svyaz.constraints.branching import crossing as crossing
    from svyaz.constraints.classification import Classification as Classification
    from svyaz.constraints.classification import classify as classify
    from svyaz.constraints.dependence import scaled_rows as scaled_rows
    from svyaz.constraints.potentials import antiderivative as antiderivative
    from svyaz.constraints.potentials import flattened as flattened
    from svyaz.constraints.potentials import potential as potential
    from svyaz.constraints.potentials import vanishes as vanishes
    from svyaz.constraints.ranks import RankReport as RankReport
    from svyaz.constraints.ranks import examine as examine
    from svyaz.constraints.repetitions import Fewer as Fewer
    from svyaz.constraints.repetitions import derived as derived
    from svyaz.constraints.repetitions import independent as independent
    from svyaz.constraints.repetitions import without_repeated as without_repeated
    from svyaz.constraints.states import NoConsistentState as NoConsistentState
    from svyaz.constraints.states import Residual as Residual
    from svyaz.constraints.states import corrected as corrected
    from svyaz.constraints.states import entered as entered
    from svyaz.constraints.states import examined as examined
    from svyaz.constraints.states import is_reduced as is_reduced
    from svyaz.constraints.states import listed as listed
    from svyaz.constraints.states import model_states as model_states
    from svyaz.constraints.states import project as project
    from svyaz.constraints.states import residuals as residuals
    from svyaz.constraints.states import straying as straying
    from svyaz.constraints.weighing import weighed as weighed
else:
    open_door(__name__)
