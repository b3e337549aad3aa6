"""The inverse problem: the knife-edge cart as published, random fields, families of fields."""

from __future__ import annotations

import json

import numpy as np
import pytest
import symengine as se
import sympy as sp
from scipy.integrate import solve_ivp

from svyaz import ModelError, System, gallery, loads
from svyaz.expr.calculus import evaluate
from svyaz.expr.text import to_text
from svyaz.motion import simulate
from svyaz.program import compile_program, export
from svyaz.show import as_json, latex_of
from svyaz.synthesis.inverse.construction import family, is_family
from svyaz.synthesis.inverse.inversion import decay_rate, inverse_model, inverse_program, invert


def cart(given: str = "field", **settings: object) -> System:
    return loads(gallery.find("inverse-cart", {"given": given}), "inverse-cart").with_settings(settings)


def deviations(motion) -> np.ndarray:
    """h = q̇ - v at the old nodes, where the listing looks at them."""
    phi = motion.column("phi")
    h = [motion.column("x'") - np.cos(phi), motion.column("y'") - np.sin(phi), motion.column("phi'") - 1.0]
    return np.array(h)[:, :-1]


def test_000_A10_listing_from_the_field() -> None:
    motion = simulate(cart())
    h = deviations(motion)
    assert np.sqrt((h.max(axis=1) ** 2).sum()) == pytest.approx(4.465035e-4, rel=1e-6)
    assert np.sqrt((h**2).sum(axis=0)).max() == pytest.approx(3.930662e-4, rel=1e-6)
    final = [0.649481858, 0.760985120, 15.002275677, -0.761280270, 0.648719077, 1.000122969]
    assert [motion.column(n)[-1] for n in ("x", "y", "phi", "x'", "y'", "phi'")] == pytest.approx(final, rel=1e-6)
    assert motion.residuals["x' of the field"][:-1] == pytest.approx(h[0], abs=1e-14)


def test_000_A11_text_from_the_field() -> None:
    system = loads(gallery.find("inverse-cart", {"given": "field", "data": "text"}), "inverse-cart")
    assert (system.run["step"], system.run["until"]) == (0.01, 10)
    motion = simulate(system)
    assert np.sqrt((deviations(motion).max(axis=1) ** 2).sum()) == pytest.approx(4.490464e-3, rel=1e-6)


@pytest.mark.parametrize("given", ["field", "constraints"])
def test_000_A12_gains_at_heading_zero(given) -> None:
    found = invert(cart(given))
    values = {**found.system.constants, "phi": 0.0}
    gains = [[evaluate(e, values) for e in row] for row in found.gains]
    assert np.array(gains) == pytest.approx(np.array([[-10, 0, 10], [0, -5, 0], [10, -1, -11]]), abs=1e-12)


def test_000_A13_limit_of_the_gains() -> None:
    found = invert(cart())
    assert found.stable
    assert found.step_limit / 0.001 == pytest.approx(97.5, rel=0.01)
    assert [found.roots.real.min(), found.roots.real.max()] == pytest.approx([-20.52, -0.487], abs=5e-3)
    assert found.decay_rate == pytest.approx(0.461, abs=1e-3)
    strong = invert(cart(gain=100))
    assert not strong.stable
    assert "unstable with euler and the step 0.001" in strong.reasons[0]
    assert invert(cart(gain=96)).stable
    assert invert(cart(gain=100), method="rk4", step=0.001).stable  # 2.785 instead of 2


def euler_lagrange_rayleigh(lagrangian: str, rayleigh: str, coordinates) -> list[sp.Expr]:
    """d/dt ∂L/∂q̇ - ∂L/∂q + ∂D/∂q̇ by SymPy, from the texts."""
    names = {}
    for q in coordinates:
        names |= {q: sp.Symbol(q), f"{q}'": sp.Symbol(f"{q}_d"), f"{q}''": sp.Symbol(f"{q}_dd")}

    def read(text: str) -> sp.Expr:
        for q in coordinates:
            text = text.replace(f"{q}''", f"{q}_dd").replace(f"{q}'", f"{q}_d")
        return sp.sympify(text.replace("^", "**"))

    ell, d = read(lagrangian), read(rayleigh)
    rows = []
    for q in coordinates:
        momentum = ell.diff(names[f"{q}'"])
        total = sum(
            momentum.diff(names[r]) * names[f"{r}'"] + momentum.diff(names[f"{r}'"]) * names[f"{r}''"]
            for r in coordinates
        )
        rows.append(total - ell.diff(names[q]) + d.diff(names[f"{q}'"]))
    return rows


def read_sympy(text: str, coordinates) -> sp.Expr:
    for q in coordinates:
        text = text.replace(f"{q}'", f"{q}_d")
    return sp.sympify(text.replace("^", "**"))


def test_000_A14_the_system_of_the_cart_is_that_of_lagrange_and_rayleigh() -> None:
    result = as_json(invert(cart()))
    rows = euler_lagrange_rayleigh(result["lagrangian"], result["rayleigh"], ["x", "y", "phi"])
    for q, row in zip(("x", "y", "phi"), rows, strict=True):
        given = sp.Symbol(f"{q}_dd") - read_sympy(result["accelerations"][q], ["x", "y", "phi"])
        assert sp.simplify(row - given) == 0
    x, phi = sp.symbols("x_d phi_d")
    v, omega, h = sp.Symbol("v"), sp.Symbol("omega"), sp.Symbol("phi")
    lagrangian = read_sympy(result["lagrangian"], ["x", "y", "phi"])
    expected = ((x - v * sp.cos(h)) ** 2 + (sp.Symbol("y_d") - v * sp.sin(h)) ** 2 + (phi - omega) ** 2) / 2
    assert sp.simplify(lagrangian - expected) == 0


def random_field(seed: int) -> System:
    rng = np.random.default_rng(seed)
    q = ["x", "y", "z"][: int(rng.integers(2, 4))]

    def number() -> str:
        return f"({rng.integers(-100, 100)}/100)"  # exact, so that zero is zero

    def function() -> str:
        a, b = (str(rng.choice(q)) for _ in range(2))
        return f"({number()}*sin({a} + {b}) + {number()}*cos({b}) + {number()}*sin({a})*cos(2*{b}))"

    diagonal = [f"({rng.integers(250, 450)}/100 + 3/10*sin({q[k - 1]}))" for k in range(len(q))]
    off = {(i, j): f"cos({q[i]} - {q[j]})/5" for i in range(len(q)) for j in range(i)}
    matrix = [[diagonal[i] if i == j else off[max(i, j), min(i, j)] for j in range(len(q))] for i in range(len(q))]
    return System(
        name=f"random field {seed}",
        coordinates=q,
        field={name: function() for name in q},
        rayleigh=matrix,
        initial={name: rng.uniform(-0.5, 0.5) for name in q} | {f"{name}'": rng.uniform(-1, 1) for name in q},
        run={"method": "dop853", "rtol": 1e-11, "until": 3},
    )


@pytest.mark.parametrize("seed", range(20))
def test_F5_random_fields(seed) -> None:
    """Euler–Lagrange–Rayleigh of (L, D) minus the system is zero; the deviation decays at no less than the rate."""
    system = random_field(seed)
    found = invert(system)
    result = as_json(found)
    rows = euler_lagrange_rayleigh(result["lagrangian"], result["rayleigh"], system.coordinates)
    for q, row in zip(system.coordinates, rows, strict=True):
        given = sp.Symbol(f"{q}_dd") - read_sympy(result["accelerations"][q], system.coordinates)
        assert sp.expand(row - given) == 0
    motion = simulate(found.system, every=0.02)
    h = np.array([motion.residuals[f"{q}' of the field"] for q in system.coordinates])
    size = np.linalg.norm(h, axis=0)
    rate = decay_rate(found.system, np.column_stack([motion.times, motion.states[:, : len(system.coordinates)]]))
    assert rate > 0.0, "the positivity condition is met"
    assert np.all(size <= size[0] * np.exp(-rate * motion.times) * (1 + 1e-6))


def test_family_of_fields_of_the_knife_edge() -> None:
    found = family(cart("constraints"))
    names, fields = found.names, found.fields
    assert names == ("mu1", "mu2")
    rng = np.random.default_rng(0)
    values = {name: rng.uniform(0.2, 1.4) for name in ("mu1", "mu2", "phi")}
    found = [evaluate(fields[q], values) for q in ("x", "y", "phi")]
    phi, mu1 = values["phi"], values["mu1"]
    assert found == pytest.approx([mu1 * np.cos(phi), mu1 * np.sin(phi), values["mu2"]])


def test_free_functions_may_depend_on_the_coordinates() -> None:
    words = {**cart("constraints").words, "free": {"mu1": "v*(1 + x^2)/2", "mu2": "omega*cos(y)"}}
    found = invert(System.from_words({**words, "run": {"until": 0.5}}))
    field = found.field
    assert to_text(field["phi"]) == "omega*cos(y)"
    allowed = field["y"] * se.cos(se.Symbol("phi")) - field["x"] * se.sin(se.Symbol("phi"))
    assert se.expand(allowed) == 0


COIN = {
    "name": "coin",
    "coordinates": ["x", "y", "phi", "psi"],
    "rayleigh": [[3 if i == j else 0 for j in range(4)] for i in range(4)],
    "parameters": {"R": 0.5},
    "constraint": [{"equation": "x' = R*psi'*cos(phi)"}, {"equation": "y' = R*psi'*sin(phi)"}],
}


@pytest.mark.parametrize("order", [("mu1", "mu2"), ("mu2", "mu1")])
def test_free_functions_are_taken_by_their_names(order) -> None:
    """The rolling coin: x' = R mu2 cos φ, y' = R mu2 sin φ, φ' = mu1, ψ' = mu2, in whatever order they are written."""
    chosen = {"mu1": "-phi", "mu2": "1 + x"}
    system = System(**COIN, free={name: chosen[name] for name in order}, run={"until": 0.5})
    field = {q: to_text(v) for q, v in invert(system).field.items()}
    assert field["phi"] == "-phi"
    assert field["psi"] == "x + 1"
    with pytest.raises(ModelError, match=r"\[free\] gives 'mu1', 'mu3'"):
        invert(System(**COIN, free={"mu1": 1, "mu3": 2}))


def test_constraints_alone_give_the_family(svyaz, tmp_path) -> None:
    """x' = R mu2 cos φ … satisfies both constraints for any mu; code needs a choice."""
    model = """
name = "coin"
coordinates = ["x", "y", "phi", "psi"]
rayleigh = [[3, 0, 0, 0], [0, 3, 0, 0], [0, 0, 3, 0], [0, 0, 0, 3]]
[parameters]
R = 0.5
[[constraint]]
equation = "x' = R*psi'*cos(phi)"
[[constraint]]
equation = "y' = R*psi'*sin(phi)"
"""
    (tmp_path / "coin.toml").write_text(model)
    done = svyaz("invert", "coin.toml", "--json", "found.json")
    assert done.returncode == 0, done.stderr
    assert "give them in [free] to choose a field" in done.stdout
    result = json.loads((tmp_path / "found.json").read_text())
    assert result["free"] == ["mu1", "mu2"]
    assert result["field"]["x"] == "mu2*R*cos(phi)"
    assert result["field"]["phi"] == "mu1"
    assert "(phi' - mu1)^2" in result["lagrangian"]
    assert result["accelerations"] is None
    refused = svyaz("invert", "coin.toml", "--format", "c")
    assert refused.returncode == 2
    assert "needs one field: give mu1, mu2 in [free]" in refused.stderr


def test_exported_code_contains_the_equations_and_the_gains() -> None:
    found = invert(cart())
    program = inverse_program(found)
    native = compile_program(program)
    state = [0.3, 0.1, -0.2, 0.7, 1.1, 0.2, 0.9]  # t, x, y, phi and their velocities
    values = native.evaluate(np.array(state), native.constants(found.system.constants))
    by_name = dict(zip((name for name, _ in program.outputs), values, strict=True))
    c, s = np.cos(0.7), np.sin(0.7)
    h = np.array([1.1 - c, 0.2 - s, 0.9 - 1.0])
    d = np.array([[10, 0, -10 * c], [0, 5, -5 * s], [-10 * c, -5 * s, 11]])
    slopes = np.array([[0, 0, -s], [0, 0, c], [0, 0, 0]])
    gains = -(d + slopes.T)
    q = ("x", "y", "phi")
    assert [by_name[f"h[{a}]"] for a in q] == pytest.approx(h)
    assert np.array([[by_name[f"K[{a},{b}]"] for b in q] for a in q]) == pytest.approx(gains)
    expected = slopes @ [1.1, 0.2, 0.9] + gains @ h
    assert [by_name[f"acceleration[{a}]"] for a in q] == pytest.approx(expected)
    assert values[-6:] == pytest.approx([1.1, 0.2, 0.9, *expected])


def test_exported_code_runs_by_itself() -> None:
    """Euler's method over the exported Python gives the published end of the listing."""
    space: dict = {}
    found = invert(cart())
    exec(compile(export(inverse_program(found), "python"), "exported", "exec"), space)
    constants = space["constants"]([found.system.constants[name] for name in space["PARAMETERS"]])
    state = np.array([0.0, -1.0, 0.0, 1.0, 0.0, 1.0])
    for k in range(15000):
        state = state + 0.001 * np.array(space["rates"](0.001 * k, state, constants))
    assert state[:3] == pytest.approx([0.649481858, 0.760985120, 15.002275677], rel=1e-6)


@pytest.mark.parametrize("given", ["field", "constraints"])
def test_the_model_file_that_is_written_has_the_same_motion(given) -> None:
    found = invert(cart(given))
    again = simulate(loads(inverse_model(found), "written"))
    expected = simulate(found.system)
    assert again.states[-1] == pytest.approx(expected.states[-1], abs=1e-12)
    assert again.method == "euler"


def test_the_euler_bound_is_told_for_every_method(svyaz) -> None:
    """K = -(d + v') = -(5 - 1): Euler's limit is 2/4, that of rk4 2.785/4; with error control none is set."""
    system = System(coordinates=["x"], field={"x": "-x"}, rayleigh=[[5]], initial={"x": 1}, run={"until": 1})
    free = invert(system)
    assert free.euler_limit == pytest.approx(0.5, rel=1e-9)
    assert as_json(free)["step_limit"] is None
    rk4 = invert(system, method="rk4", step=0.1)
    assert rk4.step_limit == pytest.approx(2.785 / 4, rel=1e-3)
    assert as_json(rk4)["euler_step_limit"] == pytest.approx(0.5, rel=1e-9)
    assert not invert(system, method="euler", step=0.51).stable


def test_mistakes_in_inverse_problems() -> None:
    words = cart("constraints").words
    with pytest.raises(ModelError, match=r"leave the family .* with 2 free functions, \[free\] gives 'mu1'"):
        invert(System.from_words({**words, "free": {"mu1": "v"}}))
    with pytest.raises(ModelError, match="needs a \\[field\\]"):
        invert(System(coordinates=["x"], kinetic="x'^2"))
    with pytest.raises(ModelError, match="is not symmetric"):
        System(coordinates=["x", "y"], field={"x": 1, "y": 0}, rayleigh=[[1, 2], [0, 1]])
    with pytest.raises(ModelError, match="2 rows of 2 entries"):
        System(coordinates=["x", "y"], field={"x": 1, "y": 0}, rayleigh=[[1, 2]])
    with pytest.raises(ModelError, match="'y' has no velocity"):
        System(coordinates=["x", "y"], field={"x": 1})
    with pytest.raises(ModelError, match="depends on positions only"):
        System(coordinates=["x"], field={"x": "x'"})
    with pytest.raises(ModelError, match="'kinetic' does not go with a velocity field"):
        System(coordinates=["x"], field={"x": 1}, kinetic="x'^2")


def test_fields_and_constraints_that_cannot_be_taken() -> None:
    steep = System(coordinates=["x"], field={"x": "sqrt(x)"}, rayleigh=[[1]], run={"until": 1})
    with pytest.raises(ModelError, match="not finite at x = 0"):
        invert(steep)
    circle = [{"name": "speed", "equation": "x'^2 + y'^2 = 1"}]
    with pytest.raises(ModelError, match="linear in the velocities, and 'speed' is not"):
        invert(System(coordinates=["x", "y"], constraint=circle, free={"mu1": 1}))


def test_constraints_that_leave_no_choice_are_a_field() -> None:
    """x' = y, y' = -x: no free functions; the circle attracts at the rate 2."""
    rows = [{"equation": "x' = y"}, {"equation": "y' = -x"}]
    system = System(coordinates=["x", "y"], constraint=rows, rayleigh=[[2, 0], [0, 2]], initial={"x": 1})
    assert not is_family(system)
    found = invert(system)
    assert to_text(found.field["y"]) == "-x"
    assert found.decay_rate == pytest.approx(2.0)


def test_a_field_without_dissipation_is_not_shown_to_attract() -> None:
    system = System(coordinates=["x"], field={"x": "-x"}, initial={"x": 1}, run={"until": 1})
    found = invert(system)
    assert not found.positive_definite
    assert found.decay_rate == pytest.approx(-1.0)
    assert "is not positive definite" in found.reasons[0]


def test_a_repelling_field_is_not_called_stable(svyaz, tmp_path) -> None:
    """K = -(d + v'ᵀ) = [[1.9, 0], [-1, 0.9]]: h grows as exp(1.9 t), whatever the method and its step."""
    words = {
        "coordinates": ["x", "y"],
        "field": {"x": "-2*x + y", "y": "-y"},
        "rayleigh": [["0.1", 0], [0, "0.1"]],
        "initial": {"x": 1},
        "run": {"until": 1},
    }
    for asked in ({}, {"method": "euler", "step": 0.01}):
        found = invert(System(**words), **asked)
        assert not found.stable
        assert as_json(found)["repels"] is True
        assert len(found.reasons) == 1
        assert "the deviation h = q' - v obeys h' = K h and grows all along the wanted motion" in found.reasons[0]
    motion = simulate(System(**words), rtol=1e-10)
    h = motion.column("x'") + 2 * motion.column("x") - motion.column("y")
    assert h[-1] / h[0] == pytest.approx(np.exp(1.9), rel=1e-6)

    file = tmp_path / "field.toml"
    file.write_text(
        'coordinates = ["x", "y"]\nrayleigh = [["0.1", 0], [0, "0.1"]]\n[field]\nx = "-2*x + y"\ny = "-y"\n[initial]\nx = 1\n'
    )
    done = svyaz("invert", str(file))
    assert done.returncode == 1
    assert "h' = K h: the deviation grows all along the wanted motion" in done.stdout


def test_a_field_that_only_fails_to_be_shown_to_attract_does_not_repel() -> None:
    """v = (a y, 0), d = 1: K has the root -1 twice, while d + sym dv/dq has the eigenvalue 1 - a/2 < 0."""
    system = System(coordinates=["x", "y"], field={"x": "4*y", "y": 0}, rayleigh=[[1, 0], [0, 1]], run={"until": 1})
    found = invert(system)
    assert found.decay_rate == pytest.approx(-1.0)
    assert found.stable
    assert not found.repels
    assert found.reasons[0].startswith("the field is not shown to attract: ")


GAINS = {
    "text": "gains K of h = q' - v",
    "latex": r"K &= \begin{pmatrix}",
    "json": '"gains"',
    "model": "lagrangian = ",
    **dict.fromkeys(("python", "c", "matlab", "julia", "maple", "javascript"), "K[x,phi]"),
}


@pytest.mark.parametrize(("output", "told"), GAINS.items())
def test_command_in_every_format(svyaz, output, told) -> None:
    done = svyaz("invert", "inverse-cart", "--with", "given=field", "--format", output)
    assert done.returncode == 0, done.stderr
    assert told in done.stdout


def test_command_answers_no(svyaz, tmp_path) -> None:
    done = svyaz("invert", "inverse-cart", "--with", "given=field", "--set", "gain=100", "--json", "found.json")
    assert done.returncode == 1
    assert "the largest step is 0.000975" in done.stderr
    result = json.loads((tmp_path / "found.json").read_text())
    assert result["stable"] is False
    assert {"lagrangian", "rayleigh", "accelerations", "positive_definite", "decay_rate"} <= result.keys()


def test_the_system_itself_can_be_asked() -> None:
    found = cart().invert(step=0.002)
    assert found.step == 0.002
    assert latex_of(found).startswith("$$\\begin{aligned}")
    assert "K &= " in latex_of(found)
    assert cart().helmholtz().failing == ()


ROUND = {
    "coordinates": ["x", "y"],
    "field": {"x": "-y", "y": "x"},
    "definitions": {"hx": "x' + y", "hy": "y' - x"},
    "parameters": {"d": 2},
    "initial": {"x": 1, "x'": 0.5, "y'": 2},
    "run": {"until": 2, "method": "dop853", "rtol": 1e-11},
}

NONLINEAR = [
    ([["d*(1 + hx^2)", 0], [0, "d + 3*hy^2"]], lambda a, b: (2 * a + 2 * a**3, 2 * b + 3 * b**3), True),
    ([["d*(1 + hy^2)", 0], [0, "d"]], lambda a, b: (2 * a + 2 * a * b**2, 2 * b), False),
    ("d*(cosh(hx) + cosh(hy) - 2)", lambda a, b: (2 * np.sinh(a), 2 * np.sinh(b)), True),
]


@pytest.mark.parametrize(("rayleigh", "force", "has_function"), NONLINEAR)
def test_nonlinear_stabilising_functions(rayleigh, force, has_function) -> None:
    """v = (-y, x): h_x' = -h_y - Φ_x, h_y' = h_x - Φ_y; Φ is d(q, q') h or the slope of D."""
    system = System(**ROUND, rayleigh=rayleigh)
    found, motion = invert(system), simulate(system)
    path = solve_ivp(
        lambda _, s: [-s[1] - force(*s)[0], s[0] - force(*s)[1]], (0, 2), [0.5, 1.0], "DOP853", rtol=1e-12, atol=1e-13
    )
    h = np.array([motion.residuals["x' of the field"][-1], motion.residuals["y' of the field"][-1]])
    assert np.abs(h - path.y[:, -1]).max() < 1e-9
    assert found.approach.first == pytest.approx(np.hypot(0.5, 1.0))
    assert found.approach.rate >= 2 - 1e-9
    assert found.decay_rate == pytest.approx(2.0)  # the linear part: d = 2
    assert (found.rayleigh is not None) is has_function
    assert ("not symmetric" in found.without_rayleigh) is not has_function
    values = {**system.constants, "x": 0.3, "y": -0.2, "x'": 0.7, "y'": 0.1}
    a, b = 0.5, -0.2
    wanted = [-0.1 - b - force(a, b)[0], 0.7 + a - force(a, b)[1]]
    assert [evaluate(e, values) for e in found.accelerations.values()] == pytest.approx(wanted)
    again = loads(inverse_model(found)).simulate(method="dop853", rtol=1e-11)
    assert np.abs(again.states[-1] - motion.states[-1]).max() < 1e-8


def test_a_stabilising_function_that_repels_far_from_the_field_is_told() -> None:
    found = invert(System(**ROUND, rayleigh=[["d*(1 - 2*hx^2 - 2*hy^2)", 0], [0, "d*(1 - 2*hx^2 - 2*hy^2)"]]))
    assert found.positive_definite
    assert found.approach.fails
    assert "from the initial state the deviation goes from 1.11803 to" in found.reasons[-1]


def test_a_function_that_does_not_vanish_on_the_field_is_refused() -> None:
    with pytest.raises(ModelError, match="slope of 'rayleigh' by y' does not vanish on the field"):
        System(**ROUND, rayleigh="d/2*(hx^2 + hy^2) + x*hy")
    System(**ROUND, rayleigh="d/2*(hx^2 + hy^2) + (sin(x)^2 + cos(x)^2 - 1)*hy")
