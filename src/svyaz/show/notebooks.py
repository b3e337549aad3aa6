"""How a notebook shows results: one piece of HTML each, alive without a network and in exported pages, and one line.

Formulas are MathML, which browsers set by themselves; pictures stand in the piece as data.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Mapping, Sequence
from html import escape
from io import BytesIO
from typing import TYPE_CHECKING

from svyaz.arrays import Array
from svyaz.extras import MissingLibrary
from svyaz.json_types import Json
from svyaz.show import katex
from svyaz.show.player import player_page
from svyaz.show.plots import save_to
from svyaz.show.results import as_json, html_of, is_written, latex_of, line_of
from svyaz.show.tables import notebook_table

if TYPE_CHECKING:
    import xarray
    from matplotlib.figure import Figure

    from svyaz.motion import Motion
    from svyaz.shown import Shown

_MATH = re.compile(r"<math.*</math>", re.DOTALL)
FRAME_WIDTH, FRAME_HEIGHT = 760, 560  # pixels; the height is that before the page is there
THEMED = (
    "this.style.colorScheme=(host=>host.jpThemeLight==='false'||host.theme==='dark'?'dark':"
    "host.jpThemeLight==='true'||host.theme==='light'?'light':'light dark')(document.body.dataset)"
)
"""JupyterLab, and the pages of the documentation, say of their body whether it is dark; elsewhere the system does."""
HIGHEST = 520  # pixels of a picture
LONGEST = 20_000  # characters of LaTeX; a longer formula is not worth the time to set it


def html(result: object) -> str:
    """A result as a piece of HTML: as its type is written there, else its formula, else the table of its JSON."""
    if is_written(html_of, result):
        return html_of(result)
    found = latex(result)
    return _table(as_json(result)) if found is None else formula(found)


def latex(result: object) -> str | None:
    """A result as a displayed formula, if it is one."""
    return latex_of(result) if is_written(latex_of, result) else None


def line(result: Shown) -> str:
    """A result in one line."""
    words = f" {line_of(result)}" if is_written(line_of, result) else ""
    return f"<{type(result).__name__}{words}>"


def formula(latex: str) -> str:
    """A displayed formula, ``$$…$$`` or without the signs, as MathML that scrolls where it is wide."""
    inside = latex.strip().removeprefix("$$").removesuffix("$$").strip()
    found = _MATH.search(katex.render(inside)) if len(inside) <= LONGEST else None
    shown = found[0] if found else f"<pre>{escape(inside)}</pre>"
    return f'<div style="overflow-x:auto;max-height:40em;padding:.3em 0">{shown}</div>'


def picture(figure: Figure, words: str) -> str:
    """A figure of matplotlib as an image; the words are for those who do not see it."""
    out = BytesIO()
    save_to(figure, out, ".png")
    data = base64.b64encode(out.getvalue()).decode("ascii")
    style = f"max-width:min(100%, {round(96 * figure.get_figwidth())}px);max-height:{HIGHEST}px"
    return f'<img src="data:image/png;base64,{data}" alt="{escape(words)}" style="{style}">'


def player_frame(motion: Motion) -> str:
    """The page of the player in a frame, which is dark or light as its surroundings are, and as high as the page is."""
    page = escape(player_page(motion), quote=True)
    fit = "this.style.height=this.contentDocument.documentElement.scrollHeight+'px'"
    style = f"width:100%;max-width:{FRAME_WIDTH}px;height:{FRAME_HEIGHT}px;border:0"
    return f'<iframe srcdoc="{page}" style="{style}" onload="{THEMED};{fit}" title="player"></iframe>'


def heading(name: str, *words: str) -> str:
    """The name of a system and what is found of it."""
    told = "; ".join(escape(word) for word in words if word)
    return f"<p><b>{escape(name)}</b>{': ' if told else ''}{told}</p>"


def details(title: str, inside: str) -> str:
    """What is opened by a click."""
    return f"<details><summary>{escape(title)}</summary>{inside}</details>" if inside else ""


def dataset_html(columns: Callable[[], xarray.Dataset]) -> str:
    """Columns as xarray shows them, or the word that it is not installed."""
    try:
        shown: str = columns()._repr_html_()
        return shown
    except MissingLibrary as missing:
        return f"<p>{escape(str(missing))}</p>"


def matrix_table(corner: str, rows: Sequence[str], columns: Sequence[str], matrix: Array) -> str:
    """Numbers with the names of their rows and columns."""
    lines = [[name, *map(float, row)] for name, row in zip(rows, matrix, strict=True)]
    return notebook_table([corner, *columns], lines)


def _table(record: Mapping[str, Json]) -> str:
    rows = "".join(f"<tr><td>{escape(name)}</td><td>{_entry(entry)}</td></tr>" for name, entry in record.items())
    return f"<table><tbody>{rows}</tbody></table>"


def _entry(entry: Json) -> str:
    if isinstance(entry, Mapping):
        return details(f"{len(entry)} entries", _table(entry)) if len(entry) > 8 else _table(entry) if entry else "–"
    if isinstance(entry, list):
        inside = "; ".join(_entry(part) for part in entry)
        return details(f"{len(entry)} entries", inside) if len(entry) > 8 else inside or "–"
    return f"{entry:.6g}" if isinstance(entry, float) else escape(str(entry))
