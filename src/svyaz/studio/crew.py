"""The processes in which questions are answered: few, kept warm, ended when who asked has gone or time is up.

A process gets a frame with the question and sends frames back: how far it is, then the answer. What it sends goes to the
browser as it is. A process that is ended takes those it started with it.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from pathlib import Path

from svyaz.studio.frames import encode
from svyaz.studio.guard import RefusedRequest
from svyaz.studio.limits import Limits
from svyaz.worker_process import PYTHON, Worker, WorkerLost

GRACE = 0.7
"""Seconds in which a short question that nobody waits for any more may still be finished: to start a process takes longer."""


class Crew:
    """At most ``limits.workers`` processes; so many more questions may wait."""

    def __init__(self, limits: Limits, folder: Path) -> None:
        self.limits, self.folder = limits, folder
        self._idle: list[Worker] = []
        self._all: set[Worker] = set()
        self._slots = asyncio.Semaphore(limits.workers)
        self._waiting = 0
        self._settling: set[asyncio.Task[None]] = set()

    @property
    def busy(self) -> int:
        """How many processes work."""
        return len(self._all) - len(self._idle)

    async def warm(self) -> None:
        """Have one process ready."""
        self._idle.append(await self._started())

    async def answer(self, question: bytes, key: str, seconds: float) -> AsyncGenerator[bytes, None]:
        """The frames of an answer to a question, which is JSON. Closing the generator ends the work."""
        if self._waiting >= self.limits.waiting:
            raise RefusedRequest(503, "too many questions are waiting; try again when some are answered")
        self._waiting += 1
        try:
            await self._slots.acquire()
        finally:
            self._waiting -= 1
        worker: Worker | None = None
        finished = False
        try:
            worker = await self._taken(key)
            end = asyncio.get_running_loop().time() + seconds
            worker.send(question)
            sent = 0
            while not finished:
                left = end - asyncio.get_running_loop().time()
                frame, finished = await asyncio.wait_for(worker.frame(), max(left, 0.001))
                sent += len(frame)
                if sent > self.limits.answer:
                    finished = False
                    yield encode({"refused": {"reason": "too long", "parts": [str(self.limits.answer)]}})
                    return
                yield frame
        except TimeoutError:
            yield encode({"refused": {"reason": "time", "parts": [f"{seconds:g}"]}})
        except WorkerLost:
            yield encode({"refused": {"reason": "lost", "parts": []}})
        finally:
            self._leave(worker, finished=finished, grace=GRACE if seconds <= self.limits.seconds else 0.0)

    def _leave(self, worker: Worker | None, *, finished: bool, grace: float) -> None:
        if worker is None or finished:
            if worker is not None:
                self._idle.append(worker)
            self._slots.release()
            return
        task = asyncio.create_task(self._settle(worker, grace))
        self._settling.add(task)
        task.add_done_callback(self._settling.discard)

    async def _settle(self, worker: Worker, grace: float) -> None:
        """Nobody waits for the answer: it may come within a moment, else the process is ended."""
        try:
            async with asyncio.timeout(grace):
                while not (await worker.frame())[1]:
                    pass
            self._idle.append(worker)
        except (TimeoutError, WorkerLost):
            self._all.discard(worker)
            await worker.end()
        finally:
            self._slots.release()

    async def _taken(self, key: str) -> Worker:
        """A process that is free, the one that knows the question if there is one."""
        self._idle = [worker for worker in self._idle if worker.process.returncode is None]
        self._all = {worker for worker in self._all if worker.process.returncode is None}
        known = next((worker for worker in self._idle if worker.key == key), None)
        worker = known or next(iter(self._idle), None)
        if worker is None:
            worker = await self._started()
        else:
            self._idle.remove(worker)
        worker.key = key
        return worker

    async def _started(self) -> Worker:
        worker = await Worker.start((*PYTHON, "svyaz.studio.worker", str(self.limits.memory)), self.folder)
        self._all.add(worker)
        return worker

    async def close(self) -> None:
        """End all processes."""
        await asyncio.gather(*(worker.end() for worker in self._all))
