"""The work on a Dask cluster: the same text goes to its workers, which compile there."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from time import monotonic, perf_counter, sleep
from typing import Any

from svyaz.expr import ModelError, Problem
from svyaz.study.answers import Answers, answers_from_text, losses
from svyaz.study.crew import PATIENCE, Done, Share, Shares
from svyaz.study.tasks import Work, data_as_text, task_as_text
from svyaz.study.worker import answer_text

LOOK = 0.02
"""Seconds between two looks at what is under way."""
SECONDS = 1.5
"""A share takes about so long from its sending to its answer, of which it waits half: each costs the scheduler some time."""
AHEAD = 2
"""So many shares a thread of the cluster are under way."""
NOBODY = 30.0
"""So many seconds a cluster may be without workers or without its scheduler."""


class ClusterLost(Exception):
    """There is nobody left who could do the rest; the text says why."""


def done_by_cluster(work: Work, numbers: Iterable[int], address: str) -> Done:
    """Shares as the cluster finishes them. A share whose worker dies comes again; without a scheduler, ClusterLost."""
    shares = Shares(numbers, SECONDS)
    with _client(address) as client:
        task = task_as_text(work.task)
        under_way: dict[Any, tuple[Share, float]] = {}
        watch = _Watch(client, address)
        while True:
            threads = watch.threads()
            while len(under_way) < max(1, AHEAD * threads) and (share := shares.take()):
                text = data_as_text(work.data(share))
                under_way[client.submit(answer_text, task, text, pure=False)] = share, perf_counter()
            if not under_way:
                return
            finished = [future for future in under_way if future.status != "pending"]
            for future in finished:
                share, begin = under_way.pop(future)
                found = _answers(future)
                if found is not None:
                    shares.answered(share, perf_counter() - begin)
                    yield share, found
                    continue
                watch.threads()  # where the scheduler is lost, its workers did not die of this share
                if given_up := shares.died(share):
                    yield given_up, losses("its workers on the cluster ended", len(given_up))
            if not finished:
                sleep(LOOK)


def _answers(future: Any) -> Answers | None:
    """The answers of a share, or None where they were lost with a worker."""
    if future.status != "finished":
        return None
    try:
        return answers_from_text(future.result(timeout=NOBODY))
    except Exception:  # whatever a cluster that falls apart raises
        return None


class _Watch:
    """Looks whether there is still a scheduler, with workers."""

    def __init__(self, client: Any, address: str) -> None:
        self._client, self._address = client, address
        self._known, self._asked = 1, 0.0
        self._alone: float | None = None

    def threads(self) -> int:
        """Threads of the workers there are, looked up now and then; ClusterLost when nobody is left."""
        if self._client.status != "running":
            raise ClusterLost(f"the Dask scheduler at {self._address} is gone")
        if monotonic() < self._asked + 1.0:
            return self._known
        self._asked = monotonic()
        with suppress(Exception):  # that the scheduler has gone meanwhile is seen the next time
            self._known = sum(self._client.nthreads().values())
        if self._known:
            self._alone = None
        elif self._alone is None:
            self._alone = monotonic()
        elif monotonic() > self._alone + NOBODY:
            raise ClusterLost(f"the Dask cluster at {self._address} has had no workers for {NOBODY:g} s")
        return self._known


@contextmanager
def _client(address: str) -> Iterator[Any]:
    try:
        from dask.distributed import Client
    except ImportError as error:
        hint = "install it with: pip install 'svyaz[cluster]'"
        raise ModelError([Problem("a sweep on a cluster needs dask.distributed", None, hint)]) from error
    with _quiet("distributed", "asyncio", "tornado"):
        try:
            client = Client(address, timeout="10s", set_as_default=False)
        except (OSError, ValueError) as error:
            raise ModelError([Problem(f"there is no Dask scheduler at '{address}': {error}")]) from error
        try:
            with client.as_current():
                yield client
        finally:
            with suppress(Exception):  # a cluster that has fallen apart cannot be left in order
                client.close(timeout=PATIENCE)


@contextmanager
def _quiet(*names: str) -> Iterator[None]:
    """Without the tracebacks that libraries log when others go away: what matters is told by us.

    They log some of them late, when what is left of a cluster that fell apart is cleared away: then they stay quiet.
    """
    known = [name for name in logging.root.manager.loggerDict if name.partition(".")[0] in names]  # each has a level
    loggers = [(logger, logger.level) for logger in map(logging.getLogger, known)]
    for logger, _ in loggers:
        logger.setLevel(logging.CRITICAL + 1)
    yield
    for logger, level in loggers:
        logger.setLevel(level)
