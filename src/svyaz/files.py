"""Files that appear whole or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO


@contextmanager
def whole(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Gives a temporary neighbour of ``path`` to write to; it takes the name ``path`` only when all went well."""
    target = Path(path)
    with with_path(target):
        handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.", suffix=target.suffix)
        os.close(handle)
        temporary = Path(name)
        try:
            yield temporary
            temporary.chmod(0o666 & ~_umask())
            temporary.replace(target)
        finally:
            temporary.unlink(missing_ok=True)


@contextmanager
def with_path(path: Path) -> Iterator[None]:
    """Errors of the system bear this name: of themselves those of a full disk have none."""
    try:
        yield
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from error


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


@contextmanager
def text_file(file: str | os.PathLike[str] | TextIO) -> Iterator[TextIO]:
    """Somewhere to write lines to: a stream as it is, a device or a pipe directly, a file in one piece."""
    if not isinstance(file, str | os.PathLike):
        yield file
        return
    path = Path(file)
    if path.exists() and not path.is_file():  # a device or a pipe is written to, not replaced
        with with_path(path), path.open("w", newline="", encoding="utf-8") as out:
            yield out
        return
    with whole(path.resolve()) as temporary, temporary.open("w", newline="", encoding="utf-8") as out:
        yield out
