"""Commands that are run when pages are built, and what they leave, kept until the package or the page changes.

What is kept is known by its content: the command lines, the files beside them, every file of the package, and the
versions of the libraries that it stands on. Nothing is kept by date.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import metadata
from multiprocessing.util import Finalize
from pathlib import Path
from types import FunctionType

ROOT = Path(__file__).parents[2]
KEPT = ROOT / "out" / "docs" / "kept"
EXITS = re.compile(r"\s+# exits (\d+)$")


class CommandFailed(RuntimeError):
    """A command of a page does not end as the page says."""


@cache
def package() -> str:
    """A digest of the package and of the versions beneath it."""
    digest = hashlib.sha256(sys.version.encode())
    for file in sorted(f for f in (ROOT / "src").rglob("*") if f.is_file() and "__pycache__" not in f.parts):
        digest.update(str(file.relative_to(ROOT)).encode() + b"\0" + file.read_bytes() + b"\0")
    for name in ("numpy", "scipy", "sympy", "symengine", "llvmlite", "matplotlib", "pillow", "click", "rich"):
        digest.update(f"{name} {metadata.version(name)}\n".encode())
    return digest.hexdigest()


@cache
def shelf() -> Path:
    """The folder of what is kept for this state of the package; besides it stays that of the state before, no other."""
    found = KEPT / package()[:20]
    found.mkdir(parents=True, exist_ok=True)
    found.touch()
    older = sorted((f for f in KEPT.iterdir() if f != found), key=lambda f: f.stat().st_mtime, reverse=True)
    for left in older[1:]:
        shutil.rmtree(left) if left.is_dir() else left.unlink()
    return found


def kept(name: str, content: object, make: FunctionType) -> Path:
    """The file of this content; where there is none yet, ``make`` writes it."""
    maker = Path(make.__code__.co_filename).read_text(encoding="utf-8")
    key = hashlib.sha256(json.dumps([maker, content], sort_keys=True).encode()).hexdigest()[:20]
    file = shelf() / f"{Path(name).stem}-{key}{Path(name).suffix}"
    if not file.exists():
        with tempfile.TemporaryDirectory(dir=shelf()) as folder:
            made = Path(folder) / name
            make(made)
            made.replace(file)
    return file


def outputs(page: str, lines: Sequence[str], files: Mapping[str, str]) -> list[str]:
    """What each command line of a page prints, one after the other in a folder that holds these files.

    A line must exit with 0, or as it says itself: ``svyaz derive typo.toml # exits 2``.
    """

    def run(target: Path) -> None:
        with tempfile.TemporaryDirectory() as folder:
            for name, text in files.items():
                (Path(folder) / name).write_text(text, encoding="utf-8")
            target.write_text(json.dumps([_output(line, Path(folder), page) for line in lines]), encoding="utf-8")

    return list(json.loads(kept("commands.json", [list(lines), dict(files)], run).read_text(encoding="utf-8")))


def _output(line: str, folder: Path, page: str) -> str:
    marked = EXITS.search(line)
    expected = int(marked[1]) if marked else 0
    program, *arguments = shlex.split(line[: marked.start()] if marked else line)
    if program != "svyaz":
        raise CommandFailed(f"{page}: only svyaz is run in a page, not '{line}'")
    with tempfile.NamedTemporaryFile() as printed:
        request = {
            "arguments": arguments,
            "environment": {**os.environ, "COLUMNS": "100", "NO_COLOR": "1", "TERM": "dumb"},
            "folder": str(folder),
            "stdout": printed.name,
            "stderr": printed.name,
        }
        server = _command_server()
        assert server.stdin is not None
        assert server.stdout is not None
        print(json.dumps(request), file=server.stdin, flush=True)
        code = int(server.stdout.readline())
        text = Path(printed.name).read_text(encoding="utf-8")
    if code != expected:
        raise CommandFailed(f"{page}: '{line}' exits with {code}, not {expected}:\n{text}")
    return text.rstrip()


@cache
def _command_server() -> subprocess.Popen[str]:
    """A process that has loaded the package once and forks for every command line; it ends when its input does."""
    program = str(ROOT / "tests" / "tools" / "command_server.py")
    path = os.pathsep.join([str(ROOT / "src"), *filter(None, [os.environ.get("PYTHONPATH")])])
    server = subprocess.Popen(
        [sys.executable, program],
        env={**os.environ, "PYTHONPATH": path},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    Finalize(None, server.communicate, exitpriority=0)  # also at the end of a worker of Sphinx
    return server
