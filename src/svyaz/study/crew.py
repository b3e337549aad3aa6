"""Who does the work: threads around native loops, processes around whole simulations, or a cluster.

Each gives (numbers of members, answers) in the order in which shares are finished. Native loops hold no lock of the
interpreter, so threads keep all cores busy without copying anything; whole simulations spend their time in the
interpreter and need processes. A process or a cluster is sent nothing but text.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Event, local
from typing import Any

from svyaz.expr import ModelError, Problem
from svyaz.study.tasks import Work
from svyaz.study.worker import Answer, answers, answers_as_text

Share = range
Done = Iterator[tuple[Share, list[Answer]]]

SHARES = 24
"""So many shares a worker, so that all end at nearly the same time and progress is seen."""


def cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def shares_of(count: int, workers: int, largest: int) -> list[Share]:
    """Members in shares of equal size."""
    size = max(1, min(largest, -(-count // (workers * SHARES))))
    return [range(first, min(first + size, count)) for first in range(0, count, size)]


def done_here(work: Work) -> Done:
    """All in this process and thread, share after share."""
    for share in shares_of(len(work.members), 1, 256):
        yield share, answers(work.task, [work.members[k] for k in share])


def done_by_threads(work: Work, workers: int) -> Done:
    """Native work in threads of this process."""
    return _pooled(
        shares_of(len(work.members), workers, 256), workers, lambda share: _native(work, share), lambda: None
    )


def _native(work: Work, share: Share) -> list[Answer]:
    return answers(work.task, [work.members[k] for k in share])


def _pooled(
    shares: Sequence[Share], workers: int, do: Callable[[Share], list[Answer]], end: Callable[[], object]
) -> Done:
    """Shares in a pool of threads; when the one who asks goes away, what is not begun is dropped."""
    stop = Event()

    def unless_stopped(share: Share) -> list[Answer] | None:
        return None if stop.is_set() else do(share)

    with ThreadPoolExecutor(workers) as pool:
        futures: dict[Future[list[Answer] | None], Share] = {pool.submit(unless_stopped, s): s for s in shares}
        try:
            for future in as_completed(futures):
                found = future.result()
                if found is not None:
                    yield futures[future], found
        finally:
            stop.set()
            end()
            pool.shutdown(wait=True, cancel_futures=True)


def done_by_processes(work: Work, workers: int) -> Done:
    """Whole simulations in processes of their own, one for each worker."""
    task = json.dumps(work.task)
    mine = local()
    started: SimpleQueue[subprocess.Popen[str]] = SimpleQueue()

    def do(share: Share) -> list[Answer]:
        if not hasattr(mine, "process"):
            mine.process = _process()
            started.put(mine.process)
            _send(mine.process, task)
        _send(mine.process, json.dumps([work.members[k] for k in share]))
        line = mine.process.stdout.readline()
        if not line:
            return [_lost(mine.process) for _ in share]
        found: list[Answer] = json.loads(line)
        return found

    def end() -> None:
        while True:
            try:
                process = started.get_nowait()
            except Empty:
                return
            process.kill()
            process.communicate()

    return _pooled(shares_of(len(work.members), workers, 1), workers, do, end)


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
        text=True,
        env=environment,
        start_new_session=True,
    )


def _send(process: subprocess.Popen[str], line: str) -> None:
    assert process.stdin is not None, "a worker listens"
    try:
        process.stdin.write(line + "\n")
        process.stdin.flush()
    except BrokenPipeError:
        return  # that it has died is seen when it does not answer


def _lost(process: subprocess.Popen[str]) -> Answer:
    code = process.wait()
    return {"status": "lost", "reason": f"the worker ended with the code {code}", "measures": {}}


def done_by_cluster(work: Work, address: str) -> Done:
    """On a Dask cluster: the same text goes to its workers, which compile there."""
    with _client(address) as client:
        from dask.distributed import as_completed as finished

        count = len(work.members)
        total = max(1, sum(client.nthreads().values()))
        task = client.scatter(json.dumps(work.task), broadcast=True)
        shares = {}
        for share in shares_of(count, total, 256):
            text = json.dumps([work.members[k] for k in share])
            shares[client.submit(answers_as_text, task, text, pure=False)] = share
        try:
            for future in finished(shares):
                yield shares[future], json.loads(future.result())
        finally:
            client.cancel(list(shares))


@contextmanager
def _client(address: str) -> Iterator[Any]:
    try:
        from dask.distributed import Client
    except ImportError as error:
        hint = "install it with: pip install 'svyaz[cluster]'"
        raise ModelError([Problem("a sweep on a cluster needs dask.distributed", None, hint)]) from error
    try:
        client = Client(address, timeout="10s", set_as_default=False)
    except (OSError, ValueError) as error:
        raise ModelError([Problem(f"there is no Dask scheduler at '{address}': {error}")]) from error
    try:
        with client.as_current():
            yield client
    finally:
        client.close()
