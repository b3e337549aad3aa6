"""Equilibria and verdicts of random systems against a search and eigenvalues that share nothing with them."""

from __future__ import annotations

TITLE = "Equilibria of random systems against an independent search and eigenvalues"
MEASUREMENTS = ("random_systems", "near_bifurcations")
"""Modules of this folder, in the order of the table."""
