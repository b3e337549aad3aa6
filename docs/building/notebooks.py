"""Notebooks of the tutorials for download: cells without outputs, from the text of a page."""

from __future__ import annotations

import hashlib
import json
import re

CELL = re.compile(r"^```\{code-cell\} python\n(.*?)^```\n?", re.DOTALL | re.MULTILINE)
HEADER = re.compile(r"\A---\nfile_format: mystnb\n.*?^---\n", re.DOTALL | re.MULTILINE)
LINK = re.compile(r"\[([^]]+)\]\((?!https?:)[^)]+\)")


def is_notebook(text: str) -> bool:
    """Does the page say of itself that it is one?"""
    return HEADER.match(text) is not None


def notebook(text: str) -> str:
    """The page as .ipynb; links to other pages, which a notebook does not have beside it, become their words."""
    pieces = CELL.split(HEADER.sub("", text))
    cells = [cell for k, piece in enumerate(pieces) if (cell := _cell(piece, code=bool(k % 2)))]
    for cell, number in zip(cells, range(len(cells)), strict=True):
        cell["id"] = hashlib.sha256(f"{number} {cell['source']}".encode()).hexdigest()[:8]
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    book = {"cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(book, indent=1, ensure_ascii=False) + "\n"


def _cell(piece: str, *, code: bool) -> dict[str, object] | None:
    source = piece.strip("\n") if code else LINK.sub(r"\1", piece).strip("\n")
    if not source:
        return None
    lines = source.splitlines(keepends=True)
    if code:
        return {"cell_type": "code", "metadata": {}, "source": lines, "outputs": [], "execution_count": None}
    return {"cell_type": "markdown", "metadata": {}, "source": lines}
