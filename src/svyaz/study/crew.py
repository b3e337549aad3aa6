"""Who does the work: threads around native loops, processes around whole simulations, or a cluster.

Each gives (numbers of members, answers) as shares are finished. Native loops hold no lock of the interpreter, so threads keep
all cores busy without copying anything; whole simulations spend their time in the interpreter and need processes. A process
or a cluster is sent nothing but text. A worker that dies is replaced, and what it had is given to others. Members are
handed out in small shares: what is lost with a worker is little, and comes again.
"""

from __future__ import annotations

import asyncio
import os
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from itertools import islice
from pathlib import Path
from queue import SimpleQueue
from threading import Lock, Thread
from time import perf_counter

from svyaz.study.answers import Answers, answers_from_text, losses
from svyaz.study.native_runs import Left, never
from svyaz.study.tasks import Work, data_as_text, task_as_text
from svyaz.study.worker import answers
from svyaz.worker_process import HEAD, PYTHON, Worker, WorkerLost

Share = tuple[int, ...]
Done = Iterator[tuple[Share, Answers]]
Found = tuple[Share, Answers] | BaseException | None
"""What a thread sends: a share with its answers, what it failed at, or that it has ended."""

COMMAND = (*PYTHON, "svyaz.study.worker")

PATIENCE = 0.5
"""So many seconds those who work are waited for when the work is left."""

SECONDS = 0.2
"""A share is to take about so long: so much work is lost with a worker, and so often progress is told."""
LARGEST = 4096
TRIALS = 3
"""So often a member is given to a worker that then dies."""
STILLBORN = 6
"""When so many workers have died and none has ever answered, none will."""


class Shares:
    """The members that are still to be done, for workers in several threads."""

    def __init__(self, numbers: Iterable[int], seconds: float = SECONDS) -> None:
        self._waiting, self._seconds = iter(numbers), seconds
        self._again: deque[int] = deque()
        self._deaths: Counter[int] = Counter()
        self._size, self._answered, self._died = 1, False, 0
        self._lock = Lock()

    def take(self) -> Share:
        """Members for one worker; those that were lost come alone, after all others. Empty when there are no more."""
        with self._lock:
            if share := tuple(islice(self._waiting, self._size)):
                return share
            return (self._again.popleft(),) if self._again else ()

    def answered(self, share: Share, seconds: float) -> None:
        """A share has been answered: further ones are made as large as the time allows, at most twice as large."""
        with self._lock:
            fitting = self._seconds * len(share) / max(seconds, 1e-6)
            self._size = int(max(1, min(LARGEST, 2 * len(share), fitting)))
            self._answered = True

    def died(self, share: Share) -> Share:
        """A share was lost with its worker: it will come again, but for the members that are given up."""
        with self._lock:
            self._died += 1
            self._deaths.update(share)
            if not self._answered and self._died >= STILLBORN:
                given_up = (*share, *self._waiting, *self._again)
                self._again.clear()
                return given_up
            self._again.extend(number for number in share if self._deaths[number] < TRIALS)
            return tuple(number for number in share if self._deaths[number] >= TRIALS)


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

    return _gather(run, workers, leave)


def _gather(run: Callable[[Callable[[Found], None]], None], workers: int, leave: Callable[[], None]) -> Done:
    """What threads put; when the one who asks goes away, they are told to leave and are not waited for long."""
    queue: SimpleQueue[Found] = SimpleQueue()

    def work_guarded() -> None:
        try:
            run(queue.put)
        except Left:
            pass
        except BaseException as error:  # it is raised where the answers are waited for
            queue.put(error)
        finally:
            queue.put(None)

    threads = [Thread(target=work_guarded, daemon=True) for _ in range(workers)]
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
    shares, task = Shares(numbers), task_as_text(work.task).encode()
    loop = asyncio.new_event_loop()

    async def serve(put: Callable[[Found], None]) -> None:
        worker: Worker | None = None
        try:
            while share := shares.take():
                begin = perf_counter()
                if worker is None:
                    worker = await Worker.start(COMMAND, environment=_environment())
                    worker.send(task)
                worker.send(data_as_text(work.data(share)).encode())
                try:
                    frame, _ = await worker.frame()
                except WorkerLost:
                    reason, worker = f"its worker ended with the code {await worker.end()}", None
                    if given_up := shares.died(share):
                        put((given_up, losses(reason, len(given_up))))
                    continue
                shares.answered(share, perf_counter() - begin)
                put((share, answers_from_text(frame[HEAD.size :].decode())))
        finally:
            if worker is not None:
                await worker.end()

    async def serve_all(put: Callable[[Found], None]) -> None:
        await asyncio.gather(*(serve(put) for _ in range(workers)))

    def run(put: Callable[[Found], None]) -> None:
        with asyncio.Runner(loop_factory=lambda: loop) as runner, suppress(asyncio.CancelledError):
            runner.run(serve_all(put))

    def leave() -> None:
        with suppress(RuntimeError):  # it has ended
            loop.call_soon_threadsafe(lambda: [task.cancel() for task in asyncio.all_tasks(loop)])

    return _gather(run, 1, leave)


def _environment() -> dict[str, str]:
    import svyaz

    path = [str(Path(svyaz.__file__).parents[1]), *filter(None, [os.environ.get("PYTHONPATH")])]
    alone = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    return {**os.environ, **alone, "PYTHONPATH": os.pathsep.join(path)}
