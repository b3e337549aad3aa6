"""The modules of svyaz that a command passes, in the order in which it first enters them.

    python docs/building/walk.py simulate sleigh

A function that is called while modules are loaded is not counted: it belongs to no command.
"""

from __future__ import annotations

import contextlib
import io
import sys
from collections.abc import Sequence
from types import FrameType


def walk(arguments: Sequence[str]) -> list[str]:
    """Names without ``svyaz.`` in front; the command runs as it would on a terminal, and what it prints is left out."""
    from svyaz.cli import main

    order: dict[str, None] = {}
    loading = 0

    def watch(frame: FrameType, event: str, _: object) -> None:
        nonlocal loading
        if frame.f_code.co_name == "<module>" and event in ("call", "return"):
            loading += 1 if event == "call" else -1
        elif event == "call" and not loading and (name := frame.f_globals.get("__name__", "")).startswith("svyaz."):
            order.setdefault(name.removeprefix("svyaz."))

    sys.argv = ["svyaz", *arguments]
    with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):
        sys.setprofile(watch)
        try:
            main()
        finally:
            sys.setprofile(None)
    return list(order)


if __name__ == "__main__":
    print("\n".join(walk(sys.argv[1:])))
