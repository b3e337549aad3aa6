"""The first approximation: formulas against differentiation, against finite differences of native code, and by hand."""

from __future__ import annotations

import numpy as np
import pytest

from svyaz import System
from svyaz.expr import ModelError
from svyaz.expr.calculus import evaluate, gradient, velocity
from svyaz.forms import lagrangian as lagrangian_of
from svyaz.forms.named.lagrange import applied_forces
from svyaz.forms.named.shulgin import shulgin_equations
from svyaz.forms.programs import rates_of, rates_program
from svyaz.gallery.random_mechanisms import RandomMechanism, random_mechanism
from svyaz.program import compile_program
from svyaz.stability.linearisation import first_approximation, with_linearised_constraints
from svyaz.stability.spectrum import zero_roots
from svyaz_published.shulgin_route import linearise_shulgin

SIZES = [(n, m, k) for n in (1, 2, 3) for m in (1, 2, 3) for k in (0, 1, 2)]
SYSTEMS = [(seed, *SIZES[(7 * seed) % len(SIZES)]) for seed in range(40)]
"""40 systems over all sizes: 1–3 independent and redundant coordinates, 0–2 motors."""


def relative(found: np.ndarray, expected: np.ndarray) -> float:
    return float(np.abs(found - expected).max(initial=0.0) / max(1.0, np.abs(expected).max(initial=0.0)))


@pytest.mark.parametrize("case", SYSTEMS, ids=lambda c: "-".join(map(str, c)))
def test_R1_formulas_equal_direct_differentiation(case: tuple[int, int, int, int]) -> None:
    mechanism = random_mechanism(*case, current_rates=bool(case[0] % 2))
    formulas = first_approximation(mechanism.system, mechanism.state, mechanism.inputs)
    direct = linearise_shulgin(mechanism.system, mechanism.state, mechanism.inputs)
    for name in ("A", "B", "Z", "slope", "inertia", "stiffness"):
        assert relative(getattr(formulas, name), getattr(direct, name)) < 1e-11, name


@pytest.mark.parametrize("case", SYSTEMS[:12], ids=lambda c: "-".join(map(str, c)))
def test_R1_formulas_equal_finite_differences_of_the_native_program(case: tuple[int, int, int, int]) -> None:
    mechanism = random_mechanism(*case)
    formulas = first_approximation(mechanism.system, mechanism.state, mechanism.inputs)
    system, equations = mechanism.system, shulgin_equations(mechanism.system)
    native = compile_program(rates_program(equations, rates_of(equations)))
    values = {**mechanism.state, **mechanism.inputs, "t": 0.0}
    names = [*formulas.variables, *formulas.dependent, *formulas.inputs]

    def rates(shifted: dict[str, float]) -> np.ndarray:
        x = np.array([shifted[name] for name in native.program.inputs])
        out = native.evaluate(x, native.constants({**system.constants, **{u: shifted[u] for u in formulas.inputs}}))
        found = dict(zip(equations.states, out, strict=True))
        return np.array([found[name] for name in formulas.variables])

    step = 1e-5
    columns = []
    for name in names:
        up, down = dict(values), dict(values)
        up[name] += step
        down[name] -= step
        columns.append((rates(up) - rates(down)) / (2 * step))
    full = np.array(columns).T
    x, s = len(formulas.variables), len(formulas.dependent)
    by_x, by_s, by_u = full[:, :x], full[:, x : x + s], full[:, x + s :]
    n = len(formulas.independent)
    by_x[:, :n] += by_s @ formulas.slope  # y = z + B₀ x₁
    assert relative(by_x, formulas.A) < 1e-5
    assert relative(by_s, formulas.Z) < 1e-5
    assert relative(by_u, formulas.B) < 1e-5


@pytest.mark.parametrize("case", SYSTEMS, ids=lambda c: "-".join(map(str, c)))
def test_R2_each_constraint_gives_one_zero_root_and_nothing_else_does(case: tuple[int, int, int, int]) -> None:
    mechanism = random_mechanism(*case)
    found = first_approximation(mechanism.system, mechanism.state, mechanism.inputs)
    assert zero_roots(found.full_matrix) == case[2]


def test_003_A33_formulas_of_the_source_with_a_motor() -> None:
    """N₁ … U₂ written out with H, h, Ω, φ for 2 independent, 2 redundant coordinates, 1 motor, Q of I and of İ."""
    mechanism = random_mechanism(11, 2, 2, 1)
    g = {"r1": 0.31, "r2": -0.42, "s1": 0.27, "s2": 0.53}
    found = first_approximation(_with_current_rate(mechanism, g), mechanism.state, mechanism.inputs)
    expected = _source_formulas(mechanism, g)
    for name, matrix in expected.items():
        assert relative(found.blocks[name], matrix) < 1e-12, name


def _with_current_rate(mechanism: RandomMechanism, g: dict[str, float]) -> System:
    """The mechanism with g·İ added to the force on each coordinate; at rest İ = 0, so that the equilibrium stays."""
    words = dict(mechanism.system.words)
    words["forces"] = {q: f"{text} + {g[q]}*I1'" for q, text in words["forces"].items()}
    return System(**words)


def _source_formulas(mechanism: RandomMechanism, g: dict[str, float]) -> dict[str, np.ndarray]:
    system = mechanism.system
    r, s = ("r1", "r2"), ("s1", "s2")
    values = {**system.constants, **mechanism.state, **mechanism.inputs}
    import symengine as se

    names = (*r, *s)
    q, v = [se.Symbol(x) for x in names], [velocity(x) for x in names]

    def number(e: se.Basic) -> float:
        return evaluate(e, values)

    def slopes(entries: list[se.Basic], by: list[se.Symbol]) -> np.ndarray:
        return np.array([[number(e) for e in gradient(entry, by)] for entry in entries])

    still = {x: se.Integer(0) for x in v}
    L = lagrangian_of(system)
    A2 = slopes([L.diff(x) for x in v], v)
    a1 = [L.diff(x).xreplace(still) for x in v]
    W = -L.xreplace(still)
    Q = [-e for e in applied_forces(system)]
    F = [c.expression for c in system.constraints]
    Fq = slopes(F, q)
    Fr, Fs = Fq[:, :2], Fq[:, 2:]
    B = -np.linalg.solve(Fs, Fr)
    N = np.vstack([np.eye(2), B])
    A = N.T @ A2 @ N
    # derivatives of B as expressions: B = -Fs⁻¹ Fr by Cramer's rule
    fr = [[f.diff(x) for x in q[:2]] for f in F]
    fs = [[f.diff(x) for x in q[2:]] for f in F]
    det = fs[0][0] * fs[1][1] - fs[0][1] * fs[1][0]
    inverse = [[fs[1][1] / det, -fs[0][1] / det], [-fs[1][0] / det, fs[0][0] / det]]
    b = [[-sum(inverse[i][k] * fr[k][j] for k in range(2)) for j in range(2)] for i in range(2)]
    D0 = np.array([number(W.diff(x)) for x in q[2:]]) - np.array([number(e) for e in Q[2:]])
    CrB = np.array([[sum(number(b[p][i].diff(x)) * D0[p] for p in range(2)) for x in q[:2]] for i in range(2)])
    CsB = np.array([[sum(number(b[p][i].diff(x)) * D0[p] for p in range(2)) for x in q[2:]] for i in range(2)])
    ar = [a1[i] + sum(b[p][i] * a1[2 + p] for p in range(2)) for i in range(2)]
    dar, das = slopes(ar, q[:2]), slopes(ar, q[2:])
    K = dar - dar.T + das @ B - B.T @ das.T
    hess = slopes([W.diff(x) for x in q], q)
    C1, C2, C3 = hess[:2, :2], hess[2:, :2], hess[2:, 2:]
    f, gv = slopes(Q, q), slopes(Q, v)
    fI = slopes(Q, [se.Symbol("I1")])
    G = gv[:2, :2] + gv[:2, 2:] @ B + B.T @ gv[2:, :2] + B.T @ gv[2:, 2:] @ B
    gI = np.array([[g[x]] for x in names])
    H = gI[:2] + B.T @ gI[2:]
    F_rr, F_rs, F_rI = f[:2, :2] + B.T @ f[2:, :2], f[:2, 2:] + B.T @ f[2:, 2:], fI[:2] + B.T @ fI[2:]
    C = C1 + B.T @ C2 + C2.T @ B + B.T @ C3 @ B
    CB, Fm = CrB + CsB @ B, F_rr + F_rs @ B
    S = C2.T + B.T @ C3 + CsB - F_rs
    motor = system.motors[0]
    Lm, Rm, Pm, Km = (number(x) for x in (motor.inductance, motor.resistance, motor.back_emf, motor.supply))
    w = slopes([Pm * motor.shaft], q)
    phi = slopes([Pm * motor.shaft], v)
    omega, w_s = w[:, :2] + w[:, 2:] @ B, w[:, 2:]
    phi_r = phi[:, :2] + phi[:, 2:] @ B
    h = np.linalg.solve(A, H) / Lm
    inv = np.linalg.inv(A)
    return {
        "N1": -inv @ (C + CB - Fm) - h @ omega,
        "N2": -inv @ (K - G) - h @ phi_r,
        "N3": inv @ F_rI - h * Rm,
        "N4": -omega / Lm,
        "N5": -phi_r / Lm,
        "N6": np.array([[-Rm / Lm]]),
        "S1": -inv @ S - h @ w_s,
        "S2": -w_s / Lm,
        "U1": h * Km,
        "U2": np.array([[Km / Lm]]),
    }


def test_linearised_constraints_lose_the_second_derivatives_and_nothing_else() -> None:
    mechanism = random_mechanism(4, 2, 2, 1)
    true = first_approximation(mechanism.system, mechanism.state, mechanism.inputs)
    wrong = with_linearised_constraints(mechanism.system, mechanism.state, mechanism.inputs)
    n = len(true.independent)
    assert true.linearisation_defect > 1e-3
    assert wrong.linearisation_defect == 0.0
    difference = true.A - wrong.A
    assert difference[n : 2 * n, :n] == pytest.approx(-np.linalg.solve(true.inertia, true.second_order), abs=1e-12)
    difference[n : 2 * n, :n] = 0.0
    assert np.abs(difference).max() < 1e-12


def test_a_system_without_constraints_is_an_ordinary_one() -> None:
    """An inverted pendulum on a cart: the textbook matrix."""
    system = System(
        coordinates=["x", "phi"],
        kinetic="M/2*x'^2 + m/2*(x'^2 + 2*l*x'*phi'*cos(phi) + l^2*phi'^2)",
        potential="m*g*l*cos(phi)",
        parameters={"M": 2.0, "m": 0.5, "l": 0.7, "g": 9.81},
        forces={"x": "u"},
        inputs={"u": 0.0},
    )
    found = first_approximation(system, {})
    M, m, length, g = 2.0, 0.5, 0.7, 9.81
    assert found.A[2] == pytest.approx([0, -m * g / M, 0, 0])
    assert found.A[3] == pytest.approx([0, (M + m) * g / (M * length), 0, 0])
    assert found.B[:, 0] == pytest.approx([0, 0, 1 / M, -1 / (M * length)])
    assert found.Z.shape == (4, 0)


def test_what_is_no_equilibrium_is_refused() -> None:
    system = System(coordinates=["x"], kinetic="x'^2/2", potential="x^2/2")
    with pytest.raises(ModelError, match="no equilibrium: the forces are not in balance"):
        first_approximation(system, {"x": 0.3})
    mechanism = random_mechanism(1, 1, 1, 1)
    with pytest.raises(ModelError, match="'I1' changes at the rate"):
        first_approximation(mechanism.system, mechanism.state, {"e1": 100.0})
    with pytest.raises(ModelError, match="the constraint 'F1' is off"):
        first_approximation(mechanism.system, {**mechanism.state, "s1": mechanism.state["s1"] + 0.1}, mechanism.inputs)


def test_a_split_that_is_degenerate_at_the_position_is_refused() -> None:
    circle = {"coordinates": ["x", "y"], "kinetic": "(x'^2 + y'^2)/2", "potential": "y"}
    system = System(**circle, constraint=[{"equation": "x^2 + y^2 = 1"}], initial={"y": -1.0})
    assert first_approximation(system, {"y": -1.0}).dependent == ("y",)
    with pytest.raises(ModelError, match="cannot be solved for 'x'"):
        first_approximation(system, {"y": -1.0}, dependent=["x"])
