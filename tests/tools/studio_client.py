"""Talks to a studio as its pages do, without a browser."""

from __future__ import annotations

import http.client
import json
import re
import signal
import socket
import struct
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self
from urllib.parse import parse_qs, urlsplit

import numpy as np


class RunningStudio:
    """A studio on a free port of this machine, started in a folder of its own."""

    def __init__(self, folder: Path, environment: Mapping[str, str], *options: str, limits: str = "") -> None:
        """By the command, or with ``limits`` (arguments of ``Limits``) of its own by the library."""
        self.folder = folder
        command = [sys.executable, "-m", "svyaz", "studio", "--port", "0", "--no-browser", *options]
        if limits:
            listen = f"run_studio(StudioSettings(port=0, limits=Limits({limits})), partial(print, flush=True))"
            script = f"from functools import partial; from svyaz.studio import *; {listen}"
            command = [sys.executable, "-c", script]
        self.errors = (folder.parent / f"{folder.name}.stderr").open("w+")
        self.process = subprocess.Popen(
            command, cwd=folder, env=dict(environment), stdout=subprocess.PIPE, stderr=self.errors, text=True
        )
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        found = re.search(r"http://\S+", line)
        assert found is not None, f"the studio did not start: {line} {self.told()}"
        self.address = found[0]
        split = urlsplit(self.address)
        assert split.hostname is not None
        assert split.port is not None
        self.host, self.port = split.hostname, split.port
        self.origin = f"http://{split.netloc}"
        token = parse_qs(split.query).get("token")
        self.cookie = f"svyaz-studio-{self.port}={token[0]}" if token else ""

    def told(self) -> str:
        """What it wrote to standard error."""
        self.errors.seek(0)
        return self.errors.read()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.process.send_signal(signal.SIGINT)
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise
        finally:
            self.errors.close()

    def request(
        self, method: str, path: str, body: bytes | str = b"", headers: Mapping[str, str] | None = None
    ) -> tuple[int, dict[str, str], bytes]:
        """Status, headers and body of an answer; the headers of a page and its cookie unless others are given."""
        connection = http.client.HTTPConnection(self.host, self.port, timeout=120)
        usual = {"Origin": self.origin, "Content-Type": "application/json"} if method == "POST" else {}
        wanted = {"Cookie": self.cookie, **usual, **(headers or {})}
        sent = {name: value for name, value in wanted.items() if value}
        try:
            connection.request(method, path, body or None, sent)
            answer = connection.getresponse()
            return answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read()
        finally:
            connection.close()

    def raw(self, data: bytes, seconds: float = 10.0) -> bytes:
        """What comes back when these bytes are sent."""
        with socket.create_connection((self.host, self.port), timeout=seconds) as connection:
            connection.sendall(data)
            found = b""
            try:
                while piece := connection.recv(65536):
                    found += piece
            except TimeoutError:
                pass
            return found

    def frames(self, question: Mapping[str, Any]) -> list[dict[str, Any]]:
        """All frames of the answer to a question, arrays put in."""
        status, _, data = self.request("POST", "/ask", json.dumps(question))
        assert status == 200, data
        return list(decoded(data))

    def ask(self, kind: str, model: str | Mapping[str, Any] | None = None, **more: Any) -> dict[str, Any]:
        """The answer to a question about a model of the gallery, or about a text."""
        stated = {"name": model} if isinstance(model, str) else model
        return self.frames({"ask": kind, "model": stated, **more})[-1]

    @property
    def alive(self) -> bool:
        """Does it still answer?"""
        answer = self.ask("simulate", "pendulum:1", options={"until": 0.1})
        return self.process.poll() is None and answer["answer"]["runs"][0]["record"]["status"] == "finished"


def decoded(data: bytes) -> Sequence[dict[str, Any]]:
    """The messages of frames."""
    found, place = [], 0
    while place < len(data):
        text, numbers = struct.unpack_from("<II", data, place)
        place += 8
        message = json.loads(data[place : place + text])
        place += text
        found.append(_revived(message, data[place : place + numbers]))
        place += numbers
    return found


def _revived(value: Any, numbers: bytes) -> Any:
    if isinstance(value, list):
        return [_revived(part, numbers) for part in value]
    if not isinstance(value, dict):
        return value
    if value.keys() == {"array", "shape"}:
        count = int(np.prod(value["shape"]))
        return np.frombuffer(numbers, "<f8", count, value["array"]).reshape(value["shape"])
    return {name: _revived(part, numbers) for name, part in value.items()}
