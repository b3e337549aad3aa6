"""Mistakes and how they are shown."""

from __future__ import annotations

import copy

import pytest

from svyaz.expr.errors import INDENT, WINDOW, ModelError, Place, Problem, excerpt, quote, start_of


def lines_of(problem: Problem) -> list[str]:
    return str(ModelError([problem])).split("\n")


def test_a_problem_shows_file_line_column_source_caret_and_hint() -> None:
    place = Place("arm.toml", 7, 12, 'kinetic = "m*x"')
    assert lines_of(Problem("unknown name 'm'", place, "did you mean 'M'?")) == [
        "arm.toml:7:12: unknown name 'm'",
        '    kinetic = "m*x"',
        "               ^",
        "    hint: did you mean 'M'?",
    ]


def test_a_problem_without_a_place_is_its_message() -> None:
    assert lines_of(Problem("cannot read the file")) == ["cannot read the file"]


def test_all_problems_are_shown_and_survive_copying() -> None:
    error = ModelError([Problem("one"), Problem("two", Place(None, 1, 1, "x"))])
    assert [p.message for p in error.problems] == ["one", "two"]
    again = copy.copy(error)  # by the same road as pickling, when workers send it
    assert again.problems == error.problems
    assert str(again) == str(error)


@pytest.mark.parametrize(
    ("source", "column", "caret"),
    [
        ("x + y", 5, 4),
        ("\tx", 2, 4),  # a tab is shown as four spaces
        ("力 = x", 5, 5),  # a wide character takes two columns
        ("u\u0307 + y", 6, 4),  # a combining mark takes none
        ("x", 2, 1),  # just after the end
        ("", 1, 0),
    ],
)
def test_the_caret_stands_below_the_character(source: str, column: int, caret: int) -> None:
    assert excerpt(Place(None, 1, column, source))[1] == " " * caret + "^"


@pytest.mark.parametrize("column", [1, 50, 5000, 9990, 10_000])
def test_long_lines_are_cut_to_a_window_around_the_caret(column: int) -> None:
    source = "".join(chr(ord("a") + k % 26) for k in range(10_000))
    shown, caret = excerpt(Place(None, 1, column, source))
    assert len(shown) <= WINDOW + 2
    assert shown[len(caret) - 1] == source[column - 1]


def test_nothing_shown_can_disturb_a_terminal() -> None:
    nasty = "a\x1b[31m\u202eb\x00\ud800"
    text = str(Problem(f"unknown name {quote(nasty)}", Place(nasty, 1, 3, nasty)))
    assert all(c.isprintable() or c == "\n" for c in text)
    text.encode("utf-8")


def test_places_move_with_the_text() -> None:
    place = Place("f", 3, 10, 'kinetic = "x')
    assert place.moved("x + y", 4) == Place("f", 3, 14, 'kinetic = "x')
    assert place.moved("x +\n yy + z", 6) == Place("f", 4, 3, " yy + z")
    assert start_of("a\nb") == Place(None, 1, 1, "a")


def test_long_words_are_cut_in_messages() -> None:
    assert len(quote("x" * 1000)) == 42
    assert quote("x'") == '"x\'"'
    assert INDENT == "    "
