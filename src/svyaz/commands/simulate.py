"""``svyaz simulate MODEL``: the motion, with its residuals, integrals and multipliers."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Unpack, cast

import click

from svyaz.commands.common import (
    LooksArgument,
    ModelArgument,
    check_looks,
    check_pictures,
    time_bar,
    warn,
    writable_outputs,
    write_json,
)
from svyaz.commands.comparing import labels_of, options_and_values, views_asked
from svyaz.commands.hints import with_flags
from svyaz.commands.options import RUN, looks_options, model_command, option, options
from svyaz.commands.running import not_finished, tables
from svyaz.commands.terminal import plain
from svyaz.json_types import Json, Record
from svyaz.motion import ModelOptions, run_words

if TYPE_CHECKING:
    from svyaz.model import System
    from svyaz.motion import Laws, Motion, View
    from svyaz.show import Looks


class SimulateOptions(ModelOptions):
    """The options of a run and how it is made."""

    project: bool
    keep: str
    initial_error: float
    halve: bool
    force: bool
    beyond: bool


LISTED = ("Move", 22, "Integrate the motion; constraints, integrals and multipliers are reported.")


@model_command(
    "svyaz simulate pendulum:3",
    "svyaz simulate sling --csv sling.csv --plot sling.png --animate sling.html",
    "svyaz simulate pendulum-xy --method rk4 --step 0.01 --until 100 --json result.json",
    "svyaz simulate my-model.toml --set m=2 --set initial.x=0.1",
    "svyaz simulate ball-and-beam --set nu='0.1*sin(2*t)' --until 2",
    "svyaz simulate sleigh --stabilize 46 --show residuals,multipliers --csv held.csv --plot held.png",
    'svyaz simulate ball-and-beam --show "r,theta\'" --size 12x6 --degrees --plot beam.svg',
    "svyaz simulate sleigh --against form=chaplygin --against stabilize=off --show phi,residuals --plot both.png",
)
@options(*RUN, "--project", "--keep")
@option(
    "--initial-error",
    "With how large an error of the initial state the error bound of Euler's method begins.",
    type=float,
    default=0.0,
    metavar="ERROR",
)
@option("--halve", "Estimate the trajectory error by halving the step.")
@option("--force", "Run in spite of a bad verdict on the gains or a start off the constraints.")
@options("--beyond", "--show", "--against")
@option("--csv", "Write t, then each coordinate followed by its velocity, or what --show names ('-': standard output).")
@option("--plot", "Draw an overview, or what --show names (.png, .svg, .pdf).")
@looks_options
@option("--animate", "Draw an animation (.gif, .html).")
@option("--json")
def command(
    model: ModelArgument,
    json_file: str | None,
    against: tuple[Mapping[str, str], ...],
    csv: str | None,
    plot: str | None,
    animate: str | None,
    show: str | None,
    looks: LooksArgument,
    **given: Unpack[SimulateOptions],
) -> None:
    """Integrate the motion of MODEL from its initial state.

    Exit code 1 when a motion does not reach its end (left, diverged, singular, infeasible, stopped); what was computed is
    written all the same. Ctrl-C stops the run and keeps what was computed. For an input --set also takes a law of the time
    and the state, or a CSV file with two columns, times and values (straight lines between the rows).
    """
    if csv == "-" and json_file == "-":
        raise click.UsageError("--csv and --json cannot both go to standard output.")
    if plot or animate:
        check_pictures(plot, animate)
    labels = labels_of(against)
    system, laws = model.load_with_laws()
    if animate:
        check_looks(system)
    warn(system)
    from svyaz.motion import simulate
    from svyaz.stabilise import options_for

    views = views_asked(system, show)
    style = looks.check(system, plot)
    asked: list[tuple[System, Laws, SimulateOptions]] = [(system, laws, given)]
    for changes in against:
        own, values = options_and_values(given, changes)
        asked.append((*model.load_with_laws(values), cast(SimulateOptions, own)))
    ends = [options_for(stated, run_words(how)).until for stated, _, how in asked]
    writable_outputs(json_file, csv, plot, animate)
    runs: dict[str, Motion] = {}
    for label, until, (stated, inputs, how) in zip(labels, ends, asked, strict=True):
        with time_bar(stated.name, until) as progress:
            runs[label] = simulate(stated, inputs=inputs or None, progress=progress, **how)
        _warn(runs[label])
        if runs[label].status == "stopped":
            break
    _write_csv(runs, views, csv)
    if json_file is not None:
        write_json(_record(runs, against), json_file)
    _pictures(runs, views, plot, style, animate)
    if "-" not in (csv, json_file):
        for label, run in runs.items():
            tables(run, label if against else "")
    for label, run in runs.items():
        if not run.finished:
            raise not_finished(run, label if against else "")


def _record(runs: Mapping[str, Motion], against: Sequence[Mapping[str, str]]) -> Record:
    """The first run, and those it is compared with, each with what was changed for it."""
    from svyaz.show import as_json

    first, *records = [as_json(run) for run in runs.values()]
    others: Json = [{"changes": dict(changes), **record} for changes, record in zip(against, records, strict=False)]
    return {**first, **({"against": others} if others else {})}


def _warn(motion: Motion) -> None:
    from svyaz.expr import Advice

    for note in motion.notes:
        if isinstance(note, Advice):
            click.echo(plain(f"warning: {with_flags(note)}"), err=True)


def _write_csv(runs: Mapping[str, Motion], views: Sequence[View], csv: str | None) -> None:
    """The state, or what is to be shown; of several runs one below the other."""
    if csv is None:
        return
    from svyaz.motion import View, write_runs

    motion = next(iter(runs.values()))
    shown = views or [View(name) for name in motion.csv_names[1:]]
    write_runs(sys.stdout if csv == "-" else csv, runs, shown)


def _pictures(
    runs: Mapping[str, Motion], views: Sequence[View], plot: str | None, looks: Looks | None, animate: str | None
) -> None:
    motion = next(iter(runs.values()))
    if plot is not None and looks is not None:
        from svyaz.motion import usual_views
        from svyaz.show import plot_motion, plot_views

        if views or len(runs) > 1:
            plot_views(runs, views or usual_views(motion), plot, looks)
        else:
            plot_motion(motion, plot, looks)
    if animate is not None:
        from svyaz.show import animate as draw
        from svyaz.show import can_be_drawn

        if can_be_drawn(motion):
            draw(motion, animate)
        else:
            click.echo("there is no motion to show: the animation is left out", err=True)
