"""The options of sweeps, written once: for the library and the commands."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from svyaz.motion import ModelOptions

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from svyaz.arguments import Count
    from svyaz.motion import Laws

Progress = Callable[[int, int], object]


class SweepOptions(ModelOptions, total=False):
    """The options of ``sweep``; ``DEFAULTS`` has the values of those that are not None where they are left out."""

    workers: Count | None
    scheduler: str | None
    progress: Progress | None
    keep: str | Path | None
    resume: bool
    inputs: Laws | None
    project: bool
    kept: str | Sequence[str]
    beyond: bool


DEFAULTS: SweepOptions = {"resume": False, "project": False, "kept": (), "beyond": False}
