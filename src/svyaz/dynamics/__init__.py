"""Equations as functions of a state: symbolic or recursive, prepared once.

Whatever computes takes a ``Dynamics``; ``dynamics_of`` gives that of equations.
"""

from typing import TYPE_CHECKING

from svyaz import open_door

if TYPE_CHECKING:
    from svyaz.dynamics.corrections import Approach as Approach
    from svyaz.dynamics.corrections import Rows as Rows
    from svyaz.dynamics.corrections import displacement_rows as displacement_rows
    from svyaz.dynamics.corrections import on_velocities as on_velocities
    from svyaz.dynamics.corrections import positions_at as positions_at
    from svyaz.dynamics.corrections import reach as reach
    from svyaz.dynamics.corrections import velocity_rows as velocity_rows
    from svyaz.dynamics.measure import DEVIATIONS as DEVIATIONS
    from svyaz.dynamics.measure import Measure as Measure
    from svyaz.dynamics.measure import Snapshot as Snapshot
    from svyaz.dynamics.measure import State as State
    from svyaz.dynamics.measure import measure_of as measure_of
    from svyaz.dynamics.measure import state_vector as state_vector
    from svyaz.dynamics.mobility import Mobility as Mobility
    from svyaz.dynamics.protocol import Dynamics as Dynamics
    from svyaz.dynamics.protocol import Recursion as Recursion
    from svyaz.dynamics.protocol import dynamics_of as dynamics_of
    from svyaz.dynamics.recursions.closed_trees import ClosedCode as ClosedCode
    from svyaz.dynamics.recursions.closed_trees import ClosedTree as ClosedTree
    from svyaz.dynamics.recursions.closed_trees import closed_equations as closed_equations
    from svyaz.dynamics.recursions.closing_numbers import TreeNumbers as TreeNumbers
    from svyaz.dynamics.recursions.closing_rows import rows_of as rows_of
    from svyaz.dynamics.recursions.long_tree_code import step_function as step_function
    from svyaz.dynamics.recursions.sliding_code import SlidingCode as SlidingCode
    from svyaz.dynamics.recursions.tree_words import FORM as FORM
    from svyaz.dynamics.recursions.tree_words import free_of_inertia as free_of_inertia
    from svyaz.dynamics.recursions.tree_words import integrals_of_tree as integrals_of_tree
    from svyaz.dynamics.recursions.tree_words import tree_words as tree_words
    from svyaz.dynamics.recursions.tree_words import velocity_columns as velocity_columns
    from svyaz.dynamics.scales import FLOOR as FLOOR
    from svyaz.dynamics.scales import ZERO_RELATIVE as ZERO_RELATIVE
    from svyaz.dynamics.scales import are_independent as are_independent
    from svyaz.dynamics.scales import balanced as balanced
    from svyaz.dynamics.scales import coordinate_scales as coordinate_scales
    from svyaz.dynamics.scales import dependencies as dependencies
    from svyaz.dynamics.scales import independent_rows as independent_rows
    from svyaz.dynamics.scales import is_met as is_met
    from svyaz.dynamics.scales import least_correction as least_correction
    from svyaz.dynamics.scales import magnitude as magnitude
    from svyaz.dynamics.scales import numerical_rank as numerical_rank
    from svyaz.dynamics.scales import pivots as pivots
    from svyaz.dynamics.scales import rank_of as rank_of
    from svyaz.dynamics.scales import row_lengths as row_lengths
    from svyaz.dynamics.scales import scaled_mass as scaled_mass
    from svyaz.dynamics.scales import typical_accelerations as typical_accelerations
    from svyaz.dynamics.scales import typical_sizes as typical_sizes
    from svyaz.dynamics.scales import typical_speeds as typical_speeds
    from svyaz.dynamics.scales import unit_rows as unit_rows
    from svyaz.dynamics.scales import with_floor as with_floor
    from svyaz.dynamics.shared_tables import shared_values as shared_values
    from svyaz.dynamics.symbolic import augmented_matrices as augmented_matrices
    from svyaz.dynamics.tables import gain_name as gain_name
    from svyaz.dynamics.tables import own_gains as own_gains
else:
    open_door(__name__)
