"""Differential equations to paths: methods, native loops, dense output. Nothing here knows mechanics."""

from typing import TYPE_CHECKING

from svyaz import open_door

if TYPE_CHECKING:
    from svyaz.integrate.calls import address_of as address_of
    from svyaz.integrate.calls import call as call
    from svyaz.integrate.calls import callback as callback
    from svyaz.integrate.calls import copy as copy
    from svyaz.integrate.calls import part as part
    from svyaz.integrate.calls import read as read
    from svyaz.integrate.calls import whole as whole
    from svyaz.integrate.calls import write as write
    from svyaz.integrate.ensembles import STATUS as STATUS
    from svyaz.integrate.ensembles import STEPS as STEPS
    from svyaz.integrate.ensembles import WIDTH as WIDTH
    from svyaz.integrate.ensembles import Group as Group
    from svyaz.integrate.ensembles import ensemble as ensemble
    from svyaz.integrate.guard import ALARM as ALARM
    from svyaz.integrate.guard import after_step_function as after_step_function
    from svyaz.integrate.guard import layout as layout
    from svyaz.integrate.loops import scheme as scheme
    from svyaz.integrate.lots import radau_lot as radau_lot
    from svyaz.integrate.methods import method as method
    from svyaz.integrate.methods import method_names as method_names
    from svyaz.integrate.solve import LEAST_RTOL as LEAST_RTOL
    from svyaz.integrate.solve import Flow as Flow
    from svyaz.integrate.solve import Path as Path
    from svyaz.integrate.solve import integrate as integrate
    from svyaz.integrate.solve import outcome as outcome
    from svyaz.integrate.solve import schedule as schedule
    from svyaz.integrate.status import Status as Status
    from svyaz.integrate.tableau import Tableau as Tableau
else:
    open_door(__name__)
