"""Equilibria, the first approximation, zero roots and critical cases."""

from typing import TYPE_CHECKING

from svyaz import open_door

if TYPE_CHECKING:
    from svyaz.stability.along import along_a_symmetry as along_a_symmetry
    from svyaz.stability.along import offered as offered
    from svyaz.stability.box_problem import newton as newton
    from svyaz.stability.choice import Chosen as Chosen
    from svyaz.stability.choice import NoEquilibrium as NoEquilibrium
    from svyaz.stability.choice import equilibrium_near as equilibrium_near
    from svyaz.stability.choice import rolling_conditions as rolling_conditions
    from svyaz.stability.choice import rolling_near as rolling_near
    from svyaz.stability.constrained_plant import RollingPlant as RollingPlant
    from svyaz.stability.constrained_plant import rolling_plant as rolling_plant
    from svyaz.stability.continuation import BranchMember as BranchMember
    from svyaz.stability.continuation import SteadyBranches as SteadyBranches
    from svyaz.stability.continuation import steady_branches as steady_branches
    from svyaz.stability.critical import UNDECIDED as UNDECIDED
    from svyaz.stability.critical import StabilityVerdict as StabilityVerdict
    from svyaz.stability.derivatives import at_rest as at_rest
    from svyaz.stability.derivatives import may_be_steady as may_be_steady
    from svyaz.stability.equilibrium_search import SECONDS as SECONDS
    from svyaz.stability.equilibrium_search import Equilibria as Equilibria
    from svyaz.stability.equilibrium_search import equilibria as equilibria
    from svyaz.stability.families import Repetition as Repetition
    from svyaz.stability.family_branches import FamilyBranch as FamilyBranch
    from svyaz.stability.hypotheses import Hypothesis as Hypothesis
    from svyaz.stability.hypotheses import special_case as special_case
    from svyaz.stability.linear_forces import forces_of as forces_of
    from svyaz.stability.linearisation import FirstApproximation as FirstApproximation
    from svyaz.stability.linearisation import differentiated as differentiated
    from svyaz.stability.linearisation import first_approximation as first_approximation
    from svyaz.stability.linearisation import with_linearised_constraints as with_linearised_constraints
    from svyaz.stability.poles import Pole as Pole
    from svyaz.stability.rest import RestEquations as RestEquations
    from svyaz.stability.rest import rest_equations as rest_equations
    from svyaz.stability.resting import Equilibrium as Equilibrium
    from svyaz.stability.rolling import ConstraintSurface as ConstraintSurface
    from svyaz.stability.rolling import RollingApproximation as RollingApproximation
    from svyaz.stability.rolling import projected as projected
    from svyaz.stability.rolling import rolling_approximation as rolling_approximation
    from svyaz.stability.rolling_rest import has_velocity_constraints as has_velocity_constraints
    from svyaz.stability.rolling_verdict import rolling_stability as rolling_stability
    from svyaz.stability.spectrum import roots as roots
    from svyaz.stability.spectrum import signs as signs
    from svyaz.stability.spectrum import zero_roots as zero_roots
    from svyaz.stability.starts import ConsistentStart as ConsistentStart
    from svyaz.stability.starts import ConstraintNumbers as ConstraintNumbers
    from svyaz.stability.starts import Refinement as Refinement
    from svyaz.stability.starts import Residual as Residual
    from svyaz.stability.starts import consistent_start as consistent_start
    from svyaz.stability.starts import dogleg as dogleg
    from svyaz.stability.starts import levenberg_marquardt as levenberg_marquardt
    from svyaz.stability.steady import SteadyChoice as SteadyChoice
    from svyaz.stability.steady import SteadyMotion as SteadyMotion
    from svyaz.stability.steady import SteadyMotions as SteadyMotions
    from svyaz.stability.steady import steady_motions as steady_motions
    from svyaz.stability.steady import steady_near as steady_near
    from svyaz.stability.steady_blocks import SteadyBlocks as SteadyBlocks
    from svyaz.stability.steady_blocks import lagrange_blocks as lagrange_blocks
    from svyaz.stability.steady_blocks import routh_blocks as routh_blocks
else:
    open_door(__name__)
