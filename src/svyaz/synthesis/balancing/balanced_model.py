"""Masses that balance a tree, near to those it has, and the model with them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast

import numpy as np

from svyaz.arrays import Array
from svyaz.expr import Expression, evaluate, to_text
from svyaz.forms import EACH, FIRST, MASS, SECOND, LinearForm, exact
from svyaz.json_types import Json, Record
from svyaz.model import GROUND, MOMENTS, Body, System, Tree, numbers, tree_of
from svyaz.synthesis.balancing.admissible import PseudoInertia, flat_body, nearest_admissible, whole_body
from svyaz.synthesis.balancing.constant_inertia import Balance
from svyaz.synthesis.balancing.proof import augment_values, gravity_part, random_poses, spread, unit_scales

NOTES = "Its masses satisfy the conditions that svyaz balance found: the inertia matrix is constant."
REPLACED = ("name", "notes", "source", "body", "dh")
"""What the balanced model does not take over as it was written."""

LENT = 0.1
"""Part of what it carries that a body without mass is given when it must balance something."""


@dataclass(frozen=True)
class Infeasible:
    """Why no bodies satisfy the conditions."""

    reason: str


@dataclass(frozen=True)
class BalancedMasses:
    """Mass, first moment and inertia of each body about its pole, (bodies, 10), in the order of ``names``.

    ``spread`` is that of the inertia matrix over random positions, ``gravity`` the largest force of gravity left in them, as
    parts of the largest entry and of weight times length. ``lent`` names bodies without mass that were given one.
    """

    names: tuple[str, ...]
    values: Array
    spread: float
    gravity: float
    lent: tuple[str, ...]


def balance_masses(system: System, tree: Tree, found: Balance) -> BalancedMasses | Infeasible:
    """``tree`` holds the numbers of the model, bodies that are fixed to others joined to them."""
    idle = [name for name, entry in zip(tree.freedoms, _diagonal(found), strict=True) if not entry]
    empty = [p // EACH for p, row in found.conditions.rows.items() if len(row) == 1 and p % EACH == MASS]
    if empty:
        names = ", ".join(f"'{tree.bodies[k].name}'" for k in sorted(empty))
        carried = "it carries" if len(empty) == 1 else "they carry"
        return Infeasible(f"no bodies satisfy the conditions: they leave no mass to {names} and what {carried}")
    if idle:
        return Infeasible(
            f"no bodies satisfy the conditions: they leave no inertia against {', '.join(idle)}, the matrix is singular"
        )
    present, rest = _present(system, tree)
    rows = _rows(tree, found, system.parameters)
    tried = nearest_admissible(_bodies(tree, present, rest, rows), present, rows, _scales(tree, present))
    lent: list[str] = []
    if tried is None:
        present, lent = _with_lent_masses(tree, present)
        if lent:
            tried = nearest_admissible(_bodies(tree, present, rest, rows), present, rows, _scales(tree, present))
    if tried is None:
        return Infeasible(
            "no bodies of these masses satisfy the conditions: moments of inertia would have to vanish or break the "
            "triangle inequality"
        )
    poses = random_poses(tree, np.random.default_rng(9))
    values = augment_values(tree, tried)
    owners = tuple(body.name for body in tree.bodies)
    return BalancedMasses(
        owners, tried - rest, spread(tree, values, poses), gravity_part(tree, values, poses), tuple(lent)
    )


def _diagonal(found: Balance) -> list[LinearForm]:
    return [row[k] for k, row in enumerate(found.matrix)]


def _values(body: Body) -> list[float]:
    return [body.mass, *(body.mass * c for c in body.center), *body.inertia]


def _present(system: System, tree: Tree) -> tuple[Array, Array]:
    """Values of the joined bodies, and of the parts that are fixed to them, both (bodies, 10)."""
    own = {body.name: _values(body) for body in numbers(tree_of(system), system.parameters).bodies}
    whole = np.array([_values(body) for body in tree.bodies])
    return whole, whole - np.array([own[body.name] for body in tree.bodies])


def _rows(tree: Tree, found: Balance, parameters: Mapping[str, float]) -> Array:
    """The conditions on masses and moments of the bodies' own, (rows, 10 · bodies)."""
    size = EACH * len(tree.bodies)
    augmented = np.zeros((len(found.conditions.rows), size))
    for number, row in enumerate(found.conditions.rows.values()):
        for place, c in row.items():
            augmented[number, place] = evaluate(exact(c), parameters)
    units = np.eye(size).reshape(size, -1, EACH)
    return augmented @ np.array([augment_values(tree, unit) for unit in units]).T


def _bodies(tree: Tree, present: Array, rest: Array, rows: Array) -> list[PseudoInertia | None]:
    scales = _scales(tree, present)
    bodies: list[PseudoInertia | None] = []
    for k, values in enumerate(present):
        concerned = len(rows) > 0 and bool(rows[:, EACH * k + FIRST : EACH * (k + 1)].any())
        if values[MASS] <= 0.0 or not concerned:
            bodies.append(None)
            continue
        fixed = rest[k] / scales[k]
        about = _only_moment(tree, k, values, rows)
        bodies.append(whole_body(fixed) if about is None else flat_body(fixed, about))
    return bodies


def _only_moment(tree: Tree, k: int, values: Array, rows: Array) -> int | None:
    """The one moment that was given of a body of which the motion feels no other."""
    moments = values[SECOND : SECOND + 3]
    given = np.flatnonzero(moments)
    felt = np.abs(rows[:, EACH * k + SECOND : EACH * (k + 1)]).max() if len(rows) else 0.0
    return int(given[0]) if len(given) == 1 and felt == 0.0 and not values[SECOND + 3 :].any() else None


def _scales(tree: Tree, present: Array) -> Array:
    """Units of each body: its mass and its radius of gyration, or the size of the tree."""
    tree_length = float(unit_scales(tree)[FIRST])
    scales = np.ones_like(present)
    for k, values in enumerate(present):
        mass = values[MASS] if values[MASS] > 0 else 1.0
        gyration = (abs(float(values[SECOND : SECOND + 3].max())) / mass) ** 0.5
        length = gyration if gyration > 1e-3 * tree_length else tree_length
        scales[k] = mass * np.array([1.0] + [length] * (SECOND - FIRST) + [length**2] * (EACH - SECOND))
    return scales


def _with_lent_masses(tree: Tree, present: Array) -> tuple[Array, list[str]]:
    """Bodies without mass get a part of what they carry."""
    changed, lent = present.copy(), []
    carried = augment_values(tree, present).reshape(-1, EACH)[:, MASS]
    for k, body in enumerate(tree.bodies):
        if present[k, MASS] <= 0.0 < carried[k]:
            changed[k, MASS] = LENT * carried[k]
            lent.append(body.name)
    return changed, lent


def words_of_balanced(system: System, tree: Tree, masses: BalancedMasses) -> Record:
    """The words of the model with the bodies of ``tree`` balanced; what need not change is left as it was written."""
    own = dict(zip(masses.names, masses.values, strict=True))
    words: Record = {"name": f"{system.name}, balanced", "notes": NOTES}
    words |= {key: value for key, value in cast("Record", system.words).items() if key not in REPLACED}
    plain = numbers(tree, system.parameters).bodies
    words["body"] = [_body_words(tree, k, own.get(body.name), _values(plain[k])) for k, body in enumerate(tree.bodies)]
    words["parameters"] = _used_parameters(words)
    return words


def _used_parameters(words: Record) -> Record:
    """The parameters that some text of the model still names, directly or through other parameters."""
    parameters = words.get("parameters")
    given = dict(parameters) if isinstance(parameters, Mapping) else {}
    seen: set[str] = set()
    fresh = _names([value for key, value in words.items() if key not in ("parameters", "name", "notes")])
    while fresh:
        seen |= fresh
        fresh = _names([given[name] for name in fresh if name in given]) - seen
    return {name: value for name, value in given.items() if name in seen}


def _names(value: Json) -> set[str]:
    """All names in the texts of some words."""
    if isinstance(value, str):
        return set(re.findall(r"[^\W\d]\w*", value))
    if isinstance(value, Mapping):
        return set().union(*(_names(entry) for entry in value.values()), value)
    return set().union(*(_names(entry) for entry in value)) if isinstance(value, (list, tuple)) else set()


def _body_words(tree: Tree, k: int, values: Array | None, before: list[float]) -> Record:
    body = tree.bodies[k]
    words: Record = {
        "name": body.name,
        "base": "ground" if body.base == GROUND else tree.bodies[body.base].name,
        "joint": body.joint,
    }
    if body.kind.velocities:
        words |= {"coordinates": list(body.coordinates), "velocities": list(body.velocities)}
    elif body.coordinates:
        words |= {"coordinate": body.coordinates[0], "axis": [_word(e) for e in body.axis]}
    words["pole"] = [_word(e) for e in body.pole]
    now = before if values is None else [float(v) for v in values]
    mass = now[MASS]
    kept = [_same(a, b, before) for a, b in zip(now, before, strict=True)]
    words["mass"] = _word(body.mass) if kept[MASS] else mass
    centre_kept = all(kept[: FIRST + 3])
    centre = [0.0 if _tiny(h, before) else h / mass for h in now[FIRST:SECOND]] if mass else [0.0] * 3
    words["center"] = [_word(e) for e in body.center] if centre_kept else centre
    words["inertia"] = {
        name: _word(body.inertia[c]) if kept[SECOND + c] else now[SECOND + c]
        for c, name in enumerate(MOMENTS)
        if body.inertia[c] != 0 or not kept[SECOND + c]
    }
    return words


def _same(a: float, b: float, before: list[float]) -> bool:
    return abs(a - b) <= 1e-12 * max(abs(a), abs(b)) or (b == 0.0 and _tiny(a, before))


def _tiny(value: float, before: list[float]) -> bool:
    return abs(value) <= 1e-13 * max(map(abs, before))


def _word(expression: Expression) -> int | float | str:
    """A number as a number, anything else as text."""
    if isinstance(expression, (int, float)):
        return expression
    if expression.is_Integer:
        return int(expression)
    return float(expression) if expression.is_Number else to_text(expression)
