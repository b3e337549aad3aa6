"""Object code kept between runs.

A file holds the SHA-256 of what follows it, so that a damaged or half-written file is seen; it is read only when it is
a regular file of this user that nobody else may write. The cache may fail in any way without failing a run.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat
import tempfile
from pathlib import Path

LARGEST_FILE_COUNT = 2_000
"""When there are more files than this, the oldest half is removed."""
_DIGEST = 32


def cache_folder() -> Path:
    """``$SVYAZ_CACHE``, or ``svyaz`` in the user's cache folder."""
    own = os.environ.get("SVYAZ_CACHE")
    if own:
        return Path(own)
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path("~/.cache").expanduser()) / "svyaz"


def cache_key(*parts: str) -> str:
    """A file name for everything that object code depends on."""
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def read(key: str) -> bytes | None:
    """The kept bytes, or None when there are none that can be trusted."""
    try:
        descriptor = os.open(_path(key), os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0))
    except (OSError, RuntimeError):
        return None
    try:
        with open(descriptor, "rb") as file:
            if not _trusted(os.fstat(file.fileno())):
                return None
            content = file.read()
    except OSError:
        return None
    digest, kept = content[:_DIGEST], content[_DIGEST:]
    return kept if hashlib.sha256(kept).digest() == digest else None


def write(key: str, content: bytes) -> None:
    """Keep bytes: written beside and renamed, so that a reader sees all of them or none."""
    with contextlib.suppress(OSError, RuntimeError):
        path = _path(key)
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=".", suffix=".tmp")
        try:
            with open(descriptor, "wb") as file:
                file.write(hashlib.sha256(content).digest() + content)
            os.replace(temporary, path)
        except OSError:
            os.unlink(temporary)
            raise
        _prune(path.parent)


def _path(key: str) -> Path:
    return cache_folder() / f"{key}.code"


def _trusted(status: os.stat_result) -> bool:
    """A regular file of this user that no other may write."""
    own = not hasattr(os, "geteuid") or status.st_uid == os.geteuid()
    return own and stat.S_ISREG(status.st_mode) and not status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


def _prune(folder: Path) -> None:
    files = list(folder.glob("*.code"))
    if len(files) <= LARGEST_FILE_COUNT:
        return
    for path in sorted(files, key=lambda path: path.stat().st_mtime)[: len(files) // 2]:
        path.unlink(missing_ok=True)
