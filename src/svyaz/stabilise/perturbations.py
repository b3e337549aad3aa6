"""Perturbation equations: how deviations from the constraints are made to die out.

With deviations h (positions), g = ḣ and f (velocities) every choice is brought to

    d/dt (h, g, f) = W (h, g, f),    W = [0 1 0; A B C; F D E],

A, …, E as in the contract (they enter with plus), F the coupling that only an extended Lagrangian with a full mass
matrix brings. A general law is kept as an expression, and W is its linear part on the constraints.

Sources: Kaspirovich (1.2.6) for the blocks; Baumgarte 1972 for ḧ + α ḣ + β h = 0; Mukharlyamov (3.14)–(4.2) for the
extended Lagrangian, W = [0 1; -Ã⁻¹H̃ -Ã⁻¹B], stable by construction when Ã, H̃, B are positive definite.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import symengine as se

from svyaz.arrays import Array
from svyaz.constraints import entered
from svyaz.dynamics import gain_name
from svyaz.expr import ZERO, Expression, add_up, differentiate, names_in
from svyaz.forms import Equations
from svyaz.stabilise.laws import (
    ACTING,
    General,
    checked,
    correction_of,
    deviation_symbols,
    general_law,
    is_numeric,
    lagrange_rows,
    laws_of_run,
    linear_rows,
    matrix_of,
    numbers_of,
    own_laws,
    positions_of,
    velocities_of,
)
from svyaz.stabilise.request import Block, Stabilisation


@dataclass(frozen=True)
class Perturbation:
    """What is added to the constraint rows of the augmented system, and the linear perturbation equation it makes.

    The rows read G q̈ + constraint_bias + correction = 0. ``gains`` are the values of the symbols in the correction,
    ``matrix`` is W for ``positions`` entries h, as many ḣ, and the rest f; ``kappa`` is the decay rate asked for held
    integrals (None: each keeps its own). Of a ``general`` law W may change along the motion: it is that ``at`` a row
    (t, states).
    """

    kind: str
    correction: tuple[Expression, ...]
    gains: Mapping[str, float] = field(default_factory=dict)
    matrix: Array = field(default_factory=lambda: np.zeros((0, 0)))
    positions: int = 0
    kappa: float | None = None
    described: str = "off"
    general: General | None = None
    at: tuple[float, ...] = ()

    def along(self, times: Array, states: Array) -> Array:
        """W along rows of states, (k, c, c)."""
        if self.general is None or not self.varying:
            return np.broadcast_to(self.matrix, (len(times), *self.matrix.shape))
        return self.general.along(times, states, self.gains)

    @property
    def varying(self) -> bool:
        """Does W change along a motion?"""
        return self.general is not None and self.general.varying

    def at_state(self, time: float, state: Array) -> Perturbation:
        """The same with W of a state."""
        if self.general is None:
            return self
        at = (float(time), *map(float, state))
        matrix = self.general.along(np.array(at[:1]), np.array([at[1:]]), self.gains)[0]
        return replace(self, matrix=matrix, at=at)

    @property
    def blocks(self) -> dict[str, list[list[float]]]:
        """The blocks A, B, C, D, E of W that are not zero, as the contract writes them (stable gains are negative).

        F is what an extended Lagrangian adds: the pull of positions on velocity constraints.
        """
        p = self.positions
        place, speed, rest = slice(0, p), slice(p, 2 * p), slice(2 * p, None)
        parts = {
            "A": (speed, place),
            "B": (speed, speed),
            "C": (speed, rest),
            "D": (rest, speed),
            "E": (rest, rest),
            "F": (rest, place),
        }
        found = {name: self.matrix[part] for name, part in parts.items()}
        return {name: block.tolist() for name, block in found.items() if np.any(block)}


def perturbation(equations: Equations, chosen: Stabilisation) -> Perturbation:
    """The perturbation equation that is asked for; gains that are still to be chosen have none."""
    match chosen.kind:
        case "auto":
            raise ValueError("gains that are to be chosen have no perturbation equation yet")
        case "one gain":
            return critical(equations, chosen.numbers["kappa"])
        case "Baumgarte":
            return _baumgarte(equations, chosen.numbers)
        case "blocks":
            return _blocks(equations, chosen.gains)
        case "extended Lagrangian":
            return _from_lagrangian(equations, chosen.gains)
        case "law":
            return _by_laws(equations, _linear(equations, {}, "law", None), laws_of_run(equations, chosen.law))
    return _linear(equations, {}, chosen.kind, None)


def critical(equations: Equations, kappa: float) -> Perturbation:
    """ḧ + 2κ ḣ + κ² h = 0 for positions, ḟ = -κ f for velocities: one multiple root -κ."""
    return _diagonal(equations, (kappa**2, 2 * kappa, kappa), f"κ = {kappa:g}", kappa)


def _baumgarte(equations: Equations, numbers: Mapping[str, float]) -> Perturbation:
    gains = (numbers.get("beta", 0.0), numbers.get("alpha", 0.0), numbers.get("kappa", 0.0))
    described = ", ".join(f"{key} = {value:g}" for key, value in numbers.items())
    return _diagonal(equations, gains, described, numbers.get("kappa"))


def _diagonal(
    equations: Equations, gains: tuple[float, float, float], described: str, kappa: float | None
) -> Perturbation:
    """ḧ + α ḣ + β h = 0, ḟ = -κ f by β, α, κ."""
    p, v = np.eye(len(positions_of(equations))), np.eye(len(velocities_of(equations)))
    blocks = {key: -gain * unit for key, gain, unit in zip("ABE", gains, (p, p, v), strict=True)}
    return _linear_with_laws(equations, blocks, described, kappa)


def _blocks(equations: Equations, given: Mapping[str, Block]) -> Perturbation:
    shapes = _shapes(equations)
    blocks = {key: matrix_of(equations, value, shapes[key], f"the block {key}") for key, value in given.items()}
    described = "blocks " + ", ".join(sorted(given))
    if all(is_numeric(block) for block in blocks.values()):
        return _linear_with_laws(
            equations, {key: numbers_of(b, shapes[key]) for key, b in blocks.items()}, described, None
        )
    return _by_rows(equations, linear_rows(equations, blocks), described)


def _from_lagrangian(equations: Equations, given: Mapping[str, Block]) -> Perturbation:
    """Gains from the matrices of an extended Lagrangian: mass Ã and damping B for all rows, stiffness H̃ for positions."""
    p, s = len(positions_of(equations)), len(equations.deviations)
    sizes = {"mass": s, "stiffness": p, "damping": s}
    default: dict[str, Block] = {"mass": 1.0, "stiffness": 0.0, "damping": 0.0}
    matrices = {
        key: matrix_of(equations, given.get(key, default[key]), (size, size), f"the matrix '{key}'")
        for key, size in sizes.items()
    }
    found = lagrange_rows(equations, **matrices)
    if not all(is_numeric(matrix) for matrix in matrices.values()):
        numbers = [*positions_of(equations), *velocities_of(equations)]
        return _by_rows(equations, [found[numbers.index(k)] for k in range(s)], "extended Lagrangian")
    slopes = [[differentiate(row, y) for y in deviation_symbols(equations)] for row in found]
    w = numbers_of(slopes, (s, s + p))
    places, speeds = slice(0, p), slice(p, None)
    blocks = {"A": w[places, :p], "B": w[places, p : 2 * p], "C": w[places, 2 * p :]}
    blocks |= {"F": w[speeds, :p], "D": w[speeds, p : 2 * p], "E": w[speeds, 2 * p :]}
    return _linear_with_laws(equations, blocks, "extended Lagrangian", None)


def _shapes(equations: Equations) -> dict[str, tuple[int, int]]:
    """Of the blocks A … F."""
    p, v = len(positions_of(equations)), len(velocities_of(equations))
    return {"A": (p, p), "B": (p, p), "C": (p, v), "F": (v, p), "D": (v, p), "E": (v, v)}


def rescale(law: Perturbation, factor: float) -> Perturbation:
    """The same perturbation equation in a time that runs ``factor`` times as fast: every root is multiplied by it.

    Gains that act on positions are of second order in the rate. A general law is left as it is.
    """
    orders = {"A": 2, "F": 2, "B": 1, "C": 1, "D": 1, "E": 1, "law": 0}
    gains = {name: value * factor ** orders[name.split()[1]] for name, value in law.gains.items()}
    if gains == law.gains:
        return law
    if law.general is not None:
        return replace(law, gains=gains).at_state(law.at[0], np.array(law.at[1:]))
    p = law.positions
    matrix = law.matrix.copy()
    matrix[p:, :p] *= factor**2
    matrix[p:, p:] *= factor
    return replace(law, gains=gains, matrix=matrix)


def damped(law: Perturbation, damping: float) -> Perturbation:
    """The same with the damping of positions, B, multiplied."""
    gains = {name: value * (damping if name.split()[1] == "B" else 1.0) for name, value in law.gains.items()}
    if law.general is not None:
        return replace(law, gains=gains).at_state(law.at[0], np.array(law.at[1:]))
    p, matrix = law.positions, law.matrix.copy()
    matrix[p : 2 * p, p : 2 * p] *= damping
    return replace(law, gains=gains, matrix=matrix)


def _linear(equations: Equations, blocks: Mapping[str, Array], described: str, kappa: float | None) -> Perturbation:
    position, speed = positions_of(equations), velocities_of(equations)
    p, v = len(position), len(speed)
    full = {key: blocks.get(key, np.zeros(shape)) for key, shape in _shapes(equations).items()}
    matrix = np.block(
        [
            [np.zeros((p, p)), np.eye(p), np.zeros((p, v))],
            [full["A"], full["B"], full["C"]],
            [full["F"], full["D"], full["E"]],
        ]
    )
    h = [equations.deviations[k].position for k in position]
    g = [equations.deviations[k].velocity for k in position]
    f = [equations.deviations[k].velocity for k in speed]
    gains: dict[str, float] = {}
    correction: list[Expression] = [ZERO] * (p + v)
    for rows, numbers, deviations in (
        (position, ("A", "B", "C"), (h, g, f)),
        (speed, ("F", "D", "E"), (h, g, f)),
    ):
        for i, k in enumerate(rows):
            terms = []
            for name, values in zip(numbers, deviations, strict=True):
                for j in np.flatnonzero(full[name][i]).tolist():
                    symbol = gain_name(name, i, j)
                    gains[symbol] = -float(full[name][i, j])
                    terms.append(se.Symbol(symbol) * values[j])
            correction[k] = add_up(terms) if terms else ZERO
    return Perturbation("linear", tuple(correction), gains, matrix, p, kappa, described)


def _linear_with_laws(
    equations: Equations, blocks: Mapping[str, Array], described: str, kappa: float | None
) -> Perturbation:
    """A linear perturbation equation, with the rows of constraints that have laws of their own replaced by these."""
    made, own = _linear(equations, blocks, described, kappa), own_laws(equations)
    return _by_laws(equations, made, own) if own else made


def _by_rows(equations: Equations, rows: Sequence[Expression], described: str) -> Perturbation:
    """A perturbation equation with coefficients that are functions of the state; laws of their own come first."""
    laws = {k: checked(equations, d.name, rows[k]) for k, d in enumerate(equations.deviations)}
    made = _by_laws(equations, _linear(equations, {}, described, None), {**laws, **own_laws(equations)})
    return replace(made, described=described)


def _by_laws(equations: Equations, made: Perturbation, laws: Mapping[int, Expression]) -> Perturbation:
    """Laws for some constraints, by their numbers, and a linear perturbation equation for the others."""
    if not equations.deviations:
        return made

    def entry(name: str, i: int, j: int) -> Expression:
        symbol = gain_name(name, i, j)
        return -se.Symbol(symbol) if symbol in made.gains else ZERO

    blocks = {
        name: [[entry(name, i, j) for j in range(columns)] for i in range(rows)]
        for name, (rows, columns) in _shapes(equations).items()
    }
    linear = linear_rows(equations, blocks)
    left = set().union(*(names_in(row) for k, row in enumerate(linear) if k not in laws))
    gains = {**{name: value for name, value in made.gains.items() if name in left}, ACTING: 1.0}
    general = general_law(equations, laws, linear, gains)
    described = "law" if len(laws) == len(equations.deviations) else f"{made.described}, with laws of their own"
    start = entered(equations, np.array(equations.system.initial_state()), 0.0)
    correction = correction_of(equations, general.rows)
    found = Perturbation("law", correction, gains, positions=made.positions, kappa=made.kappa)
    return replace(found, described=described, general=general).at_state(0.0, start)
