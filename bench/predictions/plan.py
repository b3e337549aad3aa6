"""Deviations predicted before a run against those that the run shows, on nine systems."""

from __future__ import annotations

TITLE = "Predicted and observed deviations from the constraints"
MEASUREMENTS = ("bounds",)
"""Modules of this folder, in the order of the table."""
