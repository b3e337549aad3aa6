"""Pictures of motions: plots, animations, tables, the report page."""

from svyaz.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__)
