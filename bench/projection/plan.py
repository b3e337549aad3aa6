"""Projection onto the constraints after every step: what it keeps and what it costs, on nine systems."""

from __future__ import annotations

TITLE = "Projection onto the constraints, and stabilised runs, against unstabilised runs"
MEASUREMENTS = ("cost",)
"""Modules of this folder, in the order of the table."""
