"""The benches run, on sizes too small to say anything about speed; what they conclude from numbers is checked."""

from __future__ import annotations

import json
import shutil
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def _path(monkeypatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT))


def module(name: str):
    return import_module(f"bench.{name}")


def answer_of(*arguments: str) -> dict[str, float]:
    jobs = module("tools.jobs")
    return jobs.run_job(jobs.Job(arguments[0], arguments[1:], 1, 1.0))


@pytest.mark.parametrize(
    ("arguments", "keys"),
    [
        (("bench.spine.derivation", "svyaz", "2"), {"load", "derive"}),
        (("bench.spine.native_code", "svyaz", "2"), {"derive", "program", "compile", "total", "megabytes"}),
        (("bench.spine.accelerations", "svyaz", "2"), {"evaluation", "operations", "sines", "peak"}),
        (("bench.spine.motion", "rk4", "2", "0.01"), {"step"}),
        (("bench.spine.sympy_peer", "whole", "2", "0.01"), {"derive", "code", "evaluation", "rk4"}),
    ],
)
def test_a_job_answers_with_positive_numbers(arguments, keys) -> None:
    answer = answer_of(*arguments)
    assert set(answer) == keys
    assert all(value > 0 for value in answer.values())


def test_methods_are_compared_at_the_same_accuracy() -> None:
    answer = answer_of("bench.spine.motion", "adaptive", "2", "dop853", "0.1")
    assert answer["error"] < 1e-7
    assert answer["peer_error"] < 1e-7


def test_both_sides_are_the_same_pendulum() -> None:
    pendulum, native = module("spine.pendulum"), module("spine.native")
    lagrangian, angles, parameters = pendulum.sympy_lagrangian(3)
    function = pendulum.lambdified(*pendulum.sympy_terms(lagrangian, angles), angles, parameters)
    code, constants = native.right_hand_side(3)
    rates = native.python_function(code, constants)
    for row in pendulum.random_states(3, 5):
        mass, forcing = function(row[1:], pendulum.parameter_values(3))
        np.testing.assert_allclose(rates(0.0, row[1:])[3:], np.linalg.solve(mass, forcing)[:, 0], rtol=1e-9)


def test_rounds_alternate() -> None:
    jobs = module("tools.jobs")
    a, b = jobs.Job("m", ("a",), 3, 1.0), jobs.Job("m", ("b",), 2, 1.0)
    assert jobs.schedule([a, b, a]) == [a, b, b, a, a]


def test_a_job_that_fails_says_why() -> None:
    with pytest.raises(module("tools.jobs").JobFailed, match="no_such_measurement"):
        answer_of("bench.spine.no_such_measurement")


def test_other_jobs_go_on_when_one_fails() -> None:
    jobs, derivation = module("tools.jobs"), module("spine.derivation")
    good, bad = jobs.Job("bench.spine.derivation", ("svyaz", "1"), 1, 1.0), jobs.Job("bench.no_such", (), 1, 1.0)
    failures: list[Exception] = []
    samples = jobs.run_jobs([bad, good], lambda job: None, failures.append, failures.append)
    assert (len(failures), len(samples[good.name])) == (1, 1)
    assert {row.verdict for row in derivation.rows({}, True)} == {"not measured"}
    assert not any(row.met for row in derivation.rows({}, True))


def test_what_is_found_wrong_is_told_when_its_job_has_ended(monkeypatch) -> None:
    """A disagreement of random equilibria and a fault that was not survived: both are told, and stand beneath the table."""
    jobs, systems, watching = module("tools.jobs"), module("equilibria.random_systems"), module("faults.watching")

    def lost() -> None:
        raise watching.Unexpected("rows are lost")

    told: list[str] = []
    monkeypatch.setattr(systems, "compared", lambda draw, seed: systems.Compared(draw, 2, 2, True, ("none at 0",), ()))
    monkeypatch.setattr(jobs, "run_job", lambda job: systems.agree_job(*job.arguments[1:]))
    (first,) = wanted = systems.jobs(quick=True)
    (row,) = systems.rows(jobs.run_jobs(wanted, lambda job: None, told.append, told.append), quick=True)
    assert told[0] == f"seed {first.arguments[1]}: none at 0"
    assert (len(told), row.verdict) == (20, "not met")
    assert told[-1] in row.note
    assert jobs.finds(watching.survived([lambda: None, lost])) == ["case 1: rows are lost"]


@pytest.mark.parametrize("quick", [True, False])
def test_rows_are_made_of_nothing_when_nothing_was_measured(quick, tmp_path) -> None:
    outcome = module("tools.outcome")
    rows = [row for name in module("spine.plan").MEASUREMENTS for row in module(f"spine.{name}").rows({}, quick)]
    data, _, _ = outcome.write("try", "A try", rows, {}, tmp_path)
    assert {row["verdict"] for row in json.loads(data.read_text())["rows"]} == {"not measured"}


def test_bars_are_judged_on_the_right_side() -> None:
    rows = module("tools.rows")
    assert rows.faster("a", [1.0, 2.0, 3.0], [20.0], "peer", 10).verdict == "met"
    assert rows.faster("a", [1.0, 2.0, 3.0], [19.0], "peer", 10).verdict == "not met"
    assert rows.within("a", [9.0], [1.0], "peer", 10).verdict == "met"
    assert rows.within("a", [11.0], [1.0], "peer", 10).verdict == "not met"
    assert rows.faster("a", [1.0], [1.0], "peer", None).verdict == "reported"


def test_table_json_and_plot_are_written(tmp_path) -> None:
    rows, outcome = module("tools.rows"), module("tools.outcome")
    made = [rows.faster("fast", [1e-3, 1.1e-3], [2.0], "peer", 10), rows.within("slow", [5.0], [1.0], "3 s", 1)]
    data, page, picture = outcome.write("try", "A try", made, {"job": [{"x": 1.0}]}, tmp_path)
    record = json.loads(data.read_text())
    assert [row["verdict"] for row in record["rows"]] == ["met", "not met"]
    assert "| fast | 1.05 ms ±5% | 2 s |" in page.read_text()
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_command_lists_the_benches(svyaz) -> None:
    done = svyaz("bench")
    assert done.returncode == 0, done.stderr
    for name in ("spine", *module("spine.plan").MEASUREMENTS):
        assert name in done.stdout


def test_unknown_bench_and_measurement_are_refused(svyaz) -> None:
    assert svyaz("bench", "spin").returncode == 2
    done = svyaz("bench", "spine", "--only", "derive")
    assert done.returncode == 2
    assert "derivation" in done.stderr


def test_without_a_checkout_it_says_so(python, tmp_path) -> None:
    shutil.copytree(ROOT / "src" / "svyaz", tmp_path / "svyaz", ignore=shutil.ignore_patterns("__pycache__"))
    done = python("-m", "svyaz", "bench", env={"PYTHONPATH": str(tmp_path)})
    assert done.returncode == 2
    assert "checkout" in done.stderr


def test_all_nonholonomic_models_of_the_gallery_have_their_forms_counted() -> None:
    """The cheapest form without multipliers costs no more than the one with, on each of them."""
    from svyaz import gallery, loads
    from svyaz.model import Mechanical

    plan, operations = module("forms.plan"), module("forms.operations")
    found = set()
    for name in gallery.names():
        if name.endswith(":N"):
            continue
        for what, choices in (gallery.variants_of(name) or {"": ("",)}).items():
            for k, choice in enumerate(choices):
                if what == "data":  # the same model with another step
                    continue
                system = loads(gallery.find(name, {what: choice} if what else {}), name)
                if isinstance(system.law, Mechanical) and any(c.order == 1 for c in system.constraints):
                    found.add(f"{name}:{choice}" if k else name)
    longer_than_can_be_written = {"bicycle", "bicycle:steer"}
    assert found - longer_than_can_be_written == set(plan.MODELS)
    for name in plan.MODELS:
        counts = operations.count_job(name)
        least = min(counts[form] for form in plan.FORMS if counts[form] > 0)
        assert least <= counts["multipliers"], name


@pytest.mark.parametrize(
    ("arguments", "keys"),
    [
        (("bench.regulators.basin", "svyaz", "4"), {"seconds", "work"}),
        (("bench.regulators.basin", "scipy", "LSODA", "2"), {"seconds", "work"}),
        (("bench.regulators.design", "gains", "parallel-manipulator"), {"seconds", "whole"}),
        (("bench.steady.work", "chain", "4"), {"seconds"}),
    ],
)
def test_jobs_of_regulators_answer_with_positive_numbers(arguments, keys) -> None:
    answer = answer_of(*arguments)
    assert set(answer) == keys
    assert all(value > 0 for value in answer.values())


def test_the_beam_written_by_hand_is_the_model_of_the_gallery() -> None:
    found = module("regulators.basin").regulation()
    loop, plant = found.loop(), found.plant
    gain = [float(k) for k in found.design.regulator.gain[0]]
    rates = module("regulators.beam").closed_loop(found.system.parameters, gain, plant.state["r"], plant.inputs["nu"])
    order = [loop.states.index(name) for name in ("r", "alpha", "theta", "r'", "alpha'")]
    for row in np.random.default_rng(2).uniform(-0.1, 0.1, (5, 5)):
        state = loop.at_rest + 0.0
        state[order] += row
        np.testing.assert_allclose(rates(0.0, list(state[order])), loop.rates_at(state)[0][order], rtol=1e-9)
