"""The models that come with the package: each can be read, derived, shown and run."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from svyaz import ModelError, gallery, loads
from svyaz.model import Mechanical
from svyaz.show import latex_of
from svyaz.show.equations import is_long, latex_lines, text_lines
from svyaz.show.katex import render

MODELS = [name for name in gallery.names() if not name.endswith(":N")]
CHAINS = ["pendulum:1", "pendulum:3", "pendulum:8", "chain:2"]
MANY = 1000
"""Of equations of so many lines a hundred lines are looked at."""

VARIANTS = [
    (name, {what: choice})
    for name in MODELS
    for what, choices in gallery.variants_of(name).items()
    for choice in choices
]


def test_the_models_that_were_promised_are_there() -> None:
    promised = {"pendulum:N", "sling", "sling-hooked", "pendulum-xy", "spring-double-pendulum"}
    promised |= {"ball-and-beam", "inverted-pendulum-xy", "four-bar-motor", "furuta-linkage", "parallel-manipulator"}
    assert promised <= set(gallery.names())


@pytest.mark.parametrize("name", [*MODELS, *CHAINS])
def test_model_is_clean_says_what_it_looks_like_and_where_its_numbers_come_from(name) -> None:
    system = loads(gallery.find(name), name)
    assert system.warnings == ()
    assert system.words.get("notes"), "a model says what it is"
    assert system.run.get("until"), "a model can be run without options"
    assert system.drawings or not isinstance(system.law, Mechanical)
    told = {entry for key in ("published", "recovered", "chosen") for entry in system.source.get(key, ())}
    given = {key for key, value in system.words.get("parameters", {}).items() if not isinstance(value, str)}
    assert given <= told, "every number is said to be published, recovered or chosen"


@pytest.mark.parametrize(("name", "choice"), VARIANTS, ids=str)
def test_variants_are_clean(name, choice) -> None:
    assert loads(gallery.find(name, choice), name).warnings == ()


@pytest.mark.parametrize("name", [*MODELS, *CHAINS])
def test_S9_latex_renders_in_katex(name) -> None:
    equations = loads(gallery.find(name), name).derive()
    lines = latex_lines(equations)
    assert len(lines) >= len(equations.accelerated) + len(equations.deviations)
    for line in lines if len(lines) < MANY else lines[:: len(lines) // 100]:
        assert 'class="katex' in render(line)
    if len(lines) < MANY:
        assert render(latex_of(equations).removeprefix("$$").removesuffix("$$"))
    assert render(equations.system._repr_latex_().removeprefix("$$").removesuffix("$$"))


@pytest.mark.parametrize("name", [*MODELS, *CHAINS])
def test_equations_as_text_are_read_back_to_the_same_equations(name) -> None:
    """What is printed is what the parser reads: left - right has the same value at a random point."""
    import symengine as se

    from svyaz.expr import Scope, parse_equation
    from svyaz.expr.calculus import evaluate
    from svyaz.show.equations import multiplier_signs, sides

    equations = loads(gallery.find(name), name).derive()
    if is_long(equations):
        pytest.skip("written as a sequence of named formulas")
    plain = [*equations.constants, *equations.states, *(str(s) for s in multiplier_signs(equations).values())]
    names = [n for n in plain if "'" not in n]
    moving = [*equations.accelerated, *(s for s in equations.states if "'" not in s)]
    scope = Scope(
        symbols={n: se.Symbol(n) for n in [*names, "t"]},
        derivatives={q: se.Symbol(q + "'") for q in moving},
        second={q: se.Symbol(q + "''") for q in moving},
    )
    random = np.random.default_rng(5)
    accelerations = [str(a) for a in equations.accelerations]
    values = {n: random.uniform(0.4, 1.4) for n in [*plain, *accelerations, "t", *(f"{q}'" for q in moving)]}
    for line, (left, right) in zip(text_lines(equations), sides(equations), strict=True):
        again = parse_equation(line, scope)
        for expected, found in zip((left, right), again, strict=True):
            value = evaluate(expected, values)
            assert evaluate(found, values) == pytest.approx(value, rel=1e-10, abs=1e-10)


@pytest.mark.parametrize("text", ["0", "-1", "x", "", "401", "1e3", "٣", "99999999999"])
def test_pendulums_that_cannot_be(text) -> None:
    with pytest.raises(ModelError, match="from 1 to 400 links"):
        gallery.find(f"pendulum:{text}")


def test_pendulum_of_any_length() -> None:
    system = loads(gallery.find("pendulum:40"))
    assert len(system.coordinates) == 40
    assert {"m40", "L40", "g"} <= set(system.parameters)


def test_names_that_are_not_there() -> None:
    assert gallery.find("catapult") is None
    assert gallery.find("pendulum:N") is None
    assert gallery.find("../pyproject") is None


def test_choices_that_are_not_there() -> None:
    with pytest.raises(ModelError, match="has no variants 'hook'") as caught:
        gallery.find("sling", {"hook": "old"})
    assert caught.value.problems[0].hint == "it has no variants at all"
    varied = [name for name in MODELS if gallery.variants_of(name)]
    assert {"ball-and-beam", "ball-on-plane", "inverse-cart", "three-link", "three-link-10"} <= set(varied)
    for name in varied:
        what, choices = next(iter(gallery.variants_of(name).items()))
        with pytest.raises(ModelError, match=f"'{what}' of '{name}' cannot be 'nonsense'") as caught:
            gallery.find(name, {what: "nonsense"})
        assert choices[0] in caught.value.problems[0].hint


@pytest.mark.parametrize("name", ["sling", "pendulum:5"])
def test_drawing_follows_the_chain(name) -> None:
    """The links hang together, each of its own length, at any state."""
    from svyaz.motion import simulate

    motion = simulate(loads(gallery.find(name)), until=0.2, every=0.1)
    links = [d for d in motion.system.drawings if d.kind == "link"]
    assert len(links) == 5
    rows = np.column_stack([motion.times, motion.states])
    points = [motion.evaluate_drawing(d, rows)[0] for d in links]
    assert points[0][:, 0] == pytest.approx(np.zeros((len(rows), 2)))
    for before, after in pairwise(points):
        assert after[:, 0] == pytest.approx(before[:, 1])
    lengths = [np.linalg.norm(p[:, 1] - p[:, 0], axis=1) for p in points]
    for k, length in enumerate(lengths, start=1):
        assert length == pytest.approx(motion.system.parameters[f"L{k}"])
