"""Runs that are stopped, and outputs that cannot be written."""

from __future__ import annotations

import csv
import errno
import json
import os
import re
import resource
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

LONG = ("simulate", "pendulum:10", "--method", "rk4", "--step", "1e-5", "--until", "1000")


@pytest.fixture
def on_a_terminal(root, tmp_path):
    """``on_a_terminal("simulate", …)`` starts the program with its messages on a terminal: (process, the terminal)."""
    ends: list[int] = []
    processes = []

    def start(*arguments: str) -> tuple[subprocess.Popen[str], int]:
        screen, terminal = os.openpty()
        ends.extend((screen, terminal))
        process = subprocess.Popen(
            [sys.executable, "-m", "svyaz", *arguments],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(root / "src"), "COLUMNS": "120", "TERM": "xterm"},
            stdout=subprocess.DEVNULL,
            stderr=terminal,
            text=True,
        )
        processes.append(process)
        return process, screen

    yield start
    for process in processes:
        if process.poll() is None:
            process.kill()
        process.wait()
    for end in ends:
        os.close(end)


def read_until(screen: int, process: subprocess.Popen[str], pattern: str | None) -> str:
    """What appears on the terminal until the pattern does, or (None) until the program ends."""
    text, deadline = "", time.monotonic() + 100
    while time.monotonic() < deadline:
        if select.select([screen], [], [], 0.1)[0]:
            text += os.read(screen, 65536).decode(errors="replace")
            if pattern is not None and re.search(pattern, text):
                return text
        elif process.poll() is not None:
            return text
    raise AssertionError(f"waited in vain: {text[-500:]}")


def test_S10_interrupt_keeps_what_was_computed(on_a_terminal, tmp_path) -> None:
    process, screen = on_a_terminal(*LONG, "--every", "100", "--csv", "motion.csv", "--json", "result.json")
    read_until(screen, process, r"t = 0\.\d*[1-9]")  # the progress bar: the motion is under way
    process.send_signal(signal.SIGINT)
    told = read_until(screen, process, None)
    assert process.wait() == 130, told
    assert re.search(r"stopped at t = [\d.e-]+: stopped by the user", told)
    assert "Traceback" not in told
    result = json.loads((tmp_path / "result.json").read_text(encoding="utf-8"))
    assert result["status"] == "stopped"
    assert 0 < result["t"] < 1000
    with (tmp_path / "motion.csv").open(encoding="utf-8") as file:
        header, *rows = csv.reader(file)
    table = np.array(rows, dtype=float)
    assert header[:3] == ["t", "u1", "u1'"]
    assert table.shape[1] == 21
    assert np.isfinite(table).all()
    assert table[-1, 0] == result["t"]
    assert table[-1, 1] == result["final"]["u1"]
    assert result["integrals"]["energy"]["drift"] < 1e-6
    assert sorted(path.name for path in tmp_path.iterdir()) == ["motion.csv", "result.json"]


def refused(done: subprocess.CompletedProcess[str], words: str) -> None:
    assert done.returncode == 2, done.stderr
    assert words in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == "", "no run happened"


@pytest.mark.parametrize("option", ["--csv", "--json", "--plot", "--animate"])
def test_S10_folder_that_cannot_be_made_is_found_before_the_run(svyaz, tmp_path, option) -> None:
    (tmp_path / "file").write_text("")
    name = {"--plot": "x.png", "--animate": "x.gif"}.get(option, "x")
    refused(svyaz(*LONG, option, f"file/{name}"), "file")
    refused(svyaz(*LONG, "--csv", "."), "is a folder")


@pytest.mark.parametrize("command", [LONG, ("derive", "pendulum:2")])
def test_S10_full_disk_is_found_before_the_run(python, tmp_path, command) -> None:
    """A limit on the size of files stands for a disk without room: the first megabyte does not fit."""

    def small_disk() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))

    kept = tmp_path / "result.json"
    kept.write_text("kept")
    done = python("-m", "svyaz", *command, "--json", "result.json", preexec_fn=small_disk)
    refused(done, os.strerror(errno.EFBIG))
    assert kept.read_text() == "kept"
    assert [path.name for path in tmp_path.iterdir()] == ["result.json"]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may mount a small disk")
def test_S10_really_full_disk(svyaz, tmp_path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", disk], capture_output=True, check=False
    )
    if mounted.returncode:
        pytest.skip("mounting is not allowed here")
    try:
        refused(svyaz(*LONG, "--csv", "disk/motion.csv"), "No space left on device")
        assert list(disk.iterdir()) == []
    finally:
        subprocess.run(["umount", disk], check=True)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_S10_folder_without_permission(svyaz, tmp_path) -> None:
    (tmp_path / "locked").mkdir(mode=0o500)
    refused(svyaz(*LONG, "--csv", "locked/motion.csv"), "Permission denied")


def test_S10_disk_that_fills_up_while_writing_leaves_nothing_half_written(python, tmp_path) -> None:
    """More rows than the limit of two megabytes takes: the old file stays, no part of the new one does."""

    def small_disk() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (2_000_000, 2_000_000))

    (tmp_path / "motion.csv").write_text("kept")
    done = python(
        *(
            "-m",
            "svyaz",
            "simulate",
            "pendulum:2",
            "--method",
            "rk4",
            "--step",
            "1e-4",
            "--until",
            "5",
            "--csv",
            "motion.csv",
        ),
        preexec_fn=small_disk,
    )
    assert done.returncode == 2, done.stderr
    assert os.strerror(errno.EFBIG) in done.stderr
    assert (tmp_path / "motion.csv").read_text() == "kept"
    assert [path.name for path in tmp_path.iterdir()] == ["motion.csv"]


def test_devices_are_written_to_and_not_replaced(svyaz) -> None:
    done = svyaz("simulate", "pendulum:1", "--until", "0.1", "--csv", "/dev/stdout", "--json", "/dev/null")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("t,u1,u1'")
    assert Path("/dev/null").is_char_device()
    done = svyaz("simulate", "pendulum:1", "--until", "0.1", "--json", "/dev/full")
    assert done.returncode == 2
    assert "No space left on device" in done.stderr
    assert Path("/dev/full").is_char_device()


def test_mistake_in_the_model_writes_nothing(svyaz, tmp_path) -> None:
    (tmp_path / "model.toml").write_text('coordinates = ["x"]\nkinetic = "x\'^2/2 + q"\n')
    for command, option in (("simulate", "--csv"), ("derive", "--out"), ("check", "--json")):
        refused(svyaz(command, "model.toml", option, "new/file"), "model.toml:2:21: unknown name 'q'")
    refused(svyaz("simulate", "pendulum:1", "--method", "rk5", "--csv", "new/motion.csv"), "rk5")
    assert [path.name for path in tmp_path.iterdir()] == ["model.toml"]


TOLD_WHEN_IT_BEGINS = """
import os, signal, sys

def trace(frame, event, argument):
    if not frame.f_code.co_filename.endswith("svyaz/__init__.py"):
        return None
    if event == "line" and signal.getsignal(signal.SIGINT) is signal.SIG_DFL:
        sys.settrace(None)
        os.write(2, b"begun")
    return trace

sys.settrace(trace)
"""
BY_MODULE = ("-m", "svyaz")
BY_SCRIPT = (str(Path(sys.executable).with_name("svyaz")),)


@pytest.mark.parametrize("program", [BY_MODULE, BY_SCRIPT], ids=["module", "script"])
def test_N1_2_7_an_interrupt_at_any_moment_is_no_traceback(root, tmp_path, program) -> None:
    """While the package is loaded, while libraries are, while the motion runs.

    What comes before the first lines of the package is Python's own start and shows Python's traceback: delays are counted
    from those lines.
    """
    (tmp_path / "sitecustomize.py").write_text(TOLD_WHEN_IT_BEGINS)
    environment = {**os.environ, "PYTHONPATH": f"{tmp_path}{os.pathsep}{root / 'src'}"}
    if not Path(program[0]).exists() and program is BY_SCRIPT:
        pytest.skip("the package is not installed here")
    for delay in np.geomspace(1e-3, 0.4, 12):
        with subprocess.Popen(
            [sys.executable, *program, *LONG],
            env=environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        ) as process:
            assert process.stderr is not None
            assert process.stderr.read(5) == b"begun"
            time.sleep(delay)
            process.send_signal(signal.SIGINT)
            told = process.stderr.read().decode()
        assert process.returncode in (130, -signal.SIGINT), (delay, told)
        assert "Traceback" not in told, (delay, told)
        assert told == "" or "interrupted" in told or "stopped by the user" in told, (delay, told)


def test_N1_2_7_importing_the_package_leaves_interrupts_as_they_were(python) -> None:
    code = "import signal, svyaz.cli; assert signal.getsignal(signal.SIGINT) is signal.default_int_handler"
    assert python("-c", code, "svyaz").returncode == 0


def test_N1_2_7_an_interrupt_within_a_callback_is_not_lost(capfd) -> None:
    """Python prints what is raised where an object is thrown away, and goes on: here it comes again and is answered."""
    from svyaz.interrupts import interrupts_answered

    class Thrown:
        def __del__(self) -> None:
            raise KeyboardInterrupt

    def work() -> None:
        Thrown()
        time.sleep(60)

    hook = sys.unraisablehook
    before = signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        with pytest.raises(KeyboardInterrupt), interrupts_answered():
            work()
        assert signal.getsignal(signal.SIGINT) is signal.SIG_DFL
    finally:
        signal.signal(signal.SIGINT, before)
    assert sys.unraisablehook is hook
    assert capfd.readouterr().err == ""


def plainly() -> None:
    raise KeyboardInterrupt


def while_a_class_was_made() -> None:
    """Python tells of it by a RuntimeError."""

    class Slow:
        def __set_name__(self, owner: type, name: str) -> None:
            raise KeyboardInterrupt

    type("Made", (), {"slow": Slow()})


def while_a_library_was_looked_for() -> None:
    try:
        raise KeyboardInterrupt
    except BaseException as error:
        raise ImportError("the library could not be loaded") from error


@pytest.mark.parametrize(
    ("place", "way"),
    [
        ("svyaz.commands.run", plainly),
        ("svyaz.commands.common.load_model", plainly),
        ("svyaz.commands.common.load_model", while_a_class_was_made),
        ("svyaz.commands.common.load_model", while_a_library_was_looked_for),
    ],
)
def test_an_interrupt_before_the_run_is_one_line(monkeypatch, capsys, place, way) -> None:
    """While libraries are loaded or the model is read: no traceback, exit code 130, whatever became of it on its way."""
    from svyaz.cli import main

    monkeypatch.setattr(place, lambda *_arguments: way())
    assert main(["derive", "pendulum:1"]) == 130
    captured = capsys.readouterr()
    assert captured.err.strip() == "svyaz: interrupted"
    assert captured.out == ""
