"""Steady motions: commands beside ``regulate ball-and-beam``, branches, linearisations and how their cost grows, and
closed loops from random starts.
"""

from __future__ import annotations

TITLE = "Steady motions beside the regulator of a ball and beam"
MEASUREMENTS = ("commands", "work", "loops")
"""Modules of this folder, in the order of the table."""
