"""Equilibria and roots of a random system by SymPy and NumPy alone.

∂V/∂q - Q(q, 0) - Gᵀλ = 0,  F(q) = 0       solved by Newton's method from many starts,
NᵀMN ẍ + NᵀDN ẋ + NᵀKN x = 0,  GN = 0       with K = ∂/∂q (∂V/∂q - Q - Gᵀλ), D = -∂Q/∂q̇.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import sympy
from bench.equilibria.draws import Draw
from scipy.linalg import null_space

from svyaz.arrays import Array

STARTS = 400
STEPS = 60
EDGE = 1e-6
"""Solutions so near to a side of the box are left out on both sides."""

DOUBT = 1e-7
"""A real part below this part of the largest root decides nothing."""


@dataclass(frozen=True)
class Rest:
    """A position with its roots, those of the constraints left out, and the word that follows from them.

    The word is empty where roots on the axis leave it open.
    """

    position: Array
    roots: Array
    word: str


class Oracle:
    """The equations of a draw as functions of numbers."""

    def __init__(self, draw: Draw) -> None:
        self.draw = draw
        n, m = len(draw.coordinates), len(draw.constraints)
        q = sympy.symbols(draw.coordinates, real=True)
        v = sympy.symbols([f"v_{name}" for name in draw.coordinates], real=True)
        pushes = sympy.symbols([f"p_{k}" for k in range(m)], real=True)
        names = {str(s): s for s in (*q, *v)}

        def read(text: str) -> sympy.Expr:
            for name in draw.coordinates:
                text = text.replace(f"{name}'", f"v_{name}")
            return sympy.sympify(text.replace("^", "**"), locals=names)

        conditions = [read(text) for text in draw.constraints]
        forces = [read(draw.forces.get(name, "0")) for name in draw.coordinates]
        energy = read(draw.potential)
        still = dict.fromkeys(v, 0)
        balance = [
            sympy.diff(energy, x)
            - force.subs(still)
            - sum(p * sympy.diff(c, x) for p, c in zip(pushes, conditions, strict=True))
            for x, force in zip(q, forces, strict=True)
        ]
        unknown = (*q, *pushes)
        equations = sympy.Matrix([*balance, *conditions])
        self.value = self._function(unknown, equations)
        self.slope = self._function(unknown, equations.jacobian(sympy.Matrix(unknown)))
        self.mass = self._function(unknown, sympy.Matrix([[read(x) for x in row] for row in draw.mass]))
        damping = [[-sympy.diff(force, w).subs(still) for w in v] for force in forces]
        self.damping = self._function(unknown, sympy.Matrix(damping))
        self.sizes = n, m

    @staticmethod
    def _function(unknown: tuple[sympy.Symbol, ...], matrix: sympy.Matrix) -> Callable[[Array], Array]:
        entries = [sympy.lambdify([unknown], e, "numpy") for e in matrix]
        shape = matrix.shape

        def evaluate(points: Array) -> Array:
            """(N, unknowns) → (N, rows, columns)."""
            columns = [np.broadcast_to(np.asarray(f(points.T), dtype=float), len(points)) for f in entries]
            return np.stack(columns, axis=1).reshape(len(points), *shape)

        return evaluate

    def side(self, name: str) -> tuple[float, float]:
        return self.draw.box.get(name, (-np.pi, np.pi))

    def found(self, seed: int) -> list[Rest]:
        """All equilibria that Newton's method meets, none twice, in the order of their positions."""
        random = np.random.default_rng(seed)
        n, m = self.sizes
        low, high = np.array([self.side(name) for name in self.draw.coordinates]).T
        x = np.hstack([random.uniform(low, high, (STARTS, n)), random.normal(0, 4, (STARTS, m))])
        with np.errstate(all="ignore"):
            for _ in range(STEPS):
                slope = self.slope(x)
                good = np.isfinite(slope).all(axis=(1, 2)) & (np.abs(np.linalg.det(slope)) > 1e-14)
                x = x[good]
                x = x - np.linalg.solve(slope[good], self.value(x)[:, :, 0][:, :, None])[:, :, 0]
            x = x[(np.abs(self.value(x)[:, :, 0]) < 1e-9).all(axis=1)]
        turning = [k for k, name in enumerate(self.draw.coordinates) if name not in self.draw.box]
        x[:, turning] = np.pi - (np.pi - x[:, turning]) % (2 * np.pi)
        inside = ((x[:, :n] > low + EDGE) & (x[:, :n] < high - EDGE) | np.isin(np.arange(n), turning)).all(axis=1)
        kept: list[Array] = []
        for point in x[inside]:
            if not any(self.same(point[:n], other[:n]) for other in kept):
                kept.append(point)
        return [self.judged(point) for point in sorted(kept, key=tuple)]

    def same(self, a: Array, b: Array) -> bool:
        """The same position, angles counted over one turn?"""
        gap = np.abs(a - b)
        for k, name in enumerate(self.draw.coordinates):
            if name not in self.draw.box:
                gap[k] = abs((gap[k] + np.pi) % (2 * np.pi) - np.pi)
        return bool(np.all(gap < 1e-6))

    def judged(self, point: Array) -> Rest:
        n, _ = self.sizes
        slope, one = self.slope(point[None, :])[0], point[None, :]
        across = null_space(slope[n:, :n]) if len(slope) > n else np.eye(n)
        mass, damping, stiff = (across.T @ x @ across for x in (self.mass(one)[0], self.damping(one)[0], slope[:n, :n]))
        k = len(mass)
        inverse = np.linalg.inv(mass)
        matrix = np.block([[np.zeros((k, k)), np.eye(k)], [-inverse @ stiff, -inverse @ damping]])
        found = np.linalg.eigvals(matrix)
        doubt = DOUBT * np.abs(found).max()
        word = ""
        if found.real.max() > doubt:
            word = "unstable"
        elif np.all(found.real < -doubt):
            word = "asymptotic"
        elif self.draw.conservative and np.linalg.eigvalsh(0.5 * (stiff + stiff.T)).min() > doubt:
            word = "stable"
        return Rest(point[:n], found, word)

    def residual(self, position: Array) -> float:
        """What is left of the balance of forces with the best multipliers, and of the constraints."""
        n, m = self.sizes
        point = np.concatenate([position, np.zeros(m)])[None, :]
        value, slope = self.value(point)[0, :, 0], self.slope(point)[0]
        left = value[:n]
        if m:
            left = left + slope[:n, n:] @ np.linalg.lstsq(slope[:n, n:], -left, rcond=None)[0]
        return float(np.abs(np.concatenate([left, value[n:]])).max())
