"""The studio itself: a server on this machine that gives out its pages, files of one folder, and answers of its crew."""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import json
import logging
import signal
from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass, field
from functools import partial
from hashlib import sha256
from pathlib import Path
from urllib.parse import urlsplit

from svyaz.json_types import Json, Record
from svyaz.studio.access_log import AccessLog
from svyaz.studio.admission import Admission
from svyaz.studio.connection import Connection, Reply, Request
from svyaz.studio.crew import Crew
from svyaz.studio.folder import Folder
from svyaz.studio.guard import RefusedRequest, RequestGuard, from_other_site, random_token
from svyaz.studio.limits import Limits
from svyaz.studio.pages import SANDBOX, SIGNED_IN, SMALL_PAGE, WRITTEN, Served, site_files, typesetting

LONG = frozenset({"sweep", "published", "figures", "report", "pictures"})
"""Questions that may take long."""

JSON = {"content-type": "application/json; charset=utf-8"}


@dataclass(frozen=True)
class StudioSettings:
    """Where the studio listens and what it may touch; port 0 is any that is free.

    The token is a new one at every start; an empty one lets everybody on this machine in. Requests are logged on request.
    """

    host: str = "127.0.0.1"
    port: int = 8737
    token: str = field(default_factory=random_token)
    folder: Path = field(default_factory=Path.cwd)
    limits: Limits = field(default_factory=Limits)
    log: Path | None = None


def is_loopback(host: str) -> bool:
    """Does the address belong to this machine alone?"""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def run_studio(settings: StudioSettings, started: Callable[[str], object]) -> None:
    """Serve until interrupted; ``started`` is told the address when the studio listens."""
    if not is_loopback(settings.host) and not settings.token:
        raise ValueError("beyond this machine the studio wants a token")
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(_serve(settings, started))


async def _serve(settings: StudioSettings, started: Callable[[str], object]) -> None:
    studio = Studio(settings)
    server = await asyncio.start_server(studio.connected, settings.host, settings.port, limit=settings.limits.head * 4)
    port = server.sockets[0].getsockname()[1]
    studio.guard = RequestGuard(_names(settings.host, port), settings.token, port)
    loop, stop = asyncio.get_running_loop(), asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop.set)
    shown = f"[{settings.host}]" if ":" in settings.host else settings.host
    started(f"http://{shown}:{port}/" + (f"?token={settings.token}" if settings.token else ""))
    warming = asyncio.create_task(studio.crew.warm())
    await stop.wait()
    server.close()
    await warming
    for task in list(studio.tasks):
        task.cancel()
    await asyncio.gather(*studio.tasks, return_exceptions=True)
    await studio.crew.close()


def _names(host: str, port: int) -> frozenset[str]:
    """Under which names a browser may come: any of this machine, or the one that was given."""
    hosts = {"127.0.0.1", "localhost", "[::1]"} if is_loopback(host) else {"127.0.0.1", "localhost"}
    hosts.add(f"[{host}]" if ":" in host else host.lower())
    named = {f"{name}:{port}" for name in hosts}
    return frozenset(named | (hosts if port == 80 else set()))


BUSY = b"HTTP/1.1 503 Service Unavailable\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"


class Studio:
    """Answers requests; ``tasks`` are the connections that are open."""

    def __init__(self, settings: StudioSettings) -> None:
        self.limits = settings.limits
        self.folder = Folder(settings.folder, settings.limits)
        self.crew = Crew(settings.limits, settings.folder)
        self.guard = RequestGuard(frozenset(), settings.token)
        self.log = None if settings.log is None else AccessLog(settings.log, settings.token)
        self.admission = Admission(settings.limits)
        self.tasks: set[asyncio.Task[None]] = set()

    async def connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """A connection came: serve it, if there are not too many."""
        task = asyncio.current_task()
        assert task is not None
        client = str((writer.get_extra_info("peername") or ("-",))[0])

        def turn_away() -> None:
            self.record(client, "-", "-", 503, 0)
            writer.write(BUSY)
            writer.transport.abort()

        guest = self.admission.admit(client, turn_away)
        if guest is None:
            turn_away()
            return
        self.tasks.add(task)
        try:
            connection = Connection(reader, writer, self.limits, guest, partial(self.record, client))
            await connection.serve(self.check, self.answer)
        except asyncio.CancelledError:
            pass
        except Exception:  # one connection fails, the studio lives on
            logging.getLogger("svyaz.studio").exception("a request was not answered")
        finally:
            self.tasks.discard(task)
            self.admission.leave(guest)
            writer.close()
            with contextlib.suppress(ConnectionError, asyncio.CancelledError):
                await writer.wait_closed()

    def record(self, client: str, method: str, target: str, status: int, size: int) -> None:
        """Put an answer into the access log, if there is one."""
        if self.log is not None:
            self.log.add(client, method, target, status, size)

    def check(self, request: Request) -> None:
        """Refuse, from its head alone, what is not for us."""
        if request.method not in ("GET", "HEAD", "POST"):
            raise RefusedRequest(405, "the studio knows GET, HEAD and POST")
        if not request.target.startswith("/"):
            raise RefusedRequest(400, "an address begins with a stroke")
        if "upgrade" in request.headers:
            raise RefusedRequest(400, "the studio has no sockets: it answers requests")
        self.guard.check(request.method, request.target, request.headers)

    async def answer(self, request: Request) -> Reply:
        """Pages by GET, everything else by POST."""
        path = urlsplit(request.target).path
        if request.method != "POST":
            return self._page(request, path)
        question = _json(request.body)
        if path == "/ask":
            return self._ask(question, request.body)
        if path == "/files":
            return Reply(headers=JSON, body=_text({"files": self.folder.listed(), "folder": self.folder.path.name}))
        if path == "/open":
            return Reply(headers=JSON, body=_text({"text": self.folder.read(question.get("name"))}))
        if path == "/save":
            self.folder.write(question.get("name"), question.get("text"), over=question.get("over") is True)
            return Reply(headers=JSON, body=b"{}")
        raise RefusedRequest(404, "there is nothing of this name")

    def _page(self, request: Request, path: str) -> Reply:
        if self.guard.is_sign_in(request.method, request.target):  # from now on in a cookie, out of the address
            cookie = {"set-cookie": f"{self.guard.cookie}={self.guard.token}; HttpOnly; SameSite=Strict; Path=/"}
            if from_other_site(request.headers):
                return Reply(headers={**SMALL_PAGE, **cookie}, body=SIGNED_IN)
            return Reply(303, {"location": "/", **cookie})
        if path.startswith("/out/"):
            return self._result(path)
        found: Served | None = typesetting() if path == "/formulas.css" else site_files().get(path)
        if found is None:
            raise RefusedRequest(404, "there is nothing of this name")
        if request.headers.get("if-none-match") == f'"{found.mark}"':
            return Reply(304, {"etag": f'"{found.mark}"'})
        return Reply(headers={"content-type": found.kind, "etag": f'"{found.mark}"'}, body=found.data)

    def _result(self, path: str) -> Reply:
        """A report that was written, shut off from the studio."""
        file = self.folder.result(path)
        kind = WRITTEN.get(path.rpartition(".")[2])
        if file is None or kind is None or file.stat().st_size > self.limits.answer:
            raise RefusedRequest(404, "there is nothing of this name")
        return Reply(headers={"content-type": kind, "content-security-policy": SANDBOX}, body=file.read_bytes())

    def _ask(self, question: Record, body: bytes) -> Reply:
        kind = question.get("ask")
        if not isinstance(kind, str):
            raise RefusedRequest(400, "a question says what it asks")
        seconds = self.limits.long_seconds if kind in LONG else self.limits.seconds
        try:
            key = sha256(_text([question.get("model"), kind in LONG])).hexdigest()
        except RecursionError as error:
            raise RefusedRequest(400, "the question is nested too deeply") from error
        frames = self.crew.answer(body, key, seconds)
        return Reply(headers={"content-type": "application/octet-stream"}, pieces=_begun(frames))


async def _begun(frames: AsyncGenerator[bytes, None]) -> AsyncGenerator[bytes, None]:
    """The frames of an answer; a refusal before the first is a frame too, for the status is already sent."""
    from svyaz.studio.frames import encode

    try:
        async for frame in frames:
            yield frame
    except RefusedRequest as refusal:
        yield encode({"refused": {"reason": "busy", "parts": [refusal.reason]}})
    finally:
        await frames.aclose()


def _json(body: bytes) -> Record:
    try:
        found = json.loads(body or b"{}")
    except (ValueError, RecursionError) as error:
        raise RefusedRequest(400, "the question is not JSON") from error
    if not isinstance(found, dict):
        raise RefusedRequest(400, "a question is a table")
    return found


def _text(value: Json) -> bytes:
    return json.dumps(value, ensure_ascii=True, sort_keys=True).encode()
