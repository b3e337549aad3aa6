"""What was stated: systems, read from TOML or made in Python with the same words, and checked."""

from svyaz.model.loading import load, loads
from svyaz.model.system import Constraint, Drawing, Input, Integral, System

__all__ = ["Constraint", "Drawing", "Input", "Integral", "System", "load", "loads"]
