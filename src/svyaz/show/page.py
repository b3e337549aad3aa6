"""The frame of a self-contained HTML page: styles, scripts and pictures are inside, nothing is fetched."""

from __future__ import annotations

import functools
from html import escape
from importlib.resources import files

# The browser itself is told to refuse whatever does not stand in the page.
_POLICY = "default-src 'none'; img-src data:; font-src data:; style-src 'unsafe-inline'; script-src 'unsafe-inline'"


@functools.cache
def asset(name: str) -> str:
    """A style sheet or script of this package."""
    return files("svyaz.show").joinpath("assets", name).read_text(encoding="utf-8")


def page(title: str, body: str, styles: str = "", script: str = "") -> str:
    """A complete HTML document with the given contents of its main part."""
    ending = f"<script>\n{script}</script>\n" if script else ""
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>\n{asset('page.css')}{styles}</style>\n</head>\n"
        f"<body>\n<main>\n{body}</main>\n{ending}</body>\n</html>\n"
    )
