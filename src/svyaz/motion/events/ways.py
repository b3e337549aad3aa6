"""Which way a motion goes on at surfaces where its rates jump: see ``sides``."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from math import prod

import numpy as np
from numpy.typing import NDArray

from svyaz.arrays import Array
from svyaz.matrices import eigvals, lstsq
from svyaz.motion.events.lemke import solve_complementarity

SLACK = 1e-9
"""A motion that is held is let go when its side passes 1 by this much, so that it does not return at once."""

MOST_WORDS = 3**7
"""So many ways to go on, those of seven surfaces, are all tried; of more Lemke's method finds one."""

REPEATED = 1e-10
"""Below this determinant of their effects, in units of their own, surfaces repeat each other."""

PRODUCT = 1e-9
"""By more than this part of their size numbers are not linear in the sides of several surfaces together: signs are
multiplied with each other."""

MOST_TURNS = 5000
"""Of directions in which slips begin in planes."""

MOST_RATIOS = 5
"""So often the bounds of what slips take the place of those of what is held."""

NEAR = 1e-12
"""A force within this part of its bound has come to it."""

Pair = tuple[int, int]


@dataclass(frozen=True)
class Bounds:
    """Up to which size what is found on a surface may go, ``bound`` + ``slope`` f (n,), and the ``ratio`` by which it may be
    larger while the motion is held; f are the numbers on all surfaces.
    """

    bound: Array
    slope: Array
    ratio: Array

    def at(self, forces: Array) -> Array:
        return self.bound + self.slope @ forces

    def of(self, rows: NDArray[np.intp]) -> Bounds:
        return Bounds(self.bound[rows], self.slope[np.ix_(rows, rows)], self.ratio[rows])


def linear_response(
    ask: Callable[[Array, dict[int, float]], Array], base: Array, at: Sequence[int]
) -> tuple[Array, Array] | None:
    """a (m,) and C (m, n) of numbers a + C f on surfaces ``at``, by asking for them on both sides of each; None if they are
    not linear.

    Between both sides nothing is asked for. A friction whose number in ``base`` is zero has the force that holds it for f.
    """
    plain = ask(base, {})
    slopes = np.empty((len(plain), len(at)))
    for column, k in enumerate(at):
        other, held = base.copy(), {} if base[k] else {k: 1.0}
        other[k] = -base[k]
        slopes[:, column] = (ask(other, held) - plain) / (-2.0 * base[k] if base[k] else 1.0)
    middle = plain - slopes @ base[list(at)]
    if len(at) > 1:
        across = base.copy()
        across[list(at)] *= -1.0
        twist = plain + ask(across, {}) - 2.0 * middle
        if not (np.abs(twist) <= PRODUCT * (np.abs(plain) + np.abs(slopes).sum(axis=1))).all():
            return None
    return (middle, slopes) if np.isfinite(slopes).all() else None


def way_on(
    drift: Array, effect: Array, before: Array, bounds: Bounds | None = None, pairs: Sequence[Pair] = ()
) -> tuple[Array, tuple[int, ...]] | None:
    """Sides σ (n,) with ṡ = drift + effect f, f = σ bound, as the module says, and the surfaces that are slid along; None if
    there are none.

    Where both sides lead away from a surface, the side before is kept; where it is 0, the upper one is taken. The surfaces of
    ``pairs`` are those of frictions in planes: the sides of a pair are the direction of a slip that begins.
    """
    n = len(drift)
    bounds = bounds or Bounds(np.ones(n), np.zeros((n, n)), np.ones(n))
    idle = (drift == 0.0) & (effect == 0.0).all(axis=1)
    if idle.any():
        moved = np.flatnonzero(~idle)
        nothing: tuple[Array, tuple[int, ...]] = (np.zeros(0), ())
        place = {int(k): number for number, k in enumerate(moved)}
        left = [(place[i], place[j]) for i, j in pairs if i in place and j in place]
        part = drift[moved], effect[np.ix_(moved, moved)], before[moved], bounds.of(moved)
        rest = way_on(*part, left) if len(moved) else nothing
        if rest is None:
            return None
        sides = np.zeros(n)
        sides[moved] = rest[0]
        return sides, tuple(int(moved[k]) for k in rest[1])
    for letters in _words(drift, effect, before, bounds, pairs):
        word = _directed(drift, effect, letters, bounds, pairs)
        found = None if word is None else _fitting(drift, effect, word, bounds, pairs)
        if found is not None:
            return found
    return None


def _words(drift: Array, effect: Array, before: Array, bounds: Bounds, pairs: Sequence[Pair]) -> Iterable[Array]:
    """Words to try: 1 and -1 for sides, 0 for what is held; the first of a pair tells for both."""
    choices: list[tuple[float, ...]] = [(0.0, -1.0, 1.0) if side < 0 else (0.0, 1.0, -1.0) for side in before]
    for i, j in pairs:
        choices[i], choices[j] = (0.0, 1.0), (0.0,)
    if prod(map(len, choices)) > MOST_WORDS:
        return words_by_pivots(drift, effect, bounds, pairs)
    return map(np.array, product(*choices))


def words_by_pivots(drift: Array, effect: Array, bounds: Bounds, pairs: Sequence[Pair]) -> Iterator[Array]:
    """What Lemke's method finds; first with the larger bounds of what is held, then with those of what slips in its place."""
    ratio = bounds.ratio
    for _ in range(MOST_RATIOS):
        most = replace(bounds, bound=ratio * bounds.bound, slope=ratio[:, None] * bounds.slope)
        found = sides_by_pivots(drift, effect, most)
        if found is None:
            return
        word = found.copy()
        for i, j in pairs:
            word[i], word[j] = float(word[[i, j]].any()), 0.0
        yield word
        slips = np.where(found != 0.0, 1.0, ratio)
        if (slips == ratio).all():
            return
        ratio = slips


def sides_by_pivots(drift: Array, effect: Array, bounds: Bounds) -> Array | None:
    """1, -1, or 0 where a motion is held, by Lemke's method; None where it ends without an answer.

    With ṡ = s⁺ - s⁻ and b = bound + slope f,

        0 ≤ s⁻ ⊥ b + f ≥ 0,    0 ≤ s⁺ ⊥ b - f ≥ 0

    is a linear problem of complementarity for (b + f, s⁺) (F. Pfeiffer, C. Glocker 1996, ch. 6).
    """
    n = len(drift)
    try:
        inner = np.linalg.solve(np.eye(n) + bounds.slope, np.column_stack([bounds.slope, bounds.bound]))
    except np.linalg.LinAlgError:
        return None
    share, offset = inner[:, :n], inner[:, n]
    matrix = np.block([[-effect @ (np.eye(n) - share), np.eye(n)], [2.0 * share - np.eye(n), np.zeros((n, n))]])
    scale = np.sqrt(np.maximum(np.abs(np.diag(effect)), np.finfo(float).tiny))
    found = solve_complementarity(
        matrix, np.concatenate([effect @ offset - drift, 2.0 * offset]), np.concatenate([1.0 / scale, scale])
    )
    if found is None:
        return None
    both, up = found[:n], found[n:]
    left = 2.0 * (offset + share @ both) - both
    none = NEAR * np.abs(offset + share @ both)
    return np.where((up > 0.0) | (left <= none), 1.0, np.where(both <= none, -1.0, 0.0))


def chosen_forces(sides: Array, slid: Collection[int], drift: Array, effect: Array, bounds: Bounds) -> Array:
    """The numbers f on all surfaces: ṡ = drift + effect f = 0 on those that are slid along, f = σ bound on the others."""
    matrix = np.eye(len(sides)) - sides[:, None] * bounds.slope
    side = sides * bounds.bound
    rows = list(slid)
    matrix[rows], side[rows] = effect[rows], -drift[rows]
    found: Array = np.asarray(np.linalg.solve(matrix, side), dtype=np.float64)
    return found


def _directed(drift: Array, effect: Array, word: Array, bounds: Bounds, pairs: Sequence[Pair]) -> Array | None:
    """The word with the directions n of the slips that begin in planes, where its first letter says so: ṡ = β n, β ≥ 0.

    They are found by projecting T + ρ ṡ onto the circle |T| = bound, from what would hold the bodies; None if that does not
    come to an end.
    """
    slipping = [list(pair) for pair in pairs if word[pair[0]]]
    if not slipping:
        return word
    inner, found = [k for pair in slipping for k in pair], word.copy()
    block = effect[np.ix_(inner, inner)]
    pace = 1.0 / max(float(np.abs(block).sum(axis=1).max()), np.finfo(float).tiny)
    slid = [k for k in range(len(word)) if word[k] == 0.0 and k not in inner]
    found[inner] = unit_pairs(-lstsq(block, drift[inner]))
    for _ in range(MOST_TURNS):
        before = found.copy()
        try:
            forces = chosen_forces(found, slid, drift, effect, bounds)
        except np.linalg.LinAlgError:
            return None
        found[inner] = unit_pairs((forces + pace * (drift + effect @ forces))[inner])
        if np.abs(found - before).max() <= 1e-14:
            return found
    return None


def unit_pairs(vectors: Array) -> Array:
    """Vectors in planes, one after another, with the length one."""
    both = vectors.reshape(-1, 2)
    found: Array = (both / np.maximum(np.hypot(*both.T), np.finfo(float).tiny)[:, None]).ravel()
    return found


def _fitting(
    drift: Array, effect: Array, word: Array, bounds: Bounds, pairs: Sequence[Pair] = ()
) -> tuple[Array, tuple[int, ...]] | None:
    """The sides for a word of 1, -1 and 0 (slid along), if all conditions hold."""
    moving = {k for pair in pairs if word[list(pair)].any() for k in pair}
    resting = np.array([k for k in range(len(word)) if word[k] == 0.0 and k not in moving], dtype=np.intp)
    gone = np.setdiff1d(np.arange(len(word)), resting)
    slid = _independent(effect, resting)
    idle = np.setdiff1d(resting, slid)
    if len(slid) and not attracts(effect[np.ix_(slid, slid)]):
        return None
    try:
        forces = chosen_forces(word, slid.tolist(), drift, effect, bounds)
    except np.linalg.LinAlgError:
        return None
    most = bounds.at(forces)
    if (most < -1e-12 * (np.abs(bounds.bound) + np.abs(bounds.slope) @ np.abs(forces))).any():
        return None
    sizes = np.abs(forces)
    for pair in map(list, pairs):
        sizes[pair] = np.sqrt(np.sum(forces[[k for k in pair if k in slid]] ** 2))
    if (sizes[slid] > (bounds.ratio * most)[slid] * (1.0 + 0.5 * SLACK)).any():
        return None
    speeds = drift + effect @ forces
    allowed = 1e-12 * (np.abs(drift) + np.abs(effect) @ np.maximum(np.abs(forces), np.abs(bounds.bound)))
    along = speeds * word
    for pair in map(list, pairs):
        along[pair] = along[pair].sum()
    if (along[gone] < -allowed[gone]).any() or (np.abs(speeds) > 1e3 * allowed)[idle].any():
        return None
    sides = word.copy()
    sides[slid] = forces[slid] / np.where(most[slid] > 0.0, most[slid], 1.0)
    return sides, tuple(slid.tolist())


def _independent(effect: Array, slid: NDArray[np.intp]) -> NDArray[np.intp]:
    """Surfaces that hold a motion on all of these: of frictions that hold the same body, one is enough."""
    scale = np.sqrt(np.maximum(np.abs(np.diag(effect)), np.finfo(float).tiny))
    unit = effect / np.outer(scale, scale)
    chosen: list[int] = []
    for k in slid.tolist():
        rows = [*chosen, k]
        if abs(np.linalg.det(unit[np.ix_(rows, rows)])) > REPEATED:
            chosen = rows
    return np.array(chosen, dtype=np.intp)


def attracts(block: Array) -> bool:
    """Does a small deviation from surfaces that are slid along die out?"""
    return bool((eigvals(block).real < 0.0).all())
