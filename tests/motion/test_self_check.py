"""Every run checks itself: a road that is broken on purpose ends with an error that names it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import symengine as se

import svyaz
from svyaz import System
from svyaz.control.basin import basin
from svyaz.dynamics.recursions import closed_code
from svyaz.forms import export_program, programs
from svyaz.forms.named import chaplygin
from svyaz.motion import InconsistentRun
from svyaz.motion.consistency import _check_bounds, check_samples
from svyaz.motion.events import sides
from svyaz.motion.jets import Corners, Tape, jet
from svyaz.motion.samples import Sample
from svyaz.motion.self_check import sample_of
from svyaz.motion.stated_tree import TreeMotion
from svyaz.program import export, lanes, plain_program
from svyaz.stabilise import integrals
from svyaz.stabilise import segment as segments

STRIBECK = {
    "coordinates": ["x"],
    "kinetic": "x'^2/2",
    "parameters": {"vs": 0.05},
    "forces": {"x": "-sign(x')*(0.3 + 0.2*exp(-abs(x')/vs))"},
    "initial": {"x'": 2},
    "run": {"until": 1},
}
FALLING = {
    "coordinates": ["x", "y"],
    "kinetic": "(x'^2 + y'^2)/2",
    "potential": "9.81*y",
    "initial": {"x'": 1},
    "run": {"until": 0.1},
}
RUBBING = FALLING | {
    "constraint": [{"name": "floor", "equation": "y = 0", "friction": {"sliding": 0.3, "along": "x'"}}]
}
TOTAL = {"name": "total", "expression": "(x'^2 + y'^2)/2 + 9.81*y", "hold": True, "gain": 2.0}
LINK = {"joint": "revolute", "axis": [0, 1, 0], "mass": 1, "center": [0.5, 0, 0]}
TREE = {
    "gravity": [0, 0, -9.81],
    "body": [
        {"name": "1", "base": "ground", "coordinate": "a", "pole": [0, 0, 0], **LINK},
        {"name": "2", "base": "1", "coordinate": "b", "pole": [1, 0, 0], **LINK},
    ],
    "initial": {"a": 0.3, "b": -0.6},
    "run": {"until": 0.1},
}


SPIN = {"name": "spin", "expression": "1.25*a' + 0.25*(a' + b') + 0.5*cos(b)*(2*a' + b')", "hold": True, "gain": 2.0}
HELD = [
    (FALLING | {"integral": [TOTAL]}, "lagrange"),
    (TREE | {"gravity": [0, 0, 0], "integral": [SPIN], "initial": {"a'": 1, "b": 1}}, "articulated"),
]


@pytest.fixture
def too_heavy(monkeypatch):
    """Forces and quadratic terms in the rates that are compiled are 1 % larger than the model states."""
    sound = programs.held_bias
    monkeypatch.setattr(programs, "held_bias", lambda equations: [1.01 * b for b in sound(equations)])


@pytest.fixture
def wrong_sides(monkeypatch):
    """The rates on the other side of each surface at which they jump."""
    sound = sides.on_sides

    def turned(equations, surfaces, chosen, *others):
        return sound(equations, surfaces, [-s for s in chosen], *others)

    monkeypatch.setattr(sides, "on_sides", turned)


@pytest.fixture
def other_gravity(monkeypatch):
    """Constants of the recursions over bodies with 1 % more weight than the model states."""
    sound = closed_code.tree_memory

    def heavier(system, drive=None):
        tree = system.law.tree
        gravity = tuple(se.Rational(101, 100) * g for g in tree.gravity)
        return sound(replace(system.plain(), law=replace(system.law, tree=replace(tree, gravity=gravity))), drive)

    monkeypatch.setattr(closed_code, "tree_memory", heavier)


def test_V2_interpreted_jets_agree_with_derivatives():
    """Gradients of the plain interpreter, and their rates, are those of symbolic derivatives."""
    x, y, a = se.symbols("x y a")
    smooth = se.sin(x * y) ** 2 / (1 + x**2) + se.exp(-a * x) * se.sqrt(y) + x**y + se.atan2(y, x)
    bent, straight = se.log(1 + se.Abs(x - y)), se.log(1 + y - x)
    tape = Tape(plain_program([smooth + bent]), {"x": jet(0.3, 1.5), "y": jet(1.2, -0.5), "a": jet(0.7)}, Corners())
    found, at = tape.gradient(), {x: 0.3, y: 1.2, a: 0.7}
    for s in (x, y):
        slope = (smooth + straight).diff(s)
        rate = 1.5 * slope.diff(x) - 0.5 * slope.diff(y)
        assert found[str(s)][0, 0, 0] == pytest.approx(float(slope.subs(at)), rel=1e-12)
        assert found[str(s)][1, 0, 0] == pytest.approx(float(rate.subs(at)), rel=1e-11)


def test_V2_forms_with_multipliers(too_heavy):
    """A force that the compiled rates have too large is seen."""
    with pytest.raises(InconsistentRun, match=r"form multipliers .* is left of the equation of"):
        svyaz.load("pendulum-xy").simulate(form="multipliers", until=0.11, stabilize="off")


REDUCED = [
    ("pendulum-xy", "shulgin"),
    ("heavy-symmetric-top", "routh"),
    *(("sleigh", form) for form in ("chaplygin", "voronets", "voronets:carried", "maggi", "appell")),
    ("slalom-cart", "chaplygin"),
]


@pytest.mark.parametrize(("name", "form"), REDUCED)
def test_V2_forms_without_multipliers(name, form, request):
    """Forms without multipliers satisfy what the model states, off its constraints too; a wrong force in them is seen."""
    how = {"form": form, "method": "euler", "step": 0.01, "until": 0.1, "stabilize": "off"}
    svyaz.load(name).simulate(**how)
    request.getfixturevalue("too_heavy")
    with pytest.raises(InconsistentRun, match=f"form {form} .* is left of the equation of"):
        svyaz.load(name).simulate(**how)


def test_V2_kinematics_of_forms_without_multipliers(monkeypatch):
    """Dependent velocities that do not satisfy the constraint are seen."""
    sound = chaplygin.assembled

    def tilted(form, origin, kinematics, *others, **named):
        rates = {q: rate * se.Rational(101, 100) if q == "x" else rate for q, rate in kinematics.rates.items()}
        return sound(form, origin, replace(kinematics, rates=rates), *others, **named)

    monkeypatch.setattr(chaplygin, "assembled", tilted)
    with pytest.raises(InconsistentRun, match="form chaplygin"):
        svyaz.load("sleigh").simulate(form="chaplygin", until=0.1)


def test_V2_forces_that_jump(wrong_sides):
    """Friction that pushes forwards is seen."""
    with pytest.raises(InconsistentRun, match="form lagrange with sides"):
        System(**STRIBECK).simulate()


def test_V2_friction_by_reactions(wrong_sides):
    """So is friction by a reaction that pushes forwards."""
    with pytest.raises(InconsistentRun, match="friction by reactions"):
        System(**RUBBING).simulate()


def test_V2_friction_that_holds_within_its_bound():
    """A force of 2 that only a friction of at most 1 could give is seen; two of them that share it are not."""
    matrix, side = np.array([[1.0]]), np.array([2.0])
    with pytest.raises(InconsistentRun, match="its bound 1"):
        _check_bounds(matrix, side, np.array([1.0]), np.array([2.0]), "")
    _check_bounds(np.ones((1, 2)), side, np.array([0.6, 1.6]), np.array([1.0, 1.0]), "")


def test_V2_each_of_several_frictions_within_its_bound():
    """Of two frictions that hold, the one that would have to be larger than its bound is seen."""

    def resting(weak: float) -> System:
        floors = [
            {"name": name, "equation": f"{up} = 0", "friction": {"sliding": sliding, "along": f"{along}'"}}
            for name, up, along, sliding in (("floor", "y", "x", 0.3), ("step", "v", "u", weak))
        ]
        energies = {"kinetic": "(x'^2 + y'^2 + u'^2 + v'^2)/2", "potential": "9.81*(y + v)"}
        return System(coordinates=["x", "y", "u", "v"], **energies, forces={"x": "2", "u": "2"}, constraint=floors)

    motion = resting(0.3).simulate(form="multipliers", until=0.1)
    chapter = motion.chapters[-1]
    segment = chapter.modes[-1].segment if chapter.modes else chapter.segment
    pushes = {name: np.array([9.81]) for name in ("floor", "step")}
    sample = sample_of(segment, chapter.path.times[-1:], chapter.path.states[-1:], pushes)
    check_samples(motion.system, [sample])
    with pytest.raises(InconsistentRun, match=r"what holds the motion is -?2, its bound 0\.981"):
        check_samples(resting(0.1), [sample])


def test_V2_masses_that_change(monkeypatch):
    """The momentum of masses and of moments of inertia that change with time and as states; without it the check fails."""
    changing = [b | {"mass": "m", "center": ["0.5 + t/9", 0, 0], "inertia": {"yy": "1 + t"}} for b in TREE["body"]]
    words = TREE | {"body": changing, "states": ["m"], "rates": {"m": "-0.4*m"}, "initial": {"m": 2, "b": 1}}
    assert System(**words).simulate(form="multipliers").finished
    monkeypatch.setattr(TreeMotion, "_momenta_of_flows", lambda self: [(np.zeros(1),) * 4] * len(self.joints))
    with pytest.raises(InconsistentRun, match="the equation of"):
        System(**words).simulate(form="multipliers")


def test_V2_recursions_over_bodies(other_gravity):
    """Constants of the recursion that are not those of the model are seen."""
    with pytest.raises(InconsistentRun, match="recursions over bodies do"):
        System(**TREE).simulate(form="articulated")


def test_V2_recursions_with_constraints(other_gravity):
    """The same of a closed chain."""
    closed = TREE | {"point": [{"name": "end", "body": "2", "at": [1, 0, 0]}]}
    closed |= {"constraint": [{"name": "guide", "equation": "end_z = 0"}]}
    with pytest.raises(InconsistentRun, match="recursions over bodies with constraints"):
        System(**closed).simulate(form="articulated", project=True)


@pytest.mark.parametrize(("model", "form"), HELD)
def test_V2_held_integrals(model, form, monkeypatch):
    """Rates of an integral that are not those of its law are seen."""
    System(**model).simulate(form=form)
    sound = integrals.wanted
    monkeypatch.setattr(integrals, "wanted", lambda *given: [w + se.Rational(1, 10) for w in sound(*given)])
    with pytest.raises(InconsistentRun, match=r"with held integrals .* the law of"):
        System(**model).simulate(form=form)


def test_V2_directions_that_hold_integrals(monkeypatch):
    """A correction that is no gradient of the integral is seen."""
    sound = segments.hold

    def wrong(equations, rates, *others):
        found = sound(equations, rates, *others)
        return replace(found, rates=tuple((name, rate + se.Rational(1, 10)) for name, rate in found.rates))

    monkeypatch.setattr(segments, "hold", wrong)
    with pytest.raises(InconsistentRun, match="held integrals"):
        System(**FALLING, integral=[TOTAL]).simulate()


def test_V2_a_simulator(too_heavy):
    """The first step of a Simulator is checked."""
    with pytest.raises(InconsistentRun, match="a Simulator"):
        svyaz.Simulator(System(**FALLING), dt=0.01).step()


def test_V2_closed_loops_and_their_basins(too_heavy):
    """A closed loop, alone and in lanes."""
    loop = svyaz.load("inverted-pendulum-xy").regulate().loop()
    with pytest.raises(InconsistentRun, match="a closed loop"):
        loop.run(loop.design.model.state | {"x": 0.01}, 0.1, rows=4)
    with pytest.raises(InconsistentRun, match="a closed loop in lanes of a basin"):
        basin(loop, {loop.design.model.variables[0]: (-0.01, 0.01)}, 4, 0.5)


def test_V2_lanes_of_a_sweep(monkeypatch):
    """Code for several states at once that computes something else than the code for one is seen."""
    if lanes.lane_width() == 1:
        pytest.skip("this processor has no lanes")
    sound = lanes.lanes_text

    def other(program, width, **options):
        nodes = tuple(("add", *n[1:]) if n[0] == "mul" else n for n in program.nodes)
        return sound(replace(program, nodes=nodes), width, **options)

    monkeypatch.setattr(lanes, "lanes_text", other)
    monkeypatch.setattr(lanes, "_MADE", {})
    monkeypatch.setattr(lanes.engine, "kept_code", lambda parts, make: make())
    swinging = {
        "coordinates": ["phi"],
        "kinetic": "l^2*phi'^2/2",
        "potential": "-9.79*l*cos(phi)",
        "parameters": {"l": 1},
    }
    with pytest.raises(InconsistentRun, match="lanes of a sweep"):
        System(**swinging, initial={"phi": 1}).sweep({"l": np.linspace(1, 2, 32)}, until=0.1, workers=1)


def test_V2_exported_python():
    """The rates of the Python export satisfy the equations that the model states."""
    equations = svyaz.load("pendulum-xy").derive("multipliers")
    space: dict = {}
    program = export_program(equations)
    exec(compile(export(program, "python"), "exported", "exec"), space)
    states = np.array(equations.system.initial_state())
    constants = space["constants"]([equations.system.constants[n] for n in program.parameters])
    found = dict(zip((name for name, _ in program.outputs), space["step"]([0.0, *states], constants), strict=True))
    rates = np.array([[found[f"rate[{name}]"] for name in equations.states]])
    sample = Sample("the Python export", equations, np.zeros(1), states[None, :], rates, {}, equations.system.constants)
    check_samples(equations.system, [sample])
    with pytest.raises(InconsistentRun, match="the Python export"):
        check_samples(equations.system, [replace(sample, rates=1.001 * rates)])
