"""Tables for notebooks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape


def table(heads: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """An HTML table; numbers with six digits."""
    top = "".join(f"<th>{escape(head)}</th>" for head in heads)
    body = "".join("<tr>" + "".join(f"<td>{_cell(entry)}</td>" for entry in row) + "</tr>" for row in rows)
    return f"<table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>"


def _cell(entry: object) -> str:
    return f"{entry:.6g}" if isinstance(entry, float) else escape(str(entry))
