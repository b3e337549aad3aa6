"""Files by names that somebody wrote: model files, and those that models and commands name. All are found and read here.

A name counts from the folder of the file that names it. Who reads texts of strangers says ``within`` which folder the files
must lie; links are followed first, and what lies outside is refused before anything is known of it. Only regular files of
bearable size are read: a pipe may never end, nor a device.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path

from svyaz.expr import ModelError, Problem

MOST_BYTES = 20_000_000


def read_named(path: str | Path, what: str, *, within: str | Path | None = None, most: int = MOST_BYTES) -> str:
    """The text of a file; a ModelError says why it cannot be read. ``what`` names its kind in messages."""
    shown = f"'{path}'"
    try:
        raw = _bytes(Path(path) if within is None else _inside(path, Path(within)), most + 1)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise ModelError([Problem(f"cannot read the {what} {shown}: {reason}")]) from error
    if len(raw) > most:
        raise ModelError([Problem(f"cannot read the {what} {shown}: it is too large, more than {most} bytes")])
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw[: error.start].count(b"\n") + 1
        hint = "save it as UTF-8; it may be in an encoding of Windows, such as 1251"
        message = f"the {what} {shown} is not UTF-8 text: line {line}, byte {error.start}"
        raise ModelError([Problem(message, hint=hint)]) from error


def _inside(path: str | Path, folder: Path) -> Path:
    """Where the path leads to in the end, which is inside of the folder."""
    real, top = Path(os.path.realpath(path)), Path(os.path.realpath(folder))
    if top not in real.parents:
        raise ValueError("it lies outside of the folder from which files may be read")
    return real


def _bytes(path: Path, most: int) -> bytes:
    """The first bytes of a regular file; it is looked at before it is opened, and again when it is open."""
    _check_regular(os.stat(path))
    with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
        _check_regular(os.fstat(file.fileno()))
        return file.read(most)


def _check_regular(status: os.stat_result) -> None:
    if not stat.S_ISREG(status.st_mode):
        raise ValueError("it is no regular file")
