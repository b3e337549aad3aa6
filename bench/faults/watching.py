"""A study under way, to which things happen, and whether it came out as if nothing had."""

from __future__ import annotations

import gzip
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from bench.tools.jobs import Answer, environment
from bench.tools.rows import Row

STUDY = "study.zarr"
WAIT = 300.0
NATIVE = ("sleigh", "--method", "euler", "--step", "1e-4", "--vary", "stabilize=1:100:400")
"""Members in native loops, so many:"""
MEMBERS = 400
WHOLE = ("sling-hooked", "--stabilize", "off", "--until", "3", "--vary", "g=9:10:60")
"""Members that are simulations with phases of their own."""


class Unexpected(Exception):
    """It did not come out as it must; the message says what did."""


@contextmanager
def folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="faults-") as name:
        yield Path(name)


def started(model: Sequence[str], out: Path, *more: str, **how: object) -> subprocess.Popen[str]:
    """``svyaz sweep`` of a model into a folder."""
    command = [sys.executable, "-m", "svyaz", "sweep", *model, "--out", str(out), *more]
    return subprocess.Popen(  # type: ignore[call-overload,no-any-return]
        command, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **how
    )


def ended(process: subprocess.Popen[str], code: int, words: str = "") -> None:
    """Wait for its end, with this exit code and these words; never with a traceback."""
    output, errors = process.communicate(timeout=WAIT)
    if process.returncode != code or words not in errors or "Traceback" in errors:
        raise Unexpected(f"code {process.returncode} instead of {code}, with: {(errors or output).strip()[-300:]}")


def when_done(process: subprocess.Popen[str], out: Path, more: int) -> None:
    """Wait until the study has so many members more than now, or the program has ended."""
    begin, deadline = len(numbers(out)), time.monotonic() + WAIT
    while process.poll() is None and len(numbers(out)) <= begin + more:
        if time.monotonic() > deadline:
            raise Unexpected("no members come")
        time.sleep(0.05)


def killed(process: subprocess.Popen[str]) -> None:
    process.send_signal(signal.SIGKILL)
    process.wait()


def numbers(out: Path) -> set[int]:
    """Places in the chunks of a study whose members are done, by its folder as Zarr lays it down."""
    found: set[int] = set()
    for file in (out / STUDY / "status" / "c").glob("*"):
        if file.suffix != ".partial":
            codes = gzip.decompress(file.read_bytes())
            found |= {int(file.name) * len(codes) + k for k, code in enumerate(codes) if code}
    return found


def table(out: Path) -> str:
    """The table of a study."""
    return (out / "sweep.csv").read_text(encoding="utf-8")


def undisturbed(model: Sequence[str], place: Path) -> str:
    """The table of the same study when nothing happens."""
    ended(started(model, place / "undisturbed"), 0)
    return table(place / "undisturbed")


def resumed(model: Sequence[str], out: Path, expected: str) -> None:
    """Go on with a study; what comes out is as if nothing had happened."""
    ended(started(model, out, "--resume"), 0)
    if table(out) != expected:
        raise Unexpected("the rows differ from those of a study that nothing happened to")


def survived(cases: Sequence[Callable[[], object]]) -> Answer:
    """How many of the cases came out as they must, and what became of each other one."""
    found: Answer = {"cases": float(len(cases)), "good": 0.0}
    for number, case in enumerate(cases):
        try:
            case()
            found["good"] += 1
        except Unexpected as failure:
            found[f"case {number}: {failure}"] = 1.0
    return found


def row(name: str, answers: Sequence[Answer], note: str = "") -> Row:
    """The share of cases that came out as they must: all of them."""
    if not answers:
        return Row(name, float("nan"), float("nan"), float("nan"), "cases", "all", 1.0, note=note)
    good, cases = (sum(answer[key] for answer in answers) for key in ("good", "cases"))
    return Row(name, good, cases, good / cases, "cases", "all", 1.0, note=note)
