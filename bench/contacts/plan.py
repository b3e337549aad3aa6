"""Contacts: columns, discs, rods, blocks and cradles come to rest where they should, and nothing is entered on the way."""

from __future__ import annotations

TITLE = "Contacts: no negative gap, no pull, no energy from nowhere, rest at the right places"
MEASUREMENTS = ("runs",)
"""Modules of this folder, in the order of the table."""
