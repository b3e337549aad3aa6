# The library, in groups; each line is the one place where a name is written.
# isort: off
__version__: str

# state a system
from svyaz.gallery import gallery as gallery
from svyaz.library import System as System
from svyaz.library import load as load
from svyaz.library import loads as loads
from svyaz.model import ModelWords as ModelWords
from svyaz.model import Tree as Tree
from svyaz.model import to_toml as to_toml

# its parts as objects
from svyaz.library import Body as Body
from svyaz.library import Constraint as Constraint
from svyaz.library import Draw as Draw
from svyaz.library import Integral as Integral
from svyaz.library import Motor as Motor
from svyaz.library import Point as Point
from svyaz.library import Stream as Stream

# its equations
from svyaz.library import Equations as Equations
from svyaz.library import derive as derive
from svyaz.forms import NumericEquations as NumericEquations
from svyaz.forms import form_names as form_names
from svyaz.forms import Inertia as Inertia
from svyaz.forms import NumericTree as NumericTree

# programs and native code
from svyaz.program import Program as Program
from svyaz.program import Native as Native
from svyaz.program import build as build
from svyaz.program import compile_program as compile_program
from svyaz.program import export as export

# motion
from svyaz.library import Motion as Motion
from svyaz.library import simulate as simulate
from svyaz.library import load_motion as load_motion
from svyaz.motion import Simulator as Simulator
from svyaz.motion import with_inputs as with_inputs
from svyaz.motion import Check as Check
from svyaz.motion import check as check
from svyaz.integrate import solve as solve
from svyaz.integrate import method_names as method_names

# equilibria
from svyaz.stability import Equilibria as Equilibria
from svyaz.stability import Equilibrium as Equilibrium
from svyaz.stability import equilibria as equilibria
from svyaz.stability import FirstApproximation as FirstApproximation
from svyaz.stability import first_approximation as first_approximation

# control
from svyaz.control import Regulation as Regulation
from svyaz.control import regulate as regulate
from svyaz.control import ClosedLoop as ClosedLoop
from svyaz.control import closed_loop as closed_loop
from svyaz.control import lqr as lqr
from svyaz.control import LinearModel as LinearModel

# synthesis and studies
from svyaz.synthesis import Inverse as Inverse
from svyaz.synthesis import Helmholtz as Helmholtz
from svyaz.synthesis import Balanced as Balanced
from svyaz.study import Sweep as Sweep
from svyaz.study import sweep as sweep

# pictures and files
from svyaz.library import Picture as Picture
from svyaz.library import Player as Player
from svyaz.library import Explorer as Explorer
from svyaz.show import plot_motion as plot_motion
from svyaz.show import animate as animate
from svyaz.show import write_report as write_report
from svyaz.show import as_json as as_json

# what can go wrong
from svyaz.expr import ModelError as ModelError
from svyaz.expr import Problem as Problem
from svyaz.stability import NoEquilibrium as NoEquilibrium
from svyaz.control import NotSolvable as NotSolvable
from svyaz.library import RunFailed as RunFailed
