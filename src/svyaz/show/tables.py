"""Tables: HTML for pages and notebooks, and on a terminal, where a number is never cut: words are folded where it is narrow,
too many columns go into blocks.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING

from svyaz.expr import superscript
from svyaz.show.results import finite

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

TALL = 14  # a table of more rows scrolls in a box of its own
WIDEST_HEAD = 24
"""The head of a column of numbers is folded beyond this width."""
FRAME = 3
"""Columns of the terminal that a cell takes beside its contents: two blanks and a line."""


def number(value: float | None, digits: int = 6) -> str:
    """A number for people: so many significant digits, a real minus, powers of ten written out; a dash for none."""
    if value is None or math.isnan(value):
        return "–"
    mantissa, _, exponent = f"{value + 0.0:.{digits}g}".partition("e")
    mantissa = mantissa.replace("-", "−").replace("inf", "∞")
    return f"{mantissa} × 10{superscript(int(exponent))}" if exponent else mantissa


def table(title: str, heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table with a caption; the cells are ready HTML, the first of each row is its head; ``heads`` may be empty."""
    head = "".join(f'<th scope="col">{escape(text)}</th>' for text in heads)
    head = f"<thead><tr>{head}</tr></thead>" if head else ""
    body = "".join(
        f'<tr><th scope="row">{row[0]}</th>' + "".join(f"<td>{cell}</td>" for cell in row[1:]) + "</tr>\n"
        for row in rows
    )
    box = "table tall card" if len(rows) > TALL else "table card"
    return (
        f'<div class="{box}" tabindex="0" role="region" aria-label="{escape(title)}">'
        f"<table><caption>{escape(title)}</caption>{head}<tbody>\n{body}</tbody></table></div>\n"
    )


def rows_table(title: str, heads: Sequence[str], entries: Mapping[str, Sequence[float]], digits: int) -> str:
    """A table with a row for each entry and a column for each of its numbers."""
    rows = [[escape(name), *(number(finite(x), digits) for x in entry)] for name, entry in entries.items()]
    return table(title, heads, rows)


def notebook_table(heads: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A plain table; numbers with six digits."""
    top = "".join(f"<th>{escape(head)}</th>" for head in heads)
    body = "".join("<tr>" + "".join(f"<td>{_cell(entry)}</td>" for entry in row) + "</tr>" for row in rows)
    return f"<table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>"


def _cell(entry: object) -> str:
    return f"{entry:.6g}" if isinstance(entry, float) else escape(str(entry))


def table_of(title: str, columns: Mapping[str, bool]) -> Table:
    """An empty table with these heads; where the value is true the column holds numbers, which keep their width."""
    from rich.table import Table

    table = Table(title=title, title_justify="left")
    for head, of_numbers in columns.items():
        table.add_column(head, no_wrap=of_numbers, overflow="fold")
    return table


def print_in_blocks(
    console: Console, title: str, head: str, names: Sequence[str], columns: Mapping[str, Sequence[str]]
) -> None:
    """A row for each name, a column of numbers for each head; columns that do not fit follow in a table below."""
    from rich.table import Table

    widths = {key: max((min(len(key), WIDEST_HEAD), *map(len, cells))) + FRAME for key, cells in columns.items()}
    first = max(map(len, (head, *names))) + FRAME + 1
    for block in _blocks(widths, console.width - first):
        table = Table(title=title, title_justify="left")
        table.add_column(head, overflow="fold")
        for key in block:
            table.add_column(key, overflow="fold", min_width=widths[key] - FRAME, max_width=widths[key] - FRAME)
        for k, name in enumerate(names):
            table.add_row(name, *(columns[key][k] for key in block))
        console.print(table)


def _blocks(widths: Mapping[str, int], room: int) -> list[list[str]]:
    """The columns in their order, as many at a time as there is room for, at least one."""
    blocks: list[list[str]] = []
    left = 0
    for key, width in widths.items():
        if not blocks or width > left:
            blocks.append([])
            left = room
        blocks[-1].append(key)
        left -= width
    return blocks
