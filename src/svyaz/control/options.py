"""The options of regulators, written once: for the library, the commands and the studio."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypedDict

from svyaz.stability import SECONDS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from svyaz.arguments import Duration
    from svyaz.control.regulators import Method
    from svyaz.control.weights import Weights


class RegulateOptions(TypedDict, total=False):
    """The options of ``regulate``; ``DEFAULTS`` has the values of those that are not None where they are left out."""

    near: Mapping[str, float] | None
    fix: Mapping[str, float] | None
    box: Mapping[str, tuple[float, float]] | None
    dependent: Sequence[str] | str | None
    inputs: Sequence[str] | str | None
    measure: Sequence[str] | str
    weights: Weights | Mapping[str, object] | str | Path | None
    method: Method | str
    against_linearised: bool
    seconds: Duration
    progress: Callable[[float], object] | None
    variables: str


DEFAULTS: RegulateOptions = {
    "measure": (),
    "method": "schur",
    "against_linearised": False,
    "seconds": SECONDS,
    "variables": "lagrange",
}
