"""Texts of the gallery's models, changed at random: what a tired person, a broken script or a hostile one might write."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Sequence
from functools import cache
from random import Random

from svyaz.expr import ModelError
from svyaz.gallery import find, names

NUMBERS = (
    *("0", "-0.0", "1", "-1", "2", "0.5", "3.7", "-2.3e-5", "1e-9", "1e9", "12345678901234567890"),
    *("1e300", "-1e308", "1e-310", "1e400", "nan", "inf", "-inf", "true", '"0/0"', '"1/0"', '"sqrt(-1)"', '"1e999"'),
    *(
        '""',
        '"x"',
        "[]",
        "[1, 2]",
        "{}",
        "{a = 1}",
        "1979-05-27",
        "'t'",
        '"deg"',
        '"10^400"',
        "0x7fffffffffffffff",
        f"1{'0' * 400}",
    ),
)
"""What may stand in place of a value of TOML."""

OPERATORS = ("+", "-", "*", "/", "^", "**", "=", ",", "'", "''", "(", ")", "==", "%", " ")
FUNCTIONS = (
    "sin",
    "cos",
    "tan",
    "asin",
    "acos",
    "atan",
    "sinh",
    "exp",
    "log",
    "sqrt",
    "abs",
    "sign",
    "min",
    "max",
    "atan2",
)
PIECES = (
    "t",
    "pi",
    "1e308",
    "0",
    "1/0",
    "lambda",
    "x",
    "q1",
    "u",
    "sqrt(-1)",
    "x''",
    "0*log(0)",
    "\\u001b[31m",
    "é",
    "\x00",
)
WORDS = (
    *("kinetic", "potential", "lagrangian", "dissipation", "coordinates", "parameters", "forces", "inputs", "initial"),
    *(
        "constraint",
        "integral",
        "run",
        "box",
        "body",
        "motor",
        "draw",
        "states",
        "rates",
        "hamiltonian",
        "momenta",
        "limits",
    ),
    *(
        "equation",
        "name",
        "stabilize",
        "method",
        "form",
        "step",
        "rtol",
        "until",
        "every",
        "tolerance",
        "bypass",
        "urdf",
    ),
    *(
        "definitions",
        "gravity",
        "mass",
        "center",
        "inertia",
        "axis",
        "pole",
        "joint",
        "dh",
        "field",
        "hold",
        "value",
        "gain",
    ),
)
LONGEST = 5000
NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?(?![\w.])")
NAME = re.compile(r"[A-Za-z_]\w*'*")
STRING = re.compile(r'"([^"\n]*)"')
OPERATOR = re.compile(r"[-+*/^=(),']")


STEADY = (
    *(
        "sleigh",
        "pendulum:2",
        "pendulum-xy",
        "ball-and-beam",
        "slalom-cart",
        "suslov",
        "three-link-arm",
        "inverse-cart",
    ),
    *("rolling-disc", "lawden", "sling", "chaplygin-ball"),
)
"""Models for texts that stay the same when the gallery grows."""


@cache
def gallery_texts() -> tuple[str, ...]:
    """All models of the gallery but the longest, small ones of those with a size."""
    found = [find(name.replace(":N", ":2")) for name in names()]
    return tuple(text for text in found if len(text) <= LONGEST)


@cache
def steady_texts() -> tuple[str, ...]:
    """Some models of the gallery."""
    return tuple(map(find, STEADY))


def mutated(seed: int, texts: Sequence[str]) -> str:
    """A text, the same for a seed: one to four changes of one of the texts."""
    random = Random(seed)
    text = random.choice(texts)
    for _ in range(random.choice((1, 1, 2, 3, 4))):
        text = random.choice(CHANGES)(text, random)
    return text


def _replaced(text: str, random: Random, pattern: re.Pattern[str], new: Callable[[str], str]) -> str:
    """One of the matches, which is not in a comment, replaced."""
    places = [m for m in pattern.finditer(text) if "#" not in text[text.rfind("\n", 0, m.start()) + 1 : m.start()]]
    if not places:
        return text
    place = random.choice(places)
    return text[: place.start()] + new(place.group()) + text[place.end() :]


def another_number(text: str, random: Random) -> str:
    """A number becomes another one, or no number at all."""
    return _replaced(text, random, NUMBER, lambda _: random.choice(NUMBERS))


def scaled_number(text: str, random: Random) -> str:
    """A number of another size or sign: still a model, maybe an absurd one."""
    return _replaced(text, random, NUMBER, lambda old: repr(float(old) * random.choice((-1, 10.0, 1e-3, 1e6, 0.5))))


def another_operator(text: str, random: Random) -> str:
    """An operator becomes another one."""
    return _replaced(text, random, OPERATOR, lambda _: random.choice(OPERATORS))


def another_name(text: str, random: Random) -> str:
    """A name becomes another name of the same text, a function, or a word of model files."""
    known = [*NAME.findall(text), *FUNCTIONS, *WORDS, *PIECES]
    return _replaced(text, random, NAME, lambda _: random.choice(known))


def wrapped(text: str, random: Random) -> str:
    """An expression goes into a function, or gets a term."""
    around = random.choice(
        ("{f}({e})", "({e})/{p}", "({e})^{p}", "{e} + {f}({p})", "{e}*{p}", "-({e})", "{f}({e}, {p})")
    )
    words = {"f": random.choice(FUNCTIONS), "p": random.choice(PIECES)}
    return _replaced(text, random, STRING, lambda old: f'"{around.format(e=old[1:-1], **words)}"')


def lines_moved(text: str, random: Random) -> str:
    """A line is left out, doubled, or stands elsewhere."""
    lines = text.split("\n")
    line = random.randrange(len(lines))
    kind = random.choice(("leave out", "double", "move"))
    moved = lines[line] if kind == "double" else lines.pop(line)
    if kind != "leave out":
        lines.insert(random.randrange(len(lines) + 1), moved)
    return "\n".join(lines)


def characters(text: str, random: Random) -> str:
    """Some characters are left out, or random ones put in."""
    place = random.randrange(len(text) + 1)
    if random.random() < 0.5:
        return text[:place] + text[place + random.choice((1, 1, 2, 5)) :]
    return (
        text[:place]
        + "".join(random.choice("\"'[]{}=.,#\n\\ \t(x0e") for _ in range(random.choice((1, 2))))
        + text[place:]
    )


def line_added(text: str, random: Random) -> str:
    """A line with a word of model files and some value."""
    lines = text.split("\n")
    value = random.choice((*NUMBERS, *STRING.findall(text), '"auto"', '"off"', "{kappa = [1]}", '{alpha = "x"}'))
    line = random.choice(
        (f"{random.choice(WORDS)} = {value}", f"[{random.choice(WORDS)}]", f"[[{random.choice(WORDS)}]]")
    )
    lines.insert(random.randrange(len(lines) + 1), line)
    return "\n".join(lines)


CHANGES: Sequence[Callable[[str, Random], str]] = (
    *(another_number, another_number, scaled_number, scaled_number, scaled_number, scaled_number),
    *(another_operator, another_name, wrapped, wrapped, wrapped, lines_moved, characters, line_added),
)


def outcome_of_reading(text: str) -> str:
    """``derived`` or ``refused``; anything but a ModelError comes through, warnings too."""
    from svyaz import loads

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            loads(text, "model").derive()
    except ModelError:
        return "refused"
    return "derived"
