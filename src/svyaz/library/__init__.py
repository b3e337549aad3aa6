"""The library put together: what the rooms make, with verbs, for Python and for notebooks."""

from typing import TYPE_CHECKING

from svyaz import open_door

if TYPE_CHECKING:
    from svyaz.library.answers import NegativeAnswer as NegativeAnswer
    from svyaz.library.equations import Equations as Equations
    from svyaz.library.equations import derive as derive
    from svyaz.library.explorers import Explorer as Explorer
    from svyaz.library.kept_motions import load_motion as load_motion
    from svyaz.library.loading import load as load
    from svyaz.library.loading import loads as loads
    from svyaz.library.motions import Motion as Motion
    from svyaz.library.motions import RunFailed as RunFailed
    from svyaz.library.motions import simulate as simulate
    from svyaz.library.parts import Body as Body
    from svyaz.library.parts import Constraint as Constraint
    from svyaz.library.parts import Draw as Draw
    from svyaz.library.parts import Integral as Integral
    from svyaz.library.parts import Motor as Motor
    from svyaz.library.parts import Part as Part
    from svyaz.library.parts import Point as Point
    from svyaz.library.parts import Stream as Stream
    from svyaz.library.pictures import Picture as Picture
    from svyaz.library.pictures import Player as Player
    from svyaz.library.run_options import RunOptions as RunOptions
    from svyaz.library.sympy_words import SympyEquations as SympyEquations
    from svyaz.library.systems import SECONDS as SECONDS
    from svyaz.library.systems import System as System
    from svyaz.library.values import value_of as value_of
else:
    open_door(__name__)
