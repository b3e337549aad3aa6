"""Motions: phases by time, chart and event, contacts and impacts, and results."""

from typing import TYPE_CHECKING

from svyaz import open_door

if TYPE_CHECKING:
    from svyaz.motion.checking import Check as Check
    from svyaz.motion.checking import check as check
    from svyaz.motion.result import Motion as Motion
    from svyaz.motion.simulation import equations_by_phase as equations_by_phase
    from svyaz.motion.simulation import follow as follow
    from svyaz.motion.simulation import simulate as simulate
    from svyaz.motion.switching import is_switched as is_switched
else:
    open_door(__name__)
