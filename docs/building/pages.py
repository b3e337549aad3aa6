"""What Sphinx does with our pages: formulas become KaTeX's HTML, tables are made, and commands that are shown are run.

A block fenced as ``svyaz`` holds commands, one a line; the page shows each with what it printed. Files for the commands
are taken from the page itself: every block with a title (``toml title="pendulum.toml"``) is written where they run.
"""

from __future__ import annotations

import re
from pathlib import Path

import executed
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError
from sphinx.writers.html5 import HTML5Translator
from tables import TABLES

from svyaz.show import katex

TABLE = re.compile(r"^<!-- ([\w-]+)(?: (.*))? -->$", re.MULTILINE)
TITLED = re.compile(r'^``` *(\w+) +title="([^"/]+)"\n(.*?)^```', re.DOTALL | re.MULTILINE)
SESSION = re.compile(r"^```svyaz\n(.*?)^```", re.DOTALL | re.MULTILINE)


def setup(app: Sphinx) -> dict[str, object]:
    """Sphinx's way in. A page is read again when the package has changed."""
    app.add_config_value("package", executed.package(), "env")
    app.add_html_math_renderer("katex", (_inline, None), (_display, None))
    app.connect("source-read", _source)
    app.connect("builder-inited", _style)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def _source(_: Sphinx, page: str, source: list[str]) -> None:
    """Make the tables of a page, run its commands, and show what they print."""
    text = TABLE.sub(lambda found: TABLES[found[1]](*(found[2] or "").split()), source[0])
    sessions = [block.splitlines() for block in SESSION.findall(text)]
    lines = [line for session in sessions for line in session]
    if lines:
        files = {name: content for _, name, content in TITLED.findall(text)}
        try:
            printed = executed.outputs(page, lines, files)
        except executed.CommandFailed as fault:
            raise ExtensionError(str(fault)) from fault
        shown = [f"$ {executed.EXITS.sub('', line)}\n{output}\n" for line, output in zip(lines, printed, strict=True)]
        counts = iter([len(session) for session in sessions])
        answers = iter(shown)
        text = SESSION.sub(lambda _: "```console\n" + "".join(next(answers) for _ in range(next(counts))) + "```", text)
    source[0] = TITLED.sub(r"```{code-block} \1\n:caption: \2\n\n\3```", text)


def _style(app: Sphinx) -> None:
    """The style sheet of the formulas, fonts included."""
    target = Path(app.outdir) / "_static" / "katex.css"
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(katex.stylesheet(), encoding="utf-8")


def _inline(translator: HTML5Translator, node: nodes.math) -> None:
    translator.body.append(katex.render(node.astext(), False))
    raise nodes.SkipNode


def _display(translator: HTML5Translator, node: nodes.math_block) -> None:
    translator.body.append(katex.render(node.astext(), True))
    raise nodes.SkipNode
