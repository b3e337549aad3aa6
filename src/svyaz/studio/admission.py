"""Which connections are kept: those of strangers never take the place of others.

A connection is half-open until a request on it was let in. All users of this machine come from one address, so the address
alone does not tell them apart: half-open connections are few for each address, and the oldest makes room for the next.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from time import monotonic

from svyaz.studio.limits import Limits

GRACE = 0.2
"""Seconds in which a new connection may send its request before it makes room for another."""


@dataclass(eq=False)
class Guest:
    """A connection: from where, since when, whether a request was let in, and whether one is being answered."""

    client: str
    close: Callable[[], object]
    since: float
    known: bool = False
    busy: bool = False


class Admission:
    """The connections that are open, oldest first."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._guests: dict[Guest, None] = {}

    def __len__(self) -> int:
        return len(self._guests)

    def admit(self, client: str, close: Callable[[], object]) -> Guest | None:
        """A place for a connection; another may lose its own. None where all are busy."""
        now, places = monotonic(), self._limits.connections
        strangers = [guest for guest in self._guests if not guest.known]
        own = [guest for guest in strangers if guest.client == client]
        waiting = [*strangers, *(guest for guest in self._guests if guest.known and not guest.busy)]
        room = places - len(self._guests)
        surplus = own[: max(0, len(own) + 1 - self._limits.half_open)] or waiting[: max(0, 1 - room)]
        if room <= 0 and not surplus:
            return None
        for guest in surplus:
            if now - guest.since > GRACE or room <= -places:
                self.leave(guest)
                guest.close()
        guest = Guest(client, close, now)
        self._guests[guest] = None
        return guest

    def leave(self, guest: Guest) -> None:
        """The connection is closed."""
        self._guests.pop(guest, None)
