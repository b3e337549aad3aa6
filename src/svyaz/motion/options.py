"""The options of runs, each written once: for the library, the commands and the studio."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, TypeAlias, TypedDict

from svyaz.json_types import Json

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from svyaz.arguments import Count, NotNegative, Positive
    from svyaz.motion.inputs import Laws
    from svyaz.motion.phases import Progress
    from svyaz.stabilise import Tolerance

Stabilize: TypeAlias = str | float | Mapping[str, Json]
"""How constraints are held: "off", "auto", "projection", one gain for all, or gains as [run.stabilize] has them."""


class StepOptions(TypedDict, total=False):
    """A method with its fixed step, and when its motion ends; None where the model decides."""

    method: str | None
    step: Positive | None
    until: Positive | None
    every: Positive | None


class ModelOptions(StepOptions, total=False):
    """Options that the [run] of a model states too; None where the model decides."""

    form: str | None
    rtol: Positive | None
    atol: Positive | None
    stabilize: Stabilize | None
    tolerance: Tolerance | None
    hold: str | None
    charts: str | None


class PreparedOptions(ModelOptions, total=False):
    """The options of ``prepare``; ``DEFAULTS`` has the values of those that are not None where they are left out."""

    project: bool
    keep: str | Sequence[str]
    initial_error: NotNegative
    halve: bool
    force: bool
    beyond: bool
    inputs: Laws | None
    rows: ArrayLike | None
    max_steps: Count | None
    foresee: bool


class RunOptions(PreparedOptions, total=False):
    """The options of ``simulate``."""

    start: Mapping[str, float] | None
    progress: Progress | None


class SimulatorOptions(TypedDict, total=False):
    """The options of ``Simulator``."""

    form: str | None
    method: str | None
    step: Positive | None
    rtol: Positive | None
    atol: Positive | None
    stabilize: Stabilize | None
    tolerance: Tolerance | None
    start: Mapping[str, float] | None


DEFAULTS: PreparedOptions = {
    "project": False,
    "keep": (),
    "initial_error": 0.0,
    "halve": False,
    "force": False,
    "beyond": False,
    "foresee": True,
}


def run_words(options: Mapping[str, object]) -> dict[str, object]:
    """The options as the [run] of a model has them: without the form, and without those that no model has."""
    return {name: options.get(name) for name in ModelOptions.__annotations__ if name != "form"}
