"""``svyaz page MODEL``: a page in which the mechanism lives, in one file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Unpack

import click

from svyaz.commands.common import (
    ModelArgument,
    NegativeAnswer,
    search_bar,
    time_bar,
    warn,
    writable_outputs,
    write_text,
)
from svyaz.commands.hints import with_flags
from svyaz.commands.options import RUN, Pairs, model_command, option, options
from svyaz.commands.terminal import plain
from svyaz.commands.values import values_of
from svyaz.motion import ModelOptions, run_words

if TYPE_CHECKING:
    from collections.abc import Mapping

    from svyaz.model import System
    from svyaz.motion import Motion
    from svyaz.show import Regulated

LISTED = ("Look", 42, "Write a page in which the mechanism lives: sliders, and the motion computed in the browser.")


@model_command(
    "svyaz page pendulum:3",
    "svyaz page sleigh --stabilize 10 --out sleigh.html",
    "svyaz page ball-and-beam --fix r=0.2 --start alpha=0.02 --until 10",
    "svyaz page my-model.toml --until 20",
)
@options(*RUN)
@option(
    "--fix",
    "Regulate about the equilibrium with this value (see regulate): the page carries the closed loop. Repeatable.",
)
@option("--start", "Where the closed loop starts; the other variables are as in the equilibrium. Repeatable.")
@option("--budget")
@option("--out", "Where to write; NAME.html unless given.")
def command(
    model: ModelArgument, fix: Pairs, start: Pairs, budget: float, out: str | None, **given: Unpack[ModelOptions]
) -> None:
    """Write one HTML file in which MODEL lives: it needs no server, no network and no svyaz.

    Sliders move the parameters, the start and the gains, bodies can be dragged; the motion is computed in the browser at every
    move, by the program and the method of a native run with a fixed step. A run that chooses its steps, or an implicit method,
    is replaced by equal steps that give the same motion; by how much they differ is told on the page. Where a browser cannot
    compute the motion (contacts that act together, dry friction, very long trees), the page plays it as it was computed, and
    says so.

    With --fix a regulator is designed as by `svyaz regulate`; the page has its closed loop. When a parameter or the place of
    the equilibrium is moved, the page finds the equilibrium anew and keeps the gains; where it cannot (steady motions), it
    keeps the equilibrium too, and says so. Limits of the model end the motion, unless it is told to run on.
    """
    from pathlib import Path

    if start and not fix:
        raise click.UsageError(
            "--start is of a closed loop: add --fix, or set the initial values by --set initial.NAME=VALUE."
        )
    system, laws = model.load_with_laws()
    warn(system)
    target = out or f"{Path(model.name).stem.replace(':', '-')}.html"
    writable_outputs(target)
    from svyaz.forms import derive
    from svyaz.motion import simulate
    from svyaz.show import latex_lines, living_page
    from svyaz.stabilise import options_for

    loop: Regulated | None = None
    if fix:
        motion, loop = _regulate(system, fix, start, budget, given)
    else:
        until = options_for(system, run_words(given)).until
        with time_bar(system.name, until) as progress:
            motion = simulate(system, inputs=laws or None, progress=progress, **given)
    if len(motion.times) < 2:
        raise NegativeAnswer(f"there is no motion to show: {with_flags(motion.reason)}")
    equations = latex_lines(derive(system, given["form"]))
    words = [model.name, *(f"--with {name}={choice}" for name, choice in model.choices)]
    words += [f"--set {name}={value}" for name, value in model.settings]
    text = living_page(motion, equations, model="" if fix else " ".join(words), loop=loop)
    write_text(text, target)
    click.echo(plain(f"{target}: {len(text.encode()) // 1024} kB"))


def _regulate(
    system: System, fix: Pairs, start: Pairs, budget: float, options: Mapping[str, object]
) -> tuple[Motion, Regulated]:
    """The motion of the closed loop, and the regulation that closes it."""
    from svyaz.control import NotSolvable, regulate
    from svyaz.show import Regulated
    from svyaz.stability import NoEquilibrium

    points = values_of(start, system, "--start")
    asked = options["until"]
    until = float(asked) if isinstance(asked, int | float) else 10.0
    try:
        with search_bar(system.name) as progress:
            found = regulate(system, fix=values_of(fix, system, "--fix"), seconds=budget, progress=progress)
    except (NotSolvable, NoEquilibrium) as refusal:
        raise NegativeAnswer("; ".join(with_flags(text) for text in refusal.args)) from refusal
    if found.reason:
        raise NegativeAnswer(found.reason)
    run = found.run(points, until, beyond=bool(options.get("beyond")))
    return run["regulator"].transient.motion, Regulated(system, found, points)
