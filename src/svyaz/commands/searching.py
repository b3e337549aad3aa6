"""What commands that look for equilibria share: how long to search, and a bar that follows the search."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import click

budget_option = click.option(
    "--budget",
    metavar="SECONDS",
    type=click.FloatRange(min=0.0, min_open=True),
    default=60.0,
    show_default=True,
    help="How long to search the box for equilibria; it is told when a part of the box is left then.",
)


@contextmanager
def search_bar(title: str) -> Iterator[Callable[[float], object] | None]:
    """A bar on the terminal that follows the part of the box that is done; nothing where there is no terminal."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(title, total=1.0)
        yield lambda done: bar.update(task, completed=done)
