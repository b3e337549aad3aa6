"""Hostile text: an error with a place at once, never a hang, a crash, or anything executed."""

from __future__ import annotations

import random
import time
from pathlib import Path

import pytest
import symengine as se

from svyaz.expr import ModelError, Scope, parse, parse_equation

SCOPE = Scope(
    symbols={name: se.Symbol(name) for name in ("x", "y", "phi", "m", "e1", "θ")},
    derivatives={name: se.Symbol(name + "'") for name in ("x", "y", "phi")},
)
HONEST = "x+" * 9_999 + "x"
MOST = 4.0
"""At once: in at most so many times the processor time of the honest text, which is 0.02 to 0.05 s."""


def seconds(text: str, read: object = parse) -> float:
    """The processor time that it takes to read a text or to refuse it with a place; other exceptions pass through."""
    refusal: ModelError | None = None
    start = time.thread_time()
    try:
        read(text, SCOPE)  # type: ignore[operator]
    except ModelError as error:
        refusal = error
    spent = time.thread_time() - start
    if refusal is not None:
        assert refusal.problems
        assert all(problem.place is not None and problem.message for problem in refusal.problems)
        str(refusal).encode("utf-8")
    return spent


def in_time(text: str, read: object = parse) -> bool:
    """Is the text dealt with in time? The best of five, for a garbage collection may fall into any one of them."""
    return any(seconds(text, read) < MOST * seconds(HONEST) for _ in range(5))


many = [f"x^{k % 1000}*y^{k // 1000}" for k in range(2400)]
primes = range(100_003, 200_000, 2)

REFUSED = {
    "tower": "9^9^9^9",
    "tower of tens": "10^10^10^10^10",
    "nested tower": "2^(2^(2^100))",
    "growing powers": "((((3*x)^1000)^1000)^1000)^1000",
    "growing exact powers": "(" * 50 + "1 + 1/7" + ")^9" * 50,
    "growing decimal powers": "(" * 50 + "1.001*x" + ")^999" * 50,
    "negative tower": "9^-9^9^9",
    "long integer": "7" * 1000,
    "long integer of a power": "2^" + "9" * 300,
    "integer beyond all doubles": "1" + "0" * 308,
    "long decimal": "0." + "3" * 50_000,
    "a million parentheses": "(" * 1_000_000,
    "a million closed parentheses": "(" * 500_000 + ")" * 500_000,
    "as many parentheses as fit": "(" * 49_999 + "x" + ")" * 49_999,
    "too deep": "(" * 201 + "x" + ")" * 201,
    "deep functions": "sin(" * 5000 + "x" + ")" * 5000,
    "deep signs": "-" * 50_000 + "x",
    "deep powers": "x^" * 5000 + "x",
    "ten megabytes": "x+" * 5_000_000 + "x",
    "ten megabytes of a name": "x" * 10_000_000,
    "ten megabytes of blanks": " " * 10_000_000,
    "as many blanks as fit": " " * 99_999,
    "as many signs as fit": "x+" * 49_999 + "x",
    "long name": "a" * 99_999,
    "many unknown names": "+".join(f"unknown{k}" for k in range(7000)),
    "many unknown functions": "+".join(f"sine{k}(x)" for k in range(4000)),
    "many apostrophes": "x" + "'" * 99_000,
    "control characters": "x\x07 + y",
    "nul": "x\x00",
    "escape": "\x1b[2Jx",
    "override": "x \u202e y",
    "isolate": "\u2066x",
    "zero width": "x\u200by",
    "byte order mark": "\ufeffx",
    "surrogate": "x + \ud800",
    "private": "\ue000",
    "beyond": "x\U0010ffff",
    "line separator": "x\u2028+ y",
    "wide sign": "x\uff0by",
    "wide digits": "\uff11\uff12",
    "other digits": "٣ + ४",
    "emoji": "x + 🙂",
    "many combining marks": "x" + "\u0307" * 50_000,
    "semicolon": "x; y",
    "attribute": "x.__class__",
    "index": "x[0]",
    "format": "{x}",
    "string": "'x'",
    "lambda": "lambda: x",
    "walrus": "(x := y)",
    "comment": "x # y",
    "backslash": "x \\\n + y",
    "hexadecimal": "0xff",
    "underscores in a number": "1_000",
    "imaginary": "2j",
    "infinity": "inf - inf",
    "not a number": "nan",
    "symengine infinity": "zoo + oo",
    "symengine imaginary": "I",
    "overflow": "1e300*1e300",
    "overflow of symbols": "1e300*x*1e300",
    "overflow in a function": "exp(exp(exp(10)))",
    "hyperbolic overflow": "cosh(1e10)",
    "many denominators": "+".join(f"x/{p}" for p in primes[:2400]),
    "many numbers": "+".join(f"1/{p}" for p in primes[:2400]),
    "imaginary root": "sqrt(1 - 2)",
}  # fmt: skip

READ = {
    "ten thousand terms": HONEST,
    "ten thousand factors": "x*" * 9_999 + "x",
    "ten thousand quotients": "x/" * 9_999 + "y",
    "thousands of different terms": "+".join(many),
    "two hundred levels": "(" * 200 + "x" + ")" * 200,
    "deep sines": "sin(" * 200 + "x" + ")" * 200,
    "deep sums": "(x+" * 199 + "x" + ")" * 199,
    "deep powers of sums": "(x+" * 199 + "x" + ")^2" * 199,
    "wide at the bottom": "(" * 50 + "+".join(many[:1000]) + "+x)" * 50,
    "wide functions": "sin(" * 50 + "+".join(many[:1000]) + "+x)" * 50,
    "many maxima": "max(" + ",".join(many[:2000]) + ")",
    "many fractions": "+".join(f"x/{1 + k % 50}" for k in range(4900)),
    "a large sum to a high power": "(" + "+".join(many[:2000]) + ")^1000",
    "a long root": "(" + "7" * 290 + ")^(1/7)",
    "a large angle": "sin(" + "7" * 290 + "*pi/7)",
    "sign of a root of a negated base": "sign(sqrt(-x)) + sign(2*sqrt(-x*y)) + sign(-(-x)^0.3)",
    "sign of a power of a negated base": "sign((-x)^y) + sign(((-x)^0.5)^y) + sign((-sin(x))^-y)",
    "angle of equal roots": "atan2(sqrt(-x), sqrt(-x)) + atan2(-(-x)^y, (-x)^y) + atan2(2*sqrt(-x), sqrt(-x))",
    "a name of another script": "θ",
}  # fmt: skip


@pytest.mark.parametrize("what", REFUSED)
def test_S7_hostile_text_is_refused_at_once(what: str) -> None:
    with pytest.raises(ModelError):
        parse(REFUSED[what], SCOPE)
    assert in_time(REFUSED[what])
    assert in_time(REFUSED[what] + " = 0", parse_equation)


@pytest.mark.parametrize("what", READ)
def test_S7_large_but_honest_text_is_read(what: str) -> None:
    assert parse(READ[what], SCOPE).free_symbols <= set(SCOPE.symbols.values())


WORDS = (
    "x y phi m e1 θ x' phi'' q sin cos atan2 max sqrt exp log tan pi deg t 0 1 2 3.5 .5 1e3 1e400 9 1e-3 , ( ) ( ) "
    "+ - * / ^ ** = 2x sin( max( atan2( )^ ^-1 /0 -1 ^0.5 ^9 ^9^9"
)
ODDITIES = "== 0,5 . ' · − ² \x00 \u202e # \" [ ] { } ; : ! @ % & | ~ ` \\ $ ? < > é х 力 ٣ \ud800 __import__ lambda 🙂"
PIECES = WORDS.split(" ")
ALL_PIECES = [*PIECES, *ODDITIES.split(" "), "\t", "\n"]


def random_texts(count: int) -> list[str]:
    """Random texts: pieces of the language, pieces with a few characters changed, and raw bytes."""
    draw = random.Random(20240229)
    texts = []
    for number in range(count):
        kind = number % 4
        if kind == 0:
            text = bytes(draw.randrange(256) for _ in range(draw.randrange(60))).decode("latin-1")
        elif kind == 1:
            text = "".join(chr(draw.randrange(0x3000)) for _ in range(draw.randrange(20)))
        else:
            words = ALL_PIECES if kind == 2 else PIECES
            text = draw.choice(["", " "]).join(draw.choice(words) for _ in range(draw.randrange(1, 25)))
        texts.append(text)
    return texts


def test_S7_random_text_gives_nothing_but_model_errors_with_a_place() -> None:
    limit = seconds(HONEST)
    slow = [text for text in random_texts(100_000) if seconds(text) > limit]
    assert [text for text in slow if not in_time(text)] == []


CANARY = """
import sys
from pathlib import Path
import symengine
from svyaz.expr import ModelError, Scope, parse, parse_equation, to_latex, to_text

scope = Scope({"x": symengine.Symbol("x")}, {"x": symengine.Symbol("x'")})
to_latex(parse("x + 1", scope)), to_text(parse("x", scope))
forbidden = ("exec", "compile", "import", "open", "os.", "subprocess.", "ctypes.", "socket.", "shutil.", "pickle.")
events = []
sys.addaudithook(lambda event, arguments: events.append(event) if event.startswith(forbidden) else None)
touch = "open('canary', 'w')"
texts = [
    "__import__('os').system('touch canary')",
    "eval(\\"" + touch + "\\")",
    "exec(x)",
    touch,
    "x.__class__.__base__.__subclasses__()",
    "[" + touch + "]",
    "(lambda: " + touch + ")()",
    "f'{" + touch + "}'",
    "x if " + touch + " else x",
    "x; import os; os.system('touch canary')",
    "$(touch canary)",
    "`touch canary`",
    "x + __builtins__",
    "!touch canary",
    "{{" + touch + "}}",
    "sympify(x)",
]
for text in texts:
    for read in (parse, parse_equation):
        try:
            read(text, scope)
        except ModelError as error:
            str(error)
        else:
            print("read:", text)
print("events:", events)
print("canary:", Path("canary").exists())
"""


def test_S7_nothing_is_executed(python: object, tmp_path: Path) -> None:
    ended = python("-c", CANARY)  # type: ignore[operator]
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout == "events: []\ncanary: False\n"
    assert list(tmp_path.iterdir()) == []
