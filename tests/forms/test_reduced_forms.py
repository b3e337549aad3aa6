"""F1, F2: every form that applies gives the accelerations and the motion of the multiplier form, and keeps the energy."""

from __future__ import annotations

from functools import cache, partial

import numpy as np
import pytest

from svyaz import System, gallery, loads
from svyaz.constraints.states import entered, model_states
from svyaz.dynamics.corrections import positions_at, reach
from svyaz.dynamics.corrections import velocity_rows as velocity_rows_of
from svyaz.dynamics.measure import measure_of
from svyaz.dynamics.scales import least_correction
from svyaz.forms import Equations
from svyaz.forms.programs import rates_of
from svyaz.forms.reactions import full_accelerations
from svyaz.forms.reduction import velocity_rows
from svyaz.forms.reduction_choice import qualities, scaled_rows, values_at
from svyaz.motion import simulate
from svyaz.program import compile_program
from svyaz.program.building import build
from svyaz.show import as_json


def model(name: str, **settings: object) -> System:
    """A gallery model with some values changed."""
    return loads(gallery.find(name), name).with_settings(settings)


def moving_belt() -> System:
    """A blade on a belt that turns and speeds up: coefficients and free terms depend on time, forces act."""
    return System(
        name="moving belt",
        coordinates=["x", "y", "phi"],
        kinetic="m/2*(x'^2 + y'^2) + J/2*phi'^2 + m*a*phi'*(y'*cos(phi) - x'*sin(phi))",
        potential="k/2*(x^2 + y^2)",
        forces={"x": "-c*x' + sin(2*t)", "phi": "0.3*cos(t) - c*phi'"},
        dissipation="d/2*y'^2",
        parameters={"m": 1.3, "J": 0.9, "a": 0.4, "k": 0.7, "c": 0.1, "d": 0.2, "w": 0.2},
        constraint=[{"name": "blade", "equation": "y'*cos(phi + w*t) = x'*sin(phi + w*t) + w*t*x - sin(t)"}],
        initial={"phi": -0.3, "x'": 0.3, "y'": "-0.3*tan(0.3)", "phi'": 0.1},
    )


def random_system(seed: int) -> System:
    """Four coordinates, two constraints with all coordinates (and time, for odd seeds) in their coefficients."""
    rng = np.random.default_rng(seed)
    q = ["x", "y", "z", "w"]

    def number(low: float = -1.0, high: float = 1.0) -> str:
        return f"({rng.uniform(low, high):.3f})"

    def function(size: float) -> str:
        a, b = rng.choice(q, 2, replace=False)
        time = f" + {number()}*t" if seed % 2 else ""
        return f"({size}*({number()}*sin({a} + {number()}*{b}{time}) + {number()}*cos({b}) + {number()}*{a}*{b}))"

    mass = " + ".join(f"(1 + 0.3*cos({q[(k + 1) % 4]}))*{q[k]}'^2/2" for k in range(4))
    mixed = f"{number(-0.2, 0.2)}*x'*y'*cos(z) + {number(-0.2, 0.2)}*z'*w'*sin(x) + {number()}*sin(y)*w'"
    rows = [
        f"z' = {function(0.6)}*x' + {function(0.6)}*y' + {function(0.1)}",
        f"w' + 0.3*sin(x)*z' = {function(0.6)}*x' + {function(0.6)}*y'",
    ]
    forces = {"x": f"{number()}*cos(t) - 0.2*x'", "z": f"-0.1*z' + {number()}*y"} if seed % 2 else {}
    start = {name: rng.uniform(-0.5, 0.5) for name in q} | {"x'": rng.uniform(-0.5, 0.5), "y'": rng.uniform(-0.5, 0.5)}
    return System(
        name=f"random {seed}",
        coordinates=q,
        kinetic=f"{mass} + {mixed}" if seed % 2 else mass,
        potential="(x^2 + y^2 + z^2 + w^2)/2 + 0.2*cos(x)*y*z",
        forces=forces,
        constraint=[{"name": f"c{k}", "equation": row} for k, row in enumerate(rows)],
        initial=start,
    )


SYSTEMS = {
    "sleigh": lambda: model("sleigh", **{"initial.phi": 0.2, "initial.phi'": -0.1, "g": 1.0}),
    "slalom-cart": lambda: model("slalom-cart", C=0.3),
    "three-link": lambda: model("three-link"),
    "rolling-disc": lambda: model("rolling-disc"),
    "suslov": lambda: model("suslov"),
    "chaplygin-ball": lambda: model("chaplygin-ball"),
    "voronets-only": lambda: model("voronets-only"),
    "moving belt": moving_belt,
    **{f"random {seed}": (lambda seed=seed: random_system(seed)) for seed in (1, 2, 3, 4)},
}

CONSERVATIVE = ["sleigh", "slalom-cart", "three-link", "rolling-disc", "suslov", "chaplygin-ball", "voronets-only"]

ALL_FORMS = ["chaplygin", "voronets", "voronets:carried", "maggi", "appell"]
FORMS = {
    **dict.fromkeys(SYSTEMS, ALL_FORMS[1:]),
    **dict.fromkeys(("sleigh", "slalom-cart", "three-link", "rolling-disc", "chaplygin-ball"), ALL_FORMS),
}
"""The forms that apply to each system."""

CASES = [(name, form) for name in SYSTEMS for form in FORMS[name]]

STATES, SPARE, WORST_CONDITION = 100, 25, 1e3
ACCURATE = {"method": "dop853", "rtol": 1e-12, "stabilize": "off"}


@cache
def system(name: str) -> System:
    return SYSTEMS[name]()


@cache
def derived(name: str, form: str) -> Equations:
    return system(name).derive(form)


@cache
def reference(name: str):
    return simulate(system(name), form="multipliers", **ACCURATE, until=5, every=0.5, project=True)


@cache
def consistent_states(name: str) -> tuple[tuple[float, np.ndarray], ...]:
    """(time, state) on all constraints, scattered about the motion itself; some more than are compared."""
    equations = derived(name, "multipliers")
    motion = reference(name)
    rng = np.random.default_rng(8)
    found: list[tuple[float, np.ndarray]] = []
    while len(found) < STATES + SPARE:
        row = rng.integers(len(motion.times))
        near = motion.states[row] + rng.normal(scale=0.3, size=motion.states.shape[1])
        state = on_the_constraints(equations, near, float(motion.times[row]))
        if state is not None:
            found.append((float(motion.times[row]), state))
    return tuple(found)


def on_the_constraints(equations: Equations, state: np.ndarray, time: float) -> np.ndarray | None:
    """A state near the given one with h = 0, ḣ = 0, f = 0 (any of them: the nearest one costs a hundred times more)."""
    measure = measure_of(equations)
    here = measure.at(state, time)
    places = positions_at(measure, here)
    position = places.reach(places.start)
    moved = places.put(position.z)
    there = measure.at(moved, time)
    velocity = reach(velocity_rows_of(measure, moved, time), partial(least_correction, there.mass), there.v)
    return measure.moved(moved, v=velocity.z) if position.met and velocity.met else None


def chart_condition(equations, state: np.ndarray, time: float) -> float:
    """1/quality of the dependent coordinates of a chart."""
    origin = equations.origin
    rows = velocity_rows("test", [d.constraint for d in origin.deviations], origin.system.coordinates)
    free = [q for q in equations.accelerated if q in origin.system.coordinates][
        : len(rows.coordinates) - len(rows.matrix)
    ]
    alpha = scaled_rows(rows, origin, values_at(origin, state, time))
    dependent = [k for k, q in enumerate(rows.coordinates) if q not in free]
    quality = float(qualities(alpha, [dependent])[0])
    return 1.0 / quality if quality > 0.0 else float("inf")


def accelerations_of(equations):
    """A function of (time, state of the model) that gives q̈ of every coordinate."""
    rates = rates_of(equations)
    outputs = list(full_accelerations(equations).items())
    inputs = ("t", *equations.states)
    native = compile_program(build(outputs, inputs=inputs, parameters=equations.constants, systems=rates.systems))
    constants = native.constants(equations.system.constants)

    def at(time: float, state: np.ndarray) -> np.ndarray:
        return native.evaluate(np.concatenate([[time], entered(equations, state, time)]), constants)

    return at


@pytest.mark.parametrize(("name", "form"), CASES)
def test_F1_accelerations_are_those_of_the_multiplier_form(name, form) -> None:
    equations = derived(name, form)
    reduced, full = accelerations_of(equations), accelerations_of(derived(name, "multipliers"))
    compared = 0
    for time, state in consistent_states(name):
        if compared == STATES:
            break
        if not equations.quasi and chart_condition(equations, state, time) > WORST_CONDITION:
            continue
        expected = full(time, state)
        assert reduced(time, state) == pytest.approx(expected, rel=1e-10, abs=1e-10 * np.abs(expected).max())
        compared += 1
    assert compared == STATES


@pytest.mark.parametrize(("name", "form"), CASES)
def test_states_go_in_and_out_of_the_form_unchanged(name, form) -> None:
    equations = derived(name, form)
    for time, state in consistent_states(name)[:20]:
        if not equations.quasi and chart_condition(equations, state, time) > WORST_CONDITION:
            continue
        again = model_states(equations, np.array([time]), entered(equations, state, time)[None, :])[0]
        assert again == pytest.approx(state, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize(("name", "form"), CASES)
def test_F1_the_motion_is_that_of_the_multiplier_form(name, form) -> None:
    expected = reference(name)
    motion = simulate(system(name), form=form, **ACCURATE, until=5, every=0.5, project=True)
    assert motion.finished, motion.reason
    assert motion.state_names == system(name).states
    size = np.maximum(1.0, np.abs(expected.states).max(axis=0))
    assert np.abs((motion.states - expected.states) / size).max() < 1e-7
    for constraint, values in expected.multipliers.items():
        scale = max(1.0, np.abs(values).max())
        assert np.abs(motion.multipliers[constraint] - values).max() < 1e-5 * scale


@pytest.mark.parametrize(("name", "form"), [(name, form) for name in CONSERVATIVE for form in FORMS[name]])
def test_F2_energy_is_conserved(name, form) -> None:
    gains = 5 if name in ("slalom-cart", "three-link") else "off"
    motion = simulate(system(name), form=form, method="dop853", rtol=1e-12, until=20, every=0.5, stabilize=gains)
    assert motion.finished, motion.reason
    assert as_json(motion)["integrals"]["energy"]["drift"] < 1e-9
