"""Members handed out in small shares: what is lost with a worker is little, and comes again."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable
from itertools import islice
from threading import Lock

Share = tuple[int, ...]

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
