"""What constraints are: kinds, ranks, potentials, scales, consistent states."""

from svyaz.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__)
