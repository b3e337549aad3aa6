"""What was stated: systems, read from TOML or made in Python with the same words, and checked."""

from typing import TYPE_CHECKING

from svyaz import open_door

if TYPE_CHECKING:
    from svyaz.model.files import DOTTED as DOTTED
    from svyaz.model.files import read_file as read_file
    from svyaz.model.files import read_text as read_text
    from svyaz.model.files import to_toml as to_toml
    from svyaz.model.files import with_settings as with_settings
    from svyaz.model.ground_places import MANY_COORDINATES as MANY_COORDINATES
    from svyaz.model.ground_places import GroundPlaces as GroundPlaces
    from svyaz.model.law import Law as Law
    from svyaz.model.law import Mechanical as Mechanical
    from svyaz.model.laws.attracting import Attracting as Attracting
    from svyaz.model.laws.bodies import Bodies as Bodies
    from svyaz.model.laws.bodies import constant_tree as constant_tree
    from svyaz.model.laws.bodies import tree_of as tree_of
    from svyaz.model.laws.canonical import Canonical as Canonical
    from svyaz.model.laws.energies import Energies as Energies
    from svyaz.model.laws.equations import GivenEquations as GivenEquations
    from svyaz.model.laws.rates import PlainRates as PlainRates
    from svyaz.model.laws.wanted_field import WantedField as WantedField
    from svyaz.model.named_files import read_named as read_named
    from svyaz.model.reading.parts import Choices as Choices
    from svyaz.model.reading.places import Places as Places
    from svyaz.model.reading.places import read_toml as read_toml
    from svyaz.model.reading.stabilising import fault_of as fault_of
    from svyaz.model.reading.stabilising import law_scope as law_scope
    from svyaz.model.reading.starts import in_order as in_order
    from svyaz.model.reading.whole import system_of as system_of
    from svyaz.model.reading.words import RUN as RUN
    from svyaz.model.reading.words import ModelWords as ModelWords
    from svyaz.model.reading.words import RunWords as RunWords
    from svyaz.model.reading.words import Table as Table
    from svyaz.model.reading.words import is_number as is_number
    from svyaz.model.reading.words import nearest as nearest
    from svyaz.model.reading.words import nearest_of as nearest_of
    from svyaz.model.reading.words import refuse_unknown as refuse_unknown
    from svyaz.model.system import Bypass as Bypass
    from svyaz.model.system import Constraint as Constraint
    from svyaz.model.system import Drag as Drag
    from svyaz.model.system import Drawing as Drawing
    from svyaz.model.system import Friction as Friction
    from svyaz.model.system import Input as Input
    from svyaz.model.system import Integral as Integral
    from svyaz.model.system import Limit as Limit
    from svyaz.model.system import System as System
    from svyaz.model.system import deviation_rate_symbol as deviation_rate_symbol
    from svyaz.model.system import deviation_symbol as deviation_symbol
    from svyaz.model.system import is_one_sided as is_one_sided
    from svyaz.model.system import multiplier_symbol as multiplier_symbol
    from svyaz.model.system import multipliers_in as multipliers_in
    from svyaz.model.system import names_of as names_of
    from svyaz.model.tree import GROUND as GROUND
    from svyaz.model.tree import MOMENTS as MOMENTS
    from svyaz.model.tree import Body as Body
    from svyaz.model.tree import BodyPoint as BodyPoint
    from svyaz.model.tree import Tree as Tree
    from svyaz.model.tree import axis_rotation as axis_rotation
    from svyaz.model.tree import free_rates as free_rates
    from svyaz.model.tree import free_velocities as free_velocities
    from svyaz.model.tree import numbers as numbers
    from svyaz.model.tree import quaternion_rotation as quaternion_rotation
    from svyaz.model.tree import sine_cosine as sine_cosine
    from svyaz.model.turning import angles as angles
else:
    open_door(__name__)
