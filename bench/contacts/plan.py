"""Contacts: columns, discs, rods, blocks, cradles, grazing motions and piles with friction move and rest as they should."""

from __future__ import annotations

TITLE = "Contacts: no negative gap, no pull, no energy from nowhere, rest at the right places"
MEASUREMENTS = ("runs",)
"""Modules of this folder, in the order of the table."""
