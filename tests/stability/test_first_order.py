"""Q3: equilibria, roots and verdicts of equations that are taken as they are, against closed forms and Lagrange's equations."""

from __future__ import annotations

import numpy as np
import pytest

from svyaz import System
from svyaz.expr import ModelError


def in_order(roots: object) -> np.ndarray:
    return np.sort_complex(np.asarray(roots, dtype=complex))


def lorenz(**parameters: float) -> System:
    return System(
        name="Lorenz",
        states=["x", "y", "z"],
        rates={"x": "s*(y - x)", "y": "x*(r - z) - y", "z": "x*y - b*z"},
        parameters={"s": 10, "r": 28, "b": 2.5, **parameters},
        box={"x": [-30, 30]},
    )


@pytest.mark.parametrize("r", [0.5, 10.0, 28.0])
def test_Q3_lorenz(r: float) -> None:
    """Rest at zero and, above r = 1, at ±√(b (r - 1)); the roots at zero are -b and those of λ² + (s + 1) λ + s (1 - r)."""
    found = lorenz(r=r).equilibria()
    assert found.complete
    away = [] if r < 1 else [-np.sqrt(2.5 * (r - 1)), np.sqrt(2.5 * (r - 1))]
    assert [e.state["x"] for e in found.equilibria] == pytest.approx(sorted([0.0, *away]), abs=1e-9)
    middle = found.equilibria[len(away) // 2]
    assert in_order(middle.verdict.roots) == pytest.approx(in_order([-2.5, *np.roots([1, 11, 10 * (1 - r)])]), abs=1e-9)
    assert middle.verdict.word == ("asymptotic" if r < 1 else "unstable")
    if r > 1:  # λ³ + (s + b + 1) λ² + b (s + r) λ + 2 s b (r - 1), stable below r = s (s + b + 3)/(s - b - 1)
        expected = in_order(np.roots([1, 13.5, 2.5 * (10 + r), 50 * (r - 1)]))
        assert in_order(found.equilibria[0].verdict.roots) == pytest.approx(expected, abs=1e-9)
        assert found.equilibria[0].verdict.word == ("asymptotic" if r < 10 * 15.5 / 6.5 else "unstable")


def test_Q3_one_pendulum_as_rates_as_hamiltonian_as_equation_and_by_energies() -> None:
    """Four statements of one system give the same equilibria and the same roots."""
    shared = {"m": 2.0, "l": 0.7, "g": 9.81}
    statements = [
        {"states": ["phi", "w"], "rates": {"phi": "w", "w": "-g/l*sin(phi)"}},
        {"coordinates": ["phi"], "momenta": ["p"], "hamiltonian": "p^2/(2*m*l^2) - m*g*l*cos(phi)"},
        {"coordinates": ["phi"], "equations": {"phi": "m*l^2*phi'' + m*g*l*sin(phi) = 0"}},
        {"coordinates": ["phi"], "accelerations": {"phi": "-g/l*sin(phi)"}},
        {"coordinates": ["phi"], "kinetic": "m*l^2/2*phi'^2", "potential": "-m*g*l*cos(phi)"},
    ]
    words = []
    for words_of_one in statements:
        text = str(words_of_one)
        used = {name: x for name, x in shared.items() if name == "g" or name == "l" or f"{name}*" in text}
        found = System(name="pendulum", parameters=used, **words_of_one).equilibria()
        below, above = found.equilibria
        assert (below.state["phi"], above.state["phi"]) == pytest.approx((0.0, np.pi), abs=1e-12)
        assert in_order(below.verdict.roots) == pytest.approx(np.array([-1j, 1j]) * np.sqrt(9.81 / 0.7), abs=1e-9)
        assert in_order(above.verdict.roots) == pytest.approx(np.array([-1, 1]) * np.sqrt(9.81 / 0.7), abs=1e-9)
        assert above.verdict.word == "unstable"
        words.append(below.verdict.word)
    assert words == ["undecided", "stable", "undecided", "undecided", "stable"]


def test_Q3_a_hamiltonian_that_is_not_definite_decides_nothing() -> None:
    """Two oscillators of opposite sign: all roots imaginary, and resonances may destroy it."""
    system = System(
        name="opposite",
        coordinates=["a", "b"],
        momenta=["p", "r"],
        hamiltonian="(p^2 + a^2)/2 - (r^2 + 2*b^2)/2 + a^2*b",
        box={"a": [-0.1, 0.1], "b": [-0.1, 0.1]},
    )
    (found,) = system.equilibria().equilibria
    assert (found.verdict.word, found.verdict.zero_roots) == ("undecided", 0)


def test_Q3_inputs_and_unknown_parameters_of_plain_rates() -> None:
    system = System(
        name="tank",
        states=["h"],
        rates={"h": "u - k*sqrt(h)"},
        parameters={"k": 0.5},
        inputs={"u": 0.0},
        box={"h": [0.1, 9]},
    )
    (found,) = system.equilibria({"h": 4.0}).equilibria
    assert found.inputs["u"] == pytest.approx(1.0)
    assert found.verdict.roots == pytest.approx([-0.5 / 4])
    (found,) = system.equilibria({"h": 4.0, "u": 3.0}, {"k": (0.1, 5.0)}).equilibria
    assert found.parameters["k"] == pytest.approx(1.5)
    assert found.verdict.roots == pytest.approx([-1.5 / 4])


def test_Q3_what_is_periodic_at_rest_alone_is_no_angle() -> None:
    """x² in the damping: rest at 0 and at π differ, and so do 0 and 2π."""
    words = {"coordinates": ["x"], "equations": {"x": "x'' + (1 - x^2)*x' + sin(x) = 0"}}
    with pytest.raises(ModelError, match="no side in it"):
        System(name="damped", **words).equilibria()
    found = System(name="damped", box={"x": [-1, 7]}, **words).equilibria()
    assert [e.verdict.word for e in found.equilibria] == ["asymptotic", "unstable", "unstable"]


def test_Q3_equations_with_time_have_no_equilibria() -> None:
    with pytest.raises(ModelError, match="change with time"):
        System(name="pushed", states=["x"], rates={"x": "-x + sin(t)"}).equilibria()
