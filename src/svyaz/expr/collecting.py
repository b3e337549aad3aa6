"""Work on long expressions and tapes, with the collector of cycles at rest.

They hold no cycles: counts of references free them. The collector would go through all of them again whenever a quarter
more has been made, which takes a fifth of the time.
"""

from __future__ import annotations

import gc
from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


def uncollected(function: Callable[P, T]) -> Callable[P, T]:
    """The function, run without collections; whoever began first lets them go on."""

    @wraps(function)
    def without_collections(*args: P.args, **kwargs: P.kwargs) -> T:
        collecting = gc.isenabled()
        gc.disable()
        try:
            return function(*args, **kwargs)
        finally:
            if collecting:
                gc.enable()

    return without_collections
