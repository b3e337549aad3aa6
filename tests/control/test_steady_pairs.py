"""Q1: the first approximation of the Routhian system, brought to Lagrange's variables, equals the formulas of the source."""

from __future__ import annotations

import numpy as np
import pytest
from steady_systems import steady_system

from svyaz.control.uniform import uniform_variables
from svyaz.stability import routh_blocks, steady_near

ROUTES = [
    (1, 1, 1, (), ()),
    (2, 1, 2, (0,), ()),
    (1, 2, 1, (0, 1), (0,)),
    (2, 2, 1, (0,), (0,)),
    (1, 3, 1, (1,), (2,)),
    (3, 2, 1, (), (1,)),
    (2, 2, 3, (1,), ()),
    (3, 1, 3, (), (0,)),
]
"""k, l, m; cyclic coordinates with friction, with inputs."""


@pytest.mark.parametrize("case", ROUTES)
def test_Q1_formulas_equal_the_first_approximation_of_the_routhian_system(case: tuple) -> None:
    k, l, m, friction, driven = case  # noqa: E741
    given = steady_system(sum(case[:3]), k, l, m, friction=friction, driven=driven)
    fixed = {**given.state, **dict.fromkeys(given.system.inputs, 0.0)}
    choice = steady_near(given.system, {}, fixed, dependent=given.redundant)
    other = uniform_variables(choice, "lagrange").renamed
    found = routh_blocks(given.system, given.state, dependent=given.redundant)
    assert found.variables == other.variables
    for name, matrix in (("N", other.A), ("V", other.B), ("Z", other.Z)):
        assert float(np.abs(found[name] - matrix).max(initial=0.0)) < 1e-11, name
