"""A process that answers questions: ``python -m svyaz.studio.worker MEMORY`` reads frames and writes frames.

What libraries print goes to standard error. When the studio goes away, the process and what it started go too.
"""

from __future__ import annotations

import contextlib
import json
import os
import resource
import signal
import sys
from collections.abc import Mapping
from queue import SimpleQueue
from threading import Thread
from time import monotonic
from typing import BinaryIO

from svyaz.json_types import Json, Record
from svyaz.studio.frames import encode
from svyaz.worker_process import receive, take_output

PAUSE = 0.1
"""Seconds between two words about how far it is."""


class Teller:
    """Tells how far the work is, not too often."""

    def __init__(self, out: BinaryIO) -> None:
        self._out, self._last = out, 0.0

    def __call__(self, done: float, total: float = 1.0) -> None:
        now = monotonic()
        if now - self._last >= PAUSE:
            self._last = now
            self.send({"progress": {"done": float(done), "total": float(total)}})

    def send(self, message: Mapping[str, object]) -> None:
        """Send a frame."""
        self._out.write(encode(message))
        self._out.flush()


def main() -> None:
    """Answer until the studio goes away."""
    memory = int(sys.argv[1])
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_AS, (memory, resource.getrlimit(resource.RLIMIT_AS)[1]))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the studio
    out = take_output()
    questions: SimpleQueue[Record] = SimpleQueue()
    Thread(target=_listen, args=(sys.stdin.buffer, questions), daemon=True).start()
    from svyaz.studio.questions import load

    load()
    while True:
        answer_one(questions.get(), Teller(out))


def _listen(stream: BinaryIO, questions: SimpleQueue[Record]) -> None:
    while (question := receive(stream)) is not None:
        questions.put(json.loads(question))
    os.killpg(0, signal.SIGKILL)


def answer_one(question: Mapping[str, Json], tell: Teller) -> None:
    """Answer, or say why not: mistakes of the writer with their places, negative answers, faults of ours."""
    from svyaz.expr import ModelError
    from svyaz.extras import MissingLibrary
    from svyaz.library import NegativeAnswer
    from svyaz.studio.questions import find

    try:
        tell.send({"answer": find(question)(question, tell)})
    except ModelError as error:
        tell.send({"mistakes": [mistake_record(problem) for problem in error.problems]})
    except NegativeAnswer as negative:
        tell.send({"negative": {"reason": negative.reason, **negative.facts}})
    except MissingLibrary as missing:
        tell.send({"refused": {"reason": "library", "parts": [str(missing)]}})
    except MemoryError:
        tell.send({"refused": {"reason": "memory", "parts": []}})
    except RecursionError:
        tell.send({"refused": {"reason": "nested", "parts": []}})
    except Exception as error:  # the process lives on, and the fault is told
        import traceback

        traceback.print_exc()
        tell.send({"refused": {"reason": "fault", "parts": [f"{type(error).__name__}: {error}"[:500]]}})


def mistake_record(problem: object) -> Record:
    """A mistake with its place, for the line below which it is shown."""
    from svyaz.expr import Problem

    assert isinstance(problem, Problem)
    place = problem.place
    where: Record = {} if place is None else {"line": place.line, "column": place.column, "file": place.file}
    return {"message": problem.message, "hint": problem.hint, "meant": list(problem.meant), **where}


if __name__ == "__main__":
    main()
