"""Members of ensembles and rows of batches in lanes of the vector registers: the bits of one alone."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import symengine as se

import svyaz
from svyaz.forms import write_inertia
from svyaz.integrate import Flow, Group, control_of, method, prepare_free_ensemble, radau_kernels, schedule, solve
from svyaz.integrate.calls import FINISHED
from svyaz.integrate.groups import prepare_group
from svyaz.program import build, compile_program, lane_width, lanes_of
from svyaz.study.measures import of_motion, totals_along

pytestmark = pytest.mark.skipif(lane_width() == 1, reason="this processor has no such registers")


def same(a: np.ndarray, b: np.ndarray) -> bool:
    return a.tobytes() == b.tobytes()


@pytest.mark.parametrize("name", ["puma-560", "stanford", "two-armed-spatial"])
def test_L6_rows_of_a_batch_have_the_bits_of_one_alone(name) -> None:
    system = svyaz.load(name)
    native = compile_program(write_inertia(system.tree, tuple(system.parameters), "time").program)
    constants = native.constants(system.parameters)
    x = np.random.default_rng(3).uniform(-4, 4, (1003, len(native.program.inputs)))
    x[5, 0], x[77, 1] = 1e9, np.nan  # one angle beyond the near ones, one that is none
    lanes = lanes_of(native)
    assert lanes is not None
    found, statuses = lanes.evaluate(x, constants)
    alone = np.array([native.evaluate(row, constants) for row in x])
    assert same(found, alone)
    assert not statuses.any()
    with_companions = native.evaluate(x[4:8], constants)
    assert same(with_companions, alone[4:8])


def test_L6_functions_branches_and_singular_rows_have_the_bits_of_one_alone() -> None:
    x, y, a = se.symbols("x y a")
    entries = [
        ("library", se.tan(x) + se.exp(y) * se.atan2(x, y) + se.Abs(x) ** se.Rational(5, 2)),
        ("lone", se.sin(x * y + a)),
        ("sums", a * x - y * x + x * y * a - 1 / (1 + x * x)),
        ("extremes", se.Max(x, y) * se.Min(x, a)),
    ]
    native = compile_program(build(entries, inputs=["x", "y"], parameters=["a"]))
    rows = np.random.default_rng(4).normal(size=(515, 2))
    constants = native.constants({"a": 0.7})
    lanes = lanes_of(native)
    assert lanes is not None
    assert same(lanes.evaluate(rows, constants)[0], native.evaluate_rows(rows, constants)[0])


def group(starts: np.ndarray, constants: np.ndarray, watched: np.ndarray, steps: list[float], columns: int) -> Group:
    plans = [schedule((0.0, 1.0), step, every=1 + k % 3) for k, step in enumerate(steps)]
    count = len(starts)
    return Group(
        constants,
        watched,
        np.zeros((count, 1)),
        starts,
        np.zeros_like(starts),
        np.array([[plan.h, plan.last] for plan in plans]),
        np.array([[plan.total, plan.every] for plan in plans], dtype=np.int64),
        np.zeros((count, 2), dtype=np.int64),
        np.zeros((count, columns, 5)),
    )


@pytest.mark.parametrize("scheme", ["euler", "rk4", "dopri5"])
def test_L6_members_retired_and_refilled_have_the_bits_of_one_alone(scheme) -> None:
    """Steps of many lengths, members that diverge, become singular or cannot be observed among others that do not."""
    q, v, k = se.symbols("q v k")
    # x'' = -k sin x + x⁵ runs away from some starts
    rates = compile_program(build([("q", v), ("v", -k * se.sin(q) + q**5)], inputs=["t", "q", "v"], parameters=["k"]))
    energy = v**2 / 2 - k * se.cos(q)
    seen = compile_program(build([("e", energy), ("r", se.sqrt(4 - q))], inputs=["t", "q", "v"], parameters=["k"]))
    random = np.random.default_rng(5)
    count = 7 * lane_width() + 3
    starts = np.column_stack([np.zeros(count), random.uniform(-2.2, 2.2, count), random.normal(size=count)])
    values = random.uniform(0.5, 3.0, count)
    tables = [np.array([code.constants({"k": value}) for value in values]) for code in (rates, seen)]
    steps = [float(h) for h in random.choice([0.01, 0.003, 0.0170001], count)]
    columns = np.array([0, 1], dtype=np.int64)
    one, many = (group(starts, *tables, steps, 2) for _ in range(2))
    never = np.zeros(1, dtype=np.int64)
    prepare_group(method(scheme), (rates.address, seen.address, 0), 1, one, columns, 2, never)(0.0, 1.0)
    wide = [lanes_of(code) for code in (rates, seen)]
    assert wide[0] is not None
    assert wide[1] is not None
    addresses = (wide[0].address, wide[1].address, 0)
    prepare_group(method(scheme), addresses, lane_width(), many, columns, 2, never)(0.0, 1.0)
    assert len(set(one.answers[:, 0])) > 1, "some members run away, others do not"
    np.testing.assert_array_equal(one.answers, many.answers)
    np.testing.assert_array_equal(one.ends, many.ends)
    np.testing.assert_array_equal(one.totals, many.totals)


@pytest.mark.parametrize(("name", "asked"), [("pendulum:2", {}), ("sleigh", {"stabilize": 10.0})])
def test_L6_members_of_sweeps_are_runs_alone(name, asked) -> None:
    system = svyaz.load(name)
    first = system.coordinates[0]
    values = np.linspace(0.1, 1.0, 70)
    common = {"method": "rk4", "step": 0.01, "until": 0.3, **asked}
    swept = system.sweep({f"initial.{first}": values}, workers=1, measure=("final",), **common)
    for k in (0, 33, 69):
        motion = system.with_(initial={first: values[k]}).simulate(**common)
        for state, value in zip(system.states, motion.states[-1], strict=True):
            assert swept.rows[k].measures[f"final.{state}"] == value


@pytest.mark.parametrize("scheme", ["dopri5", "dop853", "rkf45"])
def test_L6_members_with_steps_of_their_own_have_the_bits_of_one_alone(scheme) -> None:
    """Lanes reject and take steps each for itself; members that run away stand among others that do not."""
    q, v, k = se.symbols("q v k")
    energy = v**2 / 2 - k * se.cos(q)
    # x'' = -k sin x + x⁵ runs away from some starts
    fields = [("q", v), ("v", -k * se.sin(q) + q**5)]
    rates = compile_program(build(fields, inputs=["t", "q", "v"], parameters=["k"]))
    seen = compile_program(build([("e", energy), ("r", se.sqrt(4 - q))], inputs=["t", "q", "v"], parameters=["k"]))
    random = np.random.default_rng(6)
    count = 7 * lane_width() + 3
    starts = np.column_stack([np.zeros(count), random.uniform(-1.8, 1.8, count), random.normal(size=count)])
    values = random.uniform(0.5, 3.0, count)
    tables = [np.array([code.constants({"k": value}) for value in values]) for code in (rates, seen)]
    many = group(starts, *tables, [0.1] * count, 2)
    control = control_of(method(scheme), (0.0, 2.0), 1e-7, None, 2)
    columns, never = np.array([0, 1], dtype=np.int64), np.zeros(1, dtype=np.int64)
    lanes = prepare_free_ensemble(method(scheme), (rates, seen), control, many, columns, 2, never)
    assert lanes is not None
    run, rejected = lanes
    run(2.0)
    assert rejected.any(), "some steps are tried again"
    finished = 0
    for place in range(count):
        flow = Flow(rates.address, tables[0][place], 2, rates)
        path = solve(flow, starts[place, 1:], (0.0, 2.0), method=scheme, rtol=1e-7, max_steps=10_000)
        assert path.finished == (many.answers[place, 0] == FINISHED)
        if not path.finished:
            continue
        finished += 1
        assert same(many.ends[place, 1:], path.states[-1])
        assert (many.answers[place, 1], rejected[place]) == (path.steps, path.rejected)
        rows = seen.evaluate(np.column_stack([path.times, path.states]), tables[1][place])
        np.testing.assert_array_equal(many.totals[place], totals_along(rows))
    assert lane_width() < finished < count


def test_L6_members_of_sweeps_with_steps_of_their_own_are_runs_alone() -> None:
    """Also those that are refused, or run away: their statuses, reasons and numbers."""
    system = svyaz.System(
        name="bead",
        coordinates=["x"],
        kinetic="x'^2/2",
        potential="0",
        parameters={"a": 1, "x0": "sqrt(a)"},
        forces={"x": "x^3 - 2*x"},
        initial={"x": "x0"},
        run={"method": "dopri5", "rtol": 1e-9, "until": 3},
    )
    values = np.concatenate([np.linspace(0.1, 1.9, 120), [-1.0, 40.0, 50.0]])
    swept = system.sweep({"a": values}, workers=1, measure=("final", "drift", "steps", "evaluations", "t"))
    assert swept.outcomes() == {"finished": 120, "infeasible": 1, "diverged": 2}
    for k in (0, 60, 100, 119, 121):
        motion = system.with_(parameters={"a": float(values[k])}).simulate(on_failure="return")
        row = swept.rows[k]
        assert (row.status, row.reason) == (motion.status, motion.reason)
        told = {name: row.measures[name] for name in ("final.x", "final.x'", "steps", "evaluations", "t")}
        assert told == {name: of_motion(motion)[name] for name in told}


def test_functions_of_lanes_are_made_once_for_all_threads() -> None:
    """Two makers at once would leave one of them with addresses of code that is gone."""
    radau_kernels._made.cache_clear()
    with ThreadPoolExecutor(8) as crew:
        found = list(crew.map(lambda _: radau_kernels.kernels(1, lane_width()), range(8)))
    assert len({kernels.prepare for kernels in found}) == 1
