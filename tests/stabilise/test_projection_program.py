"""The program that moves a state onto the constraints after a step, against the same corrections by NumPy."""

from __future__ import annotations

import numpy as np
import pytest

from svyaz import System
from svyaz.dynamics.projection_program import projection_program
from svyaz.program import compile_program

RODS = 12


def chain(coupled: str) -> System:
    """Bobs on rods, each from the one before; ``coupled`` is added to the kinetic energy."""
    names = [f"{axis}{k}" for k in range(1, RODS + 1) for axis in "xy"]
    rods = []
    for k in range(1, RODS + 1):
        x, y = ("0", "0") if k == 1 else (f"x{k - 1}", f"y{k - 1}")
        rods.append({"name": f"rod {k}", "equation": f"(x{k} - {x})^2 + (y{k} - {y})^2 = l^2"})
    masses = " + ".join(f"{1 + k % 3}/2*{name}'^2" for k, name in enumerate(names))
    return System(
        coordinates=names,
        kinetic=masses + coupled.format(" + ".join(f"{name}'" for name in names)),
        parameters={"l": 1.0},
        constraint=rods,
        initial={f"x{k}": k for k in range(1, RODS + 1)},
    )


def corrected(q: np.ndarray, v: np.ndarray, mass: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Three corrections of positions, then of velocities, with P = M⁻¹Gᵀ(GM⁻¹Gᵀ)⁻¹ of the incoming state."""

    def rods(z: np.ndarray) -> np.ndarray:
        return np.diff(np.vstack([np.zeros(2), z.reshape(RODS, 2)]), axis=0)

    def gradient(z: np.ndarray) -> np.ndarray:
        g = np.zeros((RODS, RODS, 2))
        for k, rod in enumerate(rods(z)):
            g[k, k] = 2 * rod
            if k:
                g[k, k - 1] = -2 * rod
        return g.reshape(RODS, 2 * RODS)

    response = np.linalg.solve(mass, gradient(q).T)
    right_inverse = response @ np.linalg.inv(gradient(q) @ response)
    for _ in range(3):
        q = q - right_inverse @ ((rods(q) ** 2).sum(axis=1) - 1.0)
    for _ in range(3):
        v = v - right_inverse @ (gradient(q) @ v)
    return q, v


@pytest.mark.parametrize("coupled", ["", " + ({})^2/20"], ids=["diagonal", "dense"])
def test_the_corrections_are_those_of_the_mass_matrix(coupled) -> None:
    system = chain(coupled)
    mass = np.diag(1.0 + np.arange(2 * RODS) % 3) + (0.1 if coupled else 0.0)
    program = projection_program(system.derive("multipliers"), mass=mass)
    random = np.random.default_rng(3)
    q = np.array(system.initial_state())[: 2 * RODS] + 1e-3 * random.normal(size=2 * RODS)
    v = random.normal(size=2 * RODS)
    native = compile_program(program)
    found = native.evaluate(np.concatenate([[0.0], q, v]), native.constants(system.constants))
    np.testing.assert_allclose(found, np.concatenate(corrected(q, v, mass)), atol=1e-12)
    # corrections are named, not written into each other
    assert len(program.nodes) < 12_000
