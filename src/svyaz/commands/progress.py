"""A bar on the terminal that follows what is done."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol


class Tell(Protocol):
    """Tells a bar how far things are."""

    def __call__(
        self,
        *,
        completed: float | None = None,
        total: float | None = None,
        advance: float | None = None,
        description: str | None = None,
    ) -> object: ...


@contextmanager
def progress_bar(columns: str, title: str = "", total: float | None = None) -> Iterator[Tell | None]:
    """A bar with these columns, words separated by commas; None where there is no terminal.

    ``bar``, ``count``, ``share``, ``elapsed`` and ``remaining`` are columns of their own; other words are templates.
    """
    if not sys.stderr.isatty():
        yield None
        return
    from functools import partial

    from rich import progress
    from rich.console import Console

    known = {
        "bar": progress.BarColumn,
        "count": progress.MofNCompleteColumn,
        "share": progress.TaskProgressColumn,
        "elapsed": progress.TimeElapsedColumn,
        "remaining": progress.TimeRemainingColumn,
    }
    shown = [known[word]() if word in known else progress.TextColumn(word) for word in columns.split(", ")]
    with progress.Progress(*shown, console=Console(stderr=True), transient=True) as bar:
        yield partial(bar.update, bar.add_task(title, total=total))
