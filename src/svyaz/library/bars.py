"""Progress in notebooks: a bar appears where something takes long, and goes when it is done."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping
from functools import wraps
from html import escape
from typing import Any, ParamSpec, TypeVar

from svyaz import model, stabilise

PATIENCE = 0.7
"""Seconds after which a bar appears."""

PAUSE = 0.2
"""Seconds between two looks of a bar."""

Words = ParamSpec("Words")
Result = TypeVar("Result")


def with_bar(unit: str) -> Callable[[Callable[Words, Result]], Callable[Words, Result]]:
    """A verb of a system that takes ``progress``: where a notebook runs and none was asked for, a bar counts the unit."""

    def decorate(verb: Callable[Words, Result]) -> Callable[Words, Result]:
        @wraps(verb)
        def call_with_bar(*arguments: Words.args, **options: Words.kwargs) -> Result:
            if options.get("progress") is not None or not in_notebook():
                return verb(*arguments, **options)
            bar = Bar(unit, _whole(unit, arguments[0], options))
            try:
                return verb(*arguments, **{**options, "progress": bar})  # type: ignore[arg-type]
            finally:
                bar.close()

        return call_with_bar

    return decorate


def _whole(unit: str, system: object, options: Mapping[str, object]) -> float:
    """The end of a run; of what is told in parts, one."""
    if unit != "time" or not isinstance(system, model.System):
        return 1.0
    return float(stabilise.options_for(system, {"until": options.get("until")}).until)


def in_notebook() -> bool:
    """Is this a kernel of Jupyter? Nothing is loaded to find out."""
    ipython: Any = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return getattr(shell, "kernel", None) is not None


class Bar:
    """A bar with numbers beside it, drawn in the output of the cell; told how far it is, and of how much if that is new."""

    def __init__(self, unit: str, whole: float) -> None:
        self.unit, self.whole = unit, whole
        self._next = time.monotonic() + PATIENCE
        self._handle: Any = None

    def __call__(self, done: float, whole: float | None = None) -> None:
        now = time.monotonic()
        if now < self._next:
            return
        self._next = now + PAUSE
        self._draw(_html(self.unit, done, self.whole if whole is None else whole))

    def close(self) -> None:
        """Take the bar away, if it ever was there."""
        if self._handle is not None:
            self._draw("")

    def _draw(self, html: str) -> None:
        from IPython.display import HTML, display

        if self._handle is None:
            self._handle = display(HTML(html), display_id=True)
        else:
            self._handle.update(HTML(html))


def _html(unit: str, done: float, whole: float) -> str:
    told = f"{escape(unit)}: {done:.4g} of {whole:.4g}"
    return f'<progress value="{done:g}" max="{whole:g}" style="width:18em"></progress> <small>{told}</small>'
