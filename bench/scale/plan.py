"""Large systems: from their text to their motion, how the time grows with their size, and how much memory it takes."""

from __future__ import annotations

TITLE = "Large systems, from their text to their motion"
MEASUREMENTS = ("windows", "rods", "pendulums", "trees", "programs")
"""Modules of this folder, in the order of the table."""
