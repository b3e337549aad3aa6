"""The n-link pendulum against its closed form, for every number of links.

M_ij = μ_ij L_i L_j cos(u_i - u_j), bias_i = Σ_j μ_ij L_i L_j sin(u_i - u_j) u̇_j² + (Σ_{k≥i} m_k) g L_i sin u_i,
μ_ij = Σ_{k ≥ max(i, j)} m_k.
"""

from __future__ import annotations

import numpy as np
import pytest

from svyaz import gallery, loads
from svyaz.expr.calculus import evaluate


def closed_form(m, length, g, u, v):
    n = len(m)
    carried = np.cumsum(m[::-1])[::-1]
    mu = carried[np.maximum.outer(np.arange(n), np.arange(n))]
    difference = u[:, None] - u[None, :]
    weight = mu * np.outer(length, length)
    mass = weight * np.cos(difference)
    return mass, (weight * np.sin(difference)) @ v**2 + carried * g * length * np.sin(u)


def random_pendulum(n: int, seed: int):
    """A pendulum with random data, the same data as arrays, and a random state far from small angles."""
    random = np.random.default_rng([n, seed])
    m, length, g = random.uniform(0.2, 3, n), random.uniform(0.2, 2, n), random.uniform(1, 20)
    u, v = random.uniform(-10, 10, n), random.normal(0, 3, n)
    values = {f"m{i + 1}": m[i] for i in range(n)} | {f"L{i + 1}": length[i] for i in range(n)} | {"g": g}
    system = loads(gallery.find(f"pendulum:{n}")).with_settings(values)
    state = {f"u{i + 1}": u[i] for i in range(n)} | {f"u{i + 1}'": v[i] for i in range(n)} | {"t": 0.0}
    return system, state, (m, length, g, u, v)


@pytest.mark.parametrize("n", range(1, 9))
def test_S1_mass_matrix_and_bias_equal_the_closed_form(terms, n) -> None:
    for seed in range(3):
        system, state, data = random_pendulum(n, seed)
        mass, bias = closed_form(*data)
        found = terms(system.derive(), state)
        assert found.mass == pytest.approx(mass, rel=0, abs=1e-12 * max(1, np.abs(mass).max()))
        assert found.bias == pytest.approx(bias, rel=0, abs=1e-12 * max(1, np.abs(bias).max()))


@pytest.mark.parametrize("n", range(1, 9))
def test_S1_mass_matrix_is_symmetric_and_gives_the_kinetic_energy(terms, n) -> None:
    system, state, (*_, v) = random_pendulum(n, 7)
    equations = system.derive()
    assert all(equations.mass_matrix[i][j] == equations.mass_matrix[j][i] for i in range(n) for j in range(n))
    mass = terms(equations, state).mass
    assert np.array_equal(mass, mass.T)
    kinetic = evaluate(system.kinetic, {**system.parameters, **state})
    assert v @ mass @ v / 2 == pytest.approx(kinetic, rel=1e-12)


def test_S1_the_matrix_is_collected_as_in_the_book() -> None:
    """(m2 + m3) L1 L2 cos(u1 - u2) and not a page of products: each entry holds one cosine at most."""
    from symengine.lib.symengine_wrapper import Cos, Sin

    equations = loads(gallery.find("pendulum:5")).derive()
    for i, row in enumerate(equations.mass_matrix):
        for j, entry in enumerate(row):
            assert len(entry.atoms(Cos)) == (0 if i == j else 1)
            assert not entry.atoms(Sin)
