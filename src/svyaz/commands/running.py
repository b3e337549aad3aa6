"""What ``simulate`` and ``report`` share: the options of a run, the progress bar, and the words for its outcome."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import contextmanager
from dataclasses import astuple
from math import isfinite
from typing import TYPE_CHECKING, TypeVar

import click

from svyaz.commands.common import NegativeAnswer, StoppedByUser, form_option, progress_bar
from svyaz.commands.hints import with_flags
from svyaz.commands.terminal import Page
from svyaz.integrate import method_names

if TYPE_CHECKING:
    from collections.abc import Iterator

    from svyaz.model import System
    from svyaz.motion import Event, Motion

MOST_PHASES = 30
"""So many phases are printed one by one."""

MOST_IMPACTS = 12
"""So many impacts of one moment are printed."""

Function = TypeVar("Function", bound=Callable[..., object])


def not_finished(motion: Motion, run: str = "") -> NegativeAnswer:
    """Why a run did not come to its end; of several, which one."""
    told = f"{run}: " if run else ""
    reason = f"{told}{motion.status} at t = {motion.times[-1]:g}: {with_flags(motion.reason)}"
    return StoppedByUser(reason) if motion.status == "stopped" else NegativeAnswer(reason)


class StabilizeText(click.ParamType):
    """off, auto, projection, a number, or a table as in a model file: '{alpha = 20, beta = 100}'."""

    name = "stabilize"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> object:
        if not isinstance(value, str) or value in ("off", "auto", "projection"):
            return value
        import tomllib

        try:
            return tomllib.loads(f"stabilize = {value}")["stabilize"]
        except tomllib.TOMLDecodeError:
            self.fail(
                f"'{value}' is not off, auto, projection, a number or a table such as {{alpha = 20, beta = 100}}.",
                param,
                ctx,
            )


class ToleranceText(click.ParamType):
    """A number, or a table by constraint as in a model file: '{blade = 1e-3}'."""

    name = "tolerance"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> object:
        if not isinstance(value, str):
            return value
        import tomllib

        try:
            found = tomllib.loads(f"tolerance = {value}")["tolerance"] if "{" in value else float(value)
        except ValueError:
            self.fail(f"'{value}' is not a number or a table such as {{blade = 1e-3}}.", param, ctx)
        return found


budget_option = click.option(
    "--budget",
    metavar="SECONDS",
    type=click.FloatRange(min=0.0, min_open=True),
    default=float("inf"),
    help="Time limit of the search in seconds, in place of the limit that counts its work; a note says when it was reached.",
)


beyond_option = click.option(
    "--beyond", is_flag=True, help="Run on where a limit of the model is passed ([limits]), and tell it."
)


keep_option = click.option(
    "--keep",
    default="",
    metavar="NAMES",
    help="Move the initial state onto the constraints and keep these of its values: --keep \"psi',beta'\".",
)

stabilize_option = click.option(
    "--stabilize", type=StabilizeText(), metavar="HOW", help="off, auto, projection, a number, or a table of gains."
)


def step_options(function: Function) -> Function:
    """A method with its fixed step, and when its motion ends."""
    number = click.FLOAT
    for decorate in (
        click.option("--every", type=number, metavar="TIME", help="Interval of time between the rows of the result."),
        click.option("--until", type=number, metavar="TIME", help="End of the motion, which begins at t = 0."),
        click.option("--step", type=number, help="Fixed step."),
        click.option("--method", metavar="NAME", help=f"{', '.join(method_names())}; rk2:0.75."),
    ):
        function = decorate(function)
    return function


def run_options(function: Function) -> Function:
    """The options that override a model's [run]."""
    number = click.FLOAT
    for decorate in (
        stabilize_option,
        click.option(
            "--tolerance",
            type=ToleranceText(),
            metavar="RESIDUAL",
            help="Largest residual allowed, or a table by constraint: auto chooses by it, given gains are judged by it.",
        ),
        click.option("--atol", type=number, help="Absolute error allowed in a step; equal to rtol unless given."),
        click.option("--rtol", type=number, help="Relative error allowed in a step: steps are chosen."),
        step_options,
        form_option,
    ):
        function = decorate(function)
    return function


@contextmanager
def time_bar(system: System, until: float) -> Iterator[Callable[[float], object] | None]:
    """A bar on the terminal that follows the time reached; nothing where there is no terminal."""
    with progress_bar("{task.description}, bar, t = {task.completed:.4g}, remaining", system.name, until) as tell:
        yield None if tell is None else lambda t: tell(completed=t)


@contextmanager
def search_bar(title: str) -> Iterator[Callable[[float], object] | None]:
    """A bar on the terminal that follows the part of a box that was searched; nothing where there is no terminal."""
    with progress_bar("{task.description}, bar, share, elapsed", title, 1.0) as tell:
        yield None if tell is None else lambda done: tell(completed=done)


def outcome(motion: Motion) -> str:
    """How the run ended, in one sentence."""
    how = f"step {motion.step:g}" if motion.step is not None else f"rtol {motion.rtol:g}"
    told = f"{motion.steps} steps, {motion.evaluations} evaluations, {motion.seconds:.3g} s"
    end = f"{motion.status} at t = {motion.times[-1]:g}"
    return f"{motion.system.name}: {end} ({motion.form}, {motion.method}, {how}; {told})"


def tables(motion: Motion, run: str = "") -> None:
    """Print the final state, the deviations from the constraints and the integrals; of several runs, of which."""
    names = motion.table_names[1:]
    columns = dict(zip(names, map(motion.column, names), strict=True))
    sizes, drifts, multipliers = motion.residual_sizes(), motion.drifts(), motion.last_multipliers()
    steered, balance = motion.control_sizes(), motion.balance
    page = Page()
    page.say(f"{run}: {outcome(motion)}" if run else outcome(motion))
    if motion.reason:
        page.say(with_flags(motion.reason))
    rows = [(name, _number(column[0], 9), _number(column[-1], 9)) for name, column in columns.items()]
    page.table("state", ("variable", "initial", "final"), rows)
    if sizes:
        kept = []
        for name, size in sizes.items():
            numbers = map(_number, (size.largest, size.mean_square, size.final, size.time_of_largest))
            push = "not determined" if name in motion.undetermined else _number(multipliers.get(name))
            kept.append((name, *numbers, push))
        page.table("constraints", ("constraint", "max", "rms", "final", "time of max", "multiplier"), kept)
    controls = [(name, *map(_number, astuple(size))) for name, size in steered.items()]
    if controls:
        page.table("controls of servo-constraints", ("control", "max", "rms", "final", "time of max"), controls)
    free = [(n, *map(_number, (d.initial, d.final, d.drift))) for n, d in drifts.items() if d.deviation is None]
    if free:
        page.table("integrals", ("integral", "initial", "final", "drift"), free)
    off = [(n, *map(_number, astuple(d.deviation))) for n, d in drifts.items() if d.deviation is not None]
    if off:
        page.table("deviations of integrals from their values", ("integral", "initial", "final", "max"), off)
    if balance is not None:
        totals = balance.totals
        terms = [(name, _number(value, 3 if name == "remainder" else 9)) for name, value in totals.items()]
        page.table("energy: final = initial + work - dissipated - impacts + remainder", ("term", "value"), terms)
    if motion.jumps:
        jumps = [
            (_number(j.t, 9), j.coordinate, *map(_number, (j.before, j.after, j.violation)), _number(j.recovery))
            for j in motion.jumps[:MOST_PHASES]
        ]
        more = f" ({MOST_PHASES} of {len(motion.jumps)})" if len(motion.jumps) > MOST_PHASES else ""
        columns_of_jumps = ("t", "what", "from", "to", "violation", "healed to a tenth after")
        page.table(f"jumps over singular points{more}", columns_of_jumps, jumps)
    if motion.phases:
        struck = any(event.impacts for event in motion.phases)
        heads = (
            "t",
            "begin to act",
            "cease to act",
            *(("impacts",) if struck else ()),
            "energy before",
            "energy after",
        )
        page.table("phases", heads, _phases(motion.phases, struck=struck))
    for note in motion.notes:
        page.say(note)


def _phases(phases: Sequence[Event], *, struck: bool) -> list[tuple[str, ...]]:
    """When constraints began and ceased to act, and what an impact took away."""
    rows: list[tuple[str, ...]] = []
    shown = phases if len(phases) <= MOST_PHASES else [*phases[: MOST_PHASES - 1], phases[-1]]
    for k, event in enumerate(shown):
        if len(phases) > MOST_PHASES and k == MOST_PHASES - 1:
            rows.append(("…", f"{len(phases) - MOST_PHASES} more", *[""] * (4 if struck else 3)))
        energies = (_number(e, 9) for e in (event.energy_before, event.energy_after))
        impacts = [", ".join(name for names in event.impacts[:MOST_IMPACTS] for name in names)] if struck else []
        rows.append((_number(event.t, 9), ", ".join(event.on), ", ".join(event.off), *impacts, *energies))
    return rows


def _number(value: float | None, digits: int = 4) -> str:
    return "–" if value is None or not isfinite(value) else f"{value + 0.0:.{digits}g}"  # no -0
