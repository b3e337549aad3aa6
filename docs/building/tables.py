"""Parts of pages that are made from the code, as Markdown: ``<!-- NAME ARGUMENTS -->`` stands where they go."""

from __future__ import annotations

import inspect
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from functools import cache
from html import escape
from importlib import import_module
from itertools import groupby
from pathlib import Path
from types import FunctionType
from typing import is_typeddict

import films
from executed import kept

import svyaz
from svyaz import gallery
from svyaz.commands.contents import COMMANDS
from svyaz.forms import MOST_WRITTEN, derive
from svyaz.integrate import method, method_names
from svyaz.model.reading.words import RUN
from svyaz.motion import Motion
from svyaz.show import latex_lines, living_page
from svyaz.stabilise import options_for


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


def pictures() -> str:
    """A card for each model of the gallery: its name, a picture and a film, made when they are missing."""
    lines = ["```{raw} html", '<div class="gallery">']
    for name in gallery.names():
        system = svyaz.load(MEMBERS.get(name, name))
        title = f"{MEMBERS.get(name, name)}: {system.name}"
        images = "".join(
            f'<img src="../{FOLDER}/{file.name}" alt="{escape(title)}, {what}" loading="lazy">'
            for what, file in shown_of(name).items()
        )
        address = f"../{FOLDER}/{page_of(name).name}"
        frame = f'<iframe data-page="{address}" title="{escape(title)}, living"></iframe>'
        link = f'<a href="{address}">the page by itself</a>'
        living = f'<details ontoggle="{LOAD}"><summary>alive</summary>{link}{frame}</details>'
        words = f"<code>{escape(name)}</code> {escape(system.name)}"
        lines.append(f"<figure><div>{images}</div><figcaption>{words}{living}</figcaption></figure>")
    return "\n".join([*lines, "</div>", "```"])


def running(up: str, *names: str) -> str:
    """Films of some models in a row, for a page that lies ``up`` (``.`` or ``..``) from the first one."""
    lines = ["```{raw} html", '<div class="films">']
    for name in names:
        member = MEMBERS.get(name, name)
        title = escape(f"film of the gallery model {member}")
        address = f"{up}/{FOLDER}/{shown_of(name)['film'].name}"
        lines.append(
            f'<figure><img src="{address}" alt="{title}"><figcaption><code>{member}</code></figcaption></figure>'
        )
    return "\n".join([*lines, "</div>", "```"])


MEMBERS = {"chain:N": "chain:10", "pendulum:N": "pendulum:3", "random-tree:N": "random-tree:8"}
"""Which member of a family is shown."""

FOLDER = "_static/gallery"

LOAD = "const f = this.querySelector('iframe'); if (this.open) f.src ||= f.dataset.page; else f.removeAttribute('src')"
"""A living page is loaded when it is opened, and rests when it is closed."""


@cache
def shown_of(name: str) -> dict[str, Path]:
    """The picture and the film of a model, as they are kept."""

    def draw(what: Callable[[Motion], str]) -> FunctionType:
        def write(target: Path) -> None:
            target.write_text(what(_motion(MEMBERS.get(name, name))), encoding="utf-8")

        return write

    plain = name.replace(":", "-")
    source = Path(films.__file__).read_text(encoding="utf-8")
    return {
        what: kept(f"{plain}-{what}.svg", [name, what, source], draw(maker))
        for what, maker in {"picture": films.still, "film": films.film}.items()
    }


@cache
def page_of(name: str) -> Path:
    """The living page of a model, as it is kept; what `svyaz page` writes of it."""
    member = MEMBERS.get(name, name)

    def write(target: Path) -> None:
        motion = _motion(member)
        target.write_text(living_page(motion, latex_lines(derive(motion.system)), model=member), encoding="utf-8")

    return kept(f"{name.replace(':', '-')}-living.html", [name], write)


@cache
def _motion(name: str) -> Motion:
    system = svyaz.load(name)
    held = "projection" if system.constraints and "stabilize" not in system.run else None
    return system.simulate(stabilize=held)


def library() -> str:
    """Every public name of the package with its docstring, under the headings of its stub."""
    stub = Path(svyaz.__file__).with_suffix(".pyi").read_text(encoding="utf-8")
    lines: list[str] = []
    for line in stub[stub.index("__version__") :].splitlines():
        if heading := re.match(r"# (.*)$", line):
            lines += [f"## {heading[1].capitalize()}", ""]
        elif entry := re.match(r"from \S+ import (\w+) as \1$", line):
            lines += _entry(entry[1])
    lines += ["## Further functions", "", "Docstrings above refer to them; each is found in its package.", ""]
    for named in sorted(_referred() - {f"svyaz.{name}" for name in svyaz.__all__}):
        lines += [f"### {named.removeprefix('svyaz.')}", "", "```{eval-rst}", f".. autofunction:: {named}", "```", ""]
    return "\n".join(lines)


def public_name(named: str) -> str:
    """``svyaz.sweep`` for ``svyaz.study.sweep``, where both are the same; else the name itself."""
    room, _, name = named.rpartition(".")
    if name in svyaz.__all__ and room.startswith("svyaz."):
        return f"svyaz.{name}"
    return named


def _referred() -> set[str]:
    """Functions of rooms to which the docstrings of public names and their members refer, by their public names."""
    texts = [inspect.getdoc(found) or "" for found in _documented()]
    named = {name for text in texts for name in re.findall(r":func:`(svyaz\.[\w.]+)`", text)}
    return {public_name(name) for name in named}


def _documented() -> Iterator[object]:
    for name in svyaz.__all__:
        found = getattr(svyaz, name)
        yield found
        if inspect.isclass(found) and not is_typeddict(found):
            yield from (value for key, value in inspect.getmembers(found) if not key.startswith("_"))


def _entry(name: str) -> list[str]:
    found = getattr(svyaz, name)
    words = [f".. autofunction:: svyaz.{name}"]
    if inspect.isclass(found):
        fault = issubclass(found, Exception)
        words = [f".. {'autoexception' if fault else 'autoclass'}:: svyaz.{name}"]
        words += [] if fault or is_typeddict(found) else ["   :members:", "   :inherited-members: Mapping, object"]
    return [f"### {name}", "", "```{eval-rst}", *words, "```", ""]


def run_words() -> str:
    """What each word of [run] is when neither the model nor the command says it, asked of the code."""
    bare = svyaz.System(name="bare", coordinates=["x"], kinetic="x'^2/2", potential="0")
    usual = options_for(bare, {})
    fixed = options_for(bare, {"step": 0.01})
    told = {
        "form": "`lagrange`; with constraints `multipliers`",
        "momenta": "the cyclic coordinates on which no input acts",
        "stabilize": "`auto`",
        "written": f"`{MOST_WRITTEN}`",
        "atol": "equal to `rtol`",
        "step": f"none: the error is controlled by `rtol` = {usual.rtol:g}",
        "rtol": f"`{usual.rtol:g}`; {'none' if fixed.rtol is None else fixed.rtol} where a `step` is given",
    }
    lines = ["| word | unless it is said |", "|---|---|"]
    for word in RUN:
        value = told.get(word) or getattr(usual, word)
        lines.append(f"| `{word}` | {'none' if value is None else value if word in told else f'`{value}`'} |")
    return "\n".join(lines)


TABLES: dict[str, Callable[..., str]] = {
    "all-commands": commands,
    "all-methods": methods,
    "all-names": library,
    "all-pictures": pictures,
    "films": running,
    "run-words": run_words,
    "walk": walk,
}
