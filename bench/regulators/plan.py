"""Regulators: designs from a model to gains, and basins of attraction against solve_ivp."""

from __future__ import annotations

TITLE = "Regulators and basins of attraction against solve_ivp"
MEASUREMENTS = ("design", "basin")
"""Modules of this folder, in the order of the table."""
