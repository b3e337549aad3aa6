"""Controllability, observability, regulators, observers, closed loops."""

from typing import TYPE_CHECKING

from svyaz import open_door

if TYPE_CHECKING:
    from svyaz.control.basin import Basin as Basin
    from svyaz.control.closed import closed_system as closed_system
    from svyaz.control.design import Design as Design
    from svyaz.control.design import input_columns as input_columns
    from svyaz.control.directions import Direction as Direction
    from svyaz.control.linear_models import LinearModel as LinearModel
    from svyaz.control.linear_models import linear_model as linear_model
    from svyaz.control.linear_models import with_controller as with_controller
    from svyaz.control.loop import ClosedLoop as ClosedLoop
    from svyaz.control.loop import closed_loop as closed_loop
    from svyaz.control.margins import Margin as Margin
    from svyaz.control.pairs import PairReport as PairReport
    from svyaz.control.pairs import controllability as controllability
    from svyaz.control.pairs import kalman_matrix as kalman_matrix
    from svyaz.control.pairs import observability as observability
    from svyaz.control.regulating import regulate as regulate
    from svyaz.control.regulation import Regulation as Regulation
    from svyaz.control.regulators import Method as Method
    from svyaz.control.regulators import NoRegulator as NoRegulator
    from svyaz.control.regulators import NotSolvable as NotSolvable
    from svyaz.control.regulators import PairFacts as PairFacts
    from svyaz.control.regulators import lqr as lqr
    from svyaz.control.regulators import placing as placing
    from svyaz.control.regulators import transported as transported
    from svyaz.control.spaces import LinearSpace as LinearSpace
    from svyaz.control.transient import Transient as Transient
    from svyaz.control.trials import Trial as Trial
    from svyaz.control.weights import Weights as Weights
else:
    open_door(__name__)
