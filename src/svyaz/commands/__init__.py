"""The commands, one module each: ``svyaz NAME`` runs the click command called ``command`` in ``svyaz.commands.NAME``."""

from svyaz.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__)
