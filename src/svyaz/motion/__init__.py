"""Motions: phases by time, chart and event, contacts and impacts, and results."""

from typing import TYPE_CHECKING

from svyaz import open_door

if TYPE_CHECKING:
    from svyaz.motion.balance import EnergyBalance as EnergyBalance
    from svyaz.motion.checking import Check as Check
    from svyaz.motion.checking import check as check
    from svyaz.motion.consistency import InconsistentRun as InconsistentRun
    from svyaz.motion.driver import driven as driven
    from svyaz.motion.energy import powers as powers
    from svyaz.motion.facts import Distance as Distance
    from svyaz.motion.facts import Drift as Drift
    from svyaz.motion.facts import Event as Event
    from svyaz.motion.facts import Reach as Reach
    from svyaz.motion.facts import ResidualSize as ResidualSize
    from svyaz.motion.facts import Slide as Slide
    from svyaz.motion.facts import deviation_of as deviation_of
    from svyaz.motion.facts import multiplier_of as multiplier_of
    from svyaz.motion.facts import residual_of as residual_of
    from svyaz.motion.inputs import Law as Law
    from svyaz.motion.inputs import Laws as Laws
    from svyaz.motion.inputs import is_law as is_law
    from svyaz.motion.inputs import limited as limited
    from svyaz.motion.inputs import under_laws as under_laws
    from svyaz.motion.inputs import with_inputs as with_inputs
    from svyaz.motion.limits import Fence as Fence
    from svyaz.motion.limits import past_limits as past_limits
    from svyaz.motion.limits import told_beyond as told_beyond
    from svyaz.motion.long_trees import articulated as articulated
    from svyaz.motion.long_trees import by_recursions as by_recursions
    from svyaz.motion.long_trees import constraint_tables as constraint_tables
    from svyaz.motion.long_trees import phases_by_recursions as phases_by_recursions
    from svyaz.motion.phases import Chapter as Chapter
    from svyaz.motion.phases import Phase as Phase
    from svyaz.motion.phases import Structure as Structure
    from svyaz.motion.phases import Wishes as Wishes
    from svyaz.motion.phases import is_switched as is_switched
    from svyaz.motion.result import Motion as Motion
    from svyaz.motion.running import Stabilize as Stabilize
    from svyaz.motion.running import phases_of as phases_of
    from svyaz.motion.running import simulate as simulate
    from svyaz.motion.running import structure_of as structure_of
    from svyaz.motion.samples import Sample as Sample
    from svyaz.motion.self_check import check_lanes as check_lanes
    from svyaz.motion.starts import named as named
    from svyaz.motion.stepping import Simulator as Simulator
    from svyaz.motion.views import GROUPS as GROUPS
    from svyaz.motion.views import View as View
    from svyaz.motion.views import along as along
    from svyaz.motion.views import has_column as has_column
    from svyaz.motion.views import parted as parted
    from svyaz.motion.views import usual_views as usual_views
    from svyaz.motion.views import views_of as views_of
    from svyaz.motion.views import write_runs as write_runs
    from svyaz.motion.writing import gains_left_out as gains_left_out
    from svyaz.motion.writing import program_text as program_text
    from svyaz.motion.writing import rehearsed_gains as rehearsed_gains
    from svyaz.motion.writing import runnable as runnable
    from svyaz.motion.writing import with_gains as with_gains
    from svyaz.motion.writing import without_gains as without_gains
else:
    open_door(__name__)
