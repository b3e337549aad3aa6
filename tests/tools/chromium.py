"""Drives headless Chromium by its own protocol over a pipe: opens pages, runs scripts in them, presses keys, takes pictures.

Nothing is installed for it and nothing listens on a port. ``Browser`` is one process, ``Tab`` a page in it.
"""

from __future__ import annotations

import base64
import json
import os
import select
import shutil
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

NAMES = ("chromium", "chromium-browser", "google-chrome")
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-extensions",
    "--disable-sync",
    "--hide-scrollbars",
    "--remote-debugging-pipe",
)
KEYS = {"Tab": 9, "Enter": 13, "Escape": 27, " ": 32, "End": 35, "Home": 36, "ArrowLeft": 37, "ArrowUp": 38}
KEYS |= {"ArrowRight": 39, "ArrowDown": 40, "Backspace": 8, "Delete": 46}
MODIFIERS = {"Alt": 1, "Control": 2, "Meta": 4, "Shift": 8}


def executable() -> str | None:
    """Where Chromium is; None where there is none."""
    return next(filter(None, map(shutil.which, NAMES)), None)


class Browser:
    """One Chromium with a profile of its own; ``with Browser(folder) as browser: browser.open(address)``."""

    def __init__(self, profile: Path, program: str | None = None) -> None:
        found = program or executable()
        assert found is not None, "there is no Chromium on this machine"
        command_read, self._write = os.pipe()
        self._read, answer_write = os.pipe()

        def place_pipes() -> None:
            os.dup2(command_read, 3)
            os.dup2(answer_write, 4)

        self.process = subprocess.Popen(
            [found, *FLAGS, f"--user-data-dir={profile}", "about:blank"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            preexec_fn=place_pipes,
            pass_fds=(3, 4),
        )
        os.close(command_read)
        os.close(answer_write)
        self._rest = b""
        self._number = 0
        self._answers: dict[int, dict[str, Any]] = {}
        self.tabs: dict[str, Tab] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def open(self, address: str = "about:blank", *, width: int = 1280, height: int = 860, dark: bool = False) -> Tab:
        """A new tab of this size that shows the address, loaded."""
        target = self.ask("Target.createTarget", {"url": "about:blank"})["targetId"]
        session = self.ask("Target.attachToTarget", {"targetId": target, "flatten": True})["sessionId"]
        tab = self.tabs[session] = Tab(self, session, target)
        for domain in ("Page", "Runtime", "Network", "Log"):
            tab.ask(f"{domain}.enable")
        tab.size(width, height)
        if dark:
            tab.ask("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": "dark"}]})
        if address != "about:blank":
            tab.go(address)
        return tab

    def ask(self, method: str, parameters: Mapping[str, Any] | None = None, session: str | None = None) -> Any:
        """A command of the protocol, and its answer."""
        self._number += 1
        number = self._number
        message = {"id": number, "method": method, "params": dict(parameters or {})}
        if session is not None:
            message["sessionId"] = session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self._write, data) :]
        end = time.monotonic() + 120
        while number not in self._answers:
            if not self.listen(end - time.monotonic()):
                raise TimeoutError(f"the browser does not answer {method}")
        answer = self._answers.pop(number)
        if "error" in answer:
            raise RuntimeError(f"{method}: {answer['error']['message']}")
        return answer.get("result", {})

    def listen(self, seconds: float) -> bool:
        """Take what the browser says within so many seconds; did it say anything?"""
        if not select.select([self._read], [], [], max(seconds, 0.0))[0]:
            return False
        data = os.read(self._read, 1 << 20)
        if not data:
            raise RuntimeError("the browser is gone")
        *messages, self._rest = (self._rest + data).split(b"\0")
        for text in messages:
            message = json.loads(text)
            if "id" in message:
                self._answers[message["id"]] = message
            elif message.get("sessionId") in self.tabs:
                self.tabs[message["sessionId"]].heard(message["method"], message["params"])
        return True

    def close(self) -> None:
        """End the process."""
        self.process.terminate()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        os.close(self._read)
        os.close(self._write)


class Tab:
    """A page: ``faults`` are errors that its scripts did not catch, ``requests`` the addresses that it asked for."""

    def __init__(self, browser: Browser, session: str, target: str) -> None:
        self.browser, self.session, self.target = browser, session, target
        self.faults: list[str] = []
        self.requests: list[str] = []
        self._loaded = False
        self._stream = ""

    def ask(self, method: str, parameters: Mapping[str, Any] | None = None) -> Any:
        """A command of the protocol to this page."""
        return self.browser.ask(method, parameters, self.session)

    def heard(self, method: str, told: Mapping[str, Any]) -> None:
        """Remember what the page reports."""
        if method == "Page.loadEventFired":
            self._loaded = True
        elif method == "Tracing.tracingComplete":
            self._stream = told["stream"]
        elif method == "Runtime.exceptionThrown":
            details = told["exceptionDetails"]
            self.faults.append(details.get("exception", {}).get("description") or details["text"])
        elif method == "Log.entryAdded" and told["entry"]["level"] == "error":
            self.faults.append(f"{told['entry']['text']} {told['entry'].get('url', '')}")
        elif method == "Network.requestWillBeSent":
            self.requests.append(told["request"]["url"])

    def go(self, address: str) -> None:
        """Open an address and wait until it is loaded."""
        self._loaded = False
        self.ask("Page.navigate", {"url": address})
        end = time.monotonic() + 60
        while not self._loaded:
            if not self.browser.listen(end - time.monotonic()):
                raise TimeoutError(f"{address} is not loaded")

    def size(self, width: int, height: int) -> None:
        """The size of the window in pixels."""
        self.ask(
            "Emulation.setDeviceMetricsOverride",
            {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False},
        )

    def run(self, script: str) -> Any:
        """The value of an expression of JavaScript, a promise awaited."""
        answer = self.ask("Runtime.evaluate", {"expression": script, "awaitPromise": True, "returnByValue": True})
        if "exceptionDetails" in answer:
            details = answer["exceptionDetails"]
            raise RuntimeError(details.get("exception", {}).get("description") or details["text"])
        return answer["result"].get("value")

    def wait(self, condition: str, seconds: float = 60.0) -> Any:
        """The value of an expression once it is true; a part of the page counts as true.

        Another page may come meanwhile.
        """
        end = time.monotonic() + seconds
        while True:
            try:
                value = self.run(f"(found => found instanceof Node || found)({condition})")
            except RuntimeError as error:
                if "navigated or closed" not in str(error):
                    raise
                value = None
            if value:
                return value
            if time.monotonic() > end:
                raise TimeoutError(f"not within {seconds} s: {condition}")
            self.browser.listen(0.05)

    def press(self, *keys: str) -> None:
        """Keys one after another, such as ``"Tab"`` or ``"Shift+Tab"``."""
        for key in keys:
            *held, name = key.split("+") if len(key) > 1 else [key]
            event: dict[str, Any] = {"key": name, "modifiers": sum(MODIFIERS[word] for word in held)}
            event |= {"windowsVirtualKeyCode": KEYS.get(name, ord(name[0].upper()))}
            text = {"Enter": "\r"}.get(name, name if len(name) == 1 else "")
            if text and not set(held) - {"Shift"}:
                event["text"] = text
            self.ask("Input.dispatchKeyEvent", {"type": "keyDown", **event})
            self.ask("Input.dispatchKeyEvent", {"type": "keyUp", **{k: v for k, v in event.items() if k != "text"}})

    def write(self, text: str) -> None:
        """Text where the cursor is."""
        self.ask("Input.insertText", {"text": text})

    def click(self, selector: str) -> None:
        """A click of the mouse in the middle of what a selector finds."""
        x, y = self.run(
            f"(() => {{const e = document.querySelector({json.dumps(selector)}); e.scrollIntoView({{block: 'center'}});"
            "const b = e.getBoundingClientRect(); return [b.x + b.width / 2, b.y + b.height / 2]})()"
        )
        self.drag([(x, y)])

    def drag(self, path: Sequence[tuple[float, float]]) -> None:
        """Press the mouse at the first point, move it along the others and let it go."""
        for k, (x, y) in enumerate([path[0], *path]):
            kind = ("mouseMoved", "mousePressed")[k] if k < 2 else "mouseMoved"
            button = "none" if k == 0 else "left"
            self.ask("Input.dispatchMouseEvent", {"type": kind, "x": x, "y": y, "button": button, "clickCount": 1})
        x, y = path[-1]
        self.ask(
            "Input.dispatchMouseEvent", {"type": "mouseReleased", "x": x, "y": y, "button": "left", "clickCount": 1}
        )

    def offline(self) -> None:
        """Cut the network off."""
        conditions = {"offline": True, "latency": 0, "downloadThroughput": -1, "uploadThroughput": -1}
        self.ask("Network.emulateNetworkConditions", conditions)

    def trace(
        self, seconds: float, categories: Sequence[str] = ("devtools.timeline", "toplevel")
    ) -> list[dict[str, Any]]:
        """What the browser does for so long: events as it records them, durations in microseconds."""
        how = {"transferMode": "ReturnAsStream", "traceConfig": {"includedCategories": list(categories)}}
        self._stream = ""
        self.ask("Tracing.start", how)
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.browser.listen(0.1)
        self.ask("Tracing.end")
        while not self._stream:
            self.browser.listen(1.0)
        text, over = "", False
        while not over:
            piece = self.ask("IO.read", {"handle": self._stream, "size": 1 << 20})
            text, over = text + piece["data"], piece.get("eof", False)
        found: list[dict[str, Any]] = json.loads(text)["traceEvents"]
        return found

    def picture(self, file: Path, *, whole: bool = False) -> Path:
        """A PNG of the window, or of the whole page."""
        data = self.ask("Page.captureScreenshot", {"format": "png", "captureBeyondViewport": whole})["data"]
        file.write_bytes(base64.b64decode(data))
        return file

    def close(self) -> None:
        """Close the page."""
        self.browser.ask("Target.closeTarget", {"targetId": self.target})
        self.browser.tabs.pop(self.session, None)
