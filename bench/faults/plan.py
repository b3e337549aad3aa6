"""What befalls a computation: killed workers, programs and schedulers, full disks, damaged caches."""

from __future__ import annotations

TITLE = "Faults: nothing lost that was written, nothing wrong, nothing executed"
MEASUREMENTS = ("studies", "clusters", "caches")
"""Modules of this folder, in the order of the table."""
