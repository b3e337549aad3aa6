"""Stabilising laws: against an integration of its own, from many starts, and what they cost."""

from __future__ import annotations

TITLE = "General stabilising laws"
MEASUREMENTS = ("kinds", "starts", "cost")
"""Modules of this folder, in the order of the table."""
