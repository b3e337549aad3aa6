"""Random gains, methods and steps, none near the border of stability."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from bench.tools.nine import Rig

from svyaz.stabilise.options import Options
from svyaz.stabilise.perturbations import Perturbation, perturbation
from svyaz.stabilise.pilot import scheme_of
from svyaz.stabilise.request import stabilisation
from svyaz.stabilise.verdicts import Verdict, judge

METHODS = ("euler", "rk2", "rk4", "rkf45", "dopri5", "dop853")
BORDER = 0.02
"""Draws whose largest factor in a step is this near to 1 are not used."""


@dataclass(frozen=True)
class Draw:
    """Gains α, β with a method and a step, and their verdict; ``factor`` is the largest |S(τλ)|."""

    alpha: float
    beta: float
    law: Perturbation
    options: Options
    verdict: Verdict
    factor: float


def draws(made: Rig, count: int, steps: tuple[float, float], seed: int) -> Iterator[Draw]:
    """α and β of the order of the limit of each method, stable and unstable, some not even damped.

    A perturbation equation that grows by itself is called unstable although a coarse step may damp it; it is not drawn then.
    """
    rng = np.random.default_rng(seed)
    found = 0
    while found < count:
        tau = float(10 ** rng.uniform(*np.log10(steps)))
        options = made.options(method=str(rng.choice(METHODS)), step=tau, stabilize="off")
        alpha = float(10 ** rng.uniform(-1, 1) * (-1 if rng.random() < 0.1 else 1) / tau)
        beta = float(10 ** rng.uniform(-1.5, 1.2) * (-1 if rng.random() < 0.1 else 1) / tau**2)
        law = perturbation(made.equations, stabilisation({"alpha": alpha, "beta": beta}))
        scheme = scheme_of(options)
        factor = float(np.max(np.abs(scheme.factor(tau * np.linalg.eigvals(law.matrix).astype(complex)))))
        damped = alpha > 0.0 and beta > 0.0
        if abs(factor - 1.0) > BORDER and (damped or factor > 1.0):
            found += 1
            yield Draw(alpha, beta, law, options, judge(law.matrix, scheme_of(options)), factor)
