"""Derived terms against Euler–Lagrange by SymPy's calculus, on random systems.

M = ∂²L/∂q̇∂q̇, bias = ∂²L/∂q̇∂q q̇ + ∂²L/∂q̇∂t - ∂L/∂q + ∂D/∂q̇ - Q, differentiated as it stands.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pytest
import sympy as sp
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from svyaz import System, gallery, loads
from svyaz.forms.programs import jacobian_program, rates_of, rates_program
from svyaz.program import compile_program

MODERATE = settings(
    max_examples=15, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
PARAMETERS = {"a": 1.3, "b": 0.7, "c": 2.1}


@dataclass(frozen=True)
class Stated:
    """A random system in the words of a model file."""

    coordinates: list[str]
    lagrangian: str
    dissipation: str
    forces: dict[str, str]
    definitions: dict[str, str] = field(default_factory=dict)

    def system(self) -> System:
        return System(
            coordinates=self.coordinates,
            lagrangian=self.lagrangian,
            dissipation=self.dissipation,
            forces=self.forces,
            definitions=self.definitions,
            parameters=PARAMETERS,
        )


def functions(names: list[str]) -> st.SearchStrategy[str]:
    """Random smooth functions of the names, of moderate size."""
    leaves = st.sampled_from([*names, *names, "a", "b", "c", "2", "0.5"])

    def extend(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
        pair = st.tuples(inner, inner)
        return st.one_of(
            pair.map(lambda p: f"({p[0]} + {p[1]})"),
            pair.map(lambda p: f"({p[0]} - {p[1]})"),
            pair.map(lambda p: f"{p[0]}*{p[1]}"),
            inner.map(lambda e: f"sin({e})"),
            inner.map(lambda e: f"cos({e})"),
            inner.map(lambda e: f"exp(sin({e}))"),
            inner.map(lambda e: f"sqrt(2 + sin({e}))"),
            inner.map(lambda e: f"({e})^2"),
        )

    return st.recursive(leaves, extend, max_leaves=4)


@st.composite
def systems(draw: st.DrawFn) -> Stated:
    count = draw(st.integers(2, 3))
    q = [f"q{i}" for i in range(1, count + 1)]
    v = [f"{name}'" for name in q]
    of_place = functions([*q, "t"])
    definitions = {"d1": draw(of_place)}
    definitions["d2"] = draw(functions([*q, "t", "d1"]))
    terms = [f"{v[i]}^2/2*(1 + {draw(of_place)})" for i in range(count)]
    terms += [f"{draw(of_place)}*{v[i]}*{v[j]}" for i in range(count) for j in range(i) if draw(st.booleans())]
    terms += [f"{draw(of_place)}*{speed}" for speed in v if draw(st.booleans())]
    if draw(st.booleans()):
        terms.append("a/2*(d1'^2 + d2'^2)")
    terms.append(f"d2*{draw(of_place)}")
    dissipation = f"b/2*{draw(of_place)}*{draw(st.sampled_from(v))}^2"
    forces = {name: draw(functions([*q, *v, "t"])) for name in q if draw(st.booleans())}
    return Stated(q, " + ".join(terms), dissipation, forces, definitions)


class Route:
    """M and bias by SymPy, as functions of (parameters, t, q, q̇)."""

    def __init__(self, stated: Stated) -> None:
        self.names = {name: sp.Symbol(name, real=True) for name in [*PARAMETERS, "t", *stated.coordinates]}
        self.q = [self.names[name] for name in stated.coordinates]
        self.v = [sp.Symbol(f"{name}_d", real=True) for name in stated.coordinates]
        self.names |= {str(s): s for s in self.v}
        for name, text in stated.definitions.items():
            self.names[name] = self.read(text)
            self.names[f"{name}_d"] = self.rate(self.names[name])
        lagrangian, dissipation = self.read(stated.lagrangian), self.read(stated.dissipation)
        momenta = [sp.diff(lagrangian, s) for s in self.v]
        mass = [[sp.diff(p, s) for s in self.v] for p in momenta]
        bias = [
            self.rate(p) - sp.diff(lagrangian, q) + sp.diff(dissipation, v) - self.read(stated.forces.get(str(q), "0"))
            for p, q, v in zip(momenta, self.q, self.v, strict=True)
        ]
        values = [*(self.names[p] for p in PARAMETERS), self.names["t"], *self.q, *self.v]
        self.terms = sp.lambdify(values, [mass, bias], "numpy")

    def read(self, text: str) -> sp.Expr:
        return sp.sympify(text.replace("^", "**").replace("'", "_d"), locals=self.names)

    def rate(self, e: sp.Expr) -> sp.Expr:
        """∂e/∂q q̇ + ∂e/∂t."""
        return sum((sp.diff(e, q) * v for q, v in zip(self.q, self.v, strict=True)), sp.diff(e, self.names["t"]))

    def at(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        mass, bias = self.terms(*PARAMETERS.values(), *x)
        return np.array(mass), np.array(bias)

    def accelerations(self, x: np.ndarray) -> np.ndarray:
        mass, bias = self.at(x)
        return np.linalg.solve(mass, -bias)


def random_point(system: System, seed: int) -> dict[str, float]:
    random = np.random.default_rng(seed)
    return {name: random.uniform(-1.5, 1.5) for name in ("t", *system.states)}


@MODERATE
@given(stated=systems(), seed=st.integers(0, 2**20))
def test_mass_matrix_and_bias(terms, stated, seed) -> None:
    system = stated.system()
    point = random_point(system, seed)
    mass, bias = Route(stated).at(np.array(list(point.values())))
    found = terms(system.derive(), point)
    assert found.mass == pytest.approx(mass, rel=0, abs=1e-10 * (1 + np.abs(mass).max()))
    assert found.bias == pytest.approx(bias, rel=0, abs=1e-10 * (1 + np.abs(bias).max()))


@settings(MODERATE, max_examples=10)
@given(stated=systems(), seed=st.integers(0, 2**20))
def test_jacobian_of_the_rates_against_complex_steps(stated, seed) -> None:
    """∂f/∂x = Im f(x + ih)/h with h so small that nothing is lost: exact to rounding."""
    system = stated.system()
    point = random_point(system, seed)
    x = np.array(list(point.values()))
    route = Route(stated)
    condition = np.linalg.cond(route.at(x)[0])
    if condition > 1e5:
        return
    n, h = len(system.coordinates), 1e-100
    expected = np.zeros((2 * n, 2 * n))
    expected[:n, n:] = np.eye(n)
    for k in range(2 * n):
        moved = x.astype(complex)
        moved[1 + k] += 1j * h
        expected[n:, k] = route.accelerations(moved).imag / h
    equations = system.derive()
    native = compile_program(jacobian_program(equations, rates_of(equations)))
    found = native.evaluate(x, native.constants(system.constants)).reshape(2 * n, 2 * n)
    assert found == pytest.approx(expected, rel=0, abs=1e-12 * condition**2 * (1 + np.abs(expected).max()))


def test_lagrangian_that_is_not_quadratic(terms) -> None:
    """A relativistic particle in a field that changes: L = -m c² √(1 - v²/c²) + x v cos t - k x²/2."""
    stated = Stated(
        ["q1", "q2"],
        "-a*c^2*sqrt(1 - (q1'^2 + q2'^2)/c^2) + q1*q2'*cos(t) - b/2*(q1^2 + q2^4)",
        "0",
        {"q2": "-b*q2'^3"},
    )
    system = stated.system()
    for seed in range(5):
        point = random_point(system, seed)
        mass, bias = Route(stated).at(np.array(list(point.values())))
        found = terms(system.derive(), point)
        assert found.mass == pytest.approx(mass, rel=1e-11)
        assert found.bias == pytest.approx(bias, rel=1e-11)


def test_velocity_in_the_mass_matrix_is_not_lost() -> None:
    """L = v⁴/12: M = v², and nothing else."""
    system = System(coordinates=["x"], lagrangian="x'^4/12 - x^2/2")
    equations = system.derive()
    assert str(equations.mass_matrix[0][0]) == "x'**2"
    assert str(equations.bias[0]) == "x"


@pytest.mark.parametrize("name", ["pendulum-xy", "spring-double-pendulum", "sling-hooked"])
def test_jacobian_of_gallery_models_against_differences(name) -> None:
    """Central differences with one Richardson step, at a random point near the start."""
    system = loads(gallery.find(name))
    equations = system.derive()
    random = np.random.default_rng(3)
    x = np.array([0.1, *system.initial_state()]) + random.normal(0, 0.1, 1 + len(system.states))
    rates = compile_program(rates_program(equations, rates_of(equations)))
    jacobian = compile_program(jacobian_program(equations, rates_of(equations)))
    n = len(system.states)

    def slope(h: float) -> np.ndarray:
        step = h * np.eye(n + 1)[1:]
        c = rates.constants(system.constants)
        return (rates.evaluate(x + step, c) - rates.evaluate(x - step, c)).T / (2 * h)

    expected = (4 * slope(5e-4) - slope(1e-3)) / 3
    found = jacobian.evaluate(x, jacobian.constants(system.constants)).reshape(n, n)
    assert found == pytest.approx(expected, rel=1e-7, abs=1e-7 * np.abs(expected).max())
