"""What ``simulate`` looks at, and with which further runs the run is compared: ``--show`` and ``--against``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import click

from svyaz.motion import ModelOptions

if TYPE_CHECKING:
    from svyaz.model import System
    from svyaz.motion import View

GIVEN = "as given"
"""The name of the run with which others are compared."""


def views_asked(system: System, show: str | None) -> tuple[View, ...]:
    """What was asked to be shown."""
    if show is None:
        return ()
    from svyaz.motion import parted, views_of

    texts = [text for text in parted(show, ",") if text]
    if not texts:
        raise click.UsageError("--show names nothing.")
    return views_of(system, texts)


def options_and_values(
    options: Mapping[str, object], changes: Mapping[str, str]
) -> tuple[dict[str, object], list[tuple[str, str]]]:
    """The options of a further run, and what is left of its changes, values of the model."""
    context = click.get_current_context()
    known = {option.name: option for option in context.command.params if option.name in ModelOptions.__annotations__}
    own: dict[str, object] = dict(options)
    for name, other in (("step", "rtol"), ("rtol", "step")):
        if name in changes:
            own[other] = None
    own |= {name: known[name].type_cast_value(context, text) for name, text in changes.items() if name in known}
    return own, [(name, text) for name, text in changes.items() if name not in known]


def label_of(changes: Mapping[str, str]) -> str:
    """The changes as the name of a run."""
    return "; ".join(f"{name}={text}" for name, text in changes.items())


def labels_of(against: Sequence[Mapping[str, str]]) -> list[str]:
    """Names of the run itself and of the further ones; a run that is asked for twice is refused."""
    labels = [GIVEN, *map(label_of, against)]
    for label in labels:
        if labels.count(label) > 1:
            raise click.UsageError(f"--against {label} is asked for twice.")
    return labels
