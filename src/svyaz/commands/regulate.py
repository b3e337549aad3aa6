"""``svyaz regulate MODEL``: a regulator and an observer about an equilibrium, and what they do to the full system."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from svyaz.commands.common import (
    Assignment,
    NegativeAnswer,
    examples,
    json_option,
    load_model,
    model_options,
    warn,
    writable_outputs,
    write_json,
)
from svyaz.commands.equilibria import root_text
from svyaz.commands.values import names_of, ranges_of, value_of, values_of

if TYPE_CHECKING:
    from rich.console import Console

    from svyaz.control.basin import Basin
    from svyaz.control.loop import Transient
    from svyaz.control.margins import Margin
    from svyaz.control.regulation import Regulation
    from svyaz.model import System

Pairs = tuple[tuple[str, str], ...]

PERTURBATION = 0.1
"""Without --start the first independent coordinate is moved by this part of its size (or by 0.01)."""


def _repeated(name: str, metavar: str, text: str) -> Callable[..., Any]:
    return click.option(name, metavar=metavar, type=Assignment(), multiple=True, help=text)


@click.command(
    epilog=examples(
        "svyaz regulate ball-and-beam",
        "svyaz regulate ball-and-beam --with control=voltage --dependent alpha --measure r --run --plot run.png",
        "svyaz regulate ball-and-beam --with equilibrium=nonzero --against linearised --critical d=0.05:0.11",
        "svyaz regulate ball-and-beam --basin 10000 --start r=-0.1:0.1 --start alpha=-0.1:0.1 --until 20",
    )
)
@model_options
@_repeated("--fix", "NAME=VALUE", "Prescribe a coordinate, an input or a parameter of the equilibrium. Repeatable.")
@_repeated("--near", "NAME=VALUE", "Take the equilibrium nearest to this position (else the initial one). Repeatable.")
@_repeated("--box", "NAME=LOW:HIGH", "Where to look for equilibria. Repeatable.")
@click.option("--dependent", metavar="NAMES", help="Redundant coordinates, one for each constraint; else the best.")
@click.option("--input", "inputs", metavar="NAMES", help="Inputs to control with; all unless given.")
@click.option(
    "--measure", metavar="EXPRESSIONS", help="What is measured, separated by commas: an observer is designed."
)
@click.option(
    "--weights", metavar="FILE", help="Weights (TOML): [state], [input], [noise] by name, or Q, R; else ones."
)
@click.option(
    "--against", type=click.Choice(["linearised"]), help="Also design from linearised constraints, and compare."
)
@click.option("--run", "wanted", is_flag=True, help="Run the closed loop on the full nonlinear system.")
@click.option("--until", type=float, default=20.0, show_default=True, help="How long to run.")
@_repeated(
    "--start",
    "NAME=VALUE",
    "Deviation from the equilibrium at the start, made consistent with the constraints; with --basin LOW:HIGH. Repeatable.",
)
@click.option("--plot", metavar="FILE", help="Draw the transients (.png, .svg, .pdf).")
@click.option(
    "--basin", "count", metavar="COUNT", type=click.IntRange(1), help="From how many of so many starts does it return?"
)
@click.option(
    "--critical",
    metavar="NAME=LOW:HIGH",
    type=Assignment(),
    help="At which value of a parameter does the control fail?",
)
@json_option
def command(
    model: str,
    settings: Pairs,
    choices: Pairs,
    fix: Pairs,
    near: Pairs,
    box: Pairs,
    start: Pairs,
    wanted: bool,
    until: float,
    plot: str | None,
    count: int | None,
    critical: tuple[str, str] | None,
    json_file: str | None,
    **asked: Any,
) -> None:
    """Design a regulator u = u0 - K x (and an observer) about the equilibrium of MODEL nearest to its initial position.

    The first approximation keeps the second derivatives of the constraints; K is optimal for unit weights unless others
    are given. The answer names the theorem and its hypotheses. Exit code 1 when there is no such equilibrium, or the
    system is not controllable or not observable, or the run does not return.
    """
    from svyaz.control.regulators import NotSolvable
    from svyaz.stability.choice import NoEquilibrium

    if not until > 0:
        raise click.UsageError("--until must be positive.")
    system = load_model(model, settings, choices)
    warn(system)
    _check_plot(plot)
    writable_outputs(json_file, plot)
    places = {
        "near": values_of(near, system, "--near"),
        "fix": values_of(fix, system, "--fix"),
        "box": ranges_of(box, system, "--box"),
    }
    points, ranges = _starts(start, system)
    try:
        found = _designed(system, places, asked)
    except (NotSolvable, NoEquilibrium) as refusal:
        write_json({"model": system.name, "reason": str(refusal)}, json_file)
        raise NegativeAnswer(str(refusal)) from refusal
    margin = None if critical is None else found.margin(*_critical(critical, system))
    runs = _runs(found, points, until) if wanted or plot else {}
    attraction = None if count is None else _basin(found, ranges, count, until)
    write_json(found.as_json(margin, attraction, runs), json_file)
    if plot is not None:
        from svyaz.show.transients import plot_transients

        plot_transients(runs, plot)
    if json_file != "-":
        _show(found, margin, attraction, runs)
    _answer(found, runs)


def _designed(system: System, places: Mapping[str, Any], asked: Mapping[str, Any]) -> Regulation:
    from dataclasses import replace

    from svyaz.control.design import designed, theorem_of
    from svyaz.control.regulation import regulate
    from svyaz.control.weights import read_weights

    inputs, measure = names_of(asked["inputs"]), tuple(split_expressions(asked["measure"] or ""))
    rival = asked["against"] is not None
    found = regulate(
        system,
        **places,
        dependent=names_of(asked["dependent"]) or None,
        inputs=inputs or None,
        measure=measure,
        against_linearised=rival,
    )
    if asked["weights"] is None:
        return found
    weights = read_weights(asked["weights"], found.plant.variables, found.design.inputs, measure)
    design = designed(found.plant, found.design.inputs, weights, found.design.measurement)
    other = None if found.rival is None else designed(found.rival.model, design.inputs, weights, design.measurement)
    theorem, hypotheses = theorem_of(design, found.plant)
    return replace(found, design=design, rival=other, theorem=theorem, hypotheses=hypotheses)


def split_expressions(text: str) -> list[str]:
    """Expressions separated by commas that do not stand in parentheses."""
    parts, depth = [""], 0
    for character in text:
        depth += (character == "(") - (character == ")")
        if character == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += character
    return [part.strip() for part in parts if part.strip()]


def _starts(start: Pairs, system: System) -> tuple[dict[str, float], dict[str, tuple[float, float]]]:
    """Deviations at the start of a run, and their ranges for a basin."""
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


def _critical(given: tuple[str, str], system: System) -> tuple[str, tuple[float, float]]:
    ((name, span),) = ranges_of([given], system, "--critical").items()
    return name, span


def _runs(found: Regulation, points: Mapping[str, float], until: float) -> dict[str, Transient]:
    """The transients of the control and of its rival from the same start."""
    from svyaz.stability.starts import consistent_start

    plant = found.plant
    deviation = {n: x for n, x in points.items() if n.rstrip("'") not in plant.dependent}
    if not points:
        first = plant.independent[0]
        deviation = {first: PERTURBATION * abs(plant.state[first]) or 0.01}
    start = consistent_start(found.system, plant.state, plant.dependent, deviation)
    state = dict(start.state)
    if start.halvings:
        told = ", ".join(f"{n} = {start.deviations[n]:.6g}" for n in deviation)
        click.echo(f"the mechanism does not reach this start; it was halved {start.halvings} times: {told}", err=True)
    given = {n: x for n, x in points.items() if n in plant.dependent}
    if given:
        state |= {n: plant.state[n] + x for n, x in given.items()}
        _warn_of_the_limit(found, state)
    runs = {"regulator": found.loop().run(state, until)}
    if found.rival is not None:
        runs["linearised constraints"] = found.rival_loop().run(state, until)
    return runs


def _warn_of_the_limit(found: Regulation, state: Mapping[str, float]) -> None:
    from svyaz.control.limits import shifted_limit

    limit = shifted_limit(found.design, state)
    if limit is None:
        click.echo("the start does not satisfy the constraints; no limit of the motion was found", err=True)
        return
    told = ", ".join(f"{n} = {x:.6g}" for n, x in limit.items())
    click.echo(f"the start does not satisfy the constraints: it will not return, but tend to {told}", err=True)


def _basin(found: Regulation, ranges: dict[str, tuple[float, float]], count: int, until: float) -> Basin:
    from svyaz.control.basin import basin

    unknown = [name for name in ranges if name not in found.plant.variables]
    if unknown:
        told = ", ".join(found.plant.variables)
        raise click.UsageError(f"--start {unknown[0]}: a basin is spanned by {told}.")
    with _bar(count) as progress:
        return basin(found.loop(), ranges or _default_ranges(found), count, until, progress=progress)


def _default_ranges(found: Regulation) -> dict[str, tuple[float, float]]:
    """The sides of the model's box about the equilibrium, or a tenth of the size of a coordinate."""
    ranges = {}
    for q in found.plant.independent:
        at = found.plant.state[q]
        if q in found.system.box:
            low, high = found.system.box[q]
            ranges[q] = (low - at, high - at)
        else:
            reach = PERTURBATION * max(abs(at), 1.0)
            ranges[q] = (-reach, reach)
    return ranges


@contextmanager
def _bar(count: int) -> Iterator[Callable[[int], object] | None]:
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("starts", total=count)
        yield lambda done: bar.update(task, completed=done)


def _check_plot(plot: str | None) -> None:
    if plot is None:
        return
    from svyaz.show.files import suffix_of
    from svyaz.show.plots import SUFFIXES

    try:
        suffix_of(plot, SUFFIXES, "a figure")
    except ValueError as error:
        raise click.UsageError(str(error)) from error


def _answer(found: Regulation, runs: Mapping[str, Transient]) -> None:
    failed = [
        h.text for h in found.hypotheses if not h.holds and "controllable" not in h.text and "observable" not in h.text
    ]
    if failed:
        raise NegativeAnswer("the theorem does not apply: " + "; ".join(failed))
    run = runs.get("regulator")
    if run is not None and run.status != "finished":
        raise NegativeAnswer(f"the run did not return: {run.reason}")


def _show(found: Regulation, margin: Margin | None, attraction: Basin | None, runs: Mapping[str, Transient]) -> None:
    from rich.console import Console

    console = Console(markup=False)
    _show_design(console, found)
    if margin is not None:
        whose = "the design from linearised constraints" if found.rival is not None else "the control, kept as it is,"
        at = margin.first
        told = (
            f"fails at {margin.name} = {at:.6g}" if at is not None else f"does not fail for {margin.name} in the range"
        )
        console.print(f"{whose} {told}", highlight=False)
    for name, run in runs.items():
        last = "returned" if run.returned else f"has not returned ({run.status})"
        console.print(f"{name}: {last} at t = {run.times[-1]:g}, residual {run.largest_residual:.2g}", highlight=False)
    if attraction is not None:
        console.print(
            f"basin: {int(attraction.returned.sum())} of {len(attraction.returned)} starts returned, all within "
            f"{attraction.radius:.3g} of the ranges; {attraction.outside} out of reach; {attraction.seconds:.3g} s",
            highlight=False,
        )


def _show_design(console: Console, found: Regulation) -> None:
    from rich.table import Table

    plant, design = found.plant, found.design
    rest = ", ".join(f"{n} = {x:.6g}" for n, x in {**plant.state, **plant.inputs}.items())
    console.print(f"{found.system.name}: {rest}", highlight=False)
    if plant.dependent:
        console.print(f"redundant: {', '.join(plant.dependent)}", highlight=False)
    table = Table("gain", *plant.variables, title="u = u0 - K x", title_justify="left")
    for name, row in zip(design.inputs, design.regulator.gain, strict=True):
        table.add_row(name, *(f"{k:.6g}" for k in row))
    if found.rival is not None:
        for name, row in zip(design.inputs, found.rival.regulator.gain, strict=True):
            table.add_row(f"{name}, linearised", *(f"{k:.6g}" for k in row))
    if design.watcher is not None and design.measurement is not None:
        for text, column in zip(design.measurement.texts, design.watcher.gain.T, strict=True):
            table.add_row(f"observer, {text}", *(f"{k:.6g}" for k in column))
    console.print(table)
    from svyaz.stability.roots import roots

    console.print("open roots   " + ", ".join(map(root_text, roots(plant.A))), highlight=False)
    console.print("closed roots " + ", ".join(map(root_text, design.closed_roots(plant))), highlight=False)
    if found.rival is not None:
        true = ", ".join(map(root_text, found.rival.closed_roots(plant)))
        verdict = "stabilises" if found.rival.stabilises(plant) else "does NOT stabilise"
        console.print(f"linearised constraints: {verdict} the true plant; roots {true}", highlight=False)
    console.print(
        f"constraint-linearisation defect {plant.linearisation_defect:.4g}, Riccati residual {design.regulator.residual:.2g}",
        highlight=False,
    )
    console.print(found.theorem, highlight=False)
    for h in found.hypotheses:
        console.print(f"  {'yes' if h.holds else 'NO '}  {h.text}", highlight=False)
    for note in found.notes:
        console.print(note, highlight=False)
