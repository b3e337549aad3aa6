"""What was stated: systems, read from TOML or made in Python with the same words, and checked."""

from typing import TYPE_CHECKING

from svyaz import open_door

if TYPE_CHECKING:
    from svyaz.model.loading import load as load
    from svyaz.model.loading import loads as loads
    from svyaz.model.places import Places as Places
    from svyaz.model.places import read_toml as read_toml
    from svyaz.model.system import Constraint as Constraint
    from svyaz.model.system import Drawing as Drawing
    from svyaz.model.system import Input as Input
    from svyaz.model.system import Integral as Integral
    from svyaz.model.system import System as System
    from svyaz.model.system import multiplier_symbol as multiplier_symbol
    from svyaz.model.system import names_of as names_of
    from svyaz.model.tree import GROUND as GROUND
    from svyaz.model.tree import MOMENTS as MOMENTS
    from svyaz.model.tree import Body as Body
    from svyaz.model.tree import Tree as Tree
    from svyaz.model.tree import axis_rotation as axis_rotation
    from svyaz.model.tree import numbers as numbers
    from svyaz.model.tree import quaternion_rotation as quaternion_rotation
    from svyaz.model.words import RUN as RUN
    from svyaz.model.words import is_number as is_number
    from svyaz.model.words import nearest as nearest
    from svyaz.model.writing import to_toml as to_toml
else:
    open_door(__name__)
