"""How much may be asked of the studio: sizes, times, numbers."""

from __future__ import annotations

import os
from dataclasses import dataclass, field


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@dataclass(frozen=True)
class Limits:
    """What is beyond these is refused with a word; the studio lives on.

    One client may hold ``half_open`` connections on which it has asked nothing that was let in, each for ``greeting`` seconds;
    of more the oldest is closed. ``seconds`` a question may take, ``long_seconds`` a study, a report or a table of
    publications. ``memory`` is that of one process, in bytes.
    """

    head: int = 16_384
    body: int = 1_000_000
    answer: int = 64_000_000
    connections: int = 128
    half_open: int = 32
    greeting: float = 5.0
    waiting: int = 24
    workers: int = field(default_factory=lambda: max(2, min(4, _cores())))
    seconds: float = 60.0
    long_seconds: float = 900.0
    patience: float = 20.0
    idle: float = 75.0
    memory: int = 6 << 30
    files: int = 500
    file_size: int = 400_000
