"""Where the keys and values of a TOML text stand."""

from __future__ import annotations

import tomllib
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from svyaz.expr import ModelError, Scope, parse
from svyaz.model.reading.places import MAX_SIZE, Path, Places, read_toml, toml_places

TEXT = '''\
name = "a [model] # with = signs"   # a comment with "quotes" and [brackets
coordinates = ["x", 'y',  # first
    "phi", ]
"in\\u0063line" = 30

[parameters]
m = 1.0
a.b = { k = [1, { z = 'q' }], "phi'" = """
first
second ""quoted""" , e = [], f = {} }
when = 1979-05-27 07:32:00

[[constraint]]
equation = "y' = x"
[constraint.about]
by = "me"

[[constraint]]
name = \'\'\'one 'two' three\'\'\'
[[constraint.point]]
at = [[1, 2], [3,]]

[initial]
"phi'" = -1e-3
'''


def found(places: Places, path: Path) -> str:
    """The rest of the line at the place of a value."""
    place = places.value(path)
    assert place.file == "model.toml"
    assert TEXT.split("\n")[place.line - 1] == place.source
    return place.source[place.column - 1 :]


@pytest.mark.parametrize(
    ("path", "rest"),
    [
        (("name",), "a [model] # with"),
        (("coordinates",), '["x", '),
        (("coordinates", 0), 'x", '),
        (("coordinates", 1), "y',"),
        (("coordinates", 2), 'phi", ]'),
        (("incline",), "30"),
        (("parameters",), "[parameters]"),
        (("parameters", "m"), "1.0"),
        (("parameters", "a"), "a.b = "),
        (("parameters", "a", "b"), "{ k ="),
        (("parameters", "a", "b", "k", 0), "1, {"),
        (("parameters", "a", "b", "k", 1, "z"), "q' }"),
        (("parameters", "a", "b", "phi'"), "first"),
        (("parameters", "a", "b", "e"), "[], f"),
        (("parameters", "a", "b", "f"), "{} }"),
        (("parameters", "when"), "1979-05-27 07:32:00"),
        (("constraint", 0), "[[constraint]]"),
        (("constraint", 0, "equation"), "y' = x"),
        (("constraint", 0, "about", "by"), "me"),
        (("constraint", 1, "name"), "one 'two'"),
        (("constraint", 1, "point", 0, "at", 1, 0), "3,]]"),
        (("initial", "phi'"), "-1e-3"),
        (("parameters", "m", "nothing", 3), "1.0"),  # what encloses it
        (("nothing",), 'name = "a'),
    ],
)
def test_values_are_found(path: Path, rest: str) -> None:
    assert found(toml_places(TEXT, "model.toml"), path).startswith(rest)


@pytest.mark.parametrize(
    ("path", "line", "column"),
    [
        (("name",), 1, 1),
        (("incline",), 4, 1),
        (("parameters",), 6, 2),
        (("parameters", "a", "b"), 8, 3),
        (("parameters", "a", "b", "k", 1, "z"), 8, 19),
        (("constraint", 1), 18, 3),
        (("constraint", 1, "point"), 20, 14),
        (("coordinates", 2), 3, 6),
        (("initial", "phi'"), 24, 1),
    ],
)
def test_keys_are_found(path: Path, line: int, column: int) -> None:
    place = toml_places(TEXT, "model.toml").key(path)
    assert (place.line, place.column) == (line, column)


def test_mistakes_in_an_expression_are_shown_in_the_file() -> None:
    text = '[forces]\r\nx = "-k*x + q"\r\n'
    words, places = read_toml(text, "model.toml")
    with pytest.raises(ModelError) as caught:
        parse(words["forces"]["x"], Scope({"k": 1, "x": 2}), places.value(("forces", "x")))
    assert str(caught.value).split("\n") == [
        "model.toml:2:13: unknown name 'q'",
        '    x = "-k*x + q"',
        "                ^",
    ]


def every_path(value: Any, path: Path = ()) -> list[Path]:
    inside: list[tuple[str | int, Any]] = []
    if isinstance(value, dict):
        inside = list(value.items())
    elif isinstance(value, list):
        inside = list(enumerate(value))
    paths = [path] if path else []
    for key, element in inside:
        paths += every_path(element, (*path, key))
    return paths


def test_every_value_has_a_place() -> None:
    places = toml_places(TEXT)
    paths = every_path(tomllib.loads(TEXT))
    assert len(paths) > 30
    assert [path for path in paths if path not in places.values] == []


@pytest.mark.parametrize(
    ("text", "line", "column", "message"),
    [
        ("a = ", 1, 5, "this is not TOML: Invalid value"),
        ("a = 1\nb = [1,", 2, 8, "this is not TOML: Invalid value"),
        ("a = 1 b", 1, 7, "this is not TOML: Expected newline"),
        ('x = "abc', 1, 9, "this is not TOML: Unterminated string"),
        ("a = 1\na = 2\n", 2, 6, "this is not TOML: Cannot overwrite a value"),
        ("[a]\n[a]\n", 2, 3, "this is not TOML: Cannot declare"),
        ("[a", 1, 3, "this is not TOML: Expected ']'"),
        ("\x00", 1, 1, "this is not TOML: Invalid statement"),
        ("a = 1" + "0" * 5000, 1, 1, "a whole number with too many digits"),
        ("a = " + "[" * 10_000, 1, 105, "nested too deeply"),
        ("a = " + "[" * 10_000 + "]" * 10_000, 1, 105, "nested too deeply"),
        ("a = " + "{a = " * 10_000, 1, 505, "nested too deeply"),
        ("a." * 10_000 + "b = 1", 1, 1, "a key of more than 100 parts"),
        ("x = 1\n" * (MAX_SIZE // 5), 1, 1, "the file is too large"),
        ("x" * 10_000_000, 1, 1, "the file is too large"),
    ],
)
def test_mistakes_in_the_toml_have_a_place(text: str, line: int, column: int, message: str) -> None:
    with pytest.raises(ModelError) as caught:
        read_toml(text, "model.toml")
    (problem,) = caught.value.problems
    assert message in problem.message
    assert problem.place is not None
    assert problem.place.line == line
    assert problem.place.column in (column, column - 2)  # Python versions differ by a character or two


PIECES = ["a", "b.c", '"q\'"', " = ", "=", "[", "]", "[[", "]]", "{", "}", ",", "\n", "1", "'s'", '"t"', '"""', "'''", "#", " ", "\\", "x"]  # fmt: skip  # noqa: E501


@settings(max_examples=500, deadline=None, derandomize=True)
@given(st.lists(st.sampled_from(PIECES), max_size=30).map("".join))
def test_any_text_is_read_or_refused_with_a_place(text: str) -> None:
    try:
        words, places = read_toml(text)
    except ModelError as error:
        assert all(problem.place is not None for problem in error.problems)  # noqa: PT017
        return
    assert words == tomllib.loads(text)
    assert [path for path in every_path(words) if path not in places.values] == []
