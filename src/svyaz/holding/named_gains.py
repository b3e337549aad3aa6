"""Equations with their stabilising terms written in, and the gains as parameters that bear names.

    G q̈ + constraint_bias + F = 0:    F = 2κ ḣ + κ² h,  α ḣ + β h  on positions,   F = κ f  on velocities

(Kaspirovich (1.1.21), (1.4.5)). One gain is ``kappa``, Baumgarte's are ``alpha``, ``beta`` and ``kappa``; entries of matrices
are ``beta_NAME`` (h), ``alpha_NAME`` (ḣ), ``kappa_NAME`` (f) on the diagonal, ``beta_NAME_OTHER`` beside it, and enter with
minus as Baumgarte's do. A law is written as it was given.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import symengine as se

from svyaz.expr import ONE, Expression, is_zero, substitute
from svyaz.forms import Equations
from svyaz.holding.laws import ACTING
from svyaz.holding.options import Baumgarte, Off, OneGain, Stabilisation
from svyaz.holding.perturbations import perturbation, positions_of, velocities_of
from svyaz.model import System

GREEK = {"A": "beta", "B": "alpha", "C": "gamma", "D": "delta", "E": "kappa", "F": "epsilon"}
"""The gain of each block of the perturbation equation; all enter with minus."""


@dataclass(frozen=True)
class Stabilised:
    """Equations whose ``constraint_bias`` contains the stabilising ``terms``, by constraint; their system has the ``gains``
    among its parameters. ``chosen`` is what was asked for, of held integrals too.
    """

    equations: Equations
    terms: Mapping[str, Expression] = field(default_factory=dict)
    gains: Mapping[str, float] = field(default_factory=dict)
    described: str = "off"
    chosen: Stabilisation = field(default_factory=Off)


def stabilised(equations: Equations, chosen: Stabilisation) -> Stabilised:
    """The equations with the terms of gains that are given."""
    law = perturbation(equations, chosen)
    signs, gains = _named(equations, chosen, law.gains)
    terms = [substitute(term, signs) for term in law.correction]
    system = equations.system.plain()
    held = replace(
        equations,
        system=replace(system, parameters={**system.parameters, **gains}),
        constraint_bias=tuple(b + term for b, term in zip(equations.constraint_bias, terms, strict=True)),
    )
    written = {name: term for name, term in zip(equations.multiplier_names, terms, strict=True) if not is_zero(term)}
    return Stabilised(held, written, gains, law.described, chosen)


def _named(
    equations: Equations, chosen: Stabilisation, entries: Mapping[str, float]
) -> tuple[dict[se.Symbol, Expression], dict[str, float]]:
    """What stands for the entries of the perturbation equation, in gains with names, and the values of these."""
    taken = _taken(equations.system)
    signs: dict[se.Symbol, Expression] = {}
    gains: dict[str, float] = {}
    for entry, value in entries.items():
        if entry == ACTING:
            signs[se.Symbol(entry)] = ONE
            continue
        _, block, row, column = entry.split()
        if isinstance(chosen, OneGain):
            name, value = _free("kappa", taken), chosen.kappa
            kappa = se.Symbol(name)
            signs[se.Symbol(entry)] = {"A": kappa**2, "B": 2 * kappa, "E": kappa}[block]
        else:
            name = GREEK[block]
            if not isinstance(chosen, Baumgarte):
                name = "_".join([name, *_constraints(equations, block, int(row), int(column))])
            name = _free(name, taken if isinstance(chosen, Baumgarte) else taken | set(gains))
            signs[se.Symbol(entry)] = se.Symbol(name)
        gains[name] = value
    return signs, gains


def _constraints(equations: Equations, block: str, row: int, column: int) -> Sequence[str]:
    """The constraint whose row an entry stands in, and that on which it depends if that is another one."""
    names = [re.sub(r"\W+", "_", name) for name in equations.multiplier_names]
    positions, velocities = positions_of(equations), velocities_of(equations)
    own = names[(positions if block in "ABC" else velocities)[row]]
    other = names[(positions if block in "ADBF" else velocities)[column]]
    return (own,) if own == other else (own, other)


def _taken(system: System) -> set[str]:
    return {*system.coordinates, *system.states, *system.constants, "t"}


def _free(name: str, taken: set[str]) -> str:
    """The name, or one that the model does not use."""
    while name in taken:
        name = f"gain_{name}"
    return name
