"""What tests of all rooms share."""

from __future__ import annotations

import gc
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
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


def pytest_configure() -> None:
    """Hear interrupts, and let programs that tests start hear them: jobs in the background of a shell are begun deaf."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_finish() -> None:
    """Let the garbage collector pass by what lives to the end, and come less often: programs are millions of tuples."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)


@pytest.fixture
def root() -> Path:
    """The root of the repository."""
    return ROOT


@pytest.fixture
def case() -> Callable[[str], Path]:
    """``case("bicycle")`` is the file of a model of ``tests/cases``, on which a version failed."""
    return lambda name: ROOT / "tests" / "cases" / f"{name}.toml"


Run = Callable[..., subprocess.CompletedProcess[str]]


ENVIRONMENT = {
    **os.environ,
    "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), *filter(None, [os.environ.get("PYTHONPATH")])]),
    "NO_COLOR": "1",
    "COLUMNS": "100",
}


@pytest.fixture
def python(tmp_path: Path) -> Run:
    """``python("-c", "…")`` runs Python with the package on its path in an empty folder and a process of its own."""

    def run(
        *arguments: str, env: Mapping[str, str] | None = None, **options: object
    ) -> subprocess.CompletedProcess[str]:
        settings = {"capture_output": True, "text": True, "timeout": 300, "cwd": tmp_path, **options}
        return subprocess.run([sys.executable, *arguments], env={**ENVIRONMENT, **(env or {})}, check=False, **settings)

    return run


@pytest.fixture(scope="session")
def command_server() -> Iterator[subprocess.Popen[str]]:
    """A process that has loaded the package and forks a child for every command line."""
    with subprocess.Popen(
        [sys.executable, str(ROOT / "tests" / "tools" / "command_server.py")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=ENVIRONMENT,
    ) as server:
        yield server
        assert server.stdin is not None
        server.stdin.close()


@pytest.fixture
def svyaz(command_server: subprocess.Popen[str], tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> Run:
    """``svyaz("derive", "sling")`` runs the program in an empty folder, as a person would."""
    printed = tmp_path_factory.mktemp("printed")

    def run(*arguments: str, env: Mapping[str, str] | None = None) -> subprocess.CompletedProcess[str]:
        request = {
            "arguments": arguments,
            "environment": {**ENVIRONMENT, **(env or {})},
            "folder": str(tmp_path),
            "stdout": str(printed / "stdout"),
            "stderr": str(printed / "stderr"),
        }
        assert command_server.stdin is not None
        assert command_server.stdout is not None
        print(json.dumps(request), file=command_server.stdin, flush=True)
        code = int(command_server.stdout.readline())
        out, err = ((printed / name).read_text(encoding="utf-8") for name in ("stdout", "stderr"))
        return subprocess.CompletedProcess(["svyaz", *arguments], code, out, err)

    return run


@dataclass(frozen=True)
class CopiedPackage:
    """A copy of the package, compiled loops included, into which new files are dropped."""

    folder: Path
    home: Path

    def drop(self, path: str, text: str) -> None:
        """Write a file that the package has not yet."""
        file = self.folder / "svyaz" / path
        assert not file.exists()
        file.write_text(text, encoding="utf-8")

    def python(self, *arguments: str, env: Mapping[str, str] | None = None) -> subprocess.CompletedProcess[str]:
        """Run Python with the copy on its path."""
        return subprocess.run(
            [sys.executable, *arguments],
            env={**ENVIRONMENT, "PYTHONPATH": str(self.folder), **(env or {})},
            cwd=self.home,
            capture_output=True,
            text=True,
            check=False,
        )

    def svyaz(self, *arguments: str, env: Mapping[str, str] | None = None) -> subprocess.CompletedProcess[str]:
        """Run the program of the copy."""
        return self.python("-m", "svyaz", *arguments, env=env)


@pytest.fixture
def copied_package(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> CopiedPackage:
    """``copied_package.drop("forms/named/mine.py", TEXT)``, then ``copied_package.svyaz("derive", …)``."""
    folder = tmp_path_factory.mktemp("copy")
    shutil.copytree(ROOT / "src", folder, dirs_exist_ok=True)
    return CopiedPackage(folder, tmp_path)


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
