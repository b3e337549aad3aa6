"""Controllability, observability, regulators, observers, closed loops."""

from svyaz.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__)
