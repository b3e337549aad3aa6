"""Command lines on mutated models, each with a bound of time and memory that is kept from outside.

A process of its own takes one text after another and tells the outcome of each; when it is silent for too long, or dies, the
text it was at is a find, and another process goes on with the next. Run as a script it is that process.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import resource
import select
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

SECONDS = 60
"""So long a command on a small model may compute at the longest; commonly it is a tenth of a second."""

PATIENCE = 30 * SECONDS
"""So long it may be silent, for whatever reason, on a machine that others use too."""

BYTES = 3 << 30
UNTIL = "0.05"
STEPS = 20_000
"""Runs get no more steps: what is then not at its end is ``stopped``, and long runs that somebody wants are no fault."""

TRACEBACK = re.compile(r"Traceback \(most recent call last\)|internal error|: \w*Warning: ")


@dataclass(frozen=True)
class Trial:
    """What a command did with a text: its exit code and status, or what is wrong with that."""

    seed: int
    outcome: str
    wrong: str = ""


def trials(seeds: Sequence[int], kind: str) -> Iterator[Trial]:
    """``svyaz simulate`` of the texts with these seeds, of the whole ``gallery`` or of the ``steady`` models."""
    waiting = list(seeds)
    while waiting:
        with _process(waiting, kind) as process:
            assert process.stdout is not None
            while waiting:
                line = process.stdout.readline() if _ready(process.stdout, PATIENCE) else b"silent"
                if line == b"silent" or not line:
                    process.kill()
                    wrong = f"no answer in {PATIENCE} s" if line else _died(process.wait())
                    yield Trial(waiting.pop(0), "none", wrong)
                    break
                found = json.loads(line)
                waiting.remove(found["seed"])
                yield Trial(**found)


def _died(code: int) -> str:
    return f"computed for {SECONDS} s" if code == -signal.SIGXCPU else f"the process died ({code})"


def _ready(stream: io.BufferedReader, seconds: float) -> bool:
    return bool(select.select([stream], [], [], seconds)[0])


def _process(seeds: Sequence[int], kind: str) -> subprocess.Popen[bytes]:
    root = Path(__file__).parents[2]
    path = os.pathsep.join([str(root), str(root / "src"), *filter(None, [os.environ.get("PYTHONPATH")])])
    command = [sys.executable, "-m", "bench.robustness.trials", kind, *map(str, seeds)]
    return subprocess.Popen(command, env={**os.environ, "PYTHONPATH": path}, stdout=subprocess.PIPE, bufsize=0)


def tried(text: str, folder: Path) -> tuple[str, str]:
    """The outcome of ``svyaz simulate`` of a text in this process, and what is wrong with it."""
    from svyaz.cli import main

    model, result = folder / "model.toml", folder / "result.json"
    model.write_text(text, encoding="utf-8")
    result.unlink(missing_ok=True)
    out, err = io.StringIO(), io.StringIO()
    started = time.process_time()
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = main(["simulate", str(model), "--until", UNTIL, "--json", str(result)])
    except (Exception, SystemExit):
        return "none", traceback.format_exc(limit=-3)
    told = err.getvalue()
    if code not in (0, 1, 2) or TRACEBACK.search(told):
        return str(code), told
    if time.process_time() - started > SECONDS / 2:
        return str(code), f"took {time.process_time() - started:.0f} s"
    if "\x1b" in told + out.getvalue():
        return str(code), "an escape sequence was printed"
    if code == 1 and not told.strip():
        return str(code), "no reason for a negative answer"
    if not result.exists():
        return f"{code}", "" if code == 2 else f"no JSON, exit code {code}: {told}"
    status = json.loads(result.read_text(encoding="utf-8"), parse_constant=_refused).get("status")
    return f"{code} {status}", "" if status or code else "no status"


def _refused(word: str) -> float:
    raise ValueError(f"{word} is no JSON")


def main() -> None:
    """Answer for each seed of the command line with a line."""
    from bench.robustness.mutations import gallery_texts, mutated, steady_texts

    import svyaz.motion

    # the command line has no word for it
    setattr(svyaz.motion, "simulate", partial(svyaz.motion.simulate, max_steps=STEPS))  # noqa: B010
    resource.setrlimit(resource.RLIMIT_AS, (BYTES, BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    kind, *seeds = sys.argv[1:]
    texts = {"gallery": gallery_texts, "steady": steady_texts}[kind]()
    with tempfile.TemporaryDirectory() as folder:
        for seed in map(int, seeds):
            used = resource.getrusage(resource.RUSAGE_SELF)
            most = int(used.ru_utime + used.ru_stime) + SECONDS
            resource.setrlimit(resource.RLIMIT_CPU, (most, resource.RLIM_INFINITY))
            try:
                outcome, wrong = tried(mutated(seed, texts), Path(folder))
            except Exception as error:  # what was answered cannot be read
                outcome, wrong = "none", repr(error)
            print(json.dumps({"seed": seed, "outcome": outcome, "wrong": wrong}), flush=True)


if __name__ == "__main__":
    main()
