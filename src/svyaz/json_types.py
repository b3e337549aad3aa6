"""What JSON can hold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isfinite
from typing import TypeAlias

Json: TypeAlias = "bool | int | float | str | Sequence[Json] | Mapping[str, Json] | None"

Record: TypeAlias = "dict[str, Json]"
"""A result as it is written to a file."""


def finite(value: Json) -> Json:
    """The same with null for numbers that are none, or infinite: JSON has no word for them."""
    if isinstance(value, Mapping):
        return {name: finite(part) for name, part in value.items()}
    if isinstance(value, str) or not isinstance(value, float | Sequence):
        return value
    if isinstance(value, float):
        return value if isfinite(value) else None
    return [finite(part) for part in value]
