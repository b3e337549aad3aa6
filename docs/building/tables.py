"""Parts of pages that are made from the code, as Markdown: ``<!-- NAME ARGUMENTS -->`` stands where they go."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from importlib import import_module
from itertools import groupby
from pathlib import Path

from executed import kept

from svyaz.commands.contents import COMMANDS
from svyaz.integrate import method, method_names


def commands() -> str:
    """One section a command, with its help, in the order of the table of commands."""
    lines = []
    for heading, table in COMMANDS.items():
        lines += [f"## {heading}", ""]
        for name, summary in table.items():
            lines += [f"### svyaz {name}", "", summary, "", "```svyaz", f"svyaz {name} --help", "```", ""]
    return "\n".join(lines)


def methods() -> str:
    """One row a method of integration, explicit ones first, by their order; the words are the first line of its file."""
    found = sorted((tableau.implicit, tableau.order, name) for name in method_names() for tableau in [method(name)])
    lines = ["| name | method | order | error control | dense output |", "|---|---|---|---|---|"]
    for implicit, order, name in found:
        title = (import_module(f"svyaz.integrate.methods.{name}").__doc__ or "").splitlines()[0].rstrip(".")
        tableau = method(name)
        dense = f"order {tableau.dense_order}" if tableau.dense_order else ""
        control = "yes" if tableau.embedded else ""
        kind = " (implicit)" if implicit and "implicit" not in title else ""
        lines.append(f"| `{name}` | {title}{kind} | {order} | {control} | {dense} |")
    return "\n".join(lines)


def walk(*arguments: str) -> str:
    """Rooms in the order in which a command first enters their modules, with these modules; nothing is compiled before."""

    def trace(target: Path) -> None:
        with tempfile.TemporaryDirectory() as empty, target.open("w", encoding="utf-8") as printed:
            subprocess.run(
                [sys.executable, str(Path(__file__).with_name("walk.py")), *arguments],
                env={**os.environ, "SVYAZ_CACHE": empty},
                stdout=printed,
                check=True,
            )

    entered = kept("walk.txt", arguments, trace).read_text(encoding="utf-8").split()
    lines = ["| room | modules that are entered for the first time |", "|---|---|"]
    for room, modules in groupby((name.partition(".") for name in entered), key=lambda parts: parts[0]):
        named = [f"`{module}`" for _, _, module in modules if module]
        lines.append(f"| `{room}` | {', '.join(named)} |")
    return "\n".join(lines)


TABLES: dict[str, Callable[..., str]] = {"all-commands": commands, "all-methods": methods, "walk": walk}
