"""Many runs at once: lanes of the vector registers against one member after another, MuJoCo, heyoka and diffrax."""

from __future__ import annotations

TITLE = "Ensembles: members in lanes against one by one, MuJoCo, heyoka, diffrax"
MEASUREMENTS = ("sweeps", "chosen", "basins", "batches", "steps")
"""Modules of this folder, in the order of the table."""
