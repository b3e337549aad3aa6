"""Conditions for a constant inertia matrix proved on numbers, by the composite-body recursion, which knows nothing of them.

Numbers that satisfy all conditions: the matrix is the same in random positions, to rounding. One condition broken, all
others kept: it is not, and what then varies is different for each condition, so that no masses that break several of them
leave it constant either. Then the conditions are sufficient, necessary, and none is superfluous.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from svyaz.arrays import Array
from svyaz.expr import evaluate
from svyaz.forms import EACH, FIRST, MASS, SECOND, Placed, arrays, exact, inverse_dynamics, mass_matrix, placed
from svyaz.matrices import singular_values
from svyaz.model import Tree
from svyaz.synthesis.balancing.quantities import LinearConditions

POSES = 25
SUFFICIENT, NECESSARY = 1e-9, 1e-7
"""Spread of the matrix over the poses, as a part of its largest entry: less with all conditions, more without one."""


@dataclass(frozen=True)
class Proof:
    """``with_all``: the spread with all conditions satisfied; ``without_one``: the least spread with one of them broken.

    ``independent`` says that the variations, one for each broken condition, are linearly independent.
    """

    poses: int
    with_all: float
    without_one: float | None
    independent: bool

    @property
    def holds(self) -> bool:
        """Are the conditions sufficient, and is every one of them necessary?"""
        needed = self.without_one is None or self.without_one > NECESSARY
        return self.with_all < SUFFICIENT and needed and self.independent


def prove(tree: Tree, conditions: LinearConditions, parameters: Mapping[str, float], seed: int = 5) -> Proof:
    """``tree`` holds numbers and has no fixed joints; ``parameters`` give the lengths that conditions name."""
    random = np.random.default_rng(seed)
    poses = random_poses(tree, random)
    scale = np.tile(unit_scales(tree), len(tree.bodies))
    values = random.uniform(0.5, 1.5, len(scale)) * random.choice([-1.0, 1.0], len(scale)) * scale
    values[MASS::EACH] = np.abs(values[MASS::EACH])
    rows = {
        pivot: {place: evaluate(exact(c), parameters) for place, c in row.items()}
        for pivot, row in conditions.rows.items()
    }
    for pivot, row in rows.items():
        values[pivot] = -sum(c * values[place] for place, c in row.items() if place != pivot)
    satisfied = entries_at(tree, values, poses)
    broken, variations = [], []
    for pivot in rows:
        alone = np.zeros_like(values)
        alone[pivot] = scale[pivot]
        change = entries_at(tree, alone, poses)  # the matrix is linear in the values
        broken.append(_spread(satisfied + change))
        variation = (change - change[:, :1]).ravel()
        variations.append(variation / max(float(np.linalg.norm(variation)), 1e-300))
    return Proof(POSES, _spread(satisfied), min(broken, default=None), _independent(variations))


def _independent(variations: Sequence[Array]) -> bool:
    if not variations:
        return True
    singular = singular_values(np.array(variations))
    return bool(singular[-1] > NECESSARY * singular[0])


def unit_scales(tree: Tree) -> Array:
    """Sizes of the unknowns of a body of mass 1 in a tree of such lengths."""
    length = max([1e-9, *(float(np.linalg.norm(body.pole)) for body in tree.bodies)])
    length = length if length > 1e-6 else 1.0
    return np.array([1.0] + [length] * (SECOND - FIRST) + [length**2] * (EACH - SECOND))


def random_poses(tree: Tree, random: np.random.Generator, count: int = POSES) -> Array:
    """Positions (count, coordinates): any angles, slides within the size of the tree, unit quaternions."""
    length = float(unit_scales(tree)[FIRST])
    columns = []
    for body in tree.bodies:
        quaternions = random.normal(size=(count, 4)) if body.quaternion else None
        size = np.pi if body.kind.turns else length
        columns += [random.uniform(-size, size, count) for q in body.coordinates if q not in body.quaternion]
        if quaternions is not None:
            columns += list((quaternions / np.linalg.norm(quaternions, axis=1)[:, None]).T)
    return np.stack(columns, axis=1)


def spread(tree: Tree, values: Array, poses: Array) -> float:
    """How much the entries of the inertia matrix differ over the poses, as a part of the largest entry."""
    return _spread(entries_at(tree, values, poses))


def _spread(entries: Array) -> float:
    largest = float(np.abs(entries).max())
    return float((entries.max(axis=1) - entries.min(axis=1)).max()) / largest if largest > 0 else 0.0


def entries_at(tree: Tree, values: Array, poses: Array) -> Array:
    """The entries of the lower triangle of the inertia matrix at the poses, (entries, poses)."""
    rows = mass_matrix(bodies_with(tree, values, poses), arrays())
    lower = [e for k, row in enumerate(rows) for e in row[: k + 1]]
    return np.array([np.broadcast_to(np.asarray(e, dtype=float), (len(poses),)) for e in lower])


def gravity_part(tree: Tree, values: Array, poses: Array) -> float:
    """The largest generalised force of gravity over the poses, as a part of weight times length."""
    forces = inverse_dynamics(bodies_with(tree, values, poses), tree.gravity, None, None, arrays())
    largest = max(float(np.max(np.abs(np.asarray(f, dtype=float)))) for f in forces)
    weight = float(np.linalg.norm(tree.gravity)) * float(values[MASS::EACH].sum()) * float(unit_scales(tree)[FIRST])
    return largest / weight if weight > 0 else 0.0


def bodies_with(tree: Tree, values: Sequence[float] | Array, poses: Array) -> list[Placed]:
    """The bodies at the poses with these carried masses, augmented moments and inertias."""
    named = dict(zip(tree.coordinates, poses.T, strict=True))
    own = own_values(tree, np.asarray(values, dtype=float))
    found = []
    for body, row in zip(placed(tree, named, arrays()), own, strict=True):
        xx, yy, zz, xy, xz, yz = row[SECOND:]
        moment = (row[1], row[2], row[3])
        found.append(replace(body, mass=row[MASS], moment=moment, inertia=(xx, yy, zz, -xy, -xz, -yz)))
    return found


def own_values(tree: Tree, values: Array) -> Array:
    """Own mass, first moment and inertia of each body, (bodies, 10), from carried masses and augmented moments."""
    own = values.reshape(-1, EACH).copy()
    for j, base in enumerate(tree.parents):
        if base >= 0:
            carried = values[EACH * j + MASS]
            own[base, MASS] -= carried
            own[base, FIRST:SECOND] -= carried * np.array(tree.bodies[j].pole, dtype=float)
    return own


def augment_values(tree: Tree, own: Array) -> Array:
    """The way back: carried masses and augmented moments from the bodies' own."""
    masses = own[:, MASS].copy()
    found = own.copy()
    for j in range(len(tree.bodies) - 1, -1, -1):
        if tree.parents[j] >= 0:
            masses[tree.parents[j]] += masses[j]
    for j, base in enumerate(tree.parents):
        if base >= 0:
            found[base, FIRST:SECOND] += masses[j] * np.array(tree.bodies[j].pole, dtype=float)
    found[:, MASS] = masses
    return found.reshape(-1)
