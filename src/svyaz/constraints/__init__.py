"""What constraints are: kinds, ranks, potentials, scales, consistent states."""

from typing import TYPE_CHECKING

from svyaz import open_door

if TYPE_CHECKING:
    from svyaz.constraints.branching import Crossing as Crossing
    from svyaz.constraints.branching import crossing as crossing
    from svyaz.constraints.budget import COUNTED as COUNTED
    from svyaz.constraints.budget import Budget as Budget
    from svyaz.constraints.budget import clock as clock
    from svyaz.constraints.classification import Classification as Classification
    from svyaz.constraints.classification import classify as classify
    from svyaz.constraints.dependence import scaled_rows as scaled_rows
    from svyaz.constraints.giving_way import Compliance as Compliance
    from svyaz.constraints.giving_way import compliance_of as compliance_of
    from svyaz.constraints.nearest import least_correction as least_correction
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
    from svyaz.constraints.scales import FLOOR as FLOOR
    from svyaz.constraints.scales import balanced as balanced
    from svyaz.constraints.scales import coordinate_scales as coordinate_scales
    from svyaz.constraints.scales import dependencies as dependencies
    from svyaz.constraints.scales import is_met as is_met
    from svyaz.constraints.scales import magnitude as magnitude
    from svyaz.constraints.scales import numerical_rank as numerical_rank
    from svyaz.constraints.scales import typical_accelerations as typical_accelerations
    from svyaz.constraints.scales import typical_sizes as typical_sizes
    from svyaz.constraints.scales import typical_speeds as typical_speeds
    from svyaz.constraints.scales import unit_rows as unit_rows
    from svyaz.constraints.scales import with_floor as with_floor
    from svyaz.constraints.shared_tables import shared_values as shared_values
    from svyaz.constraints.snapshot import DEVIATIONS as DEVIATIONS
    from svyaz.constraints.snapshot import Measure as Measure
    from svyaz.constraints.snapshot import Snapshot as Snapshot
    from svyaz.constraints.snapshot import augmented_matrices as augmented_matrices
    from svyaz.constraints.snapshot import measure_of as measure_of
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
    from svyaz.constraints.tables import gain_name as gain_name
    from svyaz.constraints.tables import own_gains as own_gains
    from svyaz.constraints.weighing import weighed as weighed
else:
    open_door(__name__)
