"""Models that nobody would write, and random systems by two routes; `svyaz bench robustness` does more, with new seeds."""

from __future__ import annotations

import signal
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

from svyaz.expr import ModelError
from svyaz.forms import form_names

ROOT = Path(__file__).parents[2]
BOUND = 30
"""Seconds of computing that no text of these may take; commonly it is a hundredth."""


@pytest.fixture(autouse=True)
def _path(monkeypatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT))


def module(name: str):
    return import_module(f"bench.robustness.{name}")


@contextmanager
def bounded(what: str) -> Iterator[None]:
    def late(*_: object) -> None:
        raise TimeoutError(what)

    before = signal.signal(signal.SIGVTALRM, late)
    signal.setitimer(signal.ITIMER_VIRTUAL, BOUND)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


@pytest.mark.parametrize("first", range(0, 2000, 250))
def test_N2_mutated_models_are_derived_or_refused(first: int) -> None:
    mutations = module("mutations")
    outcomes = Counter[str]()
    for seed in range(first, first + 250):
        with bounded(f"seed {seed}"):
            outcomes[mutations.outcome_of_reading(mutations.mutated(seed, mutations.steady_texts()))] += 1
    assert outcomes["derived"] > 30
    assert outcomes["refused"] > 30


def test_N2_mutated_models_run_to_a_status() -> None:
    found = list(module("trials").trials(range(5000, 5100), "steady"))
    assert len(found) == 100
    assert [trial for trial in found if trial.wrong] == []
    assert sum("finished" in trial.outcome for trial in found) > 10


def test_N2_a_fault_would_be_seen(tmp_path, monkeypatch) -> None:
    """A command that raises, one that prints an escape sequence, and one that says nothing are finds."""
    trials = module("trials")
    text = 'coordinates = ["x"]\nkinetic = "x\'^2/2"\n'
    for code, said in ((70, "internal error: KeyError"), (0, "\x1b[31m"), (1, "")):

        def main(_: list[str], code=code, said=said) -> int:
            print(said)
            print(said, file=__import__("sys").stderr)
            return code

        monkeypatch.setattr("svyaz.cli.main", main)
        assert trials.tried(text, tmp_path)[1]


@pytest.mark.parametrize("first", range(0, 200, 50))
def test_N3_all_forms_agree_with_independent_derivatives(first: int) -> None:
    """The first of each fifty as native code, the others with every linear system solved as it stands."""
    comparison = module("comparison")
    compared = Counter[str]()
    for seed in range(first, first + 50):
        off = comparison.differences(seed, native=seed == first)
        assert {form: x for form, x in off.items() if not x <= comparison.TOLERANCE} == {}, seed
        compared.update(list(off))
    mechanical = set(form_names()) - {"articulated"}
    assert {form for form in mechanical if compared[form] < 10} == set()


def test_N3_jets_differentiate() -> None:
    """d² of exp(x y) sqrt(x) by hand."""
    jets = module("jets")
    x, y = 1.3, -0.4
    found = jets.jet(("*", ("exp", ("*", "x", "y")), ("sqrt", "x")), ("x", "y"), {"x": x, "y": y})
    e, r = np.exp(x * y), np.sqrt(x)
    assert found.value == pytest.approx(e * r)
    assert found.slope == pytest.approx([e * (y * r + 0.5 / r), x * e * r])
    mixed = e * r + x * e * (y * r + 0.5 / r)
    assert found.bend == pytest.approx(
        np.array([[e * (y * y * r + y / r - 0.25 / r**3), mixed], [mixed, x * x * e * r]])
    )


@pytest.mark.parametrize("word", ["nan", "inf", "-inf", "1e400", "true", "[1]", "{a = 1}", '"1/0"', '"sqrt(-1)"'])
@pytest.mark.parametrize(
    "line",
    [
        *("mass = {}", "center = [{}, 0, 0]", "axis = [0, 0, {}]", "pole = [0, {}, 0]", "inertia = {{ zz = {} }}"),
        *("central_inertia = {{ xx = {} }}", "[parameters]\nm = {}", "[forces]\nq = {}", "[initial]\nq = {}"),
        *(
            '[initial]\n"q\'" = {}',
            "[run]\nstep = {}",
            "[run]\nrtol = {}",
            "[run]\nuntil = {}",
            "[limits]\nq = [{}, 1]",
        ),
        *('[[integral]]\nname = "i"\nexpression = "q"\nvalue = {}', "[run]\nstabilize = {}", "[run]\ntolerance = {}"),
    ],
)
def test_N1_2_5_numbers_that_are_none_are_refused_at_their_place(line: str, word: str) -> None:
    from svyaz import loads

    head = 'gravity = [0, -9.81, 0]\n[[body]]\nname = "1"\nbase = "ground"\njoint = "revolute"\ncoordinate = "q"\n'
    given = {
        "mass": "mass = 1",
        "axis": "axis = [0, 0, 1]",
        "center": "center = [0.5, 0, 0]",
        "inertia": "inertia = {zz = 1}",
    }
    key = line.split(" ")[0].replace("central_inertia", "inertia")
    own = "\n".join(text for name, text in given.items() if name != key or line.startswith("["))
    text = head + own + "\n" + line.format(word) + "\n"
    with pytest.raises(ModelError) as refused:
        loads(text, "model").simulate(until=None if "until" in line else 0.01)
    assert all(problem.message for problem in refused.value.problems)
