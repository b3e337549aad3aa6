"""Does every product of mechanisms end with an answer: charts, events, friction, restitution, stabilisation, long trees?"""

from __future__ import annotations

TITLE = "Products of mechanisms: every run ends with an answer, within its CPU budget"
MEASUREMENTS = ("answers",)
"""Modules of this folder, in the order of the table."""
