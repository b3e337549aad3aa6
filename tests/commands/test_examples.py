"""The examples that ``--help`` shows: each is accepted by the parser of its command, and those that take little are run.

Parsed alone are those that take long, wait for somebody, install something, or need a file of the reader's own.
"""

from __future__ import annotations

import re
import shlex

import click
import pytest

from svyaz.commands.contents import COMMANDS, EXAMPLES
from svyaz.commands.group import svyaz as program

PARSED = ("bench", "report", "reproduce", "studio", "sweep")
"""Commands whose examples take seconds or minutes, or have no end; they have tests of their own."""

LONG = ("--along", "--ask", "--basin", "--critical", "--run", "my-")
"""What makes an example take long, asks at a terminal, or is a file that the reader has."""

NEGATIVE = (
    "svyaz check sleigh --method euler --step 0.001 --stabilize 2100",  # beyond 2/step
    "svyaz invert inverse-cart --with given=field --method euler --step 0.001 --set gain=100",
)
"""Examples of gains that the verdict refuses."""


def examples() -> list[str]:
    """The command lines of all helps, without what a shell does with them."""
    group = program()
    context = click.Context(group)
    commands = [group.get_command(context, name) for table in COMMANDS.values() for name in table]
    shown = [line for command in commands for line in (command.epilog or "").splitlines() if "svyaz " in line]
    return [re.search(r"(?<=\$\()[^)]*|svyaz [^>#]*", line)[0].strip() for line in (*EXAMPLES, *shown)]


SHOWN = examples()
RUN = [line for line in SHOWN if line.split()[1] not in PARSED and not any(word in line for word in LONG)]


def test_every_command_shows_an_example() -> None:
    assert {line.split()[1] for line in SHOWN} == {name for table in COMMANDS.values() for name in table}
    assert len(RUN) > 30
    assert set(NEGATIVE) <= set(RUN)


@pytest.mark.parametrize("line", dict.fromkeys(SHOWN))
def test_an_example_is_accepted(line) -> None:
    group = program()
    name, *arguments = shlex.split(line)[1:]
    command = group.get_command(click.Context(group), name)
    assert command.make_context(name, arguments).params


@pytest.mark.parametrize("line", dict.fromkeys(RUN))
def test_an_example_runs(line, svyaz) -> None:
    done = svyaz(*shlex.split(line)[1:])
    assert done.returncode == (1 if line in NEGATIVE else 0), done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout or line.split()[1] in ("derive", "inertia", "gallery", "new", "invert", "balance")  # --out
