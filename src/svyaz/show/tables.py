"""Tables in HTML, for pages and notebooks."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from html import escape

from svyaz.expr import superscript
from svyaz.show.results import finite

TALL = 14  # a table of more rows scrolls in a box of its own


def number(value: float | None, digits: int = 6) -> str:
    """A number for people: so many significant digits, a real minus, powers of ten written out; a dash for none."""
    if value is None or math.isnan(value):
        return "–"
    mantissa, _, exponent = f"{value + 0.0:.{digits}g}".partition("e")
    mantissa = mantissa.replace("-", "−").replace("inf", "∞")
    return f"{mantissa} × 10{superscript(int(exponent))}" if exponent else mantissa


def table(title: str, heads: Sequence[str], rows: Sequence[Sequence[str]], words: str = "") -> str:
    """A table with a caption and words that explain it; the cells are ready HTML, the first of each row is its head.

    ``heads`` may be empty.
    """
    told = f'<span class="quiet">{escape(words)}</span>' if words else ""
    head = "".join(f'<th scope="col">{escape(text)}</th>' for text in heads)
    head = f"<thead><tr>{head}</tr></thead>" if head else ""
    body = "".join(
        f'<tr><th scope="row">{row[0]}</th>' + "".join(f"<td>{cell}</td>" for cell in row[1:]) + "</tr>\n"
        for row in rows
    )
    box = "table tall card" if len(rows) > TALL else "table card"
    return (
        f'<div class="{box}" tabindex="0" role="region" aria-label="{escape(title)}">'
        f"<table><caption><span>{escape(title)}</span>{told}</caption>{head}<tbody>\n{body}</tbody></table></div>\n"
    )


def rows_table(
    title: str, heads: Sequence[str], entries: Mapping[str, Sequence[float]], digits: int, words: str = ""
) -> str:
    """A table with a row for each entry and a column for each of its numbers."""
    rows = [[escape(name), *(number(finite(x), digits) for x in entry)] for name, entry in entries.items()]
    return table(title, heads, rows, words)


def notebook_table(heads: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A plain table; numbers with six digits."""
    top = "".join(f"<th>{escape(head)}</th>" for head in heads)
    body = "".join("<tr>" + "".join(f"<td>{_cell(entry)}</td>" for entry in row) + "</tr>" for row in rows)
    return f"<table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>"


def _cell(entry: object) -> str:
    return f"{entry:.6g}" if isinstance(entry, float) else escape(str(entry))
