#!/usr/bin/env python3
"""Installs the wheel alone on every Python that is at hand, with the newest and with the oldest versions that it allows.

    .venv/bin/python .ci/wheels.py [WHEEL] [PYTHON …]

The wheel is built unless given, and the interpreters are those beside this one and on the path.

In each fresh environment the first commands are run: simulate by three methods, derive, equilibria, report, regulate. All
must end well and give the same numbers. One line for each environment; the exit code is 1 where one fails.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
import tomllib
from math import isclose
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).parents[1]
UV = shutil.which("uv") or str(Path(sys.executable).parent / "uv")
RESOLUTIONS = ("highest", "lowest-direct")
COMMANDS = (
    "simulate pendulum:2 --until 2",
    "simulate sleigh --until 1",
    "simulate pendulum:3 --method radau --rtol 1e-8 --until 1",
    "simulate pendulum:20 --method rk4 --step 0.01 --until 0.2",
    "derive sleigh",
    "equilibria pendulum:2",
    "regulate ball-and-beam",
)
SHOWN = ("numpy", "scipy", "llvmlite", "symengine", "matplotlib")


def interpreters() -> list[str]:
    """Pythons from 3.11 on, one of each minor version."""
    beside = [str(path) for path in Path(sys.base_prefix).parent.glob("3.*/bin/python")]
    named = [found for minor in range(11, 20) if (found := shutil.which(f"python3.{minor}"))]
    found: dict[tuple[int, ...], str] = {}
    for path in (*named, *beside):
        done = subprocess.run([path, "-c", "import sys; print(*sys.version_info[:2])"], capture_output=True, text=True)
        if done.returncode == 0 and (version := tuple(map(int, done.stdout.split()))) >= (3, 11):
            found[version] = path
    return [found[version] for version in sorted(found)]


def uv(*arguments: str | Path) -> None:
    """uv, whose errors are ours."""
    done = subprocess.run([UV, *arguments], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"uv {arguments[0]} {arguments[1]}: {done.stderr.strip()}")


def requirements() -> list[str]:
    """What the wheel requires, named once more: uv takes the oldest of what it is asked for itself."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return [*project["dependencies"], *project["optional-dependencies"]["report"]]


def numbers(value: object) -> list[float]:
    """All numbers of a result that do not depend on the machine."""
    if isinstance(value, dict):
        kept = [
            value[name] for name in sorted(value) if name not in ("seconds", "cpu", "timing", "evaluations", "steps")
        ]
        return [number for part in kept for number in numbers(part)]
    if isinstance(value, list):
        return [number for part in value for number in numbers(part)]
    return [float(value)] if isinstance(value, int | float) and not isinstance(value, bool) else []


def run(python: Path, folder: Path, command: str) -> list[float]:
    """The numbers of the answer of a command."""
    env = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    env["SVYAZ_CACHE"] = str(folder / "cache")
    answer = [] if command.startswith("report") else ["--json", str(folder / "answer.json")]
    line = [str(python.parent / "svyaz"), *command.split(), *answer]
    done = subprocess.run(line, capture_output=True, text=True, check=False, env=env, cwd=folder, timeout=300)
    if done.returncode != 0 or "Traceback" in done.stderr:
        raise RuntimeError(f"svyaz {command}: exit code {done.returncode}\n{done.stdout[-500:]}{done.stderr[-1500:]}")
    if not answer:
        return []
    found = json.loads((folder / "answer.json").read_text(encoding="utf-8"))
    return numbers(found.get("final", found.get("equilibria", found.get("closed_roots", []))))


def agree(found: list[float], known: list[float]) -> bool:
    """Are these the same numbers, but for rounding?"""
    pairs = zip(found, known, strict=False)
    return len(found) == len(known) and all(isclose(a, b, rel_tol=1e-6, abs_tol=1e-9) for a, b in pairs)


def examine(wheel: Path, interpreter: str, resolution: str, expected: dict[str, list[float]]) -> str:
    """A line about one environment; ``expected`` has the numbers of the first."""
    begin = time.perf_counter()
    with TemporaryDirectory(prefix="svyaz-wheel-") as name:
        folder = Path(name)
        python = folder / "venv" / "bin" / "python"
        uv("venv", "--quiet", "--python", interpreter, folder / "venv")
        options = ("--quiet", "--python", python, "--only-binary", ":all:", "--resolution", resolution)
        uv("pip", "install", *options, f"svyaz[report] @ {wheel.as_uri()}", *requirements())
        for command in (*COMMANDS, "report sleigh --out report"):
            found = run(python, folder, command)
            known = expected.setdefault(command, found)
            if not agree(found, known):
                raise RuntimeError(f"svyaz {command}: {found} here, {known} in the first environment")
        if "katex-html" not in (folder / "report" / "report.html").read_text(encoding="utf-8"):
            raise RuntimeError("the formulas of the report are not set by KaTeX")
        script = (
            f"import sys; from importlib.metadata import version; print(sys.version.split()[0], *map(version, {SHOWN}))"
        )
        versions = subprocess.run([python, "-c", script], capture_output=True, text=True, check=True).stdout.split()
    told = ", ".join(f"{name} {version}" for name, version in zip(("Python", *SHOWN), versions, strict=True))
    return f"{told} ({resolution}): {time.perf_counter() - begin:.0f} s"


def main(given: list[str]) -> int:
    """Build, install, run, tell."""
    failed = 0
    expected: dict[str, list[float]] = {}
    wheels, pythons = ([name for name in given if name.endswith(".whl") is wanted] for wanted in (True, False))
    with TemporaryDirectory(prefix="svyaz-wheel-") as folder:
        if not wheels:
            uv("build", "--quiet", "--wheel", "--out-dir", folder, ROOT)
        wheel = Path(wheels[0]).resolve() if wheels else next(Path(folder).glob("*.whl"))
        print(f"{wheel.name}: {wheel.stat().st_size / 1e6:.1f} MB")
        for interpreter in pythons or interpreters():
            for resolution in RESOLUTIONS:
                try:
                    print(f"ok      {examine(wheel, interpreter, resolution, expected)}", flush=True)
                except (RuntimeError, subprocess.TimeoutExpired) as error:
                    failed += 1
                    print(f"FAILED  {interpreter} ({resolution}): {error}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
