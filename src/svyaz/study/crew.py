"""Who does the work: threads around native loops, processes around whole simulations, or a cluster.

Each gives (numbers of members, answers) as shares are finished. Native loops hold no lock of the interpreter, so threads keep
all cores busy without copying anything; whole simulations spend their time in the interpreter and need processes. A process
or a cluster is sent nothing but text. A worker that dies is replaced, and what it had is given to others.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from queue import SimpleQueue
from threading import Lock, Thread
from time import perf_counter

from svyaz.study.answers import Answers, answers_from_text, lost
from svyaz.study.native_runs import Left, never
from svyaz.study.shares import Share, Shares
from svyaz.study.tasks import Work, data_as_text, task_as_text
from svyaz.study.worker import answers

Done = Iterator[tuple[Share, Answers]]
Found = tuple[Share, Answers] | BaseException | None
"""What a thread sends: a share with its answers, what it failed at, or that it has ended."""

PATIENCE = 0.5
"""So many seconds those who work are waited for when the work is left."""


def cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def done_here(work: Work, numbers: Iterable[int]) -> Done:
    """All in this process and thread, one after another."""
    for number in numbers:
        yield (number,), answers(work.task, work.data((number,)))


def done_by_threads(work: Work, numbers: Iterable[int], workers: int) -> Done:
    """Native work in threads of this process."""
    shares, stop = Shares(numbers), never()

    def run(put: Callable[[Found], None]) -> None:
        while share := shares.take():
            begin = perf_counter()
            found = answers(work.task, work.data(share), stop)
            shares.answered(share, perf_counter() - begin)
            put((share, found))

    def leave() -> None:
        stop[0] = 1

    return _gathered(run, workers, leave)


def _gathered(run: Callable[[Callable[[Found], None]], None], workers: int, leave: Callable[[], None]) -> Done:
    """What threads put; when the one who asks goes away, they are told to leave and are not waited for long."""
    queue: SimpleQueue[Found] = SimpleQueue()

    def guarded() -> None:
        try:
            run(queue.put)
        except Left:
            pass
        except BaseException as error:  # it is raised where the answers are waited for
            queue.put(error)
        finally:
            queue.put(None)

    threads = [Thread(target=guarded, daemon=True) for _ in range(workers)]
    for thread in threads:
        thread.start()
    try:
        ended = 0
        while ended < workers:
            found = queue.get()
            if isinstance(found, BaseException):
                raise found
            if found is None:
                ended += 1
            else:
                yield found
    finally:
        leave()
        end = perf_counter() + PATIENCE
        for thread in threads:
            thread.join(max(0.0, end - perf_counter()))


def done_by_processes(work: Work, numbers: Iterable[int], workers: int) -> Done:
    """Whole simulations in processes of their own, one for each worker at a time."""
    shares, crowd = Shares(numbers), _Crowd(task_as_text(work.task))

    def run(put: Callable[[Found], None]) -> None:
        process = None
        while share := shares.take():
            begin = perf_counter()
            process = crowd.started() if process is None else process
            line = _asked(process, data_as_text(work.data(share)))
            if line:
                shares.answered(share, perf_counter() - begin)
                put((share, answers_from_text(line)))
                continue
            reason = f"its worker ended with the code {crowd.ended(process)}"
            process = None
            if given_up := shares.died(share):
                put((given_up, lost(reason, len(given_up))))
        if process is not None:
            crowd.ended(process)

    return _gathered(run, workers, crowd.leave)


class _Crowd:
    """The processes that are alive; once all are to leave, none is started any more."""

    def __init__(self, task: str) -> None:
        self._task, self._leaving = task, False
        self._alive: set[subprocess.Popen[str]] = set()
        self._lock = Lock()

    def started(self) -> subprocess.Popen[str]:
        with self._lock:
            if self._leaving:
                raise Left
            process = _process()
            self._alive.add(process)
        _send(process, self._task)
        return process

    def ended(self, process: subprocess.Popen[str]) -> int:
        """Make sure that a process has ended; its code."""
        with self._lock:
            self._alive.discard(process)
            leaving = self._leaving
        code = _closed(process)
        if leaving:
            raise Left
        return code

    def leave(self) -> None:
        with self._lock:
            self._leaving = True
            for process in self._alive:
                process.kill()


def _process() -> subprocess.Popen[str]:
    """A worker in a session of its own: Ctrl-C is for the one who asked, who ends the worker."""
    import svyaz

    path = [str(Path(svyaz.__file__).parents[1]), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(path),
        "OPENBLAS_NUM_THREADS": "1",
        "OMP_NUM_THREADS": "1",
    }
    return subprocess.Popen(
        [sys.executable, "-m", "svyaz.study.worker"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        encoding="utf-8",
        env=environment,
        start_new_session=True,
    )


def _asked(process: subprocess.Popen[str], line: str) -> str:
    """What a worker answers to a line; nothing, or a torn line, where it has died."""
    assert process.stdout is not None, "a worker speaks"
    _send(process, line)
    answer = process.stdout.readline()
    return answer if answer.endswith("\n") else ""


def _send(process: subprocess.Popen[str], line: str) -> None:
    assert process.stdin is not None, "a worker listens"
    try:
        process.stdin.write(line + "\n")
        process.stdin.flush()
    except BrokenPipeError:
        return  # that it has died is seen when it does not answer


def _closed(process: subprocess.Popen[str]) -> int:
    """Let a worker go, which ends when nobody speaks to it; its code."""
    for pipe in (process.stdin, process.stdout):
        try:
            if pipe is not None:
                pipe.close()
        except BrokenPipeError:
            continue
    return process.wait()
