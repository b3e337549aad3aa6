"""The page a command writes for people: sentences and tables in which no word, and so no number, is ever cut.

Where a table is wider than the terminal, its words are folded at blanks; then columns go into further tables below, with
the first columns repeated; at last every row becomes a list of its entries. A number that is longer than the terminal is
wide stands on a line that is longer: the page grows, the number stays.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
import textwrap
import unicodedata
from collections.abc import Iterable, Iterator, Sequence

from svyaz.streams import WRITTEN_OUT, prepare

Cell = str | tuple[str, str]
"""A text, or a text and its colour."""

FRAME = 3
"""Columns of the terminal that a cell takes beside its contents: two blanks and a line."""
FEW = 3
"""So few rows are rather listed than cut into several tables."""
NARROWEST = 20
"""No sentence is folded to less."""
SHEET = 120
"""Width of tables where there is no terminal; a table that needs more gets it."""
LINES = {"head": "┏━┳┓┃┃", "rule": "┡━╇┩", "row": "││", "foot": "└─┴┘"}
ASCII_LINES = {"head": "+--+||", "rule": "|-+|", "row": "||", "foot": "+--+"}
"""Of a table: left end, line, crossing and right end; before the contents of head and rows stand bars of their own."""

CODES = {"bold": "1", "italic": "3", "red": "31", "green": "32", "yellow": "33", "cyan": "36"}
"""Styles and colours as terminals know them (ECMA-48)."""

CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
_BREAKS = re.compile(r"\s+|(?<=[a-z]\|)(?=[a-z])")


def plain(text: str) -> str:
    """The text with control characters written out, so that a name in a model cannot move the cursor."""
    return CONTROL.sub(lambda found: f"\\x{ord(found[0]):02x}", text)


def encodable(text: str) -> str:
    """The text as the standard output will show it, so that what is measured is what is printed."""
    text = plain(text)
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    return text if text.isascii() else text.encode(encoding, WRITTEN_OUT).decode(encoding)


class Page:
    """Sentences and tables on the standard output, as wide as the terminal, or as ``COLUMNS`` says."""

    def __init__(self) -> None:
        prepare()
        self.columns = shutil.get_terminal_size((0, 0)).columns
        """0 where there is no terminal: sentences are not folded then."""
        self._styled = _shows_styles()

    def say(self, text: str, hang: int = 0, style: str = "") -> None:
        """Print sentences, folded at blanks; the lines that follow the first of each are moved in by ``hang``."""
        for line in encodable(text).splitlines() or [""]:
            self._print("\n".join(self._fold(line, hang)), style)

    def line(self, text: str) -> None:
        """Print a formula or a file name, which is copied whole: never folded."""
        self._print(encodable(text))

    def table(self, title: str, heads: Sequence[str], rows: Iterable[Sequence[Cell]], keys: int = 1) -> None:
        """Print a table; the first ``keys`` columns say what a row is and are repeated where columns go below."""
        rows = list(rows)
        columns = [_Column(head, [_text(row[k]) for row in rows]) for k, head in enumerate(heads)]
        styles = [[_style(cell) for cell in row] for row in rows]
        width = self.columns or max(SHEET, sum(c.least for c in columns) + FRAME * len(columns) + 1)
        blocks = _blocks(columns, keys, width - 1)
        if len(blocks) > 1 and (len(rows) <= FEW or any(" " in cell for column in columns for cell in column.cells)):
            blocks = [[]]
        for block in blocks:
            if title:
                self.say(title, style="italic")
            if block:
                self._print_frame(columns, styles, block, width - 1)
            else:
                self._print_stack(columns, styles)

    def _fold(self, line: str, hang: int) -> list[str]:
        if not self.columns:
            return [line]
        inset = " " * (hang or len(line) - len(line.lstrip()))
        return textwrap.wrap(
            line,
            max(self.columns, NARROWEST),
            subsequent_indent=inset,
            break_long_words=False,
            break_on_hyphens=False,
        ) or [""]

    def _print_frame(
        self, columns: Sequence[_Column], styles: Sequence[Sequence[str]], block: list[int], room: int
    ) -> None:
        widths = _shares([columns[k] for k in block], room)
        lines = LINES if encodable("┏") == "┏" else ASCII_LINES
        written = [_rule(lines["head"][:4], widths)]
        heads = [(fold(columns[k].head, w), "bold") for k, w in zip(block, widths, strict=True)]
        written += self._row(heads, widths, lines["head"][4:])
        written.append(_rule(lines["rule"], widths))
        for number, style in enumerate(styles):
            cells = [(fold(columns[k].cells[number], w), style[k]) for k, w in zip(block, widths, strict=True)]
            written += self._row(cells, widths, lines["row"])
        self._print("\n".join([*written, _rule(lines["foot"], widths)]))

    def _row(self, cells: Sequence[tuple[str, str]], widths: Sequence[int], bars: str) -> Iterator[str]:
        """The lines of a row: as many as its highest cell has."""
        parts = [(text.split("\n"), style) for text, style in cells]
        for number in range(max(len(lines) for lines, _ in parts)):
            line = []
            for (lines, style), width in zip(parts, widths, strict=True):
                text = lines[number] if number < len(lines) else ""
                line.append(f" {self._in_style(text + ' ' * (width - _length(text)), style)} ")
            yield bars[0] + bars[1].join(line) + bars[0]

    def _in_style(self, text: str, style: str) -> str:
        codes = ";".join(CODES[word] for word in style.split())
        return f"\x1b[{codes}m{text}\x1b[0m" if codes and self._styled else text

    def _print_stack(self, columns: Sequence[_Column], styles: Sequence[Sequence[str]]) -> None:
        """Every row as a list of its entries: where not even one column of numbers fits beside the names."""
        longest = max(len(column.head) for column in columns)
        for number, style in enumerate(styles):
            for k, column in enumerate(columns):
                if column.cells[number]:
                    head = column.head.ljust(longest) if longest + 1 < self.columns // 2 else column.head
                    self.say(f"{head} {column.cells[number]}".strip(), hang=2, style=style[k])
            self._print("")

    def _print(self, text: str, style: str = "") -> None:
        print("\n".join(self._in_style(line, style) for line in text.split("\n")))


def _shows_styles() -> bool:
    """Does the standard output show colours? ``NO_COLOR`` and ``FORCE_COLOR`` say so for terminals and pipes."""
    if os.environ.get("NO_COLOR"):
        return False
    return bool(os.environ.get("FORCE_COLOR")) or (
        sys.stdout.isatty() and os.environ.get("TERM") not in {"dumb", "unknown"}
    )


def _rule(signs: str, widths: Sequence[int]) -> str:
    """A horizontal line of a table: left end, line, crossing, right end."""
    return signs[0] + signs[2].join(signs[1] * (width + 2) for width in widths) + signs[3]


class _Column:
    """A column with the width it would like and the least it can do with: its longest word."""

    def __init__(self, head: str, cells: list[str]) -> None:
        self.head, self.cells = encodable(head), [encodable(cell) for cell in cells]
        texts = [self.head, *self.cells]
        self.wide = max(_length(line) for text in texts for line in text.split("\n"))
        self.least = max(_length(word) for text in texts for word in _BREAKS.split(text))


def fold(text: str, width: int) -> str:
    """The text in lines of at most ``width``, broken at blanks and after bars, never inside a word."""
    lines: list[str] = []
    for paragraph in text.split("\n"):
        line = ""
        for word, blank in _words(paragraph):
            longer = line + (" " if blank and line else "") + word
            if line and _length(longer) > width:
                lines.append(line)
                line = word
            else:
                line = longer
        lines.append(line)
    return "\n".join(lines)


def _words(text: str) -> Iterable[tuple[str, bool]]:
    """The words, each with whether a blank stood before it."""
    end = 0
    blank = False
    for found in _BREAKS.finditer(text):
        if found.start() > end:
            yield text[end : found.start()], blank
        end, blank = found.end(), bool(found[0])
    if end < len(text):
        yield text[end:], blank


def _blocks(columns: Sequence[_Column], keys: int, room: int) -> list[list[int]]:
    """Which columns stand in which table; one empty list where even one column beside the keys has no room."""
    first = list(range(min(keys, len(columns))))
    left = room - sum(columns[k].least + FRAME for k in first)
    others = range(len(first), len(columns))
    needs = {k: columns[k].least + FRAME for k in others}
    if left < max(needs.values(), default=0):
        return [[]]
    blocks = [list(first)]
    free = left
    for k, need in needs.items():
        if need > free:
            blocks.append(list(first))
            free = left
        blocks[-1].append(k)
        free -= need
    return blocks


def _shares(columns: Sequence[_Column], room: int) -> list[int]:
    """Widths of the columns: what each would like if there is room, else the least and a share of what is left."""
    left = room - sum(column.least + FRAME for column in columns)
    wishes = [column.wide - column.least for column in columns]
    wished = sum(wishes)
    if wished <= left:
        return [column.wide for column in columns]
    return [column.least + left * wish // wished for column, wish in zip(columns, wishes, strict=True)]


def _text(cell: Cell) -> str:
    return cell if isinstance(cell, str) else cell[0]


def _style(cell: Cell) -> str:
    return "" if isinstance(cell, str) else cell[1]


def _length(text: str) -> int:
    """Columns of the terminal that a text takes: signs of East Asia two, accents that stand on a letter none."""
    if text.isascii():
        return len(text)
    return sum(2 if unicodedata.east_asian_width(sign) in "WF" else not unicodedata.combining(sign) for sign in text)
