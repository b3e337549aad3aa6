"""Mistakes in models: what is said, and at which line and column."""

from __future__ import annotations

import datetime
from contextlib import suppress

import pytest

from svyaz import ModelError, System, loads

MODEL = """\
coordinates = ["x", "y"]
kinetic = "m/2*(x'^2 + y'^2)"
potential = "m*g*y"

[parameters]
m = 1
g = 9.81
"""


def problems(text: str):
    with pytest.raises(ModelError) as caught:
        loads(text, "model.toml")
    return caught.value.problems


def told(text: str) -> list[tuple[int, int, str, str | None]]:
    found = problems(text)
    assert all(p.place is not None and p.place.file == "model.toml" for p in found)
    return [(p.place.line, p.place.column, p.message, p.hint) for p in found]


FIVE = """\
name = "five mistakes"
coordinates = ["x", "y"]
kinetic = "m/2*(x'^2 + y'^2)"
potential = "k/2*x^2 + mass*g*y*x'"
colour = "red"

[parameters]
m = 1
k = "2 +"
g = 9.81

[forces]
z = "-x'"

[run]
step = -1
"""


def test_S8_five_mistakes_are_five_reports_each_with_its_line() -> None:
    text = FIVE.replace("*x'\"", '"')
    found = told(text)
    assert [line for line, *_ in found] == [4, 5, 9, 13, 16]
    lines = text.splitlines()
    for (line, column, *_), sign in zip(found, ["mass", "colour", '"', "z", "-1"], strict=True):
        assert lines[line - 1][column - 1 :].startswith(sign)


def test_S8_two_mistakes_in_one_expression_are_two_reports() -> None:
    assert [line for line, *_ in told(FIVE)] == [4, 4, 5, 9, 13, 16]


def test_S8_the_message_shows_file_line_column_and_caret() -> None:
    with pytest.raises(ModelError) as caught:
        loads(MODEL.replace("m*g*y", "m*G*y"), "model.toml")
    assert str(caught.value) == (
        "model.toml:3:16: unknown name 'G'\n"
        '    potential = "m*G*y"\n'
        "                   ^\n"
        "    hint: did you mean 'g'?"
    ), "and nothing of an unused g, which is meant by the mistyped name"


@pytest.mark.parametrize(
    ("old", "new", "line", "column", "message", "hint"),
    [
        ("m*g*y", "m*g*z", 3, 18, "unknown name 'z'", None),
        ("m/2*(", "mm/2*(m*", 2, 12, "unknown name 'mm'", "did you mean 'm'?"),
        ("m*g*y", "m*g*(y + x')", 3, 23, "the potential energy depends on positions", None),
        ("m*g*y", "m*g*y''", 3, 18, "not allowed", None),
        ("m*g*y", "m*g*sin(y", 3, 21, "'(' is never closed", None),
        ("m*g*y", "m*g*1,5", 3, 19, "a decimal comma", "write 1.5, with a point"),
        ("m*g*y", "m*g*tg(y)", 3, 18, "unknown function 'tg'", "write tan(...)"),
        ("m*g*y", "", 3, 14, "the expression is empty", None),
        ("m/2*(x'^2 + y'^2)", "m/2*x'^2", 1, 22, "the coordinate 'y' has no inertia", None),
        ("coordinates", "coordinate", 1, 1, "there is no key 'coordinate'", "did you mean 'coordinates'?"),
        ("kinetic", "kinetics", 2, 1, "there is no key 'kinetics'", "did you mean 'kinetic'?"),
        ('["x", "y"]', '["x", 3]', 1, 15, "'coordinates' must be a list of names", None),
        ('["x", "y"]', '"x"', 1, 16, "'coordinates' must be a list of names, not the text 'x'", None),
        ('["x", "y"]', "[]", 1, 15, "the list 'coordinates' is empty", None),
        ('"x", "y"', '"x", "y", "x"', 1, 27, "the name 'x' is used twice: it is a coordinate already", None),
        ('"x", "y"', '"x", "y", "g"', 7, 1, "the name 'g' is used twice: it is a coordinate already", None),
        ('"x", "y"', '"x", "y", "x-1"', 1, 27, "'x-1' cannot be a name", None),
        ('"x", "y"', '"x", "y", "sin"', 1, 27, "'sin' has a meaning of its own", None),
        ('"x", "y"', '"x", "y", "t"', 1, 27, "'t' has a meaning of its own", None),
        ("kinetic", "lagrangian", 2, 15, "'lagrangian' stands instead of 'kinetic' and 'potential'", None),
        ("g = 9.81", "g = true", 7, 5, "'g' must be a number or an expression in quotes, not true", None),
        ("g = 9.81", "g = [9.81]", 7, 5, "'g' must be a number or an expression in quotes, not a list", None),
        ("g = 9.81", 'g = "1/0"', 7, 7, "division by zero", None),
        ("g = 9.81", 'g = "m/(m - 1)"', 7, 6, "the parameter 'g' has no finite real value", None),
        ("g = 9.81", 'g = "sqrt(-m)"', 7, 6, "the parameter 'g' has no finite real value", None),
        ("g = 9.81", "g = nan", 7, 5, "the parameter 'g' has no finite real value", None),
        ("g = 9.81", 'g = "x"', 7, 6, "unknown name 'x'", None),
        ("g = 9.81", 'g = "1 + t"', 7, 10, "a value does not change with time", None),
        ("m*g*y", "m*g*y*9^9^9^9", 3, None, "", None),
        ("g = 9.81", "g = 9,81", 7, 6, "this is not TOML", None),
        ("g = 9.81", "g = 9.81\ng = 3", 8, 6, "this is not TOML: Cannot overwrite a value", "twice?"),
    ],
)
def test_one_mistake(old, new, line, column, message, hint) -> None:
    text = MODEL.replace(old, new, 1)
    found = [p for p in problems(text) if p.place is not None and p.place.line == line and message in p.message]
    assert found, [str(p) for p in problems(text)]
    if column is not None:
        assert found[0].place.column == column
    if hint is not None:
        assert hint in (found[0].hint or "")


@pytest.mark.parametrize(
    ("added", "line", "column", "message", "hint"),
    [
        ('[[constraint]]\nequation = "x = x"', 9, 13, "says 0 = 0: it holds always", None),
        ('[[constraint]]\nequation = "2*x + 1 = x + x + 1"', 9, 13, "says 0 = 0", None),
        ('[[constraint]]\nequation = "0 = 1"', 9, 13, "is a contradiction", None),
        ('[[constraint]]\nequation = "m = g"', 9, 13, "contains no coordinate and no velocity", None),
        ('[[constraint]]\nequation = "x + y"', 9, 13, "an equation needs '='", "write left = right"),
        ('[[constraint]]\nequation = "x = y = 0"', 9, None, "", None),
        ('[[constraint]]\nequation = "x = r"', 9, 17, "unknown name 'r'", None),
        ('[[constraint]]\nname = "rod"', 8, 3, "the constraint 'rod' has no equation", None),
        ("[[constraint]]\nequation = 3", 9, 12, "'equation' must be a text, not 3", None),
        ('[constraint]\nequation = "x = 1"', 8, 1, "'constraint' must be an array of tables", None),
        ('[[constraint]]\nequation = "x = 1"\nform = 2\nuntil = 1', 10, 1, "there is no key 'form' in", "'from'"),
        ('[[constraint]]\nequation = "x = 1"\nslip = 0', 10, 1, "there is no key 'slip'", "keys in [constraint]: name, eq"),
        ('[[constraint]]\nequation = "x = 1"\nfrom = 2\nuntil = 1', 11, 9, "would act from 2 until 1", None),
        ('[[constraint]]\nequation = "x = 1"\ndependent = "z"', 10, 14, "there is no coordinate 'z'", None),
        ('[[constraint]]\nequation = "x = 1"\ndependent = 3', 10, 13, "is the name of a coordinate", None),
        (
            '[[constraint]]\nname = "a"\nequation = "x = 1"\n[[constraint]]\nname = "a"\nequation = "y = 1"',
            12,
            9,
            "two constraints have the name 'a'",
            None,
        ),
        ('[inputs]\nu = 1\n[[constraint]]\nequation = "x\' = u"', 11, 18, "an input may appear in forces", None),
        ('[forces]\nxx = "1"', 9, 1, "a generalised force acts on a coordinate; 'xx' is none", "did you mean 'x'?"),
        ("[forces]\nx = true", 9, 5, "'x' must be a number or an expression", None),
        ("[inputs]\nu = { value = 1, lo = 0 }", 9, 18, "there is no key 'lo' in [inputs]", "did you mean 'low'?"),
        ("[inputs]\nm = 1", 9, 1, "the name 'm' is used twice: it is a parameter already", None),
        ('[definitions]\nr = "q + 1"', 9, 6, "unknown name 'q'", None),
        ('[definitions]\nx = "y"', 9, 1, "the name 'x' is used twice", None),
        ("[initial]\nz = 1", 9, 1, "'z' is not among the variables of the state", None),
        ('[initial]\nx = "2*y"', 9, 8, "'y' is a coordinate", None),
        ('[initial]\nx = "t"', 9, 6, "a value does not change with time", None),
        ("[initial]\n\"x''\" = 1", 9, 1, "is not among the variables of the state", None),
        ("[initial]\nx = inf", 9, 5, "has no finite real value", None),
        ('[run]\nmethod = "rk5"\nstep = 1e-3', 9, 11, "'method' cannot be 'rk5'", "did you mean 'rk"),
        ('[run]\nform = "lagrang"', 9, 9, "'form' cannot be 'lagrang'", "did you mean 'lagrange'?"),
        ('[run]\nstabilize = "ato"', 9, 14, "'stabilize' cannot be 'ato'", "did you mean 'auto'?"),
        ("[run]\nstep = 0", 9, 8, "'step' must be positive", None),
        ("[run]\nuntil = -3", 9, 9, "'until' must be positive", None),
        ('[run]\nrtol = "x"', 9, 9, "'x' is a coordinate", None),
        ("[run]\nrtoll = 1e-9", 9, 1, "there is no key 'rtoll' in [run]", "did you mean 'rtol'?"),
        ("[run]\nstep = 0.1\nrtol = 1e-9", 10, 1, "give either 'step'", None),
        ("[run]\nmethod = 4", 9, 10, "'method' must be a text, not 4", None),
        ('[[draw]]\npoint = ["x"]', 9, 9, "a point has two or three coordinates", None),
        ('[[draw]]\npoint = ["x", "q"]', 9, 16, "unknown name 'q'", None),
        ("[[draw]]\npoint = [\"x'\", \"y\"]", 9, 11, "only positions count", None),
        ('[[draw]]\npoint = [true, "y"]', 9, 10, "must be a number or an expression", None),
        ('[[draw]]\nlink = [["0", "0"]]', 9, 8, "a link goes through at least two points", None),
        ('[[draw]]\nlink = [["0", "0"], ["x", "y", "0"]]', 9, 8, "in the plane or all in space", None),
        ('[[draw]]\nlink = [["0", "0"], ["x", "y"]]\npoint = ["x", "y"]', 8, 3, "exactly one of link, point", None),
        ("[[draw]]\ntrace = true", 8, 3, "exactly one of link, point, circle, spring", None),
        ('[[draw]]\nlnk = [["0", "0"], ["x", "y"]]', 9, 1, "there is no key 'lnk' in [draw]", "did you mean 'link'?"),
        ('[[draw]]\ncircle = { center = ["0", "0"] }', 9, 10, "a circle has a center and a radius", None),
        ('[[draw]]\ncircle = { center = ["0", "0"], radius = true }', 9, 42, "'radius' must be a number", None),
        ('[[draw]]\ncircle = { center = ["0", "0"], radus = 1 }', 9, 33, "no key 'radus'", "did you mean 'radius'?"),
        ('[[draw]]\npoint = ["x", "y"]\ntrace = "yes"', 10, 10, "'trace' must be true or false", None),
        ("[box]\nx = [1, -1]", 9, 5, "is empty: 1 is not below -1", None),
        ("[box]\nx = 3", 9, 5, "a side of the box is [low, high]", None),
        ("[box]\nq = [1, 2]", 9, 1, "'q' is not a name of the model", None),
        ('[[integral]]\nname = "e"', 8, 3, "the integral 'e' has no expression", None),
        ('[[integral]]\nexpression = "x"\ngain = -1', 10, 8, "must be positive", None),
        ('[[integral]]\nexpression = "x"\nhold = "yes"', 10, 9, "'hold' must be true or false", None),
        ('[bypass]\nwatch = "x"\nat = 0\nwindow = 1', 8, 2, "[bypass] needs 'jump'", None),
        ('[source]\nchosen = ["mm"]', 9, 12, "'mm' is not a parameter of the model", None),
        ('[parameter]\nk = 1', 8, 2, "there is no key 'parameter'", "did you mean 'parameters'?"),
    ],
)  # fmt: skip
def test_one_mistake_in_a_table(added, line, column, message, hint) -> None:
    found = told(MODEL + added + "\n")
    assert len(found) == 1, found
    assert found[0][0] == line
    assert column is None or found[0][1] == column
    assert message in found[0][2]
    assert hint is None or hint in (found[0][3] or "")


def test_parameters_in_a_circle_are_all_named() -> None:
    text = MODEL + 'a = "2*b"\nb = "c + 1"\nc = "a"\nd = "a + g"\n'
    found = [p for p in problems(text) if "circle" in p.message]
    assert [p.place.line for p in found][:3] == [8, 9, 10]
    assert "'a', 'b', 'c'" in found[0].message


def test_what_a_refused_body_uses_is_not_called_unused() -> None:
    body = '[[body]]\nname = "arm"\nbase = "ground"\njoint = "revolut"\ncoordinate = "q"\nmass = "m"\n'
    (found,) = problems('gravity = [0, 0, "-g"]\n[parameters]\ng = 9.81\nm = 1\n' + body)
    assert "cannot have a joint 'revolut'" in found.message


def test_unused_parameter_is_a_warning() -> None:
    system = loads(MODEL + "k = 3\n", "model.toml")
    (warning,) = system.warnings
    assert (warning.message, warning.place.line, warning.place.column) == ("the parameter 'k' is not used", 8, 1)


@pytest.mark.parametrize(
    "use",
    [
        '[forces]\nx = "k*x"',
        '[initial]\nx = "k"',
        '[run]\nstep = "k"',
        '[[draw]]\npoint = ["k", "y"]',
        'h = "k"\n[box]\nx = ["-h", "h"]',
    ],
)
def test_parameter_that_is_used_anywhere_is_used(use) -> None:
    assert loads(MODEL + "k = 3\n" + use).warnings == ()


def test_names_in_text_that_cannot_be_read_are_not_called_unused() -> None:
    assert [p.message for p in problems(MODEL.replace("m*g*y", "m*g*y +"))] == ["something is missing after '+'"]


def test_missing_tables_and_keys() -> None:
    assert [p.message for p in problems('kinetic = "1"')] == ["the model has no 'coordinates'"]
    assert [p.message for p in problems('coordinates = ["x"]')] == [
        "the model has neither 'kinetic' nor 'lagrangian'",
        "the coordinate 'x' has no inertia: its velocity is not in the kinetic energy",
    ]
    assert "has no 'rates'" in problems('states = ["x"]')[0].message
    found = problems('coordinates = ["q"]\nmomenta = ["p", "r"]\nhamiltonian = "p^2"')
    assert found[0].message == "there are 1 coordinates and 2 momenta"


def test_words_that_do_not_go_together() -> None:
    found = told('states = ["x"]\nforces = { x = 1 }\n[rates]\nx = "-x"\n')
    assert [(line, message) for line, _, message, _ in found] == [
        (2, "'forces' does not go with a model that is given by [rates]")
    ]


def test_mistakes_in_python_name_the_word_instead_of_a_line() -> None:
    with pytest.raises(ModelError) as caught:
        System(
            coordinates=["x"],
            kinetic="m/2*x'^2",
            potential="k*x + q",
            parameters={"m": 1, "k": "1 +"},
            constraint=[{"equation": "0 = 0"}],
        )
    text = str(caught.value)
    assert "potential:1:7: unknown name 'q'" in text
    assert "parameters.k:1:4: something is missing after '+'" in text
    assert "constraint.0.equation: the constraint 'constraint 1' says 0 = 0" in text


def test_multiline_expression_is_reported_at_its_own_line() -> None:
    text = MODEL.replace('"m*g*y"', '"""m*g*y\n  + m*g*h"""')
    (problem,) = problems(text)
    assert (problem.place.line, problem.place.column) == (4, 9)


def test_nothing_of_a_wrong_type_gets_through() -> None:
    """Every value of a good model replaced by values of other types: a ModelError or a model, never anything else."""
    words = {
        "name": "n",
        "coordinates": ["x"],
        "kinetic": "m/2*x'^2",
        "potential": "0",
        "dissipation": "0",
        "definitions": {"d": "x"},
        "parameters": {"m": 1},
        "forces": {"x": "1"},
        "inputs": {"u": {"value": 1, "low": 0, "high": 2}},
        "constraint": [{"name": "c", "equation": "x = d", "dependent": "x", "from": 0, "until": 1}],
        "integral": [{"name": "i", "expression": "x", "hold": False, "gain": 1, "value": 0}],
        "draw": [
            {"link": [["0", "0"], ["x", "0"]], "trace": True, "name": "a"},
            {"circle": {"center": [0, 0], "radius": 1}},
        ],
        "initial": {"x": 0},
        "box": {"x": [0, 1]},
        "run": {"form": "multipliers", "method": "rk4", "step": 1, "stabilize": "off"},
        "bypass": {"watch": "x", "at": 0, "window": 1, "jump": 2},
        "source": {"work": "w", "chosen": ["m"]},
    }  # fmt: skip
    odd = [
        None,
        True,
        -1,
        2.5,
        float("nan"),
        "",
        "?",
        [],
        [[]],
        [1],
        ["x", ["x"]],
        {},
        {"a": 1},
        [{}],
        datetime.date(1, 1, 1),
    ]

    def replaced(value, new):
        yield new
        entries = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
        for key, inner in entries:
            for changed in replaced(inner, new):
                copy = value.copy()
                copy[key] = changed
                yield copy

    count = 0
    for key, value in words.items():
        for new in odd:
            for changed in replaced(value, new):
                count += 1
                with suppress(ModelError):
                    System(**{**words, key: changed})
    assert count > 800


@pytest.mark.parametrize(
    "lines",
    [
        "impact = 'newton'\nrestitution = 'ee'",
        "friction = 'ee'",
        "from = 'ee'",
        "on = 'ee'",
        "law = 'ee'",
        "[limits]\nx = ['ee', 3]",
        "[[integral]]\nname = 'i'\nexpression = 'x'\nvalue = 'ee'",
    ],
)
def test_a_mistake_is_told_once(lines: str) -> None:
    """However often a value is looked at while the model is read."""
    text = "coordinates = ['x']\nkinetic = \"x'^2/2\"\n[[constraint]]\nname = 'floor'\nequation = 'x = 0'\n"
    text += "" if "on =" in lines else "on = '-x'\noff = '-lambda_floor'\n"
    with pytest.raises(ModelError) as refused:
        loads(text + lines + "\n")
    told = [str(problem) for problem in refused.value.problems]
    assert any("'ee'" in line for line in told)
    assert len(told) == len(set(told))
