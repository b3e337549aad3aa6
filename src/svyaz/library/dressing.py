"""Results of the rooms as the objects that the library offers: the same data with more verbs."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

Kind = TypeVar("Kind")
Words = ParamSpec("Words")


def dressed(kind: type[Kind], plain: object) -> Kind:
    """The same data as an object of this kind, which adds verbs to the type of what is given and no data of its own."""
    if isinstance(plain, kind):
        return plain
    found = object.__new__(kind)
    found.__dict__.update(plain.__dict__)
    return found


def dressing(call: Callable[Words, object], kind: type[Kind]) -> Callable[Words, Kind]:
    """A function of a room with what it gives dressed."""

    @wraps(call)
    def asked(*arguments: Words.args, **options: Words.kwargs) -> Kind:
        return dressed(kind, call(*arguments, **options))

    asked.__annotations__["return"] = kind
    return asked
