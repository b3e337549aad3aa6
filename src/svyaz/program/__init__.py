"""Straight-line programs from expressions: building, shortening, counting, native code, exports."""

from typing import TYPE_CHECKING

from svyaz import open_door

if TYPE_CHECKING:
    from svyaz.program.building import LARGEST_WHOLE as LARGEST_WHOLE
    from svyaz.program.building import Linear as Linear
    from svyaz.program.building import SparseRow as SparseRow
    from svyaz.program.building import build as build
    from svyaz.program.building import build_as_written as build_as_written
    from svyaz.program.building import build_to_look as build_to_look
    from svyaz.program.building import row_entries as row_entries
    from svyaz.program.compiled import LARGEST_COMPILED as LARGEST_COMPILED
    from svyaz.program.compiled import LARGEST_SELDOM as LARGEST_SELDOM
    from svyaz.program.counts import doubles_as_sums as doubles_as_sums
    from svyaz.program.counts import operations as operations
    from svyaz.program.counts import operations_by_output as operations_by_output
    from svyaz.program.elimination import choose_orders as choose_orders
    from svyaz.program.engine import kept_code as kept_code
    from svyaz.program.engine import kept_text as kept_text
    from svyaz.program.engine import load_code as load_code
    from svyaz.program.engine import object_code as object_code
    from svyaz.program.engine import standalone_object_code as standalone_object_code
    from svyaz.program.engine import standalone_text as standalone_text
    from svyaz.program.exports import export as export
    from svyaz.program.exports import export_complete as export_complete
    from svyaz.program.exports import languages as languages
    from svyaz.program.exports.javascript import SOLVER as SOLVER
    from svyaz.program.exports.javascript import as_value as as_value
    from svyaz.program.exports.json import TEXT_NOTATION as TEXT_NOTATION
    from svyaz.program.exports.latex import LATEX_NOTATION as LATEX_NOTATION
    from svyaz.program.extremes import largest_magnitudes as largest_magnitudes
    from svyaz.program.factors import Bordered as Bordered
    from svyaz.program.factors import bordered as bordered
    from svyaz.program.fixed_run import FixedRun as FixedRun
    from svyaz.program.formulas import Assignment as Assignment
    from svyaz.program.formulas import Listing as Listing
    from svyaz.program.formulas import Notation as Notation
    from svyaz.program.formulas import distinct as distinct
    from svyaz.program.formulas import identifier as identifier
    from svyaz.program.formulas import listing as listing
    from svyaz.program.functions import Entries as Entries
    from svyaz.program.functions import Function as Function
    from svyaz.program.functions import Table as Table
    from svyaz.program.functions import Tabulated as Tabulated
    from svyaz.program.functions import function as function
    from svyaz.program.functions import once_for_each as once_for_each
    from svyaz.program.functions import remembered as remembered
    from svyaz.program.interpret import evaluate as evaluate
    from svyaz.program.interpret import node_values as node_values
    from svyaz.program.interpret import parameter_row as parameter_row
    from svyaz.program.interval_functions import Interval as Interval
    from svyaz.program.interval_functions import crosses_cut as crosses_cut
    from svyaz.program.interval_functions import outwards as outwards
    from svyaz.program.intervals import numbers as numbers
    from svyaz.program.intervals import ranges as ranges
    from svyaz.program.intervals import ranges_by_branches as ranges_by_branches
    from svyaz.program.lanes import lane_width as lane_width
    from svyaz.program.lanes import lanes_of as lanes_of
    from svyaz.program.lanes import lined_up as lined_up
    from svyaz.program.native import Native as Native
    from svyaz.program.native import compile_program as compile_program
    from svyaz.program.outside import Outside as Outside
    from svyaz.program.outside import call_outside as call_outside
    from svyaz.program.plain import plain_program as plain_program
    from svyaz.program.plain import plain_programs as plain_programs
    from svyaz.program.sequence import build_sequence as build_sequence
    from svyaz.program.tape import LEAVES as LEAVES
    from svyaz.program.tape import LinearSystem as LinearSystem
    from svyaz.program.tape import Program as Program
    from svyaz.program.tape import ProgramError as ProgramError
    from svyaz.program.tape import SingularSystem as SingularSystem
    from svyaz.program.text import content_hash as content_hash
    from svyaz.program.text import from_text as from_text
    from svyaz.program.text import to_text as to_text
else:
    open_door(__name__)
