"""``svyaz regulate MODEL``: a regulator and an observer about an equilibrium, with a verdict and trials on the full system."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

import click

from svyaz.commands.common import (
    ModelArgument,
    NegativeAnswer,
    StoppedByUser,
    check_pictures,
    progress_bar,
    search_bar,
    write_json,
)
from svyaz.commands.hints import with_flags
from svyaz.commands.options import Pairs, model_command, option
from svyaz.commands.terminal import plain
from svyaz.commands.values import names_of, ranges_of, value_of, values_of

if TYPE_CHECKING:
    from svyaz.control import Basin, Margin, Method, Regulation, Transient, Trial
    from svyaz.json_types import Json
    from svyaz.model import System

LISTED = ("Examine", 32, "Design a regulator and an observer about an equilibrium; run the closed loop.")


class RegulateArguments(TypedDict):
    """Of which equilibrium, with what and how the regulator is designed; what else is asked of the closed loop."""

    fix: Pairs
    near: Pairs
    box: Pairs
    budget: float
    dependent: str | None
    variables: str
    inputs: str | None
    measure: str | None
    weights: str | None
    solver: str | None
    poles: str | None
    against: str | None
    until: float
    beyond: bool
    keep: str
    start: Pairs
    run: bool
    count: int | None
    critical: tuple[str, str] | None


@model_command(
    "svyaz regulate ball-and-beam",
    "svyaz regulate ball-and-beam --with control=voltage --dependent alpha --measure r --run --plot run.png",
    "svyaz regulate ball-and-beam --with equilibrium=nonzero --against linearised --critical d=0.05:0.11",
    "svyaz regulate ball-and-beam --basin 10000 --start r=0.1:0.3 --start alpha=-0.1:0.1 --until 20",
    "svyaz regulate ball-and-beam --poles=-1,-2,-3+1i,-3-1i",
)
@option(
    "--fix",
    "Prescribe a coordinate, an input or a parameter of the equilibrium; the speed (psi') or momentum (p_psi) of a cyclic "
    "coordinate: then about a steady motion. Repeatable.",
)
@option("--near", "Take the equilibrium nearest to this position (else the initial one). Repeatable.")
@option("--box", "Where to look for equilibria. Repeatable.")
@option("--budget")
@option("--dependent", "Redundant coordinates, one for each constraint; else the best.", metavar="NAMES")
@option(
    "--variables",
    "Variables of the design; Routh's belong to steady motions with cyclic coordinates.",
    type=click.Choice(["lagrange", "routh"]),
    default="lagrange",
)
@option("--input", "Inputs to control with; all unless given.", to="inputs", metavar="NAMES")
@option("--measure", "What is measured, separated by commas: an observer is designed.", metavar="EXPRESSIONS")
@option(
    "--weights",
    "Weights (TOML): [state], [input], [noise], [measurement] by name, or matrices Q, R, W, V; else ones.",
    metavar="FILE",
)
@option(
    "--solver",
    "How the Riccati equation is solved: by Schur vectors (default), or by Repin's and Tretyakov's establishment.",
    type=click.Choice(["schur", "establishment"]),
)
@option("--poles", "Place these roots, separated by commas, such as -1,-2+1i,-2-1i.", metavar="ROOTS")
@option(
    "--against",
    "Also design from linearised constraints, and compare.",
    type=click.Choice(["linearised"]),
    multiple=False,
    metavar=None,
)
@option("--run", "Run the closed loop on the full nonlinear system.")
@option("--until", "How long to run.", metavar=None, default=20.0, show_default=True)
@option(
    "--start",
    "A variable at the start (the others are as in the equilibrium), made consistent with the constraints; with --basin "
    "LOW:HIGH. Repeatable.",
)
@option("--keep")
@option("--beyond")
@option("--plot", "Draw the transients (.png, .svg, .pdf).")
@option("--animate", "Draw an animation of the closed loop (.gif, .html).")
@option(
    "--basin", "From how many of so many starts does it return?", to="count", metavar="COUNT", type=click.IntRange(1)
)
@option("--critical", "At which value of a parameter does the control fail?")
@option("--json")
def command(
    model: ModelArgument,
    plot: str | None,
    animate: str | None,
    json_file: str | None,
    **given: Unpack[RegulateArguments],
) -> None:
    """Design a regulator u = u0 - K x (and an observer) about the equilibrium of MODEL nearest to its initial position.

    The first approximation keeps the second derivatives of the constraints; K is optimal for unit weights unless others
    are given. The answer names the theorem and its hypotheses. Exit code 1 when there is no such equilibrium, the system
    is not controllable or not observable, or a run from a consistent start does not return or passes a limit of the model.
    """
    from svyaz.commands.regulate_report import show
    from svyaz.stability import starting_system

    run = given["run"] or plot is not None or animate is not None
    start, critical, count = given["start"], given["critical"], given["count"]
    _check_questions(given["until"], start, run, count)
    if given["keep"] and not run:
        raise click.UsageError("--keep is of a run: add --run.")
    check_pictures(plot, animate)
    system = model.load(json_file, plot, animate, drawn=animate)
    fix = values_of(given["fix"], system, "--fix")
    near, box = values_of(given["near"], system, "--near"), ranges_of(given["box"], system, "--box")
    places = {"near": near, "fix": fix, "box": box}
    points, ranges = _starts(start, starting_system(system, fix))
    span = None if critical is None else ranges_of([critical], system, "--critical")[critical[0]]
    found = _regulation(system, places, given, json_file)
    margin = None if critical is None or span is None else found.margin(critical[0], span)
    runs = _runs(found, points, given) if run else {}
    attraction = None if count is None else _basin(found, ranges, count, given)
    _pictures({name: trial.transient for name, trial in runs.items()}, plot, animate)
    write_json(_record(found, margin, attraction, runs), json_file)
    if json_file != "-":
        show(found, margin, attraction, runs)
    _answer(found, runs)


def _regulation(
    system: System, places: Mapping[str, Any], asked: RegulateArguments, json_file: str | None
) -> Regulation:
    """The regulator; where there is none the reason is written, and it is a negative answer."""
    from svyaz.control import NoRegulator, NotSolvable
    from svyaz.show import as_json
    from svyaz.stability import NoEquilibrium

    try:
        return _design(system, places, asked)
    except (NotSolvable, NoEquilibrium) as refusal:
        facts = as_json(refusal) if isinstance(refusal, NoRegulator) else {}
        reason = "; ".join(with_flags(text) for text in refusal.args)
        write_json({"model": system.name, **facts, "reason": reason}, json_file)
        raise NegativeAnswer(reason) from refusal


def _record(
    found: Regulation, margin: Margin | None, attraction: Basin | None, runs: Mapping[str, Trial]
) -> Mapping[str, Json]:
    """The regulator with the answers to all questions that were asked."""
    from svyaz.show import as_json

    result = as_json(found)
    if margin is not None:
        result["critical"] = as_json(margin)
    if attraction is not None:
        result["basin"] = as_json(attraction)
    if runs:
        result["runs"] = {name: as_json(run) for name, run in runs.items()}
    return result


def _check_questions(until: float, start: Pairs, run: bool, count: int | None) -> None:
    """Refuse what cannot be asked, before anything is computed."""
    if not 0 < until < float("inf"):
        raise click.UsageError("--until must be positive.")
    for name, text in start:
        if ":" in text and count is None:
            raise click.UsageError(f"--start {name}={text}: a range belongs to --basin; a run starts at one value.")
        if ":" not in text and not run:
            raise click.UsageError(f"--start {name}={text}: a value belongs to --run; a basin is spanned by LOW:HIGH.")


def _design(system: System, places: Mapping[str, Any], asked: RegulateArguments) -> Regulation:
    from svyaz.control import regulate

    method = _method(asked["solver"], asked["poles"])
    with search_bar(system.name) as progress:
        return regulate(
            system,
            **places,
            dependent=names_of(asked["dependent"]) or None,
            inputs=names_of(asked["inputs"]) or None,
            measure=asked["measure"] or "",
            weights=asked["weights"],
            method=method,
            against_linearised=asked["against"] is not None,
            variables=asked["variables"],
            seconds=asked["budget"],
            progress=progress,
        )


def _method(solver: str | None, poles: str | None) -> Method | str:
    from svyaz.control import placing

    if poles is None:
        return solver or "schur"
    if solver is not None:
        raise click.UsageError("--poles and --solver exclude each other: placing roots solves no Riccati equation.")
    try:
        wanted = [complex(part.replace(" ", "").replace("i", "j")) for part in names_of(poles)]
    except ValueError as error:
        raise click.UsageError(f"--poles {poles}: roots are numbers such as -1 or -2+1i.") from error
    bad = [root for root in wanted if not root.real < 0]
    if bad:
        raise click.UsageError(f"--poles {poles}: the root {bad[0]:g} would not be stable.")
    return placing(wanted)


def _starts(start: Pairs, system: System) -> tuple[dict[str, float], dict[str, tuple[float, float]]]:
    """Values at the start of a run, and their ranges for a basin."""
    points: dict[str, float] = {}
    ranges: dict[str, tuple[float, float]] = {}
    for name, text in start:
        if name not in system.states:
            raise click.UsageError(f"--start {name}: '{name}' is not among the variables of the state.")
        if ":" in text:
            ranges |= ranges_of([(name, text)], system, "--start")
        else:
            points[name] = value_of(text, system, f"--start {name}")
    return points, ranges


def _runs(found: Regulation, points: Mapping[str, float], given: RegulateArguments) -> dict[str, Trial]:
    """The transients of the control and of its rival from the same start, with a word of warning where it is due."""
    runs = found.run(points, given["until"], beyond=given["beyond"], keep=given["keep"])
    trial = runs["regulator"]
    if trial.start.halvings:
        told = ", ".join(f"{n} = {trial.start.state[n]:.6g}" for n in points)
        times = f"the deviation was halved {trial.start.halvings} times"
        click.echo(plain(f"the mechanism does not reach this start; {times}: {told}"), err=True)
    if not trial.start.consistent:
        off = ", ".join(f"{name} = {value:.4g}" for name, value in trial.start.residuals.items())
        where = "no limit of the motion was found"
        if trial.limit is not None:
            where = "it will not return, but tend to " + ", ".join(f"{n} = {x:.6g}" for n, x in trial.limit.items())
        click.echo(plain(f"the start does not satisfy the constraints ({off}): {where}"), err=True)
    return runs


def _basin(found: Regulation, ranges: dict[str, tuple[float, float]], count: int, given: RegulateArguments) -> Basin:
    with progress_bar("{task.description}, bar, count, remaining", "starts", count) as tell:
        progress = None if tell is None else lambda done: tell(completed=done)
        return found.basin(ranges, count, given["until"], beyond=given["beyond"], progress=progress)


def _answer(found: Regulation, runs: Mapping[str, Trial]) -> None:
    if found.reason:
        raise NegativeAnswer(found.reason)
    run = runs.get("regulator")
    if run is not None and run.failed:
        if run.transient.status == "stopped":
            raise StoppedByUser(f"the run {run.answer}")
        hint = "; --beyond runs on and tells it" if run.transient.status == "left" else ""
        raise NegativeAnswer(f"the run {run.answer}{hint}")


def _pictures(runs: Mapping[str, Transient], plot: str | None, animate: str | None) -> None:
    """Transients of all controls, and a film of the first."""
    if plot is not None:
        from svyaz.show import plot_transients

        plot_transients(runs, plot)
    if animate is not None:
        from svyaz.show import animate as draw
        from svyaz.show import can_be_drawn

        motion = next(iter(runs.values())).motion
        if can_be_drawn(motion):
            draw(motion, animate)
        else:
            click.echo("there is no motion to show: the animation is left out", err=True)
