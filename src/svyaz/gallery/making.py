"""What a Python file of ``models`` declares as its MODEL."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

Variants = Mapping[str, tuple[str, ...]]
"""What can be chosen → choices; the first is the default."""


@dataclass(frozen=True)
class MadeModel:
    """A model whose text is made from what was chosen."""

    make: Callable[[Mapping[str, str]], str]
    variants: Variants


@dataclass(frozen=True)
class MadeFamily:
    """Models NAME:N, made for any N up to the ``largest``.

    ``parts`` are what N counts. What is ``open`` can be chosen besides, numbers among it; the maker knows what fits.
    """

    make: Callable[[int, Mapping[str, str]], str]
    largest: int
    parts: str = "links"
    open: Variants = field(default_factory=dict)
