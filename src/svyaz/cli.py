"""The ``svyaz`` program. What needs no library (help, version) is answered here at once; the rest goes to a command."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from svyaz import __version__, streams
from svyaz.commands import overview
from svyaz.interrupts import interrupts_answered


def main(arguments: Sequence[str] | None = None) -> int:
    """Run ``svyaz ARGUMENTS`` and return its exit code: 0 done, 1 negative answer, 2 bad input, 70 a fault of svyaz, 130
    interrupted, 141 nobody reads the output any more.
    """
    try:
        with interrupts_answered():
            streams.prepare()
            return _run(list(map(streams.readable, sys.argv[1:])) if arguments is None else list(arguments))
    except OSError as error:  # of the two answers above
        streams.forget_output()
        print(f"standard output: {error.strerror}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:  # between two lines of ours, or while a library was being loaded
        print("svyaz: interrupted", file=sys.stderr)
        return 130


def _run(arguments: Sequence[str]) -> int:
    if "_SVYAZ_COMPLETE" not in os.environ and arguments in ([], ["--help"], ["-h"], ["--version"]):
        print(f"svyaz {__version__}" if arguments == ["--version"] else overview(), flush=True)
        return 0
    from svyaz.commands import run

    return run(arguments)
