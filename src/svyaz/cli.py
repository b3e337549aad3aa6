"""The ``svyaz`` program. What needs no library (help, version) is answered here at once; the rest goes to a command."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from svyaz import __version__
from svyaz.commands import overview


def main(arguments: Sequence[str] | None = None) -> int:
    """Run ``svyaz ARGUMENTS`` and return its exit code: 0 done, 1 negative answer, 2 bad input, 130 interrupted."""
    arguments = sys.argv[1:] if arguments is None else list(arguments)
    if "_SVYAZ_COMPLETE" not in os.environ:
        if arguments in ([], ["--help"], ["-h"]):
            print(overview())
            return 0
        if arguments == ["--version"]:
            print(f"svyaz {__version__}")
            return 0
    try:
        from svyaz.commands import run

        return run(arguments)
    except KeyboardInterrupt:  # between two lines of ours, or while a library was being loaded
        print("svyaz: interrupted", file=sys.stderr)
        return 130
