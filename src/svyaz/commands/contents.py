"""The commands, one module each: ``svyaz NAME`` runs the click command called ``command`` in ``svyaz.commands.NAME``.

A module is a command when it says where ``svyaz --help`` lists it: LISTED = (heading, place, what it does in one line), places
in ascending order. That line is read, not run, so that asking for help loads no command and no library.
"""

from __future__ import annotations

import re
from pathlib import Path

LISTED = re.compile(r'^LISTED = \("([^"]+)", (\d+), "([^"]+)"\)$', re.MULTILINE)


def _contents() -> dict[str, dict[str, str]]:
    files = {file.stem: LISTED.search(file.read_text(encoding="utf-8")) for file in Path(__file__).parent.glob("*.py")}
    lines = sorted((int(found[2]), found[1], name, found[3]) for name, found in files.items() if found is not None)
    table: dict[str, dict[str, str]] = {}
    for _, heading, name, line in lines:
        table.setdefault(heading, {})[name] = line
    return table


COMMANDS = _contents()
"""Heading → command → what it does, in the order in which ``svyaz --help`` shows them."""

EXAMPLES: tuple[str, ...] = (
    "svyaz gallery",
    "svyaz derive pendulum:2",
    "svyaz simulate sling --plot sling.png",
    "svyaz report my-model.toml",
)


def overview() -> str:
    """The text of ``svyaz --help``."""
    width = max(len(name) for table in COMMANDS.values() for name in table)
    lines = [
        "Usage: svyaz COMMAND [ARGUMENTS]",
        "",
        "  Mechanical systems from a written model to native motion.",
        "",
        "  MODEL is a file (TOML) or the name of a gallery model.",
    ]
    for heading, table in COMMANDS.items():
        lines += ["", f"{heading}:"]
        lines += [f"  {name:<{width}}  {line}" for name, line in table.items()]
    lines += ["", "Examples:", *(f"  {example}" for example in EXAMPLES)]
    lines += [
        "",
        "svyaz COMMAND --help tells more. Exit code: 0 done, 1 the answer is negative, 2 bad input, 70 a fault of svyaz.",
    ]
    return "\n".join(lines)
