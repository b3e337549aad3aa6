"""A model file to begin with: every template is read, moves, and is never written over another file."""

from __future__ import annotations

import io

import pytest

from svyaz import loads
from svyaz.commands.group import run
from svyaz.commands.new import KINDS
from svyaz.gallery import template


@pytest.mark.parametrize("kind", KINDS)
def test_every_template_moves_and_says_what_its_parts_are(kind, svyaz, tmp_path) -> None:
    done = svyaz("new", "mine", "--kind", kind)
    assert done.returncode == 0, done.stderr
    text = (tmp_path / "mine.toml").read_text(encoding="utf-8")
    system = loads(text)
    assert system.name == "mine"
    assert not system.warnings
    assert text.count("# ") >= 2
    assert system.simulate(until=0.1).finished
    again = svyaz("new", "mine", "--kind", kind)
    assert again.returncode == 2
    assert "there is a file 'mine.toml' already" in again.stderr
    assert (tmp_path / "mine.toml").read_text(encoding="utf-8") == text


def test_a_model_is_written_from_answers(tmp_path, monkeypatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    answers = ["swing", "a", "m*l^2/2*a'^2", "-m*g*l*cos(a", "-m*g*l*cos(a)", "1", "2", "9.81", "0.3", "5"]
    monkeypatch.setattr("sys.stdin", io.StringIO("\n".join(answers) + "\n"))
    assert run(["new", "swing", "--ask"]) == 0
    assert "'(' is never closed" in capsys.readouterr().err
    system = loads((tmp_path / "swing.toml").read_text(encoding="utf-8"))
    assert system.parameters == {"l": 1.0, "m": 2.0, "g": 9.81}
    assert str(system.derive()) == "l^2*m*a'' + l*m*g*sin(a) = 0"


def test_templates_have_one_place_for_the_name() -> None:
    assert [template(kind).count("NAME") for kind in KINDS] == [1] * len(KINDS)
