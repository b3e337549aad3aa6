"""What tests of all rooms share."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
OFFLINE = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
)


@pytest.fixture
def root() -> Path:
    """The root of the repository."""
    return ROOT


Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def python(tmp_path: Path) -> Run:
    """``python("-c", "…")`` runs Python with the package on its path in an empty folder and a process of its own."""
    path = os.pathsep.join([str(ROOT / "src"), *filter(None, [os.environ.get("PYTHONPATH")])])
    environment = {**os.environ, "PYTHONPATH": path, "NO_COLOR": "1", "COLUMNS": "100"}

    def run(
        *arguments: str, env: Mapping[str, str] | None = None, **options: object
    ) -> subprocess.CompletedProcess[str]:
        settings = {"capture_output": True, "text": True, "timeout": 300, "cwd": tmp_path, **options}
        return subprocess.run([sys.executable, *arguments], env={**environment, **(env or {})}, check=False, **settings)

    return run


@pytest.fixture
def svyaz(python: Run) -> Run:
    """``svyaz("derive", "sling")`` runs the program in an empty folder, as a person would."""
    return lambda *arguments, **options: python("-m", "svyaz", *arguments, **options)


@pytest.fixture
def browser(tmp_path: Path) -> Callable[..., str]:
    """``browser(page, "--dump-dom")`` opens a page in headless Chromium and returns what it prints."""
    executable = next(filter(None, map(shutil.which, BROWSERS)), None)
    if executable is None:
        pytest.skip("no Chromium on this machine: a page cannot be looked at")

    def look(page: Path, *arguments: str) -> str:
        profile = f"--user-data-dir={tmp_path / 'profile'}"
        command = [executable, *OFFLINE, profile, *arguments, page.resolve().as_uri()]
        return subprocess.run(command, capture_output=True, text=True, timeout=120, check=True).stdout

    return look
