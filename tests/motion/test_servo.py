"""Servo-constraints: M q̈ + bias = Gᵀλ + B u, kept by controls along given directions."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sp
from scipy.integrate import solve_ivp

import svyaz
from svyaz.expr import ModelError

NAMES = ("a", "b", "c", "d", "e")


def random_model(seed: int) -> tuple[dict, list[tuple[sp.Expr, list[sp.Expr] | None]], sp.Expr, sp.Expr, list[sp.Expr]]:
    """Words of a model, its constraints (h or f, direction) and energies: ideal and servo, of positions and velocities."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, 6))
    q = sp.symbols(NAMES[:n])
    v = sp.symbols([f"{x}_dot" for x in NAMES[:n]])
    t = sp.Symbol("t")
    number = lambda: sp.Float(round(float(rng.uniform(0.3, 1.2)), 3))  # noqa: E731
    kinetic = sum((number() + 1) * x**2 for x in v) / 2
    kinetic += sum(number() / 4 * sp.cos(q[i] - q[i + 1]) * v[i] * v[i + 1] for i in range(n - 1))
    potential = sum(number() * sp.cos(x) for x in q) + number() * q[0] * q[1]
    forces = [-number() * v[0], sp.Integer(0), number() * sp.sin(t) * q[0], *[sp.Integer(0)] * (n - 3)]
    start = {
        **dict(zip(q, rng.uniform(-0.5, 0.5, n).round(3), strict=True)),
        **dict(zip(v, rng.uniform(-0.5, 0.5, n).round(3), strict=True)),
    }
    constraints = []
    for k in range(2 if n == 3 else 3):
        g = q[k] + number() * sp.sin(q[(k + 1) % n]) + number() / 4 * q[(k + 2) % n] ** 2
        rate = sum(sp.diff(g, x) * s for x, s in zip(q, v, strict=True))
        h = g - g.subs(start) - rate.subs(start) * t - number() * t**2 if k % 2 == 0 else rate - rate.subs(start)
        along = [number() + sp.sin(q[(k + j) % n]) / 3 if j in (k, (k + 1) % n) else sp.Integer(0) for j in range(n)]
        constraints.append((h, along if k else None))
    if seed % 2:
        constraints = [
            (h, along or [number() if j == 0 else sp.Integer(0) for j in range(n)]) for h, along in constraints
        ]

    def text(e: sp.Expr) -> str:
        return str(sp.sympify(e)).replace("_dot", "'")

    words = {
        "name": f"random {seed}",
        "coordinates": [str(x) for x in q],
        "kinetic": text(kinetic),
        "potential": text(potential),
        "forces": {str(x): text(f) for x, f in zip(q, forces, strict=True) if f != 0},
        "constraint": [
            {
                "name": f"c{k}",
                "equation": f"{text(h)} = 0",
                **({"direction": [text(e) for e in along]} if along else {}),
            }
            for k, (h, along) in enumerate(constraints)
        ],
        "initial": {text(x): float(value) for x, value in start.items()},
        "run": {"method": "dop853", "rtol": 1e-12, "atol": 1e-13, "until": 0.2, "stabilize": "off"},
    }
    return words, constraints, kinetic, potential, forces


def direct(constraints, kinetic, potential, forces, n):
    """(t, state) → q̈ and (λ, u) by the block system itself, from SymPy's derivatives."""
    q, v, t = sp.symbols(NAMES[:n]), sp.symbols([f"{x}_dot" for x in NAMES[:n]]), sp.Symbol("t")
    momenta = [sp.diff(kinetic, x) for x in v]
    mass = sp.Matrix([[sp.diff(p, x) for x in v] for p in momenta])
    bias = [
        sum(sp.diff(p, x) * s for x, s in zip(q, v, strict=True)) - sp.diff(kinetic - potential, y) - f
        for p, y, f in zip(momenta, q, forces, strict=True)
    ]
    rows, rests, pushes = [], [], []
    for h, along in constraints:
        level = (
            h
            if any(x in h.free_symbols for x in v)
            else sum(sp.diff(h, x) * s for x, s in zip(q, v, strict=True)) + sp.diff(h, t)
        )
        rows.append([sp.diff(level, x) for x in v])
        rests.append(sum(sp.diff(level, x) * s for x, s in zip(q, v, strict=True)) + sp.diff(level, t))
        pushes.append(along or rows[-1])
    m = len(rows)
    matrix = sp.Matrix(sp.BlockMatrix([[mass, -sp.Matrix(pushes).T], [sp.Matrix(rows), sp.zeros(m, m)]]))
    compiled = sp.lambdify([t, *q, *v], [matrix, sp.Matrix([*(-b for b in bias), *(-r for r in rests)])])

    def solved(time: float, state: np.ndarray) -> np.ndarray:
        a, b = compiled(time, *state)
        return np.linalg.solve(np.array(a, dtype=float), np.array(b, dtype=float).ravel())

    return solved


@pytest.mark.parametrize("seed", range(10))
def test_K9_random_systems_equal_the_direct_solution(seed):
    """Accelerations, multipliers, controls and the motion itself, ideal and servo-constraints mixed."""
    words, constraints, kinetic, potential, forces = random_model(seed)
    n = len(words["coordinates"])
    solved = direct(constraints, kinetic, potential, forces, n)
    motion = svyaz.System(**words).simulate()
    assert motion.finished, motion.reason
    path = solve_ivp(
        lambda t, x: np.concatenate([x[n:], solved(t, x)[:n]]),
        (0.0, 0.2),
        motion.states[0],
        method="DOP853",
        rtol=1e-12,
        atol=1e-13,
    )
    assert np.abs(motion.states[-1] - path.y[:, -1]).max() < 1e-9
    last = solved(0.2, motion.states[-1])
    assert np.abs([motion.multipliers[f"c{k}"][-1] for k in range(len(constraints))] - last[n:]).max() < 1e-9
    assert np.abs([motion.quantities[f"{q}''"][-1] for q in words["coordinates"]] - last[:n]).max() < 1e-9
    assert abs(motion.balance.totals["remainder"]) < 1e-9  # controls do work, and it is counted


CART = {
    "name": "cart whose pendulum follows",
    "coordinates": ["x", "u"],
    "kinetic": "(M + m)/2*x'^2 + m*l*x'*u'*cos(u) + m/2*l^2*u'^2",
    "potential": "-m*g*l*cos(u)",
    "parameters": {"M": 2, "m": 1, "l": 1, "g": 9.81},
    "inputs": {"F": 0},
    "forces": {"x": "F"},
    "initial": {"u'": 1},
    "constraint": [{"name": "turn", "equation": "u = t", "direction": "F"}],
    "run": {"method": "rk4", "step": 0.001, "until": 1, "stabilize": "off"},
}


def changed(**words: object) -> dict:
    return {**CART, **words}


def constrained(**words: object) -> dict:
    return changed(constraint=[{"name": "turn", "equation": "u = t", **words}])


@pytest.mark.parametrize("stabilize", ["off", "auto", "projection", 5.0])
def test_K9_input_that_keeps_a_motion_comes_out_as_feed_forward(stabilize):
    """u = t: x'' = -g tan t from the row of u, and F = (M + m) x'' - m l sin t from the row of x."""
    motion = svyaz.System(**CART).simulate(stabilize=stabilize)
    wanted = -3 * 9.81 * np.tan(motion.times) - np.sin(motion.times)
    assert np.abs(motion.inputs["F"] - wanted).max() < 1e-9
    assert motion.finished
    assert np.abs(motion.column("x'") - 9.81 * np.log(np.cos(motion.times))).max() < 1e-9


def test_K9_directions_that_cease_to_suffice_end_the_run():
    """At u = π/2 no force on the cart moves the pendulum: the run ends there, fixed step or not."""
    for options in ({"step": 0.001}, {"method": "dop853", "rtol": 1e-9}):
        motion = svyaz.System(**CART).simulate(until=3, **options, on_failure="return")
        assert motion.status == "singular"
        assert "'turn' ceases to suffice" in motion.reason
        assert motion.times[-1] == pytest.approx(np.pi / 2, abs=2e-3)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (constrained(direction=["0", "sin(u)"]), "does not suffice at t = 0"),
        (constrained(direction=["1", "-cos(u)"], equation="x = 0*u + t"), ""),
    ],
)
def test_K9_insufficient_directions_are_refused(words, told):
    """G M⁻¹ B = 0 at the start is told before anything is run; what suffices runs."""
    motion = svyaz.System(**words).simulate(force=True, on_failure="return")
    assert (motion.status == "singular" and told in motion.reason and motion.steps == 0) if told else motion.finished
    found = svyaz.System(**words).check()
    assert any(told in wrong for wrong in found.wrong) if told else not found.ranks.unrealised


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (constrained(direction=["1"]), "there are 2 coordinates, and 1 entries"),
        (constrained(direction=["0", "0"]), "is zero: no force acts along it"),
        (constrained(direction={"y": "1"}), "there is no coordinate 'y'"),
        (constrained(direction="G"), "there is no input 'G'"),
        (constrained(direction=3), "a direction has an entry for each coordinate"),
        (constrained(direction=["F", "0"]), "an input may appear in forces and rates only"),
        (changed(inputs={"F": 1}), "its value here must be 0"),
        (changed(forces={"x": "F^2"}), "not linear in the input 'F'"),
        (changed(forces={"x": "1"}), "no force contains the input 'F'"),
        (changed(states=["w"], rates={"w": "F"}), "it may appear in forces alone"),
        (constrained(direction="F", on="x", impact="inelastic"), "a control gives no impulses"),
    ],
)
def test_K9_directions_that_say_nothing_are_told_at_their_place(words, told):
    with pytest.raises(ModelError, match=told.replace("(", r"\(").replace("^", r"\^")):
        svyaz.System(**words)


def test_K9_place_of_a_direction_is_told(tmp_path):
    text = """coordinates = ["x", "u"]
kinetic = "x'^2/2 + u'^2/2"
[[constraint]]
name = "turn"
equation = "u = 0"
direction = ["1", "0"]
"""
    file = tmp_path / "servo.toml"
    file.write_text(text)
    motion = svyaz.load(file).simulate(until=1, step=0.1, on_failure="return")
    assert motion.status == "singular"
    assert "servo.toml:6:" in motion.reason


@pytest.mark.parametrize("form", ["chaplygin", "voronets", "maggi", "appell", "shulgin", "routh"])
def test_K9_forms_without_multipliers_refuse(form):
    with pytest.raises(ModelError, match="ideal reactions alone"):
        svyaz.System(**constrained(direction="F", equation="u' = 1")).derive(form)


def test_K9_projection_corrects_what_the_control_can_do():
    """M δ lies along the direction: the row of the pendulum, on which no control acts, feels nothing."""
    motion = svyaz.System(**CART).simulate(
        stabilize="projection", step=1e-9, until=1e-9, force=True, start={"u": 0.01, "u'": 1.1, "x": 0.2, "x'": 0.3}
    )
    before, after = motion.states[0], motion.states[-1]
    assert np.abs(after[[1, 3]] - [0.0, 1.0]).max() < 1e-8
    row = np.array([np.cos(0.01), 1.0])  # m l cos u, m l^2
    for change in (after[:2] - before[:2], after[2:] - before[2:]):
        assert abs(row @ change) < 1e-8 < np.abs(change).max()


def test_K9_gains_act_through_the_control():
    """ḧ + 2κ ḣ + κ² h = 0 for h = u - t, whatever keeps it."""
    motion = svyaz.System(**CART).simulate(stabilize=4.0, start={"u": 0.05, "u'": 1.2}, force=True)
    h = (0.05 + (0.2 + 4 * 0.05) * motion.times) * np.exp(-4 * motion.times)
    assert np.abs(motion.residuals["turn"] - h).max() < 1e-9
    assert abs(motion.balance.totals["remainder"]) < 1e-9


def test_K9_inputs_rest_while_their_constraint_does_not_act():
    words = constrained(direction="F", equation="u' = 1", until=0.5)
    motion = svyaz.System(**words).simulate(step=0.01)
    late = motion.times > 0.5
    assert np.all(motion.inputs["F"][late] == 0.0)
    assert (
        np.abs(motion.inputs["F"][motion.times < 0.5] + 3 * 9.81 * np.tan(motion.times[motion.times < 0.5])).max() < 1
    )
    assert motion.csv_names == ("t", "x", "x'", "u", "u'", "F")
    assert abs(motion.balance.totals["remainder"]) < 1e-6


def test_K9_bounds_of_an_input_are_told():
    motion = svyaz.System(**changed(inputs={"F": {"value": 0, "low": -20, "high": 20}})).simulate()
    (note,) = [n for n in motion.notes if "asks for F" in n]
    assert "reaches from -20 to 20: it leaves this range at t = 0.58" in note  # 3 g tan t + sin t = 20


def test_K9_sweeps_end_where_directions_cease_to_suffice():
    found = svyaz.System(**CART).sweep({"m": [0.5, 1.0]}, until=2.0, workers=1)
    assert [row.status for row in found.rows] == ["singular", "singular"]


def test_K9_free_bodies_and_trees():
    """A body is lifted along its own axis: u = m (g + z'') while it stands upright."""
    body = {"name": "drone", "base": "ground", "joint": "free", "mass": "m", "center": [0, 0, 0]}
    body |= {"coordinates": ["x", "y", "z", "e0", "e1", "e2", "e3"], "inertia": {"xx": 0.1, "yy": 0.2, "zz": 0.3}}
    system = svyaz.System(
        gravity=[0, 0, "-g"],
        parameters={"g": 9.81, "m": 2},
        body=[body],
        initial={"e0": 1},
        constraint=[{"name": "height", "equation": "z = 0.1*t^2", "direction": {"vz": 1}}],
        run={"method": "rk4", "step": 0.01, "until": 1},
    )
    motion = system.simulate()
    assert np.abs(motion.multipliers["height"] - 2 * (9.81 + 0.2)).max() < 1e-10
    assert motion.balance.totals["work"] == pytest.approx(2 * 9.81 * 0.1 + 0.2**2, abs=1e-10)


def test_K9_redundant_rods_and_friction_beside_controls():
    """A second rod changes nothing; u and N of a block that is pulled at an angle: u cos a - μ N = m x'', N = m g - u sin a."""
    rods = [{"name": name, "equation": f"{k}*(x^2 + y^2) = {k}"} for k, name in ((1, "rod"), (2, "again"))]
    drive = {"name": "drive", "equation": "x = sin(0.3*sin(2*t))", "direction": "F"}
    bob = {"coordinates": ["x", "y"], "kinetic": "x'^2/2 + y'^2/2", "potential": "9.81*y", "inputs": {"F": 0}}
    bob |= {"forces": {"x": "F"}, "initial": {"y": -1, "x'": 0.6}, "run": CART["run"] | {"until": 0.5}}
    once, twice = (svyaz.System(**bob, constraint=[*rods[:k], drive]).simulate() for k in (1, 2))
    assert np.abs(once.inputs["F"] - twice.inputs["F"]).max() < 1e-9
    friction = {"sliding": 0.3, "along": ["1", "0"]}
    pull = {"name": "pull", "equation": "x' = 1 + 0.5*t", "direction": ["cos(0.4)", "sin(0.4)"]}
    block = {key: bob[key] for key in ("coordinates", "kinetic", "potential")} | {"initial": {"x'": 1}}
    floor = {"name": "floor", "equation": "y = 0", "friction": friction}
    motion = svyaz.System(**block, constraint=[floor, pull], run=CART["run"]).simulate()
    u = (0.5 + 0.3 * 9.81) / (np.cos(0.4) + 0.3 * np.sin(0.4))
    assert np.abs(motion.multipliers["pull"] - u).max() < 1e-9
    assert abs(motion.balance.totals["remainder"]) < 1e-9


def test_K9_matrices_from_python():
    equations = svyaz.System(**CART).derive()
    numeric = equations.function()
    assert numeric.reactions([0.0, 0.5, 0.0, 1.0]).tolist() == [[1.0, 0.0]]
    assert numeric.constraint_jacobian([0.0, 0.5, 0.0, 1.0]).tolist() == [[0.0, 1.0]]
    assert equations.to_sympy().reactions.tolist() == [[1, 0]]
