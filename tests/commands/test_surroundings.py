"""The same answers in other surroundings (N5), and what is said when svyaz itself fails (N1, 2.7)."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from svyaz.streams import to_ascii

MODEL = """
name = "маятник θ"
coordinates = ["θ"]
kinetic = "l^2*θ'^2/2"
potential = "-g*l*cos(θ)"
[parameters]
l = 1
g = 9.81
[initial]
"θ" = 0.5
[[draw]]
point = ["l*sin(θ)", "-l*cos(θ)"]
[run]
method = "rk4"
step = 0.01
until = 1
"""

PLAIN_C = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
SURROUNDINGS: dict[str, dict[str, str | None]] = {
    "locale C": PLAIN_C,
    "cp1251": {"PYTHONIOENCODING": "cp1251", "PYTHONUTF8": "0"},
    "no HOME": {"HOME": None, "XDG_CACHE_HOME": None},
    "unwritable HOME": {"HOME": "/dev/null/home", "XDG_CACHE_HOME": None},
    "40 columns": {"COLUMNS": "40"},
    "NO_COLOR": {"NO_COLOR": "1"},
}


def svyaz(
    folder: Path, *arguments: str, changed: dict[str, str | None] | None = None, **streams: object
) -> subprocess.CompletedProcess[bytes]:
    """A process of its own: the locale is read when Python starts."""
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2] / "src"), **(changed or {})}
    given = {name: value for name, value in environment.items() if value is not None}
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **streams}
    command = [sys.executable, "-m", "svyaz", *arguments]
    return subprocess.run(command, cwd=folder, env=given, check=False, timeout=120, **streams)  # type: ignore[call-overload]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "pendulum.toml").write_text(MODEL, encoding="utf-8")
    return tmp_path


@pytest.fixture(scope="module")
def reference(tmp_path_factory: pytest.TempPathFactory) -> dict[str, float]:
    folder = tmp_path_factory.mktemp("reference")
    (folder / "pendulum.toml").write_text(MODEL, encoding="utf-8")
    done = svyaz(folder, "simulate", "pendulum.toml", "--set", "initial.θ=1", "--json", "-")
    assert done.returncode == 0, done.stderr
    final: dict[str, float] = json.loads(done.stdout)["final"]
    return final


@pytest.mark.parametrize("name", SURROUNDINGS)
def test_N5_the_same_answer_in(name: str, folder: Path, reference: dict[str, float]) -> None:
    picture = ("--plot", "out.png") if "HOME" in name else ()
    arguments = ("simulate", "pendulum.toml", "--set", "initial.θ=1", "--json", "out.json")
    done = svyaz(folder, *arguments, *picture, changed=SURROUNDINGS[name])
    assert done.returncode == 0, done.stderr
    assert done.stderr == b""
    assert json.loads((folder / "out.json").read_text(encoding="utf-8"))["final"] == reference
    printed = done.stdout.decode("cp1251" if name == "cp1251" else "utf-8")
    assert "\x1b" not in printed
    for value in reference.values():
        assert f"{value:.9g}" in printed
    if name in ("locale C", "cp1251"):
        assert "theta'" in printed
    lines = [line for line in printed.splitlines() if line.startswith(("|", "│", "+", "┃"))]
    assert len({len(line) for line in lines[:3]}) == 1, "the table is askew"


def test_N5_json_on_a_stream_that_lacks_letters(folder: Path, reference: dict[str, float]) -> None:
    done = svyaz(folder, "simulate", "pendulum.toml", "--set", "initial.θ=1", "--json", "-", changed=PLAIN_C)
    assert json.loads(done.stdout)["final"] == reference


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_N5_closed_streams(stream: str, folder: Path) -> None:
    number = {"stdout": 1, "stderr": 2}[stream]
    script = f'exec {number}>&-; exec "$0" -m svyaz derive pendulum.toml --json out.json'
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2] / "src")}
    done = subprocess.run(
        ["sh", "-c", script, sys.executable], cwd=folder, env=environment, capture_output=True, check=False
    )
    assert done.returncode == 0
    assert done.stderr == b""
    assert json.loads((folder / "out.json").read_text(encoding="utf-8"))["mass_matrix"] == [["l^2"]]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no full device")
@pytest.mark.parametrize("arguments", [("--help",), ("simulate", "pendulum.toml"), ("derive", "pendulum.toml")])
def test_N5_a_full_output_is_named(arguments: tuple[str, ...], folder: Path) -> None:
    with open("/dev/full", "wb") as full:
        done = svyaz(folder, *arguments, stdout=full)
    assert (done.returncode, done.stderr) == (2, b"standard output: No space left on device\n")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no full device")
def test_N1_2_5_a_full_disk_is_named(folder: Path) -> None:
    done = svyaz(folder, "simulate", "pendulum.toml", "--csv", "/dev/full")
    assert (done.returncode, done.stderr) == (2, b"/dev/full: No space left on device\n")


def test_N1_2_5_errors_of_a_whole_file_bear_its_name(tmp_path: Path) -> None:
    from svyaz.files import whole

    with pytest.raises(OSError, match="No space left on device") as caught, whole(tmp_path / "a.csv"):
        raise OSError(28, "No space left on device")
    assert caught.value.filename == str(tmp_path / "a.csv")
    assert list(tmp_path.iterdir()) == []


def failing(*_: object, **__: object) -> object:
    raise KeyError("something of ours")


def test_N1_2_7_a_fault_of_svyaz_is_told_and_is_70(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from svyaz.cli import main
    from svyaz.commands import common

    monkeypatch.setattr(common, "load_model", failing)
    assert main(["derive", "pendulum:2"]) == 70
    told = capsys.readouterr().err
    assert "internal error: KeyError: 'something of ours'" in told
    assert "report" in told
    assert "Traceback" not in told
    assert re.search(r"test_surroundings\.py|common\.py, line \d+", told)
    monkeypatch.setenv("SVYAZ_TRACEBACK", "1")
    assert main(["derive", "pendulum:2"]) == 70
    assert "Traceback" in capsys.readouterr().err


def test_N1_2_7_memory_and_interruption_have_codes_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    from svyaz.cli import main
    from svyaz.commands import common

    for error, code in ((MemoryError(), 2), (KeyboardInterrupt(), 130), (RecursionError("deep"), 70)):

        def fails(*_: object, error: BaseException = error, **__: object) -> object:
            raise error

        monkeypatch.setattr(common, "load_model", fails)
        assert main(["derive", "pendulum:2"]) == code


@pytest.mark.parametrize(
    ("text", "ascii_text"),
    [
        ("θ' ≤ 2π", "theta' <= 2pi"),
        ("x² + y₁", "x^2 + y_1"),
        ("−0.5·λ…", "-0.5*lambda..."),
        ("é", "e"),
        ("ж", "\\u0436"),
    ],
)
def test_letters_are_written_out(text: str, ascii_text: str) -> None:
    assert to_ascii(text) == ascii_text


@pytest.mark.parametrize(
    ("program", "given", "expected"), [("svyaz", None, "1"), ("svyaz", "2", "2"), ("notebook", None, "None")]
)
def test_the_command_line_alone_takes_one_thread_for_its_small_matrices(
    program: str, given: str | None, expected: str, tmp_path: Path
) -> None:
    name = "OPENBLAS_NUM_THREADS"
    (tmp_path / program).write_text(f"import os, svyaz\nprint(os.environ.get({name!r}))\n", encoding="utf-8")
    environment = {key: value for key, value in os.environ.items() if key != name}
    environment |= {"PYTHONPATH": str(Path(__file__).parents[2] / "src"), **({name: given} if given else {})}
    command = [sys.executable, str(tmp_path / program)]
    done = subprocess.run(command, env=environment, check=True, capture_output=True, text=True, timeout=60)
    assert done.stdout.strip() == expected
