"""Equations as functions of a state: symbolic or recursive, prepared once.

Whatever computes takes a ``Dynamics``; ``dynamics_of`` gives that of equations.
"""

from svyaz.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__)
