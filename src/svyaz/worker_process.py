"""Worker processes that answer requests by frames, each in a session of its own, which is ended with all that it started.

A frame is two lengths (32 bits each, little end first), a text, which is JSON, and bytes behind it.
"""

from __future__ import annotations

import asyncio
import os
import signal
import struct
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

HEAD = struct.Struct("<II")

PYTHON = (sys.executable, "-P", "-m")
"""Runs a module; nothing is imported from the folder of the user."""


def frame(text: bytes) -> bytes:
    """A frame of a text."""
    return HEAD.pack(len(text), 0) + text


def receive(stream: BinaryIO) -> bytes | None:
    """The text of the next frame of a stream; None at its end."""
    head = stream.read(HEAD.size)
    if len(head) < HEAD.size:
        return None
    text, data = HEAD.unpack(head)
    found = stream.read(text)
    stream.read(data)
    return found


def take_output() -> BinaryIO:
    """Standard output for frames alone: what is printed from now on goes to standard error."""
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    return out


class WorkerLost(Exception):
    """The process ended without an answer."""


@dataclass(eq=False)
class Worker:
    """A process, and the last question that it answered, by its key: its programs are still compiled there.

    ``head`` is that of a frame of which the rest was not waited for.
    """

    process: Process
    key: str = ""
    head: bytes = b""

    @classmethod
    async def start(
        cls, command: Sequence[str], folder: Path | None = None, environment: Mapping[str, str] | None = None
    ) -> Worker:
        """A worker in a session of its own: Ctrl-C is for the one who asked, who ends the worker."""
        process = await asyncio.create_subprocess_exec(
            *command, stdin=PIPE, stdout=PIPE, cwd=folder, env=environment, start_new_session=True, limit=1 << 20
        )
        return cls(process)

    def send(self, text: bytes) -> None:
        """Send a frame; that the process has ended is seen when it does not answer."""
        assert self.process.stdin is not None
        self.process.stdin.write(frame(text))

    async def frame(self) -> tuple[bytes, bool]:
        """The next frame, and whether it is the last of an answer."""
        assert self.process.stdout is not None
        try:
            if not self.head:
                self.head = await self.process.stdout.readexactly(HEAD.size)
            rest = await self.process.stdout.readexactly(sum(HEAD.unpack(self.head)))
        except (asyncio.IncompleteReadError, ConnectionError) as error:
            raise WorkerLost from error
        head, self.head = self.head, b""
        return head + rest, not rest.startswith(b'{"progress"')

    async def end(self) -> int:
        """End it and what it started; its code."""
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.process.pid, signal.SIGKILL)
        return await self.process.wait()
