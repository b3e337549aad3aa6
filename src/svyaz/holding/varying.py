"""One gain that varies with the deviation: κ = (κ₀ + κ₁ s)/(1 + s), s = (y/ε)² or (ẏ/ε)², for each constraint by itself.

At the constraint it is κ₀, far from it κ₁: a remainder that drives a deviation, or its rate, beyond ε meets the other gain.
Where it varies with the rate, only the damping 2ζκ does: ḧ + 2ζκ(ḣ) ḣ + κ₀² h = 0.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

import symengine as se

from svyaz.expr import ZERO, Expression
from svyaz.forms import Equations
from svyaz.holding.laws import ACTING, correction_of, general_law, own_laws
from svyaz.holding.perturbations import Perturbation, positions_of
from svyaz.model import deviation_rate_symbol, deviation_symbol

QUOTE = "'"
LOW, HIGH, DAMPING = (f"gain law 0 {k}" for k in (1, 2, 3))


class Varying(Protocol):
    """κ₀, κ₁ and the damping ζ; does κ vary with the rate of a deviation?"""

    @property
    def kappa(self) -> float: ...
    @property
    def strong(self) -> float: ...
    @property
    def damping(self) -> float: ...
    @property
    def by_rate(self) -> bool: ...


def varying_law(equations: Equations, setting: Varying, sizes: Mapping[str, float]) -> Perturbation:
    """The perturbation equation with κ₀, κ₁, ζ and 1/ε by constraint as gains: with all of them at zero nothing acts."""
    laws = own_laws(equations)
    low, high, damping = (se.Symbol(name) for name in (LOW, HIGH, DAMPING))
    for k, d in enumerate(equations.deviations):
        if k in laws:
            continue
        y, rate = deviation_symbol(d.name), deviation_rate_symbol(d.name)
        s = ((rate if setting.by_rate and d.position is not None else y) * se.Symbol(_closeness(k))) ** 2
        kappa: Expression = (low + high * s) / (1 + s)
        spring = (low if setting.by_rate else kappa) ** 2
        laws[k] = -kappa * y if d.position is None else -2 * damping * kappa * rate - spring * y
    gains = varying_gains(setting, sized(equations, sizes))
    general = general_law(equations, laws, [ZERO] * len(laws), gains)
    correction, positions = correction_of(equations, general.rows), len(positions_of(equations))
    return Perturbation("law", correction, gains, positions=positions, described="law", general=general)


def varying_gains(setting: Varying, sizes: Mapping[str, float]) -> dict[str, float]:
    """The gains of that law, with the sizes as ``sized`` names them."""
    closeness = {name: 1.0 / size for name, size in sizes.items()}
    return {ACTING: 1.0, LOW: setting.kappa, HIGH: setting.strong, DAMPING: setting.damping, **closeness}


def sized(equations: Equations, sizes: Mapping[str, float]) -> dict[str, float]:
    """The sizes ε, given by constraint, by the names that their inverses have among the gains; laws of the model have none."""
    return {_closeness(k): sizes[d.name] for k, d in enumerate(equations.deviations) if d.constraint.law is None}


def _closeness(number: int) -> str:
    return f"gain law {number + 1} 0"


def varying_texts(equations: Equations, setting: Varying, sizes: Mapping[str, float]) -> dict[str, str]:
    """The same as laws by constraint, as they may be written."""
    found = {}
    for d in equations.deviations:
        if d.constraint.law is not None:
            continue
        s = f"(deviation{'' if d.position is None or not setting.by_rate else QUOTE}/{sizes[d.name]!r})^2"
        kappa = f"(({setting.kappa!r} + {setting.strong!r}*{s})/(1 + {s}))"
        spring = f"{setting.kappa!r}" if setting.by_rate else kappa
        place = f"-{2 * setting.damping!r}*{kappa}*deviation' - {spring}^2*deviation"
        found[d.name] = f"-{kappa}*deviation" if d.position is None else place
    return found
