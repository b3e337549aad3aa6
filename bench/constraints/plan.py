"""Constraints that hold: the cost of stabilisation, Euler's method against NumPy, sweeps on all cores, and peers."""

from __future__ import annotations

TITLE = "Constrained motion: against unstabilised runs, NumPy, EXUDYN and IDA"
MEASUREMENTS = ("stabilised", "million", "many", "work_precision")
"""Modules of this folder, in the order of the table."""
