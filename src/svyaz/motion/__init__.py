"""Motions: phases by time, chart and event, contacts and impacts, and results."""

from svyaz.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__)
