"""The access log, in the common log format of web servers: who asked for which path, and what came of it."""

from __future__ import annotations

import contextlib
import os
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import urlsplit

LONGEST = 200
"""Characters of a path that are logged."""


class AccessLog:
    """Lines at the end of a file that only its owner reads; no query is logged, and no token."""

    def __init__(self, path: Path, token: str) -> None:
        handle = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        self._file, self._token = os.fdopen(handle, "a", buffering=1, encoding="utf-8"), token

    def add(self, client: str, method: str, target: str, status: int, size: int) -> None:
        """A line for an answer; a full disk does not stop the studio."""
        try:
            path = urlsplit(target).path
        except ValueError:
            path = "-"
        if self._token:
            path = path.replace(self._token, "[token]")
        shown = path[:LONGEST].replace("\\", "%5C").replace('"', "%22")
        now = datetime.now(UTC)
        with contextlib.suppress(OSError):
            self._file.write(f'{client} - - [{now:%d/%b/%Y:%H:%M:%S %z}] "{method} {shown} HTTP/1.1" {status} {size}\n')
