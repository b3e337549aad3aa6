"""Trees of bodies: inertia matrices, dynamics and long chains against Pinocchio and MuJoCo."""

from __future__ import annotations

TITLE = "Trees of bodies against Pinocchio (from Python and in C++) and MuJoCo"
MEASUREMENTS = ("matrix", "dynamics", "calls", "chains", "loops", "writing")
"""Modules of this folder, in the order of the table."""
