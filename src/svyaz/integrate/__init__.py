"""Differential equations to paths: methods, native loops, dense output. Nothing here knows mechanics."""

from typing import TYPE_CHECKING

from svyaz import open_door

if TYPE_CHECKING:
    from svyaz.integrate.budget import COUNTED as COUNTED
    from svyaz.integrate.budget import Budget as Budget
    from svyaz.integrate.budget import clock as clock
    from svyaz.integrate.calls import call as call
    from svyaz.integrate.calls import copy as copy
    from svyaz.integrate.calls import matrix as matrix
    from svyaz.integrate.calls import numbers as numbers
    from svyaz.integrate.calls import read as read
    from svyaz.integrate.calls import whole as whole
    from svyaz.integrate.calls import whole_numbers as whole_numbers
    from svyaz.integrate.calls import write as write
    from svyaz.integrate.compiling import Callback as Callback
    from svyaz.integrate.compiling import callback as callback
    from svyaz.integrate.compiling import part as part
    from svyaz.integrate.compiling import piece as piece
    from svyaz.integrate.factors import factorise as factorise
    from svyaz.integrate.factors import substitute as substitute
    from svyaz.integrate.free_lanes import free_in_lanes as free_in_lanes
    from svyaz.integrate.free_lanes import run_free_ensemble as run_free_ensemble
    from svyaz.integrate.guard import ALARM as ALARM
    from svyaz.integrate.guard import SHARE as SHARE
    from svyaz.integrate.guard import after_step_function as after_step_function
    from svyaz.integrate.guard import layout as layout
    from svyaz.integrate.lanes import ensemble_in_lanes as ensemble_in_lanes
    from svyaz.integrate.lanes import run_ensemble as run_ensemble
    from svyaz.integrate.loops import CODE as CODE
    from svyaz.integrate.loops import STEPS as STEPS
    from svyaz.integrate.loops import WIDTH as WIDTH
    from svyaz.integrate.loops import Group as Group
    from svyaz.integrate.loops import ensemble as ensemble
    from svyaz.integrate.methods import method as method
    from svyaz.integrate.methods import method_names as method_names
    from svyaz.integrate.ode import Flow as Flow
    from svyaz.integrate.ode import Ode as Ode
    from svyaz.integrate.ode import Rates as Rates
    from svyaz.integrate.ode import along as along
    from svyaz.integrate.ode import by_differences as by_differences
    from svyaz.integrate.path import UNSOLVED as UNSOLVED
    from svyaz.integrate.path import Bridge as Bridge
    from svyaz.integrate.path import Path as Path
    from svyaz.integrate.path import Status as Status
    from svyaz.integrate.path import joined as joined
    from svyaz.integrate.path import outcome as outcome
    from svyaz.integrate.quadrature import integrals_along as integrals_along
    from svyaz.integrate.solving import LEAST_RTOL as LEAST_RTOL
    from svyaz.integrate.solving import control_of as control_of
    from svyaz.integrate.solving import evaluation_work as evaluation_work
    from svyaz.integrate.solving import path_work as path_work
    from svyaz.integrate.solving import refinement as refinement
    from svyaz.integrate.solving import schedule as schedule
    from svyaz.integrate.solving import solve as solve
    from svyaz.integrate.solving import solve_each as solve_each
    from svyaz.integrate.solving import solve_many as solve_many
    from svyaz.integrate.tableau import Controller as Controller
    from svyaz.integrate.tableau import Tableau as Tableau
    from svyaz.integrate.tableau import printed as printed
else:
    open_door(__name__)
