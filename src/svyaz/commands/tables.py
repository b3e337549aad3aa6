"""Tables on a terminal that never cut a number: words are folded where it is narrow, too many columns go into blocks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

WIDEST_HEAD = 24
"""The head of a column of numbers is folded beyond this width."""
FRAME = 3
"""Columns of the terminal that a cell takes beside its contents: two blanks and a line."""


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
