"""Constant inertia, inverse problems, conditions of Helmholtz."""

from svyaz.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__)
