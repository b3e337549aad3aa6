"""Long studies: a million runs that are killed and go on, in bounded memory, and on workers of a Dask cluster."""

from __future__ import annotations

TITLE = "Studies: killed and resumed, in bounded memory, on a cluster"
MEASUREMENTS = ("kills", "efficiency")
"""Modules of this folder, in the order of the table."""
