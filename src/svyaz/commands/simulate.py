"""``svyaz simulate MODEL``: the motion, with its residuals, integrals and multipliers."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Unpack

import click

from svyaz.commands.common import (
    check_looks,
    check_pictures,
    examples,
    json_option,
    load_with_laws,
    model_options,
    warn,
    writable_outputs,
    write_json,
)
from svyaz.commands.hints import with_flags
from svyaz.commands.running import RunOptions, beyond_option, not_finished, of_run, run_options, tables, time_bar
from svyaz.commands.terminal import plain

if TYPE_CHECKING:
    from svyaz.motion import Motion


class SimulateOptions(RunOptions):
    """The options of a run and how it is made."""

    project: bool
    halve: bool
    force: bool
    beyond: bool


LISTED = ("Move", 22, "Integrate the motion; constraints, integrals and multipliers are reported.")


@click.command(
    epilog=examples(
        "svyaz simulate pendulum:3",
        "svyaz simulate sling --csv sling.csv --plot sling.png --animate sling.html",
        "svyaz simulate pendulum-xy --method rk4 --step 0.01 --until 100 --json result.json",
        "svyaz simulate my-model.toml --set m=2 --set initial.x=0.1",
        "svyaz simulate ball-and-beam --set nu='0.1*sin(2*t)' --until 2",
    )
)
@model_options
@run_options
@click.option("--project", is_flag=True, help="First move the initial state onto the constraints.")
@click.option("--halve", is_flag=True, help="Estimate the trajectory error by halving the step.")
@click.option(
    "--force", is_flag=True, help="Run in spite of a bad verdict on the gains or a start off the constraints."
)
@beyond_option
@click.option(
    "--csv", metavar="FILE", help="Write t, then each coordinate followed by its velocity ('-': standard output)."
)
@click.option("--plot", metavar="FILE", help="Draw an overview (.png, .svg, .pdf).")
@click.option("--animate", metavar="FILE", help="Draw an animation (.gif, .html).")
@json_option
def command(
    model: str,
    settings: tuple[tuple[str, str], ...],
    choices: tuple[tuple[str, str], ...],
    json_file: str | None,
    csv: str | None,
    plot: str | None,
    animate: str | None,
    **options: Unpack[SimulateOptions],
) -> None:
    """Integrate the motion of MODEL from its initial state.

    Exit code 1 when the motion does not reach its end (left, diverged, singular, infeasible, stopped); what was computed is
    written all the same. Ctrl-C stops the run and keeps what was computed. For an input --set also takes a law of the time
    and the state, or a CSV file with two columns, times and values (straight lines between the rows).
    """
    if csv == "-" and json_file == "-":
        raise click.UsageError("--csv and --json cannot both go to standard output.")
    if plot or animate:
        check_pictures(plot, animate)
    system, laws = load_with_laws(model, settings, choices)
    if animate:
        check_looks(system)
    warn(system)
    from svyaz.expr import Advice
    from svyaz.holding import options_for
    from svyaz.motion import simulate
    from svyaz.show import as_json

    until = options_for(system, of_run(options)).until
    writable_outputs(json_file, csv, plot, animate)
    with time_bar(system, until) as progress:
        motion = simulate(system, inputs=laws or None, progress=progress, **options)
    for note in motion.notes:
        if isinstance(note, Advice):
            click.echo(plain(f"warning: {with_flags(note)}"), err=True)
    if csv == "-":
        motion.to_csv(sys.stdout)
    elif csv is not None:
        motion.to_csv(csv)
    write_json(as_json(motion), json_file)
    _pictures(motion, plot, animate)
    if "-" not in (csv, json_file):
        tables(motion)
    if not motion.finished:
        raise not_finished(motion)


def _pictures(motion: Motion, plot: str | None, animate: str | None) -> None:
    if plot is not None:
        from svyaz.show import plot_motion

        plot_motion(motion, plot)
    if animate is not None:
        from svyaz.show import animate as draw
        from svyaz.show import can_be_drawn

        if can_be_drawn(motion):
            draw(motion, animate)
        else:
            click.echo("there is no motion to show: the animation is left out", err=True)
