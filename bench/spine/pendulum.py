"""The pendulum of n links for both sides: as our model, and as a SymPy user writes it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
GRAVITY = 9.81


def our_text(links: int) -> str:
    """The model file."""
    from svyaz import gallery

    text = gallery.find(f"pendulum:{links}")
    assert text is not None
    return text


def sympy_lagrangian(links: int) -> tuple[Any, list[Any], list[Any]]:
    """(L, coordinates, parameters [m…, L…, g]), written from the same positions as our model."""
    import sympy
    from sympy.physics.mechanics import dynamicsymbols

    time = dynamicsymbols._t
    angles = dynamicsymbols(f"u1:{links + 1}")
    masses, lengths = sympy.symbols(f"m1:{links + 1}"), sympy.symbols(f"L1:{links + 1}")
    g = sympy.Symbol("g")
    x = y = kinetic = potential = sympy.S.Zero
    for i in range(links):
        x += lengths[i] * sympy.sin(angles[i])
        y -= lengths[i] * sympy.cos(angles[i])
        kinetic += masses[i] / 2 * (x.diff(time) ** 2 + y.diff(time) ** 2)
        potential += masses[i] * g * (y + sum(lengths[: i + 1]))
    return kinetic - potential, list(angles), [*masses, *lengths, g]


def sympy_terms(lagrangian: Any, angles: list[Any]) -> tuple[Any, Any]:
    """(mass matrix, forcing) by LagrangesMethod."""
    from sympy.physics.mechanics import LagrangesMethod

    method = LagrangesMethod(lagrangian, angles)
    method.form_lagranges_equations()
    return method.mass_matrix, method.forcing


def lambdified(
    mass: Any, forcing: Any, angles: list[Any], parameters: list[Any]
) -> Callable[..., tuple[Floats, Floats]]:
    """f(state, parameters) = (mass matrix, forcing), common subexpressions computed once."""
    import sympy
    from sympy.physics.mechanics import dynamicsymbols

    speeds = [u.diff(dynamicsymbols._t) for u in angles]
    function: Callable[..., tuple[Floats, Floats]] = sympy.lambdify(
        [[*angles, *speeds], parameters], [mass, forcing], cse=True
    )
    return function


def parameter_values(links: int) -> list[float]:
    """Masses and lengths of the gallery's pendulum, then g."""
    return [1.0] * (2 * links) + [GRAVITY]


def initial_state(links: int) -> Floats:
    """60° from the vertical, at rest: the start of the gallery's pendulum."""
    return np.concatenate([np.full(links, np.pi / 3), np.zeros(links)])


def random_states(links: int, count: int) -> Floats:
    """Rows [t, angles, speeds]."""
    generator = np.random.default_rng(20)
    return generator.uniform(-3.0, 3.0, (count, 2 * links + 1))
