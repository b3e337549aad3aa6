"""Equilibria, the first approximation, zero roots and critical cases."""

from svyaz.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__)
