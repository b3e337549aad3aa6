"""Machine code kept between runs.

A file begins with the SHA-256 of its key and of what follows, so that a damaged or half-written file, and one that was kept
under another key, is seen; nothing in it is unpickled. It is read only when it is a regular file of this user that nobody
else may write, in a folder of which the same is true. What cannot be trusted is made anew and takes its place. The cache
may fail in any way without failing a run.

An environment may bring code along that was made when it was set up, for every user of it: that is read and never written,
and may also belong to whom this package belongs, for they decide what runs here anyway.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat
import sys
import tempfile
import time
from collections.abc import Callable, Collection, Iterator
from pathlib import Path

LARGEST_FILE_COUNT = 2_000
"""When there are more files than this, the half that has not been used for the longest time is removed."""
RECENT = 60.0
"""The time of a file is that of its last use, to so many seconds."""
ABANDONED = 3600.0
"""After so many seconds a file that was being written is no longer: who wrote it was killed."""
_DIGEST = 32
# links are not followed, and a pipe in the place of a file does not make us wait
_READ = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH


def cache_folder() -> Path:
    """``$SVYAZ_CACHE``, or ``svyaz`` in the user's cache folder."""
    own = os.environ.get("SVYAZ_CACHE")
    if own:
        return Path(own)
    base = os.environ.get("XDG_CACHE_HOME", "")
    return (Path(base) if os.path.isabs(base) else Path("~/.cache").expanduser()) / "svyaz"


def _folders() -> Iterator[Path]:
    """Where code may be kept; without a home that can be written, in a folder of this user among temporary files."""
    with contextlib.suppress(RuntimeError):  # nobody knows where this user lives
        yield cache_folder()
    if not os.environ.get("SVYAZ_CACHE") and hasattr(os, "geteuid"):
        yield Path(tempfile.gettempdir()) / f"svyaz-{os.geteuid()}"


def installed_folder() -> Path:
    """``$SVYAZ_INSTALLED``, or ``share/svyaz`` in this environment of Python: what was compiled when it was set up."""
    own = os.environ.get("SVYAZ_INSTALLED")
    return Path(own) if own else Path(sys.prefix, "share", "svyaz")


def cache_key(*parts: str) -> str:
    """A file name for everything that machine code depends on."""
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def read(key: str) -> bytes | None:
    """The kept bytes, or None when there are none that can be trusted."""
    kept = next((kept for folder in _folders() if (kept := _read(folder, key)) is not None), None)
    return _read(installed_folder(), key, _installers()) if kept is None else kept


def _installers() -> Collection[int]:
    """Whose code runs here in any case: that of the owner of this file."""
    try:
        return (os.stat(__file__).st_uid,)
    except OSError:  # the package is in an archive
        return ()


def _read(folder: Path, key: str, others: Collection[int] = ()) -> bytes | None:
    try:
        if not _trusted_folder(folder, others):
            return None
        descriptor = os.open(_path(folder, key), _READ)
        with open(descriptor, "rb") as file:
            status = os.fstat(file.fileno())
            if not _trusted(status, stat.S_ISREG, others):
                return None
            content = file.read()
    except OSError:
        return None
    if not others and status.st_mtime < time.time() - RECENT:
        with contextlib.suppress(OSError):
            os.utime(_path(folder, key))
    digest, kept = content[:_DIGEST], content[_DIGEST:]
    return kept if _digest(key, kept) == digest else None


def write(key: str, content: bytes) -> None:
    """Keep bytes in the first folder that takes them."""
    for folder in _folders():
        with contextlib.suppress(OSError):
            _write(folder, key, content)
            return


def _write(folder: Path, key: str, content: bytes) -> None:
    """Written beside and renamed, so that a reader sees all of it or nothing."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if _own(os.lstat(folder)) and _own(os.stat(folder)) and os.stat(folder).st_mode & _OTHERS_WRITE:
        folder.chmod(0o700)
    if not _trusted_folder(folder):
        raise PermissionError("the folder belongs to somebody else")
    descriptor, temporary = tempfile.mkstemp(dir=folder, prefix=".", suffix=".tmp")
    try:
        with open(descriptor, "wb") as file:
            file.write(_digest(key, content) + content)
        os.replace(temporary, _path(folder, key))
    except OSError:
        os.unlink(temporary)
        raise
    _prune(folder)


def _digest(key: str, content: bytes) -> bytes:
    return hashlib.sha256(key.encode() + b"\0" + content).digest()


def _path(folder: Path, key: str) -> Path:
    return folder / f"{key}.code"


def _own(status: os.stat_result, others: Collection[int] = ()) -> bool:
    return not hasattr(os, "geteuid") or status.st_uid == os.geteuid() or status.st_uid in others


def _trusted_folder(folder: Path, others: Collection[int] = ()) -> bool:
    """A folder of this user, or of some others, that nobody else may write; it may be a link, if that is theirs too."""
    return _own(os.lstat(folder), others) and _trusted(os.stat(folder), stat.S_ISDIR, others)


def _trusted(status: os.stat_result, kind: Callable[[int], bool], others: Collection[int] = ()) -> bool:
    """A file of this user, or of some others, of the kind that is meant, that nobody else may write."""
    return _own(status, others) and kind(status.st_mode) and not status.st_mode & _OTHERS_WRITE


def _prune(folder: Path) -> None:
    if len(os.listdir(folder)) <= LARGEST_FILE_COUNT:  # asked at every writing: no file is looked at
        return
    files = list(folder.glob("*.code"))
    if len(files) <= LARGEST_FILE_COUNT:
        return
    for path in sorted(files, key=lambda path: path.stat().st_mtime)[: len(files) // 2]:
        path.unlink(missing_ok=True)
    for path in folder.glob(".*.tmp"):
        if path.stat().st_mtime < time.time() - ABANDONED:
            path.unlink(missing_ok=True)
