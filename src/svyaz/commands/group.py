"""Finding a command by its name, running it, and turning what went wrong into one message and one exit code."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from difflib import get_close_matches
from importlib import import_module
from typing import TYPE_CHECKING

import click

from svyaz.commands.common import NegativeAnswer
from svyaz.commands.contents import COMMANDS, overview
from svyaz.commands.hints import problems_with_flags, with_flags

if TYPE_CHECKING:
    from svyaz.expr import ModelError

NEGATIVE_ANSWER, BAD_INPUT, INTERRUPTED, BROKEN_PIPE = 1, 2, 130, 141


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
    """Run one command. Exit codes: 0 done, 1 negative answer, 2 bad input or unwritable output, 130 interrupted."""
    try:
        code = svyaz().main(list(arguments), prog_name="svyaz", standalone_mode=False)
        sys.stdout.flush()
        return code if isinstance(code, int) else 0
    except NegativeAnswer as answer:
        return _say(with_flags(answer.reason), NEGATIVE_ANSWER)
    except click.Abort:
        return _say("svyaz: interrupted", INTERRUPTED)
    except click.ClickException as error:
        error.show()
        return BAD_INPUT
    except BrokenPipeError:
        # The reader (head, less) has gone: nothing to say, and nothing may be flushed into the pipe at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return BROKEN_PIPE
    except OSError as error:
        place = f"{error.filename}: " if error.filename else ""
        return _say(f"{place}{error.strerror or error}", BAD_INPUT)
    except _model_error() as error:
        return _say(problems_with_flags(error.problems), BAD_INPUT)


def _model_error() -> type[ModelError]:
    """The class of mistakes in a model; asked for only when something was raised, so that help stays light."""
    from svyaz.expr import ModelError

    return ModelError


def _say(message: str, code: int) -> int:
    click.echo(message, err=True)
    return code
