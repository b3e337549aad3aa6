"""``svyaz bench [NAME]``: how fast it is, against the tools that people use otherwise.

The benches stand beside the package in a checkout, in the folder ``bench``: each is a folder with ``plan.py`` (a
title and the names of its measurements) and one module a measurement. They are not part of an installed package.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Protocol

import click

from svyaz.commands.common import NegativeAnswer, examples, progress_bar, writable_folder
from svyaz.commands.terminal import Page


class Job(Protocol):
    """A run of a bench: its name, and how long it may take."""

    name: str
    seconds: float


class Judged(Protocol):
    """A row of a bench: what was measured, and whether it is as good as was asked for."""

    name: str
    verdict: str


LISTED = ("Library", 53, "Measure speed against SymPy, NumPy and SciPy, as ratios on this machine.")


@click.command(
    epilog=examples("svyaz bench", "svyaz bench spine --quick", "svyaz bench spine --only derivation --only motion")
)
@click.argument("name", required=False)
@click.option("--quick", is_flag=True, help="Fewer repetitions and shorter motions; what takes longest is left out.")
@click.option("--only", multiple=True, metavar="MEASUREMENT", help="Do only this measurement; repeatable.")
@click.option("--out", metavar="FOLDER", help="Where to write; out/bench in the checkout unless given.")
def command(name: str | None, quick: bool, only: tuple[str, ...], out: str | None) -> None:
    """Measure speed against peers, all as ratios in one run on this machine; without NAME, list what can be measured.

    The table is printed and written as JSON and Markdown, with a plot. The exit code is 1 when a bar is not met or a run fails;
    what is measured against a peer that is not installed is reported as not measured.
    """
    root = checkout()
    if name is None:
        _list(root)
        return
    if name not in benches(root):
        raise click.UsageError(f"there is no bench '{name}'. 'svyaz bench' lists them.")
    plan = import_module(f"bench.{name}.plan")
    unknown = [measurement for measurement in only if measurement not in plan.MEASUREMENTS]
    if unknown:
        raise click.UsageError(f"{name} has no measurement '{unknown[0]}'; it has {', '.join(plan.MEASUREMENTS)}.")
    folder = writable_folder(out or root / "out" / "bench")
    measurements = [import_module(f"bench.{name}.{m}") for m in plan.MEASUREMENTS if not only or m in only]
    rows, failed = _measure(name, plan.TITLE, measurements, quick, folder)
    missed = [row.name for row in rows if row.verdict == "not met"]
    if failed:
        raise NegativeAnswer(f"runs that failed: {len(failed)}; what they measure is not known")
    if missed:
        raise NegativeAnswer(f"not met: {'; '.join(missed)}")


def checkout() -> Path:
    """The root of the checkout, which is put on the path of modules."""
    for folder in Path(__file__).resolve().parents:
        if (folder / "pyproject.toml").is_file() and (folder / "bench" / "tools").is_dir():
            if str(folder) not in sys.path:
                sys.path.insert(0, str(folder))
            return folder
    raise click.UsageError(
        "the benches are not part of the installed package: they stand in the folder 'bench' of a checkout of svyaz."
    )


def benches(root: Path) -> list[str]:
    """Names of the benches."""
    return sorted(plan.parent.name for plan in (root / "bench").glob("*/plan.py"))


def _list(root: Path) -> None:
    rows = []
    for name in benches(root):
        plan = import_module(f"bench.{name}.plan")
        rows.append((name, "", _first_line(plan)))
        modules = {measurement: import_module(f"bench.{name}.{measurement}") for measurement in plan.MEASUREMENTS}
        rows += [("", measurement, _first_line(module)) for measurement, module in modules.items()]
    Page().table("", ("bench", "measurement", "what is measured"), rows)


def _first_line(module: ModuleType) -> str:
    return (module.__doc__ or "").strip().splitlines()[0]


def _measure(
    name: str, title: str, measurements: Sequence[ModuleType], quick: bool, folder: Path
) -> tuple[list[Judged], list[Exception]]:
    """Run the jobs of all measurements, print the table and write it: its rows, and the runs that failed."""
    jobs = import_module("bench.tools.jobs")
    outcome = import_module("bench.tools.outcome")
    wanted = [job for module in measurements for job in module.jobs(quick)]
    order = jobs.schedule(wanted)
    minutes = sum(job.seconds for job in order) / 60
    click.echo(f"{title}: {len(order)} runs in processes of their own, about {minutes:.1f} minutes.", err=True)
    failures: list[Exception] = []
    with _progress(sum(job.seconds for job in order)) as before:
        samples = jobs.run_jobs(wanted, before, failures.append, partial(click.echo, err=True))
    rows = [row for module in measurements for row in module.rows(samples, quick)]
    Page().table(title, outcome.HEAD, outcome.coloured(rows))
    for note in outcome.notes(rows):
        click.echo(note)
    absent = sorted({str(failure) for failure in failures if isinstance(failure, jobs.PeerMissing)})
    failed = [failure for failure in failures if not isinstance(failure, jobs.PeerMissing)]
    for peer in absent:
        click.echo(f"not measured, as it is not installed ('./run bench {name}' tries to): {peer}", err=True)
    for failure in failed:
        click.echo(f"failed: {failure}", err=True)
    curves = [curve for module in measurements if hasattr(module, "curves") for curve in module.curves(samples, quick)]
    for path in outcome.write(name, title, rows, samples, folder, curves):
        click.echo(str(path))
    return rows, failed


@contextmanager
def _progress(seconds: float) -> Iterator[Callable[[Job], object]]:
    """A function to be told of a job before it is done; a bar on the terminal, a line a job elsewhere."""
    done = [0.0]
    with progress_bar("bar, elapsed, remaining, {task.description}", total=seconds) as tell:

        def before(job: Job) -> None:
            if tell is None:
                click.echo(f"  {job.name}", err=True)
            else:
                tell(description=job.name, completed=sum(done))
                done.append(job.seconds)

        yield before
