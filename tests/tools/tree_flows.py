"""Rates of trees as native code, for tests of the loop over bodies."""

from __future__ import annotations

from svyaz import System
from svyaz.dynamics import closed_equations, plain_rates
from svyaz.integrate import Flow


def tree_flow(system: System) -> Flow:
    """The rates of a tree, without its constraints, as a native function with its constants."""
    code = plain_rates(closed_equations(system, ()))
    return Flow(code.address, code.constants(system.constants), len(system.states), code)
