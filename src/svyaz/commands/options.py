"""The options of the commands, each written once: how its value is read, and its help where that is the same everywhere."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from pathlib import Path
from typing import Any, TypeVar

import click
from click.shell_completion import CompletionItem

from svyaz.commands.common import LooksArgument, ModelArgument, examples

Function = TypeVar("Function", bound=Callable[..., object])
Pairs = tuple[tuple[str, str], ...]
"""Values of an option ``NAME=VALUE`` that may be repeated."""


class TextValue(click.ParamType):
    """The value that ``read`` gives of a text (ValueError where it cannot); ``complete`` offers continuations of it."""

    def __init__(
        self, name: str, read: Callable[[str], object], complete: Callable[[str], list[CompletionItem]] | None = None
    ) -> None:
        self.name, self.read, self.complete = name, read, complete

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> object:
        if not isinstance(value, str):
            return value
        try:
            return self.read(value)
        except ValueError as error:
            self.fail(f"{error}.", param, ctx)

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        return [] if self.complete is None else self.complete(incomplete)


def read_pair(text: str) -> tuple[str, str]:
    """``NAME=VALUE`` → (name, value), both as text."""
    name, equals, value = text.partition("=")
    if not (equals and name.strip() and value.strip()):
        raise ValueError(f"'{text}' is not of the form NAME=VALUE")
    return name.strip(), value.strip()


def read_pairs(text: str) -> dict[str, str]:
    """``q1=0.1,q2=0.2`` → {name: text}."""
    return dict(map(read_pair, text.split(",")))


def read_changes(text: str) -> dict[str, str]:
    """``NAME=VALUE; NAME=VALUE``: options of a run, or values of the model, as text."""
    from svyaz.motion import parted

    parts = [part for part in parted(text, ";") if part]
    if not parts:
        raise ValueError("nothing is changed: write 'form=chaplygin' or 'stabilize=off; step=0.01'")
    return dict(map(read_pair, parts))


def read_stabilize(text: str) -> object:
    """off, auto, projection, a number, or a table as in a model file: '{alpha = 20, beta = 100}'."""
    import tomllib

    if text in ("off", "auto", "projection"):
        return text
    try:
        return tomllib.loads(f"stabilize = {text}")["stabilize"]
    except tomllib.TOMLDecodeError:
        message = f"'{text}' is not off, auto, projection, a number or a table such as {{alpha = 20, beta = 100}}"
        raise ValueError(message) from None


def read_tolerance(text: str) -> object:
    """A number, or a table by constraint as in a model file: '{blade = 1e-3}'."""
    import tomllib

    try:
        return tomllib.loads(f"tolerance = {text}")["tolerance"] if "{" in text else float(text)
    except ValueError:
        raise ValueError(f"'{text}' is not a number or a table such as {{blade = 1e-3}}") from None


def read_size(text: str) -> tuple[float, float]:
    """``12x6``: width and height in inches."""
    from svyaz.show import size_of

    return size_of(text)


def complete_model(incomplete: str) -> list[CompletionItem]:
    """Gallery models and files."""
    from svyaz.gallery import SUFFIXES, names

    known = [CompletionItem(name) for name in names() if name.startswith(incomplete)]
    if not known:
        return [CompletionItem(incomplete, type="file")]
    files = [path for ending in SUFFIXES for path in Path().glob(f"*{ending}")]
    files = [path for path in files if path.name.startswith(incomplete)]
    return known + [CompletionItem(str(path)) for path in sorted(files)]


def complete_form(incomplete: str) -> list[CompletionItem]:
    """Forms of the equations."""
    from svyaz.forms import form_names

    return [CompletionItem(name) for name in form_names() if name.startswith(incomplete)]


PAIR = TextValue("assignment", read_pair)
MODEL_NAME = TextValue("model", str, complete_model)
"""A path or the name of a gallery model."""


def _help_of_form() -> str:
    from svyaz.forms import form_names

    return f"Form of the equations, the model's own unless given: {', '.join(form_names())}."


def _help_of_method() -> str:
    from svyaz.integrate import method_names

    return f"{', '.join(method_names())}; rk2:0.75."


Attributes = dict[str, Any]

FLAG: Attributes = {"is_flag": True}
NAME: Attributes = {"metavar": "NAME"}
FILE: Attributes = {"metavar": "FILE"}
NUMBER: Attributes = {"type": float}
TIME: Attributes = {"type": float, "metavar": "TIME"}
VALUE: Attributes = {"type": PAIR, "metavar": "NAME=VALUE", "multiple": True}
CHOICE: Attributes = VALUE | {"metavar": "NAME=CHOICE"}
RANGE: Attributes = VALUE | {"metavar": "NAME=LOW:HIGH"}

OPTIONS: Mapping[str, Attributes] = {
    # the model
    "--set": VALUE
    | {"to": "settings", "help": "Override a parameter, or initial.x, run.step, … by a dotted name; repeatable."},
    "--with": CHOICE | {"to": "choices", "help": "Choose a variant of a gallery model; repeatable."},
    "--damping": FLAG | {"help": "Let the joint damping of a URDF act as a force."},
    "--free-base": FLAG | {"help": "Let the root of a URDF float (free joint) instead of standing on the ground."},
    # a run
    "--form": NAME | {"type": TextValue("form", str, complete_form), "help": _help_of_form},
    "--method": NAME | {"help": _help_of_method},
    "--step": NUMBER | {"help": "Fixed step."},
    "--until": TIME | {"help": "End of the motion, which begins at t = 0."},
    "--every": TIME | {"help": "Interval of time between the rows of the result."},
    "--rtol": NUMBER | {"help": "Relative error allowed in a step: steps are chosen."},
    "--atol": NUMBER | {"help": "Absolute error allowed in a step; equal to rtol unless given."},
    "--tolerance": {
        "type": TextValue("tolerance", read_tolerance),
        "metavar": "RESIDUAL",
        "help": "Largest residual allowed, or a table by constraint: auto chooses by it, given gains are judged by it.",
    },
    "--stabilize": {
        "type": TextValue("stabilize", read_stabilize),
        "metavar": "HOW",
        "help": "off, auto, projection, a number, or a table of gains.",
    },
    "--project": FLAG | {"help": "First move the initial state onto the constraints."},
    "--keep": {
        "default": "",
        "metavar": "NAMES",
        "help": "Move the initial state onto the constraints and keep these of its values: --keep \"psi',beta'\".",
    },
    "--beyond": FLAG | {"help": "Run on where a limit of the model is passed ([limits]), and tell it."},
    # a search
    "--fix": VALUE,
    "--near": VALUE,
    "--start": VALUE,
    "--box": RANGE,
    "--critical": RANGE | {"multiple": False},
    "--along": RANGE | {"metavar": "NAME=FROM:TO", "multiple": False},
    "--budget": {
        "metavar": "SECONDS",
        "type": click.FloatRange(min=0.0, min_open=True),
        "default": float("inf"),
        "help": "Time limit of the search in seconds, in place of the limit that counts its work; a note says when it was "
        "reached.",
    },
    # what is shown and written
    "--show": {
        "metavar": "NAMES",
        "help": "What plot and CSV show: columns, residuals, multipliers, integrals, deviations, energies, coordinates, "
        "velocities, inputs, outputs, expressions, 'y over x'; separated by commas.",
    },
    "--against": {
        "metavar": "CHANGES",
        "type": TextValue("changes", read_changes),
        "multiple": True,
        "help": "Run it also with these options and values ('form=chaplygin; stabilize=off'), into the same plot and "
        "CSV; repeatable.",
    },
    "--size": {
        "type": TextValue("size", read_size),
        "metavar": "WxH",
        "help": "Width and height of the plot in inches: 12x6.",
    },
    "--degrees": FLAG | {"help": "Draw angles and their rates in degrees."},
    "--style": NAME | {"help": "A style of matplotlib for the plot (grayscale), or a file .mplstyle."},
    "--plot": FILE,
    "--csv": FILE,
    "--animate": FILE,
    "--out": FILE | {"help": "Write to FILE instead of the terminal."},
    "--json": FILE | {"to": "json_file", "help": "Write the result as JSON ('-': standard output)."},
}
"""By flag, what ``click.option`` is told of it; ``to`` is the name of the argument where it is not that of the flag."""

MODEL = ("--set", "--with", "--damping", "--free-base")
STEP = ("--method", "--step", "--until", "--every")
RUN = ("--form", *STEP, "--rtol", "--atol", "--tolerance", "--stabilize")
"""The options that override a model's [run]."""


def option(flag: str, text: str = "", **more: object) -> Callable[[Function], Function]:
    """The option of the table, with this ``text`` for its help and with ``more``; one that has nothing is a flag."""
    told = {**OPTIONS.get(flag, {}), **more} or {**FLAG}
    text = text or told["help"]
    names = [told.pop("to"), flag] if "to" in told else [flag]
    return click.option(*names, **told | {"help": text() if callable(text) else text})


def options(*flags: str) -> Callable[[Function], Function]:
    """Options of the table, in the order in which help lists them."""

    def declare(function: Function) -> Function:
        for flag in reversed(flags):
            function = option(flag)(function)
        return function

    return declare


def format_option(*more: str, text: str = "What to write.") -> Callable[[Function], Function]:
    """``--format NAME``: the argument ``output_format``, text or a language in which programs are written, or ``more``."""
    from svyaz.program import languages

    known = click.Choice(("text", *languages(), *more))
    return option("--format", text, to="output_format", type=known, default="text", show_default=True)


def looks_options(function: Callable[..., None]) -> Callable[..., None]:
    """``--size``, ``--degrees`` and ``--style``: the argument ``looks``."""

    @options("--size", "--degrees", "--style")
    @wraps(function)
    def command(size: tuple[float, float] | None, degrees: bool, style: str | None, **given: object) -> None:
        function(looks=LooksArgument(size, degrees, style), **given)

    return command


def model_command(*lines: str) -> Callable[[Callable[..., None]], click.Command]:
    """A command about a MODEL, its first argument, with the options that change it; ``lines`` are examples of it."""

    def declare(function: Callable[..., None]) -> click.Command:
        @click.command(epilog=examples(*lines))
        @click.argument("model", type=MODEL_NAME)
        @options(*MODEL)
        @wraps(function)
        def command(
            model: str, settings: Pairs, choices: Pairs, damping: bool, free_base: bool, **given: object
        ) -> None:
            function(model=ModelArgument(model, settings, choices, damping, free_base), **given)

        return command

    return declare
