"""``svyaz sweep MODEL``: many runs over what is varied, with a table and a picture."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

import click

from svyaz.commands.common import (
    ModelArgument,
    NegativeAnswer,
    StoppedByUser,
    progress_bar,
    warn,
    writable,
    write_json,
)
from svyaz.commands.options import RUN, model_command, option, options
from svyaz.commands.terminal import Page

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from svyaz.json_types import Json
    from svyaz.study import Sweep, SweepOptions


STUDY = "study.zarr"
"""The folder of the members, which is the study; the other files are made from it."""
OLD = "sweep.rows"
"""Rows that were kept by earlier versions."""
MOST_REASONS = 5
MOST_SHOWN = 12
MOST_MEASURES = 4
"""Rows and measures of the table on the terminal; the files have all."""


LISTED = ("Move", 23, "Run many variations at once: parameters, initial values, gains, steps.")


@model_command(
    "svyaz sweep sleigh --vary stabilize=1:2500:100:log --method euler --step 0.001",
    "svyaz sweep pendulum-xy --vary alpha=1:40:30 --vary beta=1:400:30 --method rk4 --step 0.01",
    "svyaz sweep four-bar --vary run.step=1e-4:1e-2:20:log --stabilize 10 --measure residual --measure error",
    "svyaz sweep my-model.toml --vary m=1:2:11 --vary initial.x=0:0.5:6 --measure final.x --out out/study",
)
@options(*RUN)
@option(
    "--vary",
    "A parameter, initial.x, run.step, or a gain (stabilize, kappa, alpha, beta); repeatable, all are combined.",
    multiple=True,
    required=True,
    metavar="NAME=FROM:TO:COUNT[:log]",
)
@option(
    "--measure",
    "final, residual, drift, multiplier, energy (or one: final.x, energy.work), error (by step halving), steps, …; "
    "repeatable. "
    "Residuals, energy drift (where it is an integral) and final state unless given.",
    multiple=True,
    metavar="NAME",
)
@option("--workers", "Cores to use; all unless given.", type=click.IntRange(min=1), metavar="N")
@option("--scheduler", "Address of a Dask scheduler, to compute on a cluster.", metavar="ADDRESS")
@option("--project", "First move every initial state onto the constraints.")
@option("--keep", to="kept")
@option("--beyond")
@option("--resume", "Go on with the study in the folder, or add values and measures to it.")
@option("--out", "Where to write; out/NAME-sweep unless given.", metavar="FOLDER")
@option("--json")
def command(
    model: ModelArgument,
    json_file: str | None,
    vary: tuple[str, ...],
    out: str | None,
    measure: tuple[str, ...],
    **given: Unpack[SweepOptions],
) -> None:
    """Run MODEL for every combination of what is varied and measure each run.

    Writes sweep.csv, sweep.json and sweep.png. Gains with an unstable verdict are run all the same and marked; the
    picture shades the stable interval. A run that fails is a row with its status. Runs are kept as they come, in the
    folder study.zarr, which xarray reads: after Ctrl-C, a lost worker or a power cut the same command with --resume goes
    on with them. With more values or measures it adds what is missing.
    """
    if given["workers"] is not None and given["scheduler"] is not None:
        raise click.UsageError("--workers is for this computer and --scheduler for a cluster: give one of them.")
    if json_file not in (None, "-"):
        writable(json_file)
    axes = _axes(vary)
    system, laws = model.load_with_laws()
    warn(system)
    from svyaz.show import as_json
    from svyaz.study import sweep

    folder = Path(out) if out else Path("out") / f"{Path(model.name).stem.replace(':', '-')}-sweep"
    with (
        _room_for(folder, given["resume"]),
        progress_bar("{task.description}, bar, count, remaining", system.name) as tell,
    ):
        given["progress"] = None if tell is None else lambda done, total: tell(completed=done, total=total)
        given["keep"], given["inputs"] = folder / STUDY, laws or None
        result = sweep(system, axes, measure, **given)
    files = _write(result, folder)
    write_json(as_json(result), json_file)
    if json_file != "-":
        _show(result)
        for file in files:
            click.echo(str(file))
    if result.status == "stopped":
        raise StoppedByUser(
            f"stopped by the user: {result.answered} of {result.total} members are done; --resume goes on"
        )
    if not result.finished:
        raise NegativeAnswer(_missing(result))


def _missing(result: Sweep) -> str:
    """Which members have no answer, and why."""
    names = [axis.name for axis in result.axes]
    missing = result.missing
    points = zip(*(values.tolist() for values in result.points(missing[:3])), strict=True)
    shown = [", ".join(f"{n} = {v:.6g}" for n, v in zip(names, point, strict=True)) for point in points]
    told = "; ".join(shown) + ("; …" if len(missing) > 3 else "")
    lost = set(missing)
    reasons = [*result.notes, *dict.fromkeys(text for k, text in result.members.reasons().items() if k in lost)]
    why = f": {'; '.join(reasons[:MOST_REASONS])}" if reasons else ""
    return f"{len(missing)} of {result.total} members are missing ({told}){why}; --resume tries them again"


@contextmanager
def _room_for(folder: Path, resume: bool) -> Iterator[None]:
    """A whole study makes room for a new one, as files do, once that has begun; one that is not finished does not."""
    from svyaz.expr import Advice, ModelError, Problem
    from svyaz.study import discard, progress_of

    if (folder / OLD).exists():
        text = (
            f"'{folder / OLD}' has rows of a study that an earlier svyaz has not finished, and they cannot be continued"
        )
        raise ModelError([Problem(text, None, Advice("keep this study elsewhere", "other study"))])
    study, aside = folder / STUDY, folder / f".{STUDY}.before"
    if aside.exists() and not study.exists():  # whoever put it aside was killed before the new study began
        aside.replace(study)
    done, total = (0, 1) if resume or not study.is_dir() else progress_of(study)
    if done < total or not total:
        yield
        return
    study.replace(aside)
    try:
        yield
    finally:
        if study.exists():
            discard(aside)
        else:
            aside.replace(study)


def _axes(vary: tuple[str, ...]) -> dict[str, ArrayLike]:
    from svyaz.study import parse_axis

    axes: dict[str, ArrayLike] = {}
    for text in vary:
        name, values = parse_axis(text)
        if name in axes:
            raise click.UsageError(f"'{name}' is varied twice.")
        axes[name] = values
    return axes


def _write(result: Sweep, folder: Path) -> list[Path]:
    """The files that are made from the members of a sweep."""
    from svyaz.show import as_json, plot_sweep

    table, data, picture = (folder / f"sweep.{ending}" for ending in ("csv", "json", "png"))
    result.to_csv(table)
    write_json(as_json(result), str(data))
    if not result.finished:  # its picture would come late
        return [table, data]
    files = [table, data]
    if len(result.axes) <= 2 and result.answered and result.measures:
        files.append(plot_sweep(result, picture))
    return files


def _show(result: Sweep) -> None:
    page = Page()
    told = ", ".join(f"{count} {status}" for status, count in result.outcomes().items()) or "nothing done"
    speed = f"{result.seconds:.3g} s, {result.workers}"
    page.say(f"{result.system.name}: {result.answered} of {result.total} runs ({told}; {speed})")
    if result.stable is not None:
        name = result.axes[0].name
        tried = result.axes[0].values  # an end that is a row of the sweep is stable itself, others lie between rows
        signs = [["≤" if side in tried else "<" for side in ends] for ends in result.stable]
        ranges = " and ".join(
            f"{low:.6g} {first} {name} {last} {high:.6g}"
            for (low, high), (first, last) in zip(result.stable, signs, strict=True)
        )
        ranges = ranges or "nowhere"
        page.say(f"gains stable by the verdict: {ranges}")
    if result.gains is not None:
        page.say(f"gains of all runs, chosen with the values of the model: {_gains_text(result.gains)}")
    measures = result.measures[:MOST_MEASURES]
    table = result.rows
    shown = table[:: max(1, -(-len(table) // MOST_SHOWN))]
    rows = []
    for row in shown:
        mark = {None: "–", True: "yes", False: "no"}[row.stable]
        numbers = [f"{row.measures[name]:.4g}" if name in row.measures else "–" for name in measures]
        rows.append((*(f"{v:.6g}" for v in row.point), row.status, mark, *numbers))
    heads = (*(axis.name for axis in result.axes), "status", "stable", *measures)
    page.table("", heads, rows, keys=len(result.axes))
    if len(shown) < len(table) or len(measures) < len(result.measures):
        page.say("The table shows a part; the files have all rows and measures.")


def _gains_text(gains: Json) -> str:
    """Gains as they would be given: a number, a table of numbers, or a law."""
    if isinstance(gains, Mapping):
        return ", ".join(f"{key} = {_gains_text(value)}" for key, value in gains.items())
    return f"{gains:.6g}" if isinstance(gains, float | int) else str(gains)
