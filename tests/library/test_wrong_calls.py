"""Wrong calls from Python are answered by what is wrong, and never by a result or by a failure of a run."""

from __future__ import annotations

import pickle
import random

import matplotlib as mpl
import numpy as np
import pytest
from wrong_calls import SYSTEM, WRONG, calls

import svyaz
from svyaz.arguments import check_arguments

mpl.use("Agg")
SAMPLE = 300


def complaint(call) -> str:
    """What is wrong with the answer to a wrong call; nothing where it is a clear refusal."""
    try:
        call.make()
    except (svyaz.ModelError, TypeError, ValueError) as refusal:
        return "" if call.is_named(str(refusal)) else f"{call}: the argument is not named: {refusal}"
    except Exception as crash:
        return f"{call}: {type(crash).__name__}: {crash}"
    return f"{call}: accepted"


def test_V3_wrong_calls_name_the_argument(tmp_path, monkeypatch) -> None:
    """A seeded sample of over 3 000 wrong calls: ModelError, TypeError or ValueError with a message that names the argument.

    ``python tests/tools/wrong_calls.py`` makes all of them.
    """
    monkeypatch.chdir(tmp_path)
    every = list(calls())
    assert len(every) > 3000
    found = [text for call in random.Random(5).sample(every, SAMPLE) if (text := complaint(call))]
    assert found == []


@pytest.mark.parametrize(
    "fix", [{"F": float("nan")}, {"F": float("inf")}, {"F": 1j}, {"F": [1.0]}, {"F": None}, {"F": True}, {"F": "1"}]
)
def test_V3_numbers_that_are_none_prove_nothing(fix) -> None:
    """``equilibria(fix={"F": nan})`` once proved that there are none."""
    pendulum = svyaz.System(**SYSTEM)
    for verb in (pendulum.equilibria, pendulum.regulate):
        with pytest.raises(svyaz.ModelError, match="'fix', the value of 'F', must be a"):
            verb(fix=fix)


def test_V3_numbers_of_other_libraries_are_numbers() -> None:
    """Scalars of NumPy and lists are taken wherever numbers and arrays are."""
    pendulum = svyaz.load("pendulum:1")
    motion = pendulum.simulate(until=np.float32(0.5), rows=[0.0, np.int64(0), 0.25], start={"u1": np.float64(0.1)})
    assert motion.times.tolist() == [0.0, 0.25, 0.5]
    assert pendulum.equilibria(fix={"g": np.array(9.0)}).equilibria
    swept = pendulum.sweep({"L1": (1, np.float32(2))}, ["final.u1"], until=0.1, workers=1)
    assert swept.grid("final.u1").shape == (2,)


def test_V3_a_parameter_has_wrong_values_for_it() -> None:
    """The generator knows every option of a run."""
    assert set(svyaz.motion.RunOptions.__annotations__) <= set(WRONG)


def test_a_decorated_function_keeps_its_signature_and_names_unknown_options() -> None:
    @check_arguments
    def wait(seconds: float, *names: str, patient: bool = False) -> tuple[object, ...]:
        return seconds, names, patient

    assert wait(1, "a", patient=np.True_) == (1, ("a",), True)
    with pytest.raises(TypeError, match=r"wait\(\) got an unexpected keyword argument 'hours'"):
        wait(1, hours=1)
    with pytest.raises(svyaz.ModelError, match="'names' must be a text, not 3"):
        wait(1, "a", 3)


ESCAPE = {"name": "escape", "states": ["x"], "rates": {"x": "x^2"}, "initial": {"x": 1}}  # x = 1/(1 - t)


def test_a_run_that_does_not_reach_its_end_raises() -> None:
    """``RunFailed`` has the motion, says what happened, when and what to do, and can be pickled."""
    system = svyaz.System(**ESCAPE)
    with pytest.raises(
        svyaz.RunFailed, match=r"'escape' ended at t = 1 \(diverged\): .*on_failure=\"return\""
    ) as caught:
        system.simulate(until=2)
    failure = caught.value
    assert (failure.status, failure.motion.finished) == ("diverged", False)
    assert failure.reason == failure.motion.reason
    assert failure.motion.times[-1] == pytest.approx(1.0, abs=1e-6)
    copy = pickle.loads(pickle.dumps(failure))  # noqa: S301
    assert str(copy) == str(failure)
    assert np.array_equal(copy.motion.states, failure.motion.states)
    with pytest.raises(svyaz.RunFailed):
        svyaz.simulate(system, until=2)
    returned = system.simulate(until=2, on_failure="return")
    assert np.array_equal(returned.states, failure.motion.states)
    assert system.simulate(until=0.5).finished


@pytest.mark.parametrize(
    ("words", "options", "status"),
    [
        ({"limits": {"x": [-1, 2]}}, {}, "left"),
        ({"limits": {"x": [-1, 2]}}, {"beyond": True, "until": 0.9}, "finished"),
        ({}, {"max_steps": 3}, "diverged"),
    ],
)
def test_each_way_not_to_reach_the_end_is_a_failure(words, options, status) -> None:
    """Limits that are passed and steps that are used up end a run before its end."""
    system, options = svyaz.System(**ESCAPE, **words), {"until": 2, "method": "dopri5", **options}
    assert system.simulate(**options, on_failure="return").status == status
    if status != "finished":
        with pytest.raises(svyaz.RunFailed) as caught:
            system.simulate(**options)
        assert caught.value.status == status
