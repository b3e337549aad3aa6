"""What Sphinx does with our pages: formulas become KaTeX's HTML, tables are made, and commands that are shown are run.

A block fenced as ``svyaz`` holds commands, one a line; the page shows each with what it printed. Files for the commands
are taken from the page itself: every block with a title (``toml title="pendulum.toml"``) is written where they run.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import executed
from docutils import nodes
from notebooks import is_notebook, notebook
from sphinx.addnodes import pending_xref
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.errors import ExtensionError
from sphinx.util.nodes import make_refnode
from sphinx.writers.html5 import HTML5Translator
from tables import FOLDER, TABLES, page_of, public_name, shown_of

from svyaz.files import write_text
from svyaz.gallery import names
from svyaz.show import katex

TABLE = re.compile(r"^<!-- ([\w-]+)(?: (.*))? -->$", re.MULTILINE)
TITLED = re.compile(r'^``` *(\w+) +title="([^"/]+)"\n(.*?)^```', re.DOTALL | re.MULTILINE)
SESSION = re.compile(r"^```svyaz\n(.*?)^```", re.DOTALL | re.MULTILINE)


def setup(app: Sphinx) -> dict[str, object]:
    """Sphinx's way in. A page is read again when the package has changed."""
    app.add_config_value("package", executed.package(), "env")
    app.add_html_math_renderer("katex", (_inline, None), (_display, None))
    app.connect("source-read", _source)
    app.connect("builder-inited", _made)
    app.connect("missing-reference", _public)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def _source(app: Sphinx, page: str, source: list[str]) -> None:
    """Make the tables of a page, run its commands, and show what they print; a notebook may be downloaded."""
    if is_notebook(source[0]):
        source[0] = _with_download(app, page, source[0])
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


def _with_download(app: Sphinx, page: str, text: str) -> str:
    """The page with a line beneath its title that leads to the notebook, which is written beside the pages."""
    name = page.removeprefix("tutorials/")
    target = Path(app.outdir) / "notebooks" / f"{name}.ipynb"
    target.parent.mkdir(parents=True, exist_ok=True)
    write_text(target, notebook(text))
    up = "../" * page.count("/")
    link = f'<p class="download"><a href="{up}notebooks/{name}.ipynb" download>⤓ {name}.ipynb</a></p>'
    return re.sub(r"^(# .*\n)", rf"\1\n```{{raw}} html\n{link}\n```\n", text, count=1, flags=re.MULTILINE)


def _made(app: Sphinx) -> None:
    """The style sheet of the formulas, fonts included, and the pictures of the gallery."""
    target = Path(app.outdir) / "_static" / "katex.css"
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(katex.stylesheet(), encoding="utf-8")
    gallery = Path(app.outdir) / FOLDER
    gallery.mkdir(parents=True, exist_ok=True)
    for file in (file for name in names() for file in (*shown_of(name).values(), page_of(name))):
        shutil.copyfile(file, gallery / file.name)


def _public(app: Sphinx, env: BuildEnvironment, node: pending_xref, shown: nodes.Element) -> nodes.reference | None:
    """A reference of a docstring to a function in its room, or to a member in words, leads to the entry of the public name."""
    named = node.get("reftarget", "")
    if node.get("refdomain") != "py" or not (entries := _entries(env, named)):
        return None
    (entry,) = entries
    domain, page = env.domains.python_domain, env.domains.python_domain.objects[entry].docname
    return make_refnode(app.builder, node["refdoc"], page, domain.objects[entry].node_id, shown, entry)


def _entries(env: BuildEnvironment, named: str) -> list[str]:
    known = env.domains.python_domain.objects
    return [entry for entry in dict.fromkeys([public_name(named), f"svyaz.{named}"]) if entry in known][:1]


def _inline(translator: HTML5Translator, node: nodes.math) -> None:
    translator.body.append(katex.render(node.astext(), False))
    raise nodes.SkipNode


def _display(translator: HTML5Translator, node: nodes.math_block) -> None:
    translator.body.append(katex.render(node.astext(), True))
    raise nodes.SkipNode
