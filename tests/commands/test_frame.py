"""The frame of the commands: exit codes, messages, outputs checked before a run, completion."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from types import ModuleType

import click
import pytest

from svyaz import commands
from svyaz.commands import common, options
from svyaz.commands.group import run
from svyaz.expr import ModelError, Problem


@pytest.fixture
def raising(monkeypatch):
    """``raising(error)`` adds a command called ``probe`` that raises it, and runs the command."""

    def run_probe(error: BaseException) -> int:
        @click.command(epilog=common.examples("svyaz probe"))
        def command() -> None:
            raise error

        module = ModuleType("svyaz.commands.probe")
        module.command = command
        monkeypatch.setitem(sys.modules, "svyaz.commands.probe", module)
        monkeypatch.setitem(commands.COMMANDS, "Probe", {"probe": "Raise."})
        return run(["probe"])

    return run_probe


@pytest.mark.parametrize(
    ("error", "code", "message"),
    [
        (common.NegativeAnswer("diverged at t = 2"), 1, "diverged at t = 2\n"),
        (ModelError([Problem("the model has no parameter 'k'")]), 2, "the model has no parameter 'k'\n"),
        (PermissionError(13, "Permission denied", "out/motion.csv"), 2, "out/motion.csv: Permission denied\n"),
        (click.UsageError("no step"), 2, "Error: no step\n"),
        (KeyboardInterrupt(), 130, "\n"),
    ],
)
def test_what_went_wrong_becomes_a_message_and_an_exit_code(raising, capsys, error, code, message) -> None:
    assert raising(error) == code
    out, err = capsys.readouterr()
    assert out == ""
    assert err.endswith(message)
    assert "Traceback" not in err


def test_a_mistake_of_ours_is_not_hidden(raising, capsys) -> None:
    assert raising(ZeroDivisionError()) == 70
    assert "internal error: ZeroDivisionError" in capsys.readouterr().err


def test_mistyped_command_gets_a_hint(svyaz) -> None:
    done = svyaz("completon", "bash")
    assert done.returncode == 2
    assert "Did you mean 'completion'?" in done.stderr


def test_unknown_option_is_bad_input(svyaz) -> None:
    done = svyaz("completion", "--colour")
    assert done.returncode == 2
    assert "--colour" in done.stderr


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_script_calls_back(svyaz, shell) -> None:
    done = svyaz("completion", shell)
    assert done.returncode == 0, done.stderr
    assert f"_SVYAZ_COMPLETE={shell}_complete" in done.stdout


def test_completion_offers_commands(svyaz) -> None:
    done = svyaz(env={"_SVYAZ_COMPLETE": "bash_complete", "COMP_WORDS": "svyaz comp", "COMP_CWORD": "1"})
    assert done.stdout.split() == ["plain,completion"]


MODEL = """
name = "spring"
coordinates = ["x"]
kinetic = "m/2*x'^2"
potential = "k/2*x^2"

[parameters]
m = 1
k = 4
"""


@pytest.fixture
def gallery(monkeypatch, tmp_path):
    """A gallery of two models, and an empty folder to work in."""

    def find(name, choices):
        return MODEL.replace("k = 4", choices.get("k", "k = 4")) if name == "rod" else None

    for module in ("svyaz.gallery", "svyaz.gallery.collection"):
        monkeypatch.setattr(f"{module}.names", lambda: ["rod", "sling"])
        monkeypatch.setattr(f"{module}.find", find)
    monkeypatch.chdir(tmp_path)


def test_model_from_the_gallery_with_settings_and_variant(gallery) -> None:
    system = common.load_model("rod", (("m", "2"), ("initial.x", "0.5")), (("k", "k = 9"),))
    assert (system.name, dict(system.parameters)) == ("spring", {"m": 2.0, "k": 9.0})
    assert system.initial["x"] == 0.5


def test_gallery_name_is_not_hidden_by_a_file(gallery) -> None:
    Path("rod").write_text("nothing of a model", encoding="utf-8")
    assert common.load_model("rod", (), ()).name == "spring"


def test_model_from_a_file(gallery) -> None:
    for path in ("spring.toml", "spring"):
        Path(path).write_text(MODEL, encoding="utf-8")
        assert common.load_model(path, (), ()).name == "spring"


@pytest.mark.parametrize(
    ("name", "choices", "message"),
    [
        ("slinq", (), "Did you mean 'sling'"),
        ("catapult", (), "'svyaz gallery' lists"),
        ("nowhere/rod.toml", (), "no model file"),
        ("spring.toml", (("k", "soft"),), "a file has none"),
    ],
)
def test_model_that_cannot_be_found(gallery, name, choices, message) -> None:
    Path("spring.toml").write_text(MODEL, encoding="utf-8")
    with pytest.raises(click.UsageError, match=message):
        common.load_model(name, (), choices)


def test_completion_offers_gallery_models_and_files(gallery) -> None:
    Path("rods.toml").touch()
    Path("notes.txt").touch()

    def offered(incomplete: str) -> list[tuple[str, str]]:
        items = options.MODEL_NAME.shell_complete(
            click.Context(click.Command("x")), click.Argument(["model"]), incomplete
        )
        return [(item.type, item.value) for item in items]

    assert offered("ro") == [("plain", "rod"), ("plain", "rods.toml")]
    assert offered("mod") == [("file", "mod")]


@pytest.mark.parametrize(
    ("text", "pair"), [("m=2", ("m", "2")), ("initial.x' = 30*deg", ("initial.x'", "30*deg")), ("a=b=c", ("a", "b=c"))]
)
def test_assignment(text, pair) -> None:
    assert options.PAIR.convert(text, None, None) == pair


@pytest.mark.parametrize("text", ["m", "=2", "m=", " = "])
def test_what_is_no_assignment_is_refused(text) -> None:
    with pytest.raises(click.BadParameter, match="NAME=VALUE"):
        options.PAIR.convert(text, None, None)


def test_writable_makes_folders_says_so_and_keeps_files(tmp_path, capsys) -> None:
    target = tmp_path / "a" / "b" / "motion.csv"
    assert common.writable(target) == target
    assert capsys.readouterr().err == f"made the folder {target.parent}\n"
    common.writable(target)
    assert capsys.readouterr().err == ""
    assert not target.exists()
    assert list(target.parent.iterdir()) == []
    target.write_text("kept")
    common.writable(target)
    assert target.read_text() == "kept"


def test_S10_unwritable_places_are_found_before_a_run(tmp_path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(OSError, match="file"):
        common.writable(tmp_path / "file" / "motion.csv")
    with pytest.raises(IsADirectoryError, match="folder"):
        common.writable(tmp_path)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_S10_folder_without_permission(tmp_path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(PermissionError):
        common.writable(tmp_path / "motion.csv")


def test_S10_full_disk_is_found_before_a_run(tmp_path, monkeypatch) -> None:
    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(common.os, "fsync", full)
    with pytest.raises(OSError, match="No space left") as caught:
        common.writable(tmp_path / "motion.csv")
    assert caught.value.filename == str(tmp_path)


def test_json_goes_to_a_file_or_standard_output(tmp_path, capsys) -> None:
    result = {"status": "finished", "final": {"φ'": 0.1}}
    common.write_json(result, str(tmp_path / "new" / "result.json"))
    assert json.loads(Path(tmp_path / "new" / "result.json").read_text(encoding="utf-8")) == result
    common.write_json(result, "-")
    assert json.loads(capsys.readouterr().out) == result
    common.write_json(result, None)
    assert capsys.readouterr().out == ""
