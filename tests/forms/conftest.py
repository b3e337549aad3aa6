"""What the tests of the forms share: numbers of M and bias by two routes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import pytest

from svyaz.expr.calculus import evaluate
from svyaz.forms import Equations
from svyaz.forms.programs import terms_program
from svyaz.program import compile_program


@dataclass(frozen=True)
class Terms:
    """M (n, n), bias (n,), G (m, n) and constraint_bias (m,) as numbers."""

    mass: np.ndarray
    bias: np.ndarray
    jacobian: np.ndarray
    constraint_bias: np.ndarray


def by_native_code(equations: Equations, state: Mapping[str, float]) -> Terms:
    """The terms from the compiled program."""
    native = compile_program(terms_program(equations))
    x = np.array([state[name] for name in native.program.inputs])
    outputs = [name for name, _ in native.program.outputs]
    found = dict(zip(outputs, native.evaluate(x, native.constants(equations.system.constants)), strict=True))
    q = equations.accelerated
    upper = lambda i, j: found[f"M[{q[min(i, j)]},{q[max(i, j)]}]"]  # noqa: E731
    names = [d.name for d in equations.deviations]
    return Terms(
        np.array([[upper(i, j) for j in range(len(q))] for i in range(len(q))]),
        np.array([found[f"bias[{c}]"] for c in q]),
        np.array([[found[f"G[{name},{c}]"] for c in q] for name in names]).reshape(len(names), len(q)),
        np.array([found[f"constraint_bias[{name}]"] for name in names]),
    )


def by_expressions(equations: Equations, state: Mapping[str, float]) -> Terms:
    """The terms from the expressions, number by number."""
    values = {**equations.system.constants, **state}
    rows = lambda matrix: np.array([[evaluate(e, values) for e in row] for row in matrix])  # noqa: E731
    column = lambda entries: np.array([evaluate(e, values) for e in entries])  # noqa: E731
    return Terms(
        rows(equations.mass_matrix),
        column(equations.bias),
        rows(equations.constraint_jacobian).reshape(len(equations.deviations), len(equations.accelerated)),
        column(equations.constraint_bias),
    )


@pytest.fixture(params=[by_native_code, by_expressions], ids=["native", "expressions"])
def terms(request) -> Callable[[Equations, Mapping[str, float]], Terms]:
    """``terms(equations, state)`` gives the numbers; every test runs by both routes."""
    return request.param
