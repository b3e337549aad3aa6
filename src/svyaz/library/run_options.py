"""How a run is asked for, where anything may be left to the model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypedDict

from svyaz.json_types import Json


class RunOptions(TypedDict):
    """What is asked of a run; None where nothing is."""

    form: str | None
    method: str | None
    step: float | None
    rtol: float | None
    atol: float | None
    tolerance: float | Mapping[str, float] | None
    until: float | None
    every: float | None
    stabilize: str | float | Mapping[str, Json] | None
