"""Verdicts on gains against what runs of the pendulum do, hanging at rest and let go from the horizontal."""

from __future__ import annotations

TITLE = "Verdicts on gains against runs of pendulum-xy"
MEASUREMENTS = ("hanging", "swinging")
"""Modules of this folder, in the order of the table."""
