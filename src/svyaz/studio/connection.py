"""HTTP/1.1 for one connection: requests are read by h11 within limits, answers are written whole or as they come."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus

import h11

from svyaz.studio.admission import Guest
from svyaz.studio.guard import UNAUTHORISED, RefusedRequest
from svyaz.studio.limits import Limits
from svyaz.studio.pages import HEADERS, SIGN_IN, SMALL_PAGE

PIECE = 65_536


@dataclass(frozen=True)
class Request:
    """What was asked; names of headers are small letters."""

    method: str
    target: str
    headers: Mapping[str, str]
    body: bytes = b""


@dataclass(frozen=True)
class Reply:
    """A status, headers and a body, which may come piece by piece."""

    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    pieces: AsyncGenerator[bytes, None] | None = None


Handler = Callable[[Request], Awaitable[Reply]]
Recorder = Callable[[str, str, int, int], object]
"""Notes a method, a target, a status and the size of a body."""

UNREAD = Request("-", "-", {})
"""Stands for a request of which the head was not read."""


class Gone(Exception):
    """The other side closed the connection."""


class Connection:
    """One connection, request after request."""

    def __init__(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, limits: Limits, guest: Guest, record: Recorder
    ) -> None:
        self._reader, self._writer, self._limits = reader, writer, limits
        self._guest, self._record = guest, record
        self._h11 = h11.Connection(h11.SERVER, max_incomplete_event_size=limits.head)
        self._request, self._sent = UNREAD, 0

    async def serve(self, check: Callable[[Request], None], handle: Handler) -> None:
        """Answer until one side has enough; ``check`` sees the head of a request before its body is read."""
        try:
            while True:
                request = await self._next_request(check)
                if request is None:
                    return
                self._guest.busy = True
                await self._send(await handle(request), request.method)
                self._guest.busy = False
                if self._h11.our_state is not h11.DONE or self._h11.their_state is not h11.DONE:
                    return
                self._h11.start_next_cycle()
        except h11.RemoteProtocolError as error:
            await self._refuse(RefusedRequest(error.error_status_hint or 400, "this is not a request of HTTP/1.1"))
        except RefusedRequest as refusal:
            await self._refuse(refusal)
        except TimeoutError:
            await self._refuse(RefusedRequest(408, "the request takes too long"))
        except (Gone, ConnectionError, h11.LocalProtocolError):
            pass

    async def _next_request(self, check: Callable[[Request], None]) -> Request | None:
        self._request = UNREAD
        async with asyncio.timeout(self._limits.idle if self._guest.known else self._limits.greeting):
            event = await self._event(first=True)
        if event is None:
            return None
        assert isinstance(event, h11.Request)
        names = {name.decode("latin-1"): value.decode("latin-1") for name, value in event.headers}
        request = self._request = Request(event.method.decode("latin-1"), event.target.decode("latin-1"), names)
        if len(names) != len(event.headers):
            raise RefusedRequest(400, "a header is given twice")
        check(request)
        self._guest.known = True
        length = names.get("content-length", "0")
        if "transfer-encoding" in names or not length.isdigit() or int(length) > self._limits.body:
            raise RefusedRequest(413, f"a question has at most {self._limits.body} bytes, and says how many")
        if "expect" in names:
            raise RefusedRequest(417, "questions are sent at once")
        body = bytearray()
        async with asyncio.timeout(self._limits.patience):
            while not isinstance(event := await self._event(), h11.EndOfMessage):
                assert isinstance(event, h11.Data)
                body += event.data
        return Request(request.method, request.target, names, bytes(body))

    async def _event(self, *, first: bool = False) -> h11.Event | None:
        """The next event of the protocol; None when the other side closed between requests."""
        begun = not first
        while True:
            event = self._h11.next_event()
            if event is h11.NEED_DATA:
                async with asyncio.timeout(self._limits.patience if begun else None):
                    data = await self._reader.read(PIECE)
                if not data and not begun:
                    return None
                if not data:
                    raise Gone
                begun = True
                self._h11.receive_data(data)
            elif event is h11.PAUSED or isinstance(event, h11.ConnectionClosed):
                return None
            else:
                assert isinstance(event, h11.Event)
                return event

    async def _send(self, answer: Reply, method: str) -> None:
        headers, self._sent = {**HEADERS, "cache-control": "no-cache", **answer.headers}, 0
        if answer.pieces is None:
            headers["content-length"] = str(len(answer.body))
        self._write(
            h11.Response(status_code=answer.status, headers=list(headers.items()), reason=_words(answer.status))
        )
        try:
            if answer.pieces is not None:
                await self._stream(answer.pieces)
            elif method != "HEAD":
                self._write(h11.Data(data=answer.body))
            self._write(h11.EndOfMessage())
            await self._drain()
        finally:
            self._record(self._request.method, self._request.target, answer.status, self._sent)

    async def _stream(self, pieces: AsyncGenerator[bytes, None]) -> None:
        """Send pieces as they come; when the other side goes away, close their source."""
        leaving = asyncio.ensure_future(self._reader.read(PIECE))
        try:
            while True:
                coming = asyncio.ensure_future(anext(pieces, b""))
                await asyncio.wait({coming, leaving}, return_when=asyncio.FIRST_COMPLETED)
                if leaving.done():
                    coming.cancel()
                    with contextlib.suppress(asyncio.CancelledError):
                        await coming
                    raise Gone
                piece = coming.result()
                if not piece:
                    return
                self._write(h11.Data(data=piece))
                await self._drain()
        finally:
            leaving.cancel()
            with contextlib.suppress(asyncio.CancelledError, ConnectionError):
                await leaving
            await pieces.aclose()

    async def _drain(self) -> None:
        async with asyncio.timeout(self._limits.patience):
            await self._writer.drain()

    def _write(self, event: h11.Event) -> None:
        data = self._h11.send(event)
        if isinstance(event, h11.Data):
            self._sent += len(event.data)
        if data:
            self._writer.write(data)

    async def _refuse(self, refusal: RefusedRequest) -> None:
        """Say why, and close."""
        if self._h11.our_state not in (h11.IDLE, h11.SEND_RESPONSE):
            return
        kind, text = {"content-type": "text/plain; charset=utf-8"}, f"{refusal.reason}\n".encode()
        if refusal.status == UNAUTHORISED and self._request.method == "GET":
            kind, text = SMALL_PAGE, SIGN_IN
        with contextlib.suppress(ConnectionError, h11.LocalProtocolError, TimeoutError):
            await self._send(Reply(refusal.status, {**kind, "connection": "close"}, text), "GET")


def _words(status: int) -> bytes:
    return HTTPStatus(status).phrase.encode()
