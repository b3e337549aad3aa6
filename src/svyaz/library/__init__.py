"""The library: what the packages compute, as objects with methods, for Python and for notebooks."""

from svyaz.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__)
