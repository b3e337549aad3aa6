"""The portable text: exact round trips, strict reading, a hash that is the same everywhere."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from svyaz.program.elimination import choose_orders
from svyaz.program.tape import Program, ProgramError
from svyaz.program.text import content_hash, from_text, to_text


def test_S6_text_round_trips(pendulum):
    program = pendulum(4)
    assert from_text(to_text(program)) == program
    ordered = choose_orders(program, [1.0] * 9, [0.1 * k for k in range(9)])
    assert ordered.systems[0].order is not None
    assert from_text(to_text(ordered)) == ordered


@given(st.floats(allow_nan=False, allow_infinity=False), st.text(min_size=1, max_size=20))
def test_numbers_and_names_are_exact(value, name):
    program = Program((name,), (), (("const", value), ("parameter", 0)), (("a", 0), ("b", 1)))
    back = from_text(to_text(program))
    assert back == program
    assert math.copysign(1, back.nodes[0][1]) == math.copysign(1, value)


def test_S6_hash_is_stable_between_processes(python, pendulum):
    program = pendulum(3)
    code = "import sys; from svyaz import program as p; print(p.content_hash(p.from_text(sys.stdin.read())))"
    for seed in ("1", "2"):
        run = python("-c", code, env={"PYTHONHASHSEED": seed}, input=to_text(program))
        assert run.stdout.strip() == content_hash(program), run.stderr


def test_hash_tells_zeros_apart():
    hashes = {content_hash(Program((), (), (("const", zero),), (("a", 0),))) for zero in (0.0, -0.0)}
    assert len(hashes) == 2


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_numbers_that_are_not_finite_are_refused(value):
    with pytest.raises(ProgramError, match="cannot hold"):
        to_text(Program((), (), (("const", value),), (("a", 0),)))


TEXT = """svyaz program 1
parameters 1
"L"
inputs 2
"t"
"u'"
nodes 5
input 1
parameter 0
const 0x1.8000000000000p+1
mul 0 2
unknown 0 0
systems 1
system 1 1 symmetric
matrix 1
side 3
order 0 | 0
outputs 1
"u''" 4
end
"""


def test_the_text_of_the_docstring_is_read():
    program = from_text(TEXT)
    assert program.nodes[2] == ("const", 3.0)
    assert to_text(program) == TEXT


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("svyaz program 1", "svyaz program 2", "line 1: expected 'svyaz program 1'"),
        ("mul 0 2", "mull 0 2", "line 11"),
        ("mul 0 2", "eval 0", "unknown operation 'eval'"),
        ("mul 0 2", "mul 0", "takes 2 arguments, found 1"),
        ("mul 0 2", "mul 0 3", "earlier node 3 is not below 3"),
        ("mul 0 2", "mul 0 -1", "line 11: expected the number of earlier node"),
        ("mul 0 2", "mul  0 2", "takes 2 arguments, found 3"),
        ("parameter 0", "parameter 1", "parameter 1 is not below 1"),
        ("input 1", "input 2", "input 2 is not below 2"),
        ("0x1.8000000000000p+1", "3.0", "hexadecimal float"),
        ("0x1.8000000000000p+1", "0x1.8p+1", "not a finite double"),
        ("0x1.8000000000000p+1", "0x1.8000000000000p+9999", "not a finite double"),
        ("nodes 5", "nodes 4", "expected 'systems COUNT'"),
        ("nodes 5", "nodes 99999999", "not below"),
        ("nodes 5", "nodes 6", "'systems' takes|unknown operation"),
        ("unknown 0 0", "unknown 0 1", "node 4 is an unknown that no linear system has"),
        ("unknown 0 0", "unknown 1 0", "node 4 is an unknown that no linear system has"),
        ("side 3", "side 4", "node 4 is an unknown of a system that comes later"),
        ("matrix 1", "matrix 1 1", "expected 'matrix' and 1 numbers"),
        ("system 1 1 symmetric", "system 0 1 symmetric", "needs an equation"),
        ("system 1 1 symmetric", "system 100000 1 symmetric", "not below"),
        ("order 0 | 0", "order 0 | 1", "column 1 is not below 1"),
        ("order 0 | 0", "order", "line 17: expected 'order none'"),
        ("\"u''\" 4", "\"u''\" 5", "node 5 is not below 5"),
        ("\"u''\" 4", "u 4", "expected a name in quotes"),
        ('"t"', '"u\'"', "occurs twice among the inputs"),
        ('"t"', "[[[[[[", "expected a name in quotes"),
        ("end\n", "end\nmore\n", "line 21"),
        ("end\n", "", "expected 'end'"),
    ],
)
def test_malformed_text_is_refused_with_its_line(old, new, message):
    assert old in TEXT
    with pytest.raises(ProgramError, match=message):
        from_text(TEXT.replace(old, new, 1))


@given(st.text(max_size=300))
def test_any_text_is_read_or_refused(text):
    with pytest.raises(ProgramError):
        from_text(text)


@given(st.integers(0, len(TEXT) - 1), st.characters())
def test_one_changed_character_is_read_or_refused(place, character):
    try:
        program = from_text(TEXT[:place] + character + TEXT[place + 1 :])
    except ProgramError:
        return
    assert from_text(to_text(program)) == program
