"""Lagrange's equations of a tree of bodies, solved for the accelerations body by body in O(n) operations.

The equations are those of the form 'lagrange', or 'multipliers' where there are constraints; what differs is how they are
solved (articulated bodies, R. Featherstone, Rigid Body Dynamics Algorithms, 2008, 7.3). A run that needs the rates alone
never writes them out.
"""

from __future__ import annotations

from dataclasses import replace

from svyaz.expr import ModelError, Problem
from svyaz.forms.equations import Equations, Form
from svyaz.forms.named.lagrange import lagrange
from svyaz.forms.named.multipliers import with_multipliers
from svyaz.model import System


def articulated(system: System) -> Equations:
    """The equations of a tree."""
    if not system.bodies:
        message = "the form 'articulated' takes trees of bodies"
        raise ModelError([Problem(message, hint="state the system by [[body]], or use the form 'lagrange'")])
    return replace(with_multipliers(system) if system.constraints else lagrange(system), form="articulated")


FORM = Form("articulated", articulated)
