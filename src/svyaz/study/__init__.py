"""Studies: sweeps of parameters, initial values, gains and steps."""

from svyaz.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__)
