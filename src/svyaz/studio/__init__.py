"""The studio: the same work in a browser. A server on this machine, pages of its own, questions answered in processes."""

from svyaz.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__)
