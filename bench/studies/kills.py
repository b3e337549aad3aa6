"""A study of a million runs, killed (-9) three times at random and resumed: the bits of one that was left alone, and memory.

``svyaz sweep`` is run as a person does, with its tables and picture; both folders are read by xarray and compared.
"""

from __future__ import annotations

import os
import random
import resource
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from bench.tools.jobs import Answer, Job, Samples, answer, environment, series
from bench.tools.rows import Row, within

MODULE = "bench.studies.kills"
STUDY = "study.zarr"
MODEL = (
    "pendulum:1",
    "--method",
    "rk4",
    "--step",
    "0.01",
    "--until",
    "0.1",
    "--measure",
    "final",
    "--measure",
    "drift",
)
MEGABYTES = 1000.0
KILLS = 3


def _job(quick: bool) -> Job:
    return Job(MODULE, ("killed", "100" if quick else "1000"), 1, 30.0 if quick else 300.0)


def jobs(quick: bool) -> list[Job]:
    return [_job(quick)]


def rows(samples: Samples, quick: bool) -> list[Row]:
    members = f"{int(_job(quick).arguments[1]) ** 2:_}".replace("_", " ")
    megabytes, different, kills = (series(samples, _job(quick), key) for key in ("megabytes", "different", "kills"))
    note = f"killed {max(kills, default=0):g} times while it ran"
    return [
        within(f"memory of {members} runs", megabytes, [MEGABYTES], "MB allowed", 1.0, "MB"),
        Row(
            "numbers that differ after kills", max(different, default=float("nan")), 0.0, max(different, default=float("nan")),
            "numbers", "none", 0.5, limit=True, note=note,
        ),
    ]  # fmt: skip


def _started(out: Path, side: str, *more: str) -> subprocess.Popen[bytes]:
    vary = ("--vary", f"L1=1:2:{side}", "--vary", f"initial.u1=0.1:1:{side}")
    command = [sys.executable, "-m", "svyaz", "sweep", *MODEL, *vary, "--out", str(out), *more]
    return subprocess.Popen(command, env=environment(), stdout=subprocess.DEVNULL)


def _ended(process: subprocess.Popen[bytes]) -> None:
    if process.wait() != 0:
        raise RuntimeError(f"the study ended with the code {process.returncode}")


def _chunks(out: Path) -> int:
    return sum(file.is_file() for file in (out / STUDY / "status" / "c").rglob("*"))


def killed(side: str) -> Answer:
    import xarray

    chance = random.Random(os.getpid())
    print(f"seed {os.getpid()}", file=sys.stderr)
    with tempfile.TemporaryDirectory(prefix="studies-") as place:
        alone, out = Path(place, "alone"), Path(place, "killed")
        _ended(_started(alone, side))
        megabytes = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
        chunks, kills = _chunks(alone), 0
        for moment in sorted(chance.uniform(0.02, 0.95) for _ in range(KILLS)):
            process = _started(out, side, "--resume")
            while process.poll() is None and _chunks(out) < moment * chunks:
                time.sleep(0.01)
            kills += process.poll() is None
            process.send_signal(signal.SIGKILL)
            process.wait()
        _ended(_started(out, side, "--resume"))
        one, other = (xarray.open_zarr(folder / STUDY) for folder in (alone, out))
        different = _different(one, other)
        tables = [(folder / "sweep.csv").read_bytes() for folder in (alone, out)]
        different += float(tables[0] != tables[1])
    return {"megabytes": megabytes, "different": different, "kills": float(kills)}


def _different(one: Any, other: Any) -> float:
    """How many numbers of two studies differ in their bits."""
    names = list(one.variables)
    if names != list(other.variables):
        return float("inf")
    found = 0
    for name in names:
        first, second = (data[name].values for data in (one, other))
        same = (
            first == second
            if name == "reason"
            else first.view(f"i{first.itemsize}") == second.view(f"i{first.itemsize}")
        )
        found += int((~same).sum())
    return float(found)


if __name__ == "__main__":
    answer({"killed": killed})
