"""A study under way, to which things happen, and whether it came out as if nothing had."""

from __future__ import annotations

import json
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

ROWS = "sweep.rows"
WAIT = 300.0
NATIVE = ("sleigh", "--method", "euler", "--step", "1e-4", "--vary", "stabilize=1:100:400")
"""Members in native loops."""
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


def when_rows(process: subprocess.Popen[str], file: Path, more: int) -> None:
    """Wait until the file of rows has so many bytes more than now, or the program has ended."""
    begin = file.stat().st_size if file.exists() else 0
    deadline = time.monotonic() + WAIT
    while process.poll() is None and not (file.exists() and file.stat().st_size > begin + more):
        if time.monotonic() > deadline:
            raise Unexpected("no rows come")
        time.sleep(0.01)


def killed(process: subprocess.Popen[str]) -> None:
    process.send_signal(signal.SIGKILL)
    process.wait()


def numbers(file: Path) -> set[int]:
    """Members whose rows are whole, by the file of rows."""
    whole = [line for line in file.read_text(encoding="ascii").splitlines(keepends=True)[1:] if line.endswith("\n")]
    return {json.loads(line[9:])[0] for line in whole}


def table(out: Path) -> str:
    """The finished table; the study has left no rows behind."""
    if (out / ROWS).exists():
        raise Unexpected("the study is not finished")
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
    """How many of the cases came out as they must; of the others the standard error of the job tells."""
    good = 0
    for number, case in enumerate(cases):
        try:
            case()
            good += 1
        except Unexpected as failure:
            print(f"case {number}: {failure}", file=sys.stderr)
    return {"cases": float(len(cases)), "good": float(good)}


def row(name: str, answers: Sequence[Answer], note: str = "") -> Row:
    """The share of cases that came out as they must: all of them."""
    if not answers:
        return Row(name, float("nan"), float("nan"), float("nan"), "cases", "all", 1.0, note=note)
    good, cases = (sum(answer[key] for answer in answers) for key in ("good", "cases"))
    return Row(name, good, cases, good / cases, "cases", "all", 1.0, note=note)
