"""Many runs at once: lanes of the vector registers against one member after another, and MuJoCo's rollout."""

from __future__ import annotations

TITLE = "Ensembles: members in lanes against one by one, and MuJoCo"
MEASUREMENTS = ("sweeps", "batches")
"""Modules of this folder, in the order of the table."""
