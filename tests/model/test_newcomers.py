"""First mistakes: each is answered once, with what to write instead."""

from __future__ import annotations

import pytest

from svyaz import ModelError, System, load, loads
from svyaz.model import read_file

PENDULUM = """\
name = "p"
coordinates = ["u"]
kinetic = "m*l^2/2*u'^2"
potential = "-m*g*l*cos(u)"
[parameters]
m = 1
l = 1
g = 9.81
[initial]
u = 0.5
"""


@pytest.mark.parametrize(
    ("right", "wrong", "line", "hint"),
    [
        ("g = 9.81", "g = 9,81", 8, "numbers have a decimal point: g = 9.81"),
        ('"m*l^2/2*u\'^2"', "m*l^2/2*u'^2", 3, 'formulas stand in quotes: kinetic = "m*l^2/2*u\'^2"'),
        ('"-m*g*l*cos(u)"', "“-m*g*l*cos(u)”", 4, 'texts stand in straight quotes: "…"'),
        ("u = 0.5", "u = 0.5\nu' = 2", 11, 'a name with an apostrophe stands in quotes: "u\'" = 2'),
        ("u'^2", "u_dot^2", 3, "the velocity of 'u' is written u'"),
        ("u'^2", "du^2", 3, "the velocity of 'u' is written u'"),
        ("m = 1", 'm = "1 kg"', 6, "numbers stand without units: write 1"),
        ("[parameters]", "[parameter]", 5, "did you mean 'parameters'?"),
        ("kinetic =", "kinetik =", 3, "did you mean 'kinetic'?"),
        ("coordinates", "coordinate", 2, "did you mean 'coordinates'?"),
        ("g = 9.81\n", "", 4, "declare it in [parameters]"),
        ("l = 1", 'l = "1', 7, "a quote is missing"),
        ("[initial]", "[initial", 9, "closed by a bracket"),
    ],
)
def test_a_first_mistake_is_told_once_with_what_to_write(right, wrong, line, hint) -> None:
    with pytest.raises(ModelError) as caught:
        loads(PENDULUM.replace(right, wrong, 1), "p.toml")
    (problem,) = caught.value.problems
    assert problem.hint is not None
    assert problem.hint.startswith(hint) or hint in problem.hint
    assert problem.place is not None
    assert problem.place.line == line


def test_a_text_in_an_encoding_of_windows_is_told(tmp_path) -> None:
    file = tmp_path / "p.toml"
    file.write_bytes(PENDULUM.replace('"p"', '"маятник"').encode("cp1251"))
    with pytest.raises(ModelError, match=r"is not UTF-8 text: line 1(.|\n)*save it as UTF-8"):
        read_file(file)


def test_a_mass_of_zero_is_told_once() -> None:
    motion = loads(PENDULUM.replace("m = 1", "m = 0")).simulate(until=1, on_failure="return")
    assert motion.reason == (
        "'u' moves without inertia at the start: its acceleration is not determined; is a mass or a moment of inertia zero?"
    )


def test_a_missing_start_is_told() -> None:
    bare = loads(PENDULUM.partition("[initial]")[0])
    assert "the model has no [initial]" in bare.simulate(until=1).notes[0]
    assert not bare.simulate(until=1, start={"u": 0.1}).notes


def test_N1_2_5_values_whose_products_overflow_are_refused() -> None:
    """Each value is finite; their products in the equations are not."""
    words = load("stanford").words
    far = [*words["body"][:-1], {**words["body"][-1], "pole": [0, 0, 1e300]}]
    with pytest.raises(ModelError, match="beyond 1e308"):
        System(**{**words, "body": far}).simulate(until=0.01)
