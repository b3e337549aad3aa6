"""How constraints and first integrals are kept: perturbation laws, verdicts, pilots, gains, projection, the watch."""

from typing import TYPE_CHECKING

from svyaz import open_door

if TYPE_CHECKING:
    from svyaz.holding.advancing import advance as advance
    from svyaz.holding.advancing import branches as branches
    from svyaz.holding.advancing import bridged as bridged
    from svyaz.holding.advancing import departure_of as departure_of
    from svyaz.holding.advancing import next_passage as next_passage
    from svyaz.holding.advancing import next_stop as next_stop
    from svyaz.holding.advancing import steps_left as steps_left
    from svyaz.holding.deciding import decide as decide
    from svyaz.holding.decision import Decision as Decision
    from svyaz.holding.decision import GainReport as GainReport
    from svyaz.holding.deviation import deviations as deviations
    from svyaz.holding.gains import Choice as Choice
    from svyaz.holding.integrals import BRACKET as BRACKET
    from svyaz.holding.integrals import HeldIntegral as HeldIntegral
    from svyaz.holding.integrals import cannot_be_held as cannot_be_held
    from svyaz.holding.integrals import held_integrals as held_integrals
    from svyaz.holding.integrals import hold as hold
    from svyaz.holding.integrals import in_states_of as in_states_of
    from svyaz.holding.integrals import not_integrals as not_integrals
    from svyaz.holding.judging import verdict_alone as verdict_alone
    from svyaz.holding.jumping import stalled_at_jump as stalled_at_jump
    from svyaz.holding.jumps import Jump as Jump
    from svyaz.holding.jumps import jump_log as jump_log
    from svyaz.holding.lyapunov import Region as Region
    from svyaz.holding.named_gains import Stabilised as Stabilised
    from svyaz.holding.named_gains import stabilised as stabilised
    from svyaz.holding.options import Automatic as Automatic
    from svyaz.holding.options import Baumgarte as Baumgarte
    from svyaz.holding.options import ByProjection as ByProjection
    from svyaz.holding.options import ExtendedLagrangian as ExtendedLagrangian
    from svyaz.holding.options import GainBlocks as GainBlocks
    from svyaz.holding.options import Gains as Gains
    from svyaz.holding.options import Off as Off
    from svyaz.holding.options import OneGain as OneGain
    from svyaz.holding.options import Options as Options
    from svyaz.holding.options import Stabilisation as Stabilisation
    from svyaz.holding.options import Tolerance as Tolerance
    from svyaz.holding.options import WrittenLaw as WrittenLaw
    from svyaz.holding.options import decay_rate as decay_rate
    from svyaz.holding.options import options_for as options_for
    from svyaz.holding.options import stabilisation as stabilisation
    from svyaz.holding.options import word_of as word_of
    from svyaz.holding.passages import Passage as Passage
    from svyaz.holding.perturbations import Perturbation as Perturbation
    from svyaz.holding.perturbations import critical as critical
    from svyaz.holding.perturbations import perturbation as perturbation
    from svyaz.holding.perturbations import positions_of as positions_of
    from svyaz.holding.perturbations import velocities_of as velocities_of
    from svyaz.holding.pilot import SAFETY as SAFETY
    from svyaz.holding.pilot import Prediction as Prediction
    from svyaz.holding.pilot import is_foretold as is_foretold
    from svyaz.holding.pilot import scheme_of as scheme_of
    from svyaz.holding.segment import Segment as Segment
    from svyaz.holding.segment import integrated as integrated
    from svyaz.holding.segment import observed as observed
    from svyaz.holding.segment import observing as observing
    from svyaz.holding.segment import prepare as prepare
    from svyaz.holding.segment import projected_more as projected_more
    from svyaz.holding.segment import rate_code as rate_code
    from svyaz.holding.settling import SWITCH_TOLERANCE as SWITCH_TOLERANCE
    from svyaz.holding.settling import Entry as Entry
    from svyaz.holding.settling import Refusal as Refusal
    from svyaz.holding.settling import Settling as Settling
    from svyaz.holding.settling import inconsistent_start as inconsistent_start
    from svyaz.holding.settling import settle as settle
    from svyaz.holding.settling import unfit_to_hold as unfit_to_hold
    from svyaz.holding.singularity import passed_near as passed_near
    from svyaz.holding.singularity import singular_point as singular_point
    from svyaz.holding.sizes import StatePlaces as StatePlaces
    from svyaz.holding.sizes import places_of as places_of
    from svyaz.holding.sizes import sampled as sampled
    from svyaz.holding.sizes import state_scale as state_scale
    from svyaz.holding.sizes import weights_program as weights_program
    from svyaz.holding.texts import Wanted as Wanted
    from svyaz.holding.texts import fixed_run as fixed_run
    from svyaz.holding.texts import written_program as written_program
    from svyaz.holding.unreachable import lost_integrals as lost_integrals
    from svyaz.holding.unreachable import values_out_of_reach as values_out_of_reach
    from svyaz.holding.verdicts import ROUNDING as ROUNDING
    from svyaz.holding.verdicts import Certificate as Certificate
    from svyaz.holding.verdicts import Discretisation as Discretisation
    from svyaz.holding.verdicts import largest_gain as largest_gain
    from svyaz.holding.watch import ErrorBound as ErrorBound
    from svyaz.holding.watch import euler_bound as euler_bound
    from svyaz.holding.watch import exceeds as exceeds
    from svyaz.holding.watch import left_by_projection as left_by_projection
    from svyaz.holding.watch import lost_constraints as lost_constraints
    from svyaz.holding.watch import spare_astray as spare_astray
else:
    open_door(__name__)
