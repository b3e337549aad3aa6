"""What MkDocs does with our pages: formulas become KaTeX at build time, and commands that are shown are run.

A block fenced as ``svyaz`` holds commands, one a line; the page shows each with what it printed. A command that does
not exit with 0 stops the build, unless the line ends in ``# exits N``. Files for the commands are taken from the page
itself: every block with a title (``toml title="pendulum.toml"``) is written where the commands run. A line
``<!-- walk simulate sleigh -->`` becomes a table of the modules that this command passes, traced as the page is built.
"""

from __future__ import annotations

import html
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from functools import cache
from importlib import import_module
from itertools import groupby
from pathlib import Path
from typing import Any

from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files

from svyaz.commands.contents import COMMANDS
from svyaz.integrate import method, method_names
from svyaz.show import katex

FORMULA = re.compile(r'<(span|div) class="arithmatex">\\([(\[])(.*?)\\[)\]]</\1>', re.DOTALL)
TITLED = re.compile(r'^``` *\w+ +title="([^"/]+)"\n(.*?)^```', re.DOTALL | re.MULTILINE)
SESSION = re.compile(r"^```svyaz\n(.*?)^```", re.DOTALL | re.MULTILINE)
EXITS = re.compile(r"\s+# exits (\d+)$")
ALL_COMMANDS = "<!-- all commands -->"
ALL_METHODS = "<!-- all methods -->"
WALK = re.compile(r"^<!-- walk (.*) -->$", re.MULTILINE)


def on_files(files: Files, config: Any) -> Files:
    """Add the style sheet of the formulas, fonts included."""
    files.append(File.generated(config, "assets/katex.css", content=katex.stylesheet()))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Run the commands of a page and show what they print."""
    markdown = markdown.replace(ALL_COMMANDS, _reference()).replace(ALL_METHODS, methods_table())
    markdown = WALK.sub(lambda found: walk_table(shlex.split(found[1])), markdown)
    if not SESSION.search(markdown):
        return markdown
    with tempfile.TemporaryDirectory() as folder:
        for name, text in TITLED.findall(markdown):
            (Path(folder) / name).write_text(text, encoding="utf-8")
        return SESSION.sub(lambda block: _session(block[1], Path(folder), page.file.src_uri), markdown)


def on_page_content(content: str, **_: Any) -> str:
    """Turn the formulas of a page into KaTeX's HTML."""
    return FORMULA.sub(lambda found: katex.render(html.unescape(found[3]).strip(), found[2] == "["), content)


def _reference() -> str:
    """One section a command, with its help, in the order of the table of commands."""
    lines = []
    for heading, table in COMMANDS.items():
        lines += [f"## {heading}", ""]
        for name, summary in table.items():
            lines += [f"### svyaz {name}", "", summary, "", "```svyaz", f"svyaz {name} --help", "```", ""]
    return "\n".join(lines)


def methods_table() -> str:
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


def walk_table(arguments: Sequence[str]) -> str:
    """Rooms in the order in which a command first enters their modules, with these modules; nothing is compiled before."""
    with tempfile.TemporaryDirectory() as empty:
        done = subprocess.run(
            [sys.executable, str(Path(__file__).with_name("walk.py")), *arguments],
            env={**os.environ, "SVYAZ_CACHE": empty},
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        )
    lines = ["| room | modules that are entered for the first time |", "|---|---|"]
    entered = [name.partition(".") for name in done.stdout.split()]
    for room, modules in groupby(entered, key=lambda parts: parts[0]):
        named = [f"`{module}`" for _, _, module in modules if module]
        lines.append(f"| `{room}` | {', '.join(named)} |")
    return "\n".join(lines)


def _session(commands: str, folder: Path, page: str) -> str:
    shown = []
    for line in commands.splitlines():
        expected = EXITS.search(line)
        command = line[: expected.start()] if expected else line
        shown += [f"$ {command}", _output(command, int(expected[1]) if expected else 0, folder, page)]
    return "\n".join(["```console", *shown, "```"])


def _output(command: str, expected: int, folder: Path, page: str) -> str:
    program, *arguments = shlex.split(command)
    if program != "svyaz":
        raise PluginError(f"{page}: only svyaz is run in a page, not '{command}'")
    with tempfile.NamedTemporaryFile() as printed:
        request = {
            "arguments": arguments,
            "environment": {**os.environ, "COLUMNS": "100", "NO_COLOR": "1", "TERM": "dumb"},
            "folder": str(folder),
            "stdout": printed.name,
            "stderr": printed.name,
        }
        server = command_server()
        assert server.stdin is not None
        assert server.stdout is not None
        print(json.dumps(request), file=server.stdin, flush=True)
        code = int(server.stdout.readline())
        text = Path(printed.name).read_text(encoding="utf-8")
    if code != expected:
        raise PluginError(f"{page}: '{command}' exits with {code}, not {expected}:\n{text}")
    return text.rstrip()


@cache
def command_server() -> subprocess.Popen[str]:
    """A process that has loaded the libraries once and forks for every command line; it ends when its input does."""
    program = str(Path(__file__).parents[1] / "tests" / "tools" / "command_server.py")
    return subprocess.Popen([sys.executable, program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
