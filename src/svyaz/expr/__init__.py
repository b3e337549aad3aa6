"""Expressions: symbols, the safe parser, calculus, mistakes with their places, printing."""

from svyaz.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__)
