"""Differential equations to paths: methods, native loops, dense output. Nothing here knows mechanics."""

from svyaz.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__)
