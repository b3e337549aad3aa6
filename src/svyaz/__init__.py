"""Mechanical systems from a written model to native motion: equations, constraints that hold, stability, control.

>>> import svyaz
>>> system = svyaz.load("pendulum:2")         # a name of svyaz.gallery(), or the path of a model file
>>> motion = system.simulate(until=5)
>>> motion["u1"].shape == motion.times.shape
True

State a system by ``load``, ``loads`` or ``System``; ask it by its verbs: ``derive``, ``check``, ``simulate``, ``equilibria``,
``steady``, ``regulate``, ``linearise``, ``sweep``, ``invert``, ``helmholtz``, ``inertia``, ``balance``. What they give has
verbs too: ``Equations.function``, ``Motion.plot``, ``Motion.animate``, ``Regulation.run``, ``LinearModel.to_control`` … .

Importing the package loads nothing else: each public name is looked up in its own room when it is first used.
"""

from __future__ import annotations

# ruff: noqa: E402 (the first lines are for interrupts that come while the rest is loaded)
import _signal  # type: ignore[import-not-found]  # what `signal` is made of, and there at once
import os
import sys

_STARTED = sys.orig_argv[-len(getattr(sys, "argv", ())) :][:1] or [""]  # an embedded Python may have no words at all
_PROGRAM = os.path.basename(_STARTED[0]).removesuffix(".exe")
if _PROGRAM in ("svyaz", "-msvyaz"):  # this process is the command line
    if _signal.getsignal(_signal.SIGINT) is _signal.default_int_handler:
        # Ctrl-C ends it without a traceback, until `svyaz.interrupts` does better.
        _signal.signal(_signal.SIGINT, _signal.SIG_DFL)
    # Matrices here are many and small: threads of BLAS would wait for each other longer than they work.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import re
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING

__version__ = "0.1.0"


class _Door(ModuleType):
    """A package that loads the names it offers when they are first asked for."""

    def __getattr__(self, name: str) -> object:
        home = self.__dict__["_homes"].get(name)
        if home is None:
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        room = import_module(home)
        value = room if home == f"{self.__name__}.{name}" else getattr(room, name)  # a room that is called by its name
        self.__dict__[name] = value
        return value

    def __dir__(self) -> list[str]:
        return sorted({*self.__dict__, *self.__dict__["_homes"]})


def open_door(package: str) -> None:
    """Offer the names that the package imports for the type checker, ``from home import name as name``, each loaded late.

    So a name is written once: mypy follows the import, and this reads it from the same line.
    """
    module = sys.modules[package]
    loader = module.__spec__.loader if module.__spec__ else None
    source = loader.get_source(package) if loader is not None and hasattr(loader, "get_source") else ""
    homes = {
        name: home for home, name in re.findall(r"^    from (\S+) import (\w+) as \2$", source or "", re.MULTILINE)
    }
    module.__dict__.update(_homes=homes, __all__=sorted(homes))
    module.__class__ = _Door


# The library, in groups; each line is the one place where a name is written.
# isort: off
if TYPE_CHECKING:
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
else:
    open_door(__name__)
