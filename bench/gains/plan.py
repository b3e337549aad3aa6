"""Gains chosen by "auto" against 25 constant ones, on nine systems."""

from __future__ import annotations

TITLE = "Gains chosen by auto against 25 constant gains"
MEASUREMENTS = ("choice",)
"""Modules of this folder, in the order of the table."""
