"""What JSON can hold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

Json: TypeAlias = "bool | int | float | str | Sequence[Json] | Mapping[str, Json] | None"

Record: TypeAlias = "dict[str, Json]"
"""A result as it is written to a file."""
