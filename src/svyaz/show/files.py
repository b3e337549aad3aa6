"""Files that appear whole or not at all, targets that are checked before the work, and the frame of a self-contained page."""

from __future__ import annotations

import functools
import os
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from html import escape
from importlib.resources import files
from pathlib import Path


@contextmanager
def whole(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Gives a temporary neighbour of ``path`` to write to; it takes the name ``path`` only when all went well."""
    target = Path(path)
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.", suffix=target.suffix)
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        temporary.chmod(0o666 & ~_umask())
        temporary.replace(target)
    finally:
        temporary.unlink(missing_ok=True)


def _umask() -> int:
    """The permissions this process withholds; they can only be read by setting them."""
    mask = os.umask(0o022)
    os.umask(mask)
    return mask


def write_text(path: str | os.PathLike[str], text: str) -> Path:
    """Writes a text file in one piece."""
    with whole(path) as temporary:
        temporary.write_text(text, encoding="utf-8")
    return Path(path)


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
