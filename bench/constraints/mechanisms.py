"""Three mechanisms written out by hand for the peers: M, forces, G and G'q' as numbers, and an independent reference.

All in natural coordinates as in the gallery, with its numbers; a test checks that accelerations agree with ours.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

UNTIL, SAMPLES = 5.0, 50
GRAVITY = 9.81


@dataclass(frozen=True)
class Mechanism:
    """M q̈ = force + Gᵀλ, G q̈ + bias = 0 with constraints |Aₖ q - aₖ|² = const: G = 2 (Aₖ q - aₖ)ᵀ Aₖ, bias = 2 |Aₖ q̇|².

    ``bars`` are the (Aₖ, aₖ), each with two rows.
    """

    name: str
    mass: Floats
    force: Floats
    bars: tuple[tuple[Floats, Floats], ...]

    def arrays(self) -> tuple[Floats, Floats, Floats, Floats]:
        """M, force, A (bars, 2, n), a (bars, 2)."""
        return self.mass, self.force, np.array([a for a, _ in self.bars]), np.array([b for _, b in self.bars])


def _bar(size: int, plus: tuple[int | None, int | None], minus: tuple[int | None, int | None], fixed: Any) -> Any:
    """Difference of two points: coordinates with these numbers, one taken away from the other, less a fixed vector."""
    matrix = np.zeros((2, size))
    for row in range(2):
        if plus[row] is not None:
            matrix[row, plus[row]] += 1.0
        if minus[row] is not None:
            matrix[row, minus[row]] -= 1.0
    return matrix, np.array(fixed, dtype=float)


NO = (None, None)


def pendulum() -> Mechanism:
    """A point on a rod."""
    return Mechanism("pendulum-xy", np.eye(2), np.array([0.0, -GRAVITY]), (_bar(2, (0, 1), NO, (0, 0)),))


def slider_crank() -> Mechanism:
    """xA, yA, xB; rods of masses 1 and 2, slider of mass 1."""
    m1, m2, m3 = 1.0, 2.0, 1.0
    mass = np.diag([(m1 + m2) / 3, (m1 + m2) / 3, m2 / 3 + m3])
    mass[0, 2] = mass[2, 0] = m2 / 6
    force = np.array([0.0, -(m1 + m2) / 2 * GRAVITY, 0.0])
    return Mechanism("slider-crank", mass, force, (_bar(3, (0, 1), NO, (0, 0)), _bar(3, (2, None), (0, 1), (0, 0))))


def four_bar() -> Mechanism:
    """xB, yB, xC, yC; rods of mass 1, the ground AD of length 3."""
    mass = np.diag([2 / 3] * 4)
    for row, column in ((0, 2), (1, 3), (2, 0), (3, 1)):
        mass[row, column] = 1 / 6
    force = np.array([0.0, -GRAVITY, 0.0, -GRAVITY])
    bars = (_bar(4, (0, 1), NO, (0, 0)), _bar(4, (2, 3), (0, 1), (0, 0)), _bar(4, (2, 3), NO, (3, 0)))
    return Mechanism("four-bar", mass, force, bars)


MECHANISMS = {m.name: m for m in (pendulum(), slider_crank(), four_bar())}


def accelerations(mechanism: Mechanism, q: Floats, v: Floats) -> tuple[Floats, Floats]:
    """q̈ and λ from the augmented system."""
    mass, force, a, b = mechanism.arrays()
    n, m = len(mass), len(b)
    rows = 2.0 * np.einsum("ki,kij->kj", a @ q - b, a)
    matrix = np.zeros((n + m, n + m))
    matrix[:n, :n], matrix[:n, n:], matrix[n:, :n] = mass, -rows.T, rows
    found = np.linalg.solve(matrix, np.concatenate([force, -2.0 * ((a @ v) ** 2).sum(axis=1)]))
    return found[:n], found[n:]


def times() -> Floats:
    """The moments at which positions are compared."""
    return np.linspace(0.0, UNTIL, SAMPLES + 1)


def reference(name: str) -> Floats:
    """Positions (times, n) by SciPy's DOP853 at the strictest tolerance."""
    from bench.constraints.setting import system
    from scipy.integrate import solve_ivp

    mechanism, start = MECHANISMS[name], np.array(system(name).initial_state())
    n = len(start) // 2

    def rates(_: float, y: Floats) -> Floats:
        return np.concatenate([y[n:], accelerations(mechanism, y[:n], y[n:])[0]])

    found = solve_ivp(rates, (0.0, UNTIL), start, method="DOP853", rtol=1e-13, atol=1e-13, t_eval=times())
    return np.asarray(found.y[:n].T)


def error(positions: Floats, exact: Floats) -> float:
    """The largest distance of a coordinate from the reference over the compared moments; all lengths are about one."""
    return float(np.abs(positions - exact).max())
