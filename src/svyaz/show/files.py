"""Targets that are checked before the work, and the frame of a self-contained page."""

from __future__ import annotations

import functools
import os
import tempfile
from collections.abc import Sequence
from html import escape
from importlib.resources import files
from pathlib import Path


def suffix_of(path: str | os.PathLike[str], allowed: Sequence[str], what: str) -> str:
    """The suffix of a file name, in lower case; ValueError with the possible ones for any other."""
    suffix = Path(path).suffix.lower()
    if suffix not in allowed:
        found = f"'{suffix}'" if suffix else "no suffix"
        raise ValueError(f"{what} can be written as {', '.join(allowed)}; '{os.fspath(path)}' has {found}")
    return suffix


def check_folder_of(path: str | os.PathLike[str]) -> None:
    """Raises OSError now when a file could not be written there later."""
    with tempfile.NamedTemporaryFile(dir=Path(path).parent):
        pass


# The browser itself is told to refuse whatever does not stand in the page.
_POLICY = "default-src 'none'; img-src data:; font-src data:; style-src 'unsafe-inline'; script-src 'unsafe-inline'"


@functools.cache
def asset(name: str) -> str:
    """A style sheet or script of this package."""
    return files("svyaz.show").joinpath("assets", name).read_text(encoding="utf-8")


def page(title: str, body: str, styles: str = "", script: str = "", kind: str = "") -> str:
    """A complete HTML document with the given contents of its main part; ``kind`` is the class of its body."""
    named = f' class="{kind}"' if kind else ""
    ending = f"<script>\n{script}</script>\n" if script else ""
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>\n{asset('page.css')}{styles}</style>\n</head>\n"
        f"<body{named}>\n<main>\n{body}</main>\n{ending}</body>\n</html>\n"
    )
