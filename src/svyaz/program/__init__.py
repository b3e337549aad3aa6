"""Straight-line programs from expressions: building, shortening, counting, native code, exports."""

from svyaz.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__)
