"""The forms of the equations of motion. Each takes a System and returns Equations."""

from svyaz.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__)
