"""Friction laws of the textbooks on every road of a run, against an integration of their own."""

from __future__ import annotations

TITLE = "Friction laws"
MEASUREMENTS = ("motions",)
"""Modules of this folder, in the order of the table."""
