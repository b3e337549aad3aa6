"""What the commands share: the MODEL argument and its options, examples in help, outputs checked before a run."""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeVar

import click
from click.shell_completion import CompletionItem

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


Function = TypeVar("Function", bound=Callable[..., object])

PROBE_BYTES = 1 << 20
URDF_OPTIONS = "svyaz.urdf"
"""Key of the context under which the options for URDF files are kept."""


class StoppedByUser(NegativeAnswer):
    """What was asked for is not done, for the user stopped it; what was done is kept. Exit code 130, not 1."""


class NameAndValue(click.ParamType):
    """``NAME=VALUE`` → (name, value), both as text."""

    name = "assignment"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, str]:
        name, equals, text = str(value).partition("=")
        if not (equals and name.strip() and text.strip()):
            self.fail(f"'{value}' is not of the form NAME=VALUE.", param, ctx)
        return name.strip(), text.strip()


class ModelName(click.ParamType):
    """A path or the name of a gallery model; completion offers both."""

    name = "model"

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        from svyaz.gallery import SUFFIXES, names

        known = [CompletionItem(name) for name in names() if name.startswith(incomplete)]
        if not known:
            return [CompletionItem(incomplete, type="file")]
        files = [path for ending in SUFFIXES for path in Path().glob(f"*{ending}")]
        files = [path for path in files if path.name.startswith(incomplete)]
        return known + [CompletionItem(str(path)) for path in sorted(files)]


def model_options(function: Function) -> Function:
    """MODEL, ``--set`` and ``--with``: the arguments ``model``, ``settings`` and ``choices`` of :func:`load_model`.

    ``--free-base`` and ``--damping``, of which only the reading of a URDF file knows, go to it by the context.
    """
    for decorate in (
        _urdf_option("--free-base", "Let the root of a URDF float (free joint) instead of standing on the ground."),
        _urdf_option("--damping", "Let the joint damping of a URDF act as a force."),
        click.option(
            "choices",
            "--with",
            metavar="NAME=CHOICE",
            type=NameAndValue(),
            multiple=True,
            help="Choose a variant of a gallery model; repeatable.",
        ),
        click.option(
            "settings",
            "--set",
            metavar="NAME=VALUE",
            type=NameAndValue(),
            multiple=True,
            help="Override a parameter, or initial.x, run.step, … by a dotted name; repeatable.",
        ),
        click.argument("model", type=ModelName()),
    ):
        function = decorate(function)
    return function


def _urdf_option(name: str, text: str) -> Callable[[Function], Function]:
    def remember(context: click.Context, option: click.Parameter, value: bool) -> None:
        context.meta.setdefault(URDF_OPTIONS, {})[option.name] = value

    return click.option(name, is_flag=True, expose_value=False, callback=remember, help=text)


class FormName(click.ParamType):
    """The name of a form of the equations; completion offers those that there are."""

    name = "form"

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        from svyaz.forms import form_names

        return [CompletionItem(name) for name in form_names() if name.startswith(incomplete)]


def form_option(function: Function) -> Function:
    """``--form NAME``: the argument ``form``."""
    from svyaz.forms import form_names

    text = f"Form of the equations, the model's own unless given: {', '.join(form_names())}."
    return click.option("--form", metavar="NAME", type=FormName(), help=text)(function)


def format_option(*more: str) -> Callable[[Function], Function]:
    """``--format NAME``: the argument ``output_format``, text or a language in which programs are written, or ``more``."""
    from svyaz.program import languages

    known = click.Choice(("text", *languages(), *more))
    return click.option(
        "output_format", "--format", type=known, default="text", show_default=True, help="What to write."
    )


def json_option(function: Function) -> Function:
    """``--json FILE``: the argument ``json_file``, to be given to :func:`write_json`."""
    return click.option("json_file", "--json", metavar="FILE", help="Write the result as JSON ('-': standard output).")(
        function
    )


def examples(*lines: str) -> str:
    """An epilog that shows how a command is called, one line each, not rewrapped."""
    return "\n".join(["\b", "Examples:", *(f"  {line}" for line in lines)])


def load_model(name: str, settings: tuple[tuple[str, str], ...], choices: tuple[tuple[str, str], ...]) -> System:
    """The model called ``name`` with ``--set`` and ``--with`` applied.

    What looks like a path (a folder separator, or the ending of a model file) is one; any other name is looked up in
    the gallery first, so that a file or folder that happens to be called ``sling`` does not hide the model.
    """
    from svyaz import library
    from svyaz.gallery import find, is_path

    text = None if is_path(name) else find(name, dict(choices))
    context = click.get_current_context(silent=True)
    urdf_options = {} if context is None else context.meta.get(URDF_OPTIONS, {})
    if text is not None:
        if any(urdf_options.values()):
            raise click.UsageError(f"--free-base and --damping are asked for of URDF files; '{name}' is none.")
        system = library.loads(text, file=name)
    elif not Path(name).is_file():
        raise unknown_model(name)
    elif choices:
        raise click.UsageError("--with chooses a variant of a gallery model; a file has none.")
    else:
        system = library.load(Path(name), **urdf_options)
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


def load_with_laws(
    name: str, settings: tuple[tuple[str, str], ...], choices: tuple[tuple[str, str], ...]
) -> tuple[System, dict[str, Law]]:
    """As :func:`load_model`; what ``--set`` says of an input by a law (``F=sin(t)``, ``F=force.csv``) is told apart."""
    bare = load_model(name, (), choices)
    if not settings:
        return bare, {}
    from svyaz.commands.values import table_of
    from svyaz.motion import is_law

    laws: dict[str, Law] = {}
    for input_name, text in settings:
        if input_name in bare.inputs and text.lower().endswith(".csv"):
            laws[input_name] = table_of(text)
        elif is_law(bare, input_name, text):
            laws[input_name] = text
    rest = _as_in_files((given, text) for given, text in settings if given not in laws)
    return (bare.with_settings(rest) if rest else bare), laws


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
