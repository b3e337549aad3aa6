"""Tables and sentences for people: at any width every number of every command can be read back (N1, 1.1)."""

import ast
import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from svyaz.commands.terminal import Cell, Page, fold, plain

WIDTHS = (40, 60, 80, 200)
NUMBER = re.compile(r"(?<![\w.+-])[-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?(?:[-+]\d+(?:\.\d+)?(?:e[-+]?\d+)?i)?(?![\w.])")

COMMANDS = [
    "simulate sleigh",
    "simulate biped --until 1",
    "simulate pendulum:8 --until 0.1",
    "check sleigh --method euler --step 0.001 --stabilize 46",
    "check four-bar",
    "equilibria pendulum:2",
    "regulate ball-and-beam --measure r --against linearised",
    "regulate parallel-manipulator",
    "sweep sleigh --vary stabilize=10:60:4 --method rk4 --step 0.01 --until 0.1 --workers 1",
    "helmholtz pendulum:2",
    "inertia puma-560",
    "reproduce sleigh",
    "gallery",
    "bench",
]


def numbers(text: str) -> Counter[str]:
    return Counter(NUMBER.findall(text))


@pytest.fixture
def written(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[tuple[str, tuple[object, ...]]]]:
    """What commands give to their page, recorded beside the printing."""
    kept: list[tuple[str, tuple[object, ...]]] = []
    say, table = Page.say, Page.table

    def recorded_say(page: Page, text: str, hang: int = 0, style: str = "") -> None:
        kept.append(("say", (text, hang)))
        say(page, text, hang, style)

    def recorded_table(
        page: Page, title: str, heads: Sequence[str], rows: Sequence[Sequence[Cell]], keys: int = 1
    ) -> None:
        rows = list(rows)
        kept.append(("table", (title, heads, rows, keys)))
        monkeypatch.setattr(Page, "say", say)  # a table prints its title by a sentence of its own
        table(page, title, heads, rows, keys)
        monkeypatch.setattr(Page, "say", recorded_say)

    monkeypatch.setattr(Page, "say", recorded_say)
    monkeypatch.setattr(Page, "table", recorded_table)
    yield kept
    monkeypatch.undo()


@pytest.mark.parametrize("line", COMMANDS)
def test_N1_1_1_numbers_are_read_back_at_every_width(
    line: str,
    written: list[tuple[str, tuple[object, ...]]],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    from svyaz.cli import main

    monkeypatch.setenv("COLUMNS", "200")
    folder = ("--out", str(tmp_path)) if line.startswith("sweep") else ()
    assert main([*line.split(), *folder]) in (0, 1)
    recorded = list(written)
    assert recorded or line.startswith("inertia"), "the command printed without its page"
    monkeypatch.undo()
    for width in WIDTHS:
        monkeypatch.setenv("COLUMNS", str(width))
        for what, given in recorded:
            capsys.readouterr()
            getattr(Page(), what)(*given)
            printed = capsys.readouterr().out
            texts = cells_of(given) if what == "table" else [str(given[0])]
            missing = numbers(" ".join(texts)) - numbers(printed)
            assert not missing, f"{missing} lost at {width} columns:\n{printed}"
            assert "…" not in printed or any("…" in text for text in texts)
            words = max((len(word) for text in texts for word in text.split()), default=0)
            assert all(len(row) <= max(width, words + 16) for row in printed.splitlines())


def cells_of(given: tuple[object, ...]) -> list[str]:
    title, _, rows, _ = given
    assert isinstance(rows, list)
    return [str(title), *(cell if isinstance(cell, str) else cell[0] for row in rows for cell in row)]


def test_N1_1_1_every_command_prints_by_the_page() -> None:
    """No module of the commands has another make tables; bars are made in one place."""
    folder = Path(__file__).parents[2] / "src/svyaz/commands"
    users = set()
    for path in folder.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "rich":
                users.add(path.name)
    assert users == {"common.py"}


def shown(width: int, heads: Sequence[str], rows: Sequence[Sequence[Cell]], keys: int = 1) -> str:
    """The table at this width."""
    import contextlib
    from io import StringIO

    text = StringIO()
    with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(text):
        patch.setenv("COLUMNS", str(width))
        Page().table("gains", heads, rows, keys)
    return text.getvalue()


def test_columns_that_do_not_fit_go_into_a_table_below() -> None:
    heads = ("name", *(f"u{k}" for k in range(10, 16)))
    rows = [(name, *(f"{sign}.23456e-{k}" for k in range(10, 16))) for name, sign in zip("abcd", "1234", strict=True)]
    assert shown(100, heads, rows).count("gains") == 1
    narrow = shown(40, heads, rows)
    assert narrow.count("gains") == 3
    assert all(cell in narrow for row in rows for cell in row)


def test_rows_become_lists_where_nothing_fits() -> None:
    rows = [("a_name_without_blanks_of_some_length", "-1.234567e-10", "2.5")]
    text = shown(30, ("rod", "force", "length"), rows)
    assert "│" not in text
    assert text.split() == ["gains", "rod", rows[0][0], "force", rows[0][1], "length", "2.5"]


def test_words_are_folded_at_blanks_and_bars_only() -> None:
    assert fold("one two three", 7) == "one two\nthree"
    assert fold("control=torque|voltage", 16) == "control=torque|\nvoltage"
    assert fold("-1.234567e-10", 4) == "-1.234567e-10"
    assert fold("|e|² = 1", 3) == "|e|²\n= 1"


def test_a_name_cannot_move_the_cursor() -> None:
    assert plain("rod\x1b[2J\u202e") == "rod\\x1b[2J\\x202e"
    assert "\x1b" not in shown(80, ("name",), [("\x1b[31mred",)])


HOSTILE = r"""
name = "evil \u001b[31m\u0007 name\u202e"
notes = "\u001b[2J"
coordinates = ["x"]
kinetic = "x'^2/2"
potential = "x^2/2"
[[integral]]
name = "g\u001b[31m"
expression = "x'^2/2 + x^2/2"
[[constraint]]
name = "\u001b]0;title\u0007rod\u0085\u202e"
equation = "x = cos(t)"
[initial]
x = 1
[run]
until = 0.05
"""


@pytest.mark.parametrize(
    "command",
    [
        *(
            "derive",
            "derive --format latex",
            "derive --format json",
            "derive --format python",
            "derive --format c",
            "check",
        ),
        *(
            "simulate",
            "simulate --json -",
            "simulate --csv -",
            "report",
            "equilibria",
            "steady",
            "regulate",
            "helmholtz",
        ),
        "sweep --vary initial.x'=0:0.1:2 --workers 1",
    ],
)
def test_N1_2_5_names_cannot_steer_a_terminal(svyaz, tmp_path, command) -> None:
    (tmp_path / "model.toml").write_text(HOSTILE, encoding="utf-8")
    name, *options = command.split()
    done = svyaz(name, "model.toml", *options)
    assert done.returncode in (0, 1, 2), done.stderr
    assert re.findall(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", done.stdout + done.stderr) == []
    if "json" in command:
        assert "\x1b[31m" in json.loads(done.stdout).get("model", "\x1b[31m")
