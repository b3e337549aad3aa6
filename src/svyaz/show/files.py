"""Files that appear whole or not at all, and targets that are checked before the work."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
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
