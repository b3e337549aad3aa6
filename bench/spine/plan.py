"""From a written model to native motion: the pendulum of N links against SymPy, NumPy and SciPy."""

from __future__ import annotations

TITLE = "The spine: pendulum:N against SymPy, NumPy and SciPy"
MEASUREMENTS = ("derivation", "native_code", "accelerations", "motion", "start")
"""Modules of this folder, in the order of the table."""
