"""What native loops are made of, before they are compiled."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True, eq=False)
class Ingredient:
    """What loops are made of: a function whose ``kind`` is part, piece or instruction; or the instruction that gives the record
    of a class, with its layout, at an address (kind "record"), or one of many (kind "element").
    """

    function: Callable[..., object]
    kind: str
    layout: np.dtype[Any] | None = None


SHARED: set[Callable[..., object]] = set()
"""Functions that Python calls as they are, and that loops may call too."""


@dataclass(frozen=True)
class Pattern:
    """What a loop takes: a number, an array, or a named tuple of these, whose type is ``record``; ``letter`` says which."""

    letter: str
    dimensions: int = 0
    record: type | None = None
    parts: tuple[Pattern, ...] = ()

    @property
    def text(self) -> str:
        inner = ", ".join(part.text for part in self.parts)
        return f"{self.record.__name__}({inner})" if self.record is not None else f"{self.letter}:{self.dimensions}"


class Woveable:
    """A function that is compiled by itself and may be a part of another loop."""

    kind = "part"

    def __init__(self, function: Callable[..., object]) -> None:
        self.function = function
