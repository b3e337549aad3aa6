"""Directions of a manifold of steady motions that no input moves.

Where velocities are constrained, steady motions form a manifold, and to first order some combinations l ξ of the variables may
last whatever the inputs: l A = 0, l B = 0. That is no failure of a design. With v along the manifold, A v + B h = 0, l v = E,

    ξ = C c + v e,    e = l ξ = const,    ċ = A_c c + B_c (u - h e),

and u = u₀ + h e - K_c c brings c to zero: each motion nearby tends to a steady one, which e singles out to first order.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import qr

from svyaz.arrays import Array
from svyaz.control.directions import Direction, directions
from svyaz.control.pairs import NEGLIGIBLE, PairReport, scaled_pair
from svyaz.matrices import lstsq, matrix_rank, pinv, svd
from svyaz.stability import FirstApproximation


@dataclass(frozen=True)
class Lasting:
    """``conserved`` l (d, N), ``along`` v (N, d), ``held`` h (p, d), ``across`` C (N, N-d), ``coordinates`` (N-d, N) of c.

    A and B are those of c; ``named`` are the rows l as directions.
    """

    conserved: Array
    along: Array
    held: Array
    across: Array
    coordinates: Array
    A: Array
    B: Array
    named: tuple[Direction, ...]

    @property
    def count(self) -> int:
        return len(self.conserved)

    def is_seen(self, c: Array) -> bool:
        """Does σ = C ξ change along the manifold?"""
        seen = np.abs(c @ self.along)
        return bool((seen > NEGLIGIBLE * (np.abs(c) @ np.abs(self.along) + np.abs(c).max(axis=1)[:, None])).any())

    def lifted(self, report: PairReport, *, dual: bool = False) -> PairReport:
        """A verdict on c with its directions told in ξ: left vectors k c = k P ξ, or for ``dual`` ones ξ = C c."""
        way = self.across.T if dual else self.coordinates
        return replace(report, fixed=tuple((root, rows @ way) for root, rows in report.fixed))


def lasting_directions(model: FirstApproximation, b: Array, pair: PairReport) -> Lasting | None:
    """Those of a plant with constrained velocities; None where there are none, or where what lasts grows in time."""
    zero = [rows.real for root, rows in pair.fixed if root == 0]
    rows = model.conserved(np.vstack([np.zeros((0, len(model.A))), *zero]))
    if not len(rows):
        return None
    sizes = np.abs(rows).max(axis=1, keepdims=True)
    rows = np.where(np.abs(rows) > NEGLIGIBLE * sizes, rows, 0.0) / sizes
    found = _neighbours(model.A, b, rows)
    if found is None:
        return None
    along, held = found
    n, d = len(model.A), len(rows)
    pivots = sorted(qr(rows, pivoting=True)[2][:d])
    others = [k for k in range(n) if k not in pivots]
    across = np.zeros((n, n - d))
    across[others, range(n - d)] = 1.0
    across[pivots] = -np.linalg.solve(rows[:, pivots], rows[:, others])
    coordinates = np.eye(n)[others] - along[others] @ rows
    return Lasting(
        conserved=rows,
        along=along,
        held=held,
        across=across,
        coordinates=coordinates,
        A=coordinates @ model.A @ across,
        B=coordinates @ b,
        named=directions(model.variables, [(0j, rows.astype(complex))]),
    )


def _neighbours(a: Array, b: Array, rows: Array) -> tuple[Array, Array] | None:
    """(v, h) with A v + B h = 0 and l v = E; with h = 0 where that can be."""
    scaled, moved, scale = scaled_pair(a, b)
    for inputs in (moved[:, :0], moved):
        both = np.hstack([scaled, inputs])
        sizes = np.linalg.norm(both, axis=1, keepdims=True)
        _, values, right = svd(both / np.where(sizes > 0, sizes, 1.0))
        rank = int(np.count_nonzero(values > NEGLIGIBLE))
        null = right[rank:].T
        states = null[: len(a)] * scale[:, None]
        seen = rows @ states
        if len(seen) <= seen.shape[1] and matrix_rank(seen, 1e-6 * np.abs(seen).max(initial=1e-300)) == len(rows):
            mixed = pinv(seen)
            along = states @ mixed
            held: Array = np.zeros((b.shape[1], len(rows)))
            if inputs.shape[1]:
                held = np.asarray(lstsq(b, -a @ along))
            return np.where(np.abs(along) > NEGLIGIBLE * np.abs(along).max(), along, 0.0), held
    return None


def told_lasting(lasting: Lasting) -> str:
    """Words for what no input moves."""
    one = lasting.count == 1
    names = ", ".join(map(str, lasting.named))
    return (
        f"to first order {names} last{'s' if one else ''}, whatever the inputs, along the manifold of steady motions: "
        f"{lasting.count} zero root{'' if one else 's'}; where {'it is' if one else 'they are'} perturbed, the motion "
        "tends to a steady one nearby"
    )
