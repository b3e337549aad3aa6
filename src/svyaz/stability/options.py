"""The options of searches, each written once: for the library, the commands and the studio."""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING, TypedDict

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from svyaz.arguments import Duration, Natural

SECONDS: float = inf
"""No time limit, unless one is asked for: answers depend neither on the machine nor on its load."""


class SearchOptions(TypedDict, total=False):
    """Options of a search in a box; ``DEFAULTS`` has the values of those that are not None where they are left out."""

    dependent: Sequence[str] | None
    seconds: Duration
    progress: Callable[[float], object] | None


class EquilibriaOptions(SearchOptions, total=False):
    """The options of ``equilibria``."""

    seed: Natural


DEFAULTS: EquilibriaOptions = {"seconds": SECONDS, "seed": 0}
