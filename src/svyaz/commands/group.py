"""Finding a command by its name, running it, and turning what went wrong into one message and one exit code."""

from __future__ import annotations

import logging
import os
import sys
import traceback
import warnings
from collections.abc import Sequence
from difflib import get_close_matches
from importlib import import_module
from typing import TYPE_CHECKING

import click

from svyaz import streams
from svyaz.commands.common import NegativeAnswer, StoppedByUser
from svyaz.commands.contents import COMMANDS, overview
from svyaz.commands.hints import problems_with_flags, with_flags
from svyaz.commands.terminal import plain
from svyaz.extras import MissingLibrary

if TYPE_CHECKING:
    from svyaz.expr import ModelError

NEGATIVE_ANSWER, BAD_INPUT, FAULT, INTERRUPTED, BROKEN_PIPE = 1, 2, 70, 130, 141


class Commands(click.Group):
    """The commands of the table; the module of a command is imported when the command is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [name for table in COMMANDS.values() for name in table]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self.list_commands(ctx):
            return None
        command: click.Command = import_module(f"svyaz.commands.{cmd_name}").command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        if not name.startswith("-") and name not in self.list_commands(ctx):
            near = get_close_matches(name, self.list_commands(ctx), n=1)
            hint = f" Did you mean '{near[0]}'?" if near else " 'svyaz --help' lists them."
            ctx.fail(f"there is no command '{name}'.{hint}")
        return super().resolve_command(ctx, args)

    def get_help(self, ctx: click.Context) -> str:
        return overview()


def svyaz() -> Commands:
    """The program as one click group, which is also what shell completion walks through."""
    return Commands("svyaz", context_settings={"help_option_names": ["-h", "--help"]})


def run(arguments: Sequence[str]) -> int:
    """Run one command. Exit codes: 0 done, 1 negative answer, 2 bad input or unwritable output, 70 a fault of svyaz itself,
    130 interrupted, 141 nobody reads the output any more.
    """
    logging.getLogger("matplotlib").setLevel(logging.ERROR)  # where it keeps its fonts is no concern of the user's
    if not sys.warnoptions:  # overflow, missing glyphs: what libraries say to programmers is no answer
        warnings.simplefilter("ignore")
    try:
        code = svyaz().main(list(arguments), prog_name="svyaz", standalone_mode=False)
        sys.stdout.flush()
        return code if isinstance(code, int) else 0
    except NegativeAnswer as answer:
        code = INTERRUPTED if isinstance(answer, StoppedByUser) else NEGATIVE_ANSWER
        return _say(with_flags(answer.reason), code)
    except click.Abort:
        return _say("svyaz: interrupted", INTERRUPTED)
    except click.ClickException as error:
        error.show()
        return BAD_INPUT
    except BrokenPipeError:
        streams.forget_output()  # the reader (head, less) has gone: nothing to say, nothing to flush at exit
        return BROKEN_PIPE
    except OSError as error:
        if error.filename is None:  # files are written under their names: what is left is the standard output
            streams.forget_output()
        return _say(f"{error.filename or 'standard output'}: {error.strerror or error}", BAD_INPUT)
    except _model_error() as error:
        return _say(problems_with_flags(error.problems), BAD_INPUT)
    except MissingLibrary as error:
        return _say(f"svyaz: {error}", BAD_INPUT)
    except MemoryError:
        return _say("the memory of this machine is used up", BAD_INPUT)
    except Exception as error:
        return _say("svyaz: interrupted", INTERRUPTED) if _is_interrupt(error) else _say(fault(error), FAULT)


def _is_interrupt(error: BaseException | None) -> bool:
    """Is it what Python or a library made of an interrupt, as happens where classes are made while modules are loaded?"""
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__cause__ or error.__context__
    return error is not None


def fault(error: Exception) -> str:
    """What to say when svyaz itself went wrong; the whole traceback only where ``SVYAZ_TRACEBACK`` is set."""
    if os.environ.get("SVYAZ_TRACEBACK"):
        return "".join(traceback.format_exception(error))
    frames = traceback.extract_tb(error.__traceback__)
    own = next((frame for frame in reversed(frames) if f"{os.sep}svyaz{os.sep}" in frame.filename), frames[-1])
    place = f"{os.path.basename(os.path.dirname(own.filename))}/{os.path.basename(own.filename)}, line {own.lineno}"
    return (
        f"svyaz: internal error: {type(error).__name__}: {error} ({place})\n"
        "This is a fault of svyaz, not of your model or command. Please report it with both; SVYAZ_TRACEBACK=1 before the\n"
        "command shows where it happened."
    )


def _model_error() -> type[ModelError]:
    """The class of mistakes in a model; asked for only when something was raised, so that help stays light."""
    from svyaz.expr import ModelError

    return ModelError


def _say(message: str, code: int) -> int:
    click.echo(plain(message), err=True)
    return code
