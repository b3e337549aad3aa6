"""What the native loops know of the records of free joints; it stands alone, for they are compiled without symbols."""

from __future__ import annotations

PLACE_RECORDS = 4
"""So many records hold the place of a free joint."""
