"""Constraints that are wrong are named by ``check`` and ``simulate``, with an exit code and in the JSON; none is dropped."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import pytest

from svyaz.commands.group import run

HEAD = """
name = "point"
coordinates = ["x", "y"]
kinetic = "(x'^2 + y'^2)/2"
potential = "9.81*y"
"""
RUN = """
[run]
method = "rk4"
step = 0.01
until = 1
stabilize = 5
"""
ROD = '[[constraint]]\nname = "rod"\nequation = "x^2 + y^2 = 1"\n'
START = "[initial]\nx = 1\n"


def constraint(name: str, equation: str, *more: str) -> str:
    return "\n".join(["[[constraint]]", f'name = "{name}"', f'equation = "{equation}"', *more, ""])


def canonical(*integrals: str) -> str:
    head = 'name = "oscillator"\ncoordinates = ["x", "y"]\nmomenta = ["p", "q"]\nhamiltonian = "(p^2 + q^2 + x^2 + y^2)/2"\n'
    tables = "".join(integrals)
    return (
        head + tables + '[initial]\nx = 1\nq = 0.5\n[run]\nmethod = "rk4"\nstep = 0.01\nuntil = 1\nhold = "bracket"\n'
    )


def integral(name: str, expression: str) -> str:
    return f'[[integral]]\nname = "{name}"\nexpression = "{expression}"\nhold = true\n'


@dataclass(frozen=True)
class Case:
    """A model with a mistake: exit codes of ``check`` and ``simulate``, and words that the messages contain."""

    text: str
    check: int
    simulate: int
    words: tuple[str, ...]
    status: str | None = None
    options: tuple[str, ...] = ()


CASES = {
    "a repeated row": Case(
        HEAD + ROD + constraint("copy", "x^2 + y^2 = 1") + START + RUN, 0, 0, ("'copy'", "repeats", "'rod'"), "finished"
    ),
    "a scaled copy": Case(
        HEAD + ROD + constraint("copy", "3*y^2 = 3 - 3*x^2") + START + RUN, 0, 0, ("'copy'", "'rod'"), "finished"
    ),
    "a contradiction": Case(
        HEAD + ROD + constraint("other", "x^2 + y^2 = 4") + START + RUN,
        1,
        1,
        ("'rod'", "'other'", "contradict"),
        "singular",
    ),
    "a wrong position": Case(
        HEAD + ROD + "[initial]\nx = 1.2\n" + RUN, 1, 0, ("'rod'", "position|residual", "0.44"), "finished"
    ),
    "a wrong velocity": Case(
        HEAD + constraint("belt", "y' = 2*x'") + '[initial]\n"x\'" = 1\n' + RUN,
        1,
        0,
        ("'belt'", "velocity|residual", "-2"),
        "finished",
    ),
    "a broken hidden constraint": Case(
        HEAD + ROD + START + '"x\'" = 0.5\n' + RUN, 1, 0, ("'rod'", "velocity level", "1"), "finished"
    ),
    "more constraints than freedoms": Case(
        HEAD + ROD + constraint("line", "y = 0") + constraint("wall", "x = 1") + START + RUN,
        0,
        0,
        ("'wall'", "'rod'"),
        "finished",
    ),
    "0 = 1": Case(HEAD + ROD + constraint("never", "0 = 1") + START + RUN, 2, 2, ("never",)),
    "0 = 1 in disguise": Case(HEAD + ROD + constraint("never", "x - x = 1") + START + RUN, 2, 2, ("never",)),
    "0 = 0": Case(HEAD + ROD + constraint("always", "0 = 0") + START + RUN, 2, 2, ("always",)),
    "0 = 0 in disguise": Case(
        HEAD + ROD + constraint("always", "(x + y)^2 = x^2 + 2*x*y + y^2") + START + RUN, 2, 2, ("always",)
    ),
    "a singular start": Case(
        HEAD + constraint("lines", "x*y = 0") + RUN, 1, 1, ("'lines'", "gradient", "vanishes"), "singular"
    ),
    "a singular point on the way": Case(
        'name = "lines"\ncoordinates = ["x", "y"]\nkinetic = "(x\'^2 + y\'^2)/2"\n'
        + constraint("lines", "x*y = 0")
        + '[initial]\nx = 1\n"x\'" = -1\n'
        + RUN.replace("rk4", "euler").replace("0.01", "0.125").replace("until = 1", "until = 2"),
        0,
        0,
        ("'lines'", "singular"),
        "finished",
    ),
    "an inconsistent switch": Case(
        HEAD + ROD + constraint("stop", "x = 0", "from = 0.2") + START + RUN,
        0,
        1,
        ("'stop'", "t = 0.2", "begins to act"),
        "infeasible",
    ),
    "an integral that is none": Case(
        HEAD + ROD + integral("height", "y") + START + RUN, 1, 1, ("'height'", "not a first integral"), "infeasible"
    ),
    "an odd set for the bracket method": Case(
        canonical(integral("spin", "x*q - y*p")), 2, 2, ("'spin'", "odd number of integrals")
    ),
    "integrals in involution": Case(
        canonical(integral("first", "p^2 + x^2"), integral("second", "q^2 + y^2")),
        2,
        2,
        ("'first'", "'second'", "involution"),
    ),
    "gains of the wrong size": Case(
        HEAD + ROD + START + RUN.replace("= 5", "= {A = [[-1, 0], [0, -1]], B = -2}"),
        2,
        2,
        ("block A", "1 × 1", "2 × 2"),
    ),
    "gains of the wrong size on the command line": Case(
        HEAD + ROD + START + RUN,
        2,
        2,
        ("'damping'", "1 × 1"),
        None,
        ("--stabilize", "{damping = [[1, 2]], stiffness = 3}"),
    ),
    "a constraint that no state satisfies": Case(
        HEAD + constraint("far", "x^2 + y^2 = -1") + START + RUN, 1, 1, ("'far'",), "diverged"
    ),
}


def ask(command: str, case: Case, folder: Path, capsys) -> tuple[int, str, dict | None]:
    """(exit code, all that was said, the JSON that was written)."""
    (folder / "model.toml").write_text(case.text, encoding="utf-8")
    result = folder / f"{command}.json"
    code = run([command, str(folder / "model.toml"), *case.options, "--json", str(result)])
    said = capsys.readouterr()
    return code, " ".join((said.out + said.err).split()), json.loads(result.read_text()) if result.exists() else None


def told(words: str, text: str) -> bool:
    return any(word in text for word in words.split("|"))


@pytest.mark.parametrize("name", CASES)
def test_C5_check_names_the_constraint(name, tmp_path, capsys) -> None:
    case = CASES[name]
    code, said, result = ask("check", case, tmp_path, capsys)
    assert code == case.check
    if code == 0:
        return
    for words in case.words:
        assert told(words, said), (words, said)
    if code == 1:
        assert result is not None
        assert all(told(words, " ".join(result["wrong"])) for words in case.words)
    else:
        assert result is None, "nothing is written for bad input"


@pytest.mark.parametrize("name", CASES)
def test_C5_simulate_names_the_constraint(name, tmp_path, capsys) -> None:
    case = CASES[name]
    code, said, result = ask("simulate", case, tmp_path, capsys)
    assert code == case.simulate, said
    for words in case.words:
        assert told(words, said), (words, said)
    if code == 2:
        assert result is None, "nothing is written for bad input"
        return
    assert result is not None
    assert result["status"] == case.status
    recorded = result["reason"] + " ".join(result["notes"])
    assert all(told(words, recorded) for words in case.words)


def test_C5_no_constraint_is_dropped(tmp_path, capsys) -> None:
    """Whatever is run or judged, every constraint of the model stands in the result."""
    for name, case in CASES.items():
        if case.check == 2:
            continue
        _, _, result = ask("check", case, tmp_path, capsys)
        assert result is not None
        wanted = [
            line.split('"')[1] for line in case.text.split("[[constraint]]")[1:] for line in [line.split("\n")[1]]
        ]
        assert [c["name"] for c in result["constraints"]] == wanted, name


@pytest.mark.parametrize("name", ["a contradiction", "a singular start", "a constraint that no state satisfies"])
def test_C5_projection_that_finds_nothing_says_so(name, tmp_path, capsys) -> None:
    case = CASES[name]
    (tmp_path / "model.toml").write_text(case.text, encoding="utf-8")
    code = run(["simulate", str(tmp_path / "model.toml"), "--project"])
    said = capsys.readouterr().err
    assert code == 1
    assert case.words[0] in said
    assert "Traceback" not in said


def test_C5_projection_mends_a_wrong_position_and_a_wrong_velocity(tmp_path, capsys) -> None:
    for name in ("a wrong position", "a wrong velocity", "a broken hidden constraint"):
        (tmp_path / "model.toml").write_text(CASES[name].text, encoding="utf-8")
        result = tmp_path / "result.json"
        assert run(["simulate", str(tmp_path / "model.toml"), "--project", "--json", str(result)]) == 0
        (note,) = json.loads(result.read_text())["notes"]
        assert note.startswith("the initial state was moved onto the constraints: ")
        capsys.readouterr()
