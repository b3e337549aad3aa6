"""What happens to models that nobody would write, and do independent ways of computing agree on random systems?"""

from __future__ import annotations

TITLE = "Robustness: mutated models, and two routes on random systems"
MEASUREMENTS = ("texts", "routes")
"""Modules of this folder, in the order of the table."""
