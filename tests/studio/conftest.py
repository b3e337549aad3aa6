"""A studio and a browser for all tests of this room."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from chromium import Browser, executable
from studio_client import RunningStudio

ROOT = Path(__file__).parent.parent.parent
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT / "src")}


@pytest.fixture(scope="session")
def studio(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningStudio]:
    """A studio on this machine, with an access log beside its folder."""
    folder = tmp_path_factory.mktemp("studio")
    with RunningStudio(folder, ENVIRONMENT, "--log", str(folder.parent / "access.log")) as running:
        yield running


@pytest.fixture(scope="session")
def chromium(tmp_path_factory: pytest.TempPathFactory, studio: RunningStudio) -> Iterator[Browser]:
    """Chromium, for all stories, once it has opened the address that the studio printed."""
    if executable() is None:
        pytest.skip("no Chromium on this machine: the studio cannot be looked at")
    with Browser(tmp_path_factory.mktemp("profile")) as browser:
        first = browser.open()
        first.go(studio.address)
        first.close()
        yield browser
