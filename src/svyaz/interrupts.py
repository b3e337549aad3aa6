"""Ctrl-C on the command line: the end without a word until there is something to say, then an exception that none loses.

The first lines of the package let an interrupt end a process that is the command line, as the system does by itself.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Timer, current_thread, main_thread
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sys import UnraisableHookArgs

AGAIN = 0.01
"""Seconds after which an interrupt that was lost comes again: out of the callback that lost it."""


@contextmanager
def interrupts_answered() -> Iterator[None]:
    """Where an interrupt would end the process, let it raise KeyboardInterrupt instead, in the end even from callbacks.

    Python only prints what is raised in a callback (of garbage, of the import system, of a library) and goes on.
    """
    before, hook = signal.getsignal(signal.SIGINT), sys.unraisablehook
    if before is not signal.SIG_DFL or current_thread() is not main_thread():
        yield
        return

    def heard(lost: UnraisableHookArgs) -> None:
        if issubclass(lost.exc_type, KeyboardInterrupt):
            Timer(AGAIN, os.kill, [os.getpid(), signal.SIGINT]).start()
        else:
            hook(lost)

    sys.unraisablehook = heard
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        sys.unraisablehook = hook
