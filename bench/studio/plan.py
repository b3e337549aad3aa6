"""The studio: how soon it is open, and how soon a slider has moved what is drawn."""

from __future__ import annotations

TITLE = "The studio in a browser"
MEASUREMENTS = ("opening", "sliders")
"""Modules of this folder, in the order of the table."""
