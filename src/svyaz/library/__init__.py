"""The library put together: what the rooms make, with verbs, for Python and for notebooks."""

from svyaz.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__)
