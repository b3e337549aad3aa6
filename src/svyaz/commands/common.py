"""What the commands share: reading MODEL, outputs that are checked before a run and written after it, progress."""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Protocol

import click

from svyaz.commands.hints import problems_with_flags
from svyaz.commands.terminal import CONTROL, plain
from svyaz.files import text_file
from svyaz.json_types import finite
from svyaz.library import NegativeAnswer as NegativeAnswer
from svyaz.streams import takes_all_letters

if TYPE_CHECKING:
    from svyaz.json_types import Json
    from svyaz.library import System
    from svyaz.motion import Law
    from svyaz.show import Looks


PROBE_BYTES = 1 << 20


class StoppedByUser(NegativeAnswer):
    """What was asked for is not done, for the user stopped it; what was done is kept. Exit code 130, not 1."""


def examples(*lines: str) -> str:
    """An epilog that shows how a command is called, one line each, not rewrapped."""
    return "\n".join(["\b", "Examples:", *(f"  {line}" for line in lines)])


class ModelArgument(NamedTuple):
    """MODEL and what the options of a command change of it."""

    name: str
    settings: Sequence[tuple[str, str]] = ()
    choices: Sequence[tuple[str, str]] = ()
    damping: bool = False
    free_base: bool = False

    def load(self, *outputs: str | None, drawn: str | None = None) -> System:
        """The system, once its warnings are printed and it is sure that ``outputs`` can be written and ``drawn`` be drawn."""
        system = load_model(*self)
        if drawn:
            check_looks(system)
        warn(system)
        writable_outputs(*outputs)
        return system

    def load_with_laws(self, changes: Sequence[tuple[str, str]] = ()) -> tuple[System, dict[str, Law]]:
        """The system, and what ``--set`` says of an input by a law (``F=sin(t)``, ``F=force.csv``); ``changes`` are set too."""
        bare = load_model(*self._replace(settings=()))
        settings = (*self.settings, *changes)
        if not settings:
            return bare, {}
        from svyaz.commands.values import table_of
        from svyaz.motion import is_law

        laws: dict[str, Law] = {}
        for name, text in settings:
            if name in bare.inputs and text.lower().endswith(".csv"):
                laws[name] = table_of(text)
            elif is_law(bare, name, text):
                laws[name] = text
        rest = _as_in_files((name, text) for name, text in settings if name not in laws)
        return (bare.with_settings(rest) if rest else bare), laws


def load_model(
    name: str,
    settings: Sequence[tuple[str, str]],
    choices: Sequence[tuple[str, str]],
    damping: bool = False,
    free_base: bool = False,
) -> System:
    """The model called ``name`` with ``--set`` and ``--with`` applied.

    What looks like a path (a folder separator, or the ending of a model file) is one; any other name is looked up in
    the gallery first, so that a file or folder that happens to be called ``sling`` does not hide the model.
    """
    from svyaz import library
    from svyaz.gallery import find, is_path

    text = None if is_path(name) else find(name, dict(choices))
    if text is not None:
        if damping or free_base:
            raise click.UsageError(f"--free-base and --damping are asked for of URDF files; '{name}' is none.")
        system = library.loads(text, file=name)
    elif not Path(name).is_file():
        raise unknown_model(name)
    elif choices:
        raise click.UsageError("--with chooses a variant of a gallery model; a file has none.")
    else:
        system = library.load(Path(name), free_base=free_base, damping=damping)
    return system.with_settings(_as_in_files(settings)) if settings else system


MANIFOLD = ("run.stabilize", "run.tolerance")
"""Values of [run] that may be words, numbers or tables."""


def _as_in_files(settings: Iterable[tuple[str, str]]) -> dict[str, object]:
    """What ``--set`` says, by name: texts, and numbers and tables as model files have them where there may be such."""
    import tomllib

    found: dict[str, object] = dict(settings)
    for name in MANIFOLD:
        with suppress(tomllib.TOMLDecodeError):
            found |= {name: tomllib.loads(f"value = {found[name]}")["value"]} if name in found else {}
    return found


def unknown_model(name: str) -> click.UsageError:
    """Neither a model of the gallery nor a file is called so."""
    from svyaz.gallery import not_found

    found = not_found(name)
    hint = found.hint or "'svyaz gallery' lists the models."
    return click.UsageError(f"{found.message}. {hint[0].upper()}{hint[1:]}")


def writable(path: str | Path) -> Path:
    """Make sure, before a long run, that a file can be written at ``path``; OSError says why it cannot.

    Missing folders are made, which is said on standard error: the path may be mistyped. A file that is already there
    keeps its contents.
    """
    path = Path(path)
    if path.is_dir():
        raise IsADirectoryError(21, "is a folder, not a file", str(path))
    if not is_device(path):
        missing = not path.parent.exists()
        writable_folder(path.parent)
        if missing:
            click.echo(f"made the folder {path.parent}", err=True)
    if path.exists():
        with path.open("ab"):
            pass
    return path


def writable_outputs(*paths: str | None) -> None:
    """The same for all files that a command was asked to write; None and ``-`` are none."""
    for path in paths:
        if path not in (None, "-"):
            writable(str(path))


def is_device(path: Path) -> bool:
    """Is it a device or a pipe, such as /dev/stdout? Such a thing is written to and never replaced by a file."""
    return path.exists() and not path.is_file()


def writable_folder(path: str | Path) -> Path:
    """Make the folder if need be and make sure that the disk takes a file there; OSError says why it does not."""
    folder = Path(path)
    folder.mkdir(parents=True, exist_ok=True)
    try:
        with tempfile.TemporaryFile(dir=folder) as probe:
            probe.write(bytes(PROBE_BYTES))
            probe.flush()
            os.fsync(probe.fileno())
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(folder)) from error
    return folder


def write_json(result: Mapping[str, Json], json_file: str | None) -> None:
    """Write a result where ``--json`` asked for it: a file, ``-`` for standard output, or nowhere."""
    if json_file is None:
        return
    escaped = json_file == "-" and not takes_all_letters()  # escapes are read back as the very letters
    write_text(json_text(result, ascii_only=escaped), json_file)


def json_text(result: Mapping[str, Json], ascii_only: bool = False) -> str:
    """A result as JSON that every reader and every terminal takes, numbers that are not finite as null."""
    text = json.dumps(finite(result), indent=2, ensure_ascii=ascii_only, allow_nan=False)
    return CONTROL.sub(lambda found: f"\\u{ord(found[0]):04x}", text) + "\n"


def write_text(text: str, out: str | None) -> None:
    """Print a text, or write it to a file that appears complete or not at all."""
    if out in (None, "-"):
        click.echo(plain(text), nl=False)
        return
    with text_file(writable(str(out))) as file:
        file.write(text)


def warn(system: System) -> None:
    """Say on standard error what is odd about a model, though not wrong."""
    for problem in system.warnings:
        click.echo(plain(f"warning: {problems_with_flags([problem])}"), err=True)


def check_pictures(plot: str | None, animate: str | None) -> None:
    """Refuse a picture that could not be written before anything is computed."""
    from svyaz.show import SUFFIXES, check_animation_file, suffix_of

    try:
        if plot is not None:
            suffix_of(plot, SUFFIXES, "a figure")
        if animate is not None:
            check_animation_file(animate)
    except ValueError as error:
        raise click.UsageError(str(error)) from error


def check_looks(system: System) -> None:
    """Refuse to draw a mechanism that says nothing of its looks."""
    if not system.drawings:
        raise click.UsageError(f"'{system.name}' says nothing of its looks: add [[draw]] tables to the model.")


class LooksArgument(NamedTuple):
    """How figures are to look: ``--size``, ``--degrees`` and ``--style``."""

    size: tuple[float, float] | None
    degrees: bool
    style: str | None

    def check(self, system: System, plot: str | None) -> Looks | None:
        """The looks of the ``plot``, checked before anything is computed; None where neither is asked for."""
        if not (plot or self.size or self.degrees or self.style):
            return None
        from svyaz.model import angles
        from svyaz.show import Looks, in_style

        if plot is None:
            raise click.UsageError("--size, --degrees and --style say how a plot looks: give --plot FILE too.")
        if self.degrees and not angles(system):
            raise click.UsageError(
                f"no coordinate of '{system.name}' is known to be an angle: none turns a joint or stands in a sine or cosine."
            )
        looks = Looks(*self)
        try:
            with in_style(looks):
                return looks
        except (ValueError, OSError) as error:
            raise click.UsageError(str(error)) from error


class MoveBar(Protocol):
    """Moves a bar to where things are."""

    def __call__(
        self,
        *,
        completed: float | None = None,
        total: float | None = None,
        advance: float | None = None,
        description: str | None = None,
    ) -> object: ...


@contextmanager
def progress_bar(columns: str, title: str = "", total: float | None = None) -> Iterator[MoveBar | None]:
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


@contextmanager
def time_bar(title: str, until: float) -> Iterator[Callable[[float], object] | None]:
    """A bar on the terminal that follows the time reached; nothing where there is no terminal."""
    with progress_bar("{task.description}, bar, t = {task.completed:.4g}, remaining", title, until) as tell:
        yield None if tell is None else lambda t: tell(completed=t)


@contextmanager
def search_bar(title: str) -> Iterator[Callable[[float], object] | None]:
    """A bar on the terminal that follows the part of a box that was searched; nothing where there is no terminal."""
    with progress_bar("{task.description}, bar, share, elapsed", title, 1.0) as tell:
        yield None if tell is None else lambda done: tell(completed=done)
