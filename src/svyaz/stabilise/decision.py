"""What is decided about the gains before a phase is run, and why."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from math import inf
from typing import TYPE_CHECKING

from svyaz.arrays import Array
from svyaz.forms import Equations
from svyaz.integrate import Status
from svyaz.stabilise.integrals import HeldIntegral
from svyaz.stabilise.options import Options, Tolerance
from svyaz.stabilise.perturbations import Perturbation, perturbation
from svyaz.stabilise.request import OFF
from svyaz.stabilise.segment import Segment, prepare

if TYPE_CHECKING:
    from svyaz.stabilise.gain_choice import Choice
    from svyaz.stabilise.lyapunov import Region
    from svyaz.stabilise.pilot import Prediction
    from svyaz.stabilise.verdicts import Certificate, Verdict


@dataclass(frozen=True)
class GainReport:
    """The gains of a phase and what is known of them in advance.

    ``stabilize`` is empty where there is nothing to be kept, ``verdict`` missing where nothing is to be judged. ``objection``
    is what is held against gains that are stable by themselves: a tolerance, the rates of held integrals. Between the
    ``limits`` one gain κ is stable and, where a tolerance is given, certain to keep it (none: inf, -inf). ``regions`` are
    deviations that a general law is proved to let die out.
    """

    stabilize: str
    law: Perturbation | None = None
    verdict: Verdict | None = None
    objection: Verdict | None = None
    limits: tuple[float, float] = (0.0, inf)
    choice: Choice | None = None
    prediction: Prediction | None = None
    certificates: tuple[Certificate, ...] = ()
    held: Mapping[str, float] = field(default_factory=dict)
    tolerance: Tolerance | None = None
    regions: tuple[Region, ...] = ()

    @property
    def word(self) -> str | None:
        """stable, unstable or infeasible; None where nothing is judged."""
        found = self.objection or self.verdict
        return found.word if found is not None else None

    @property
    def reasons(self) -> tuple[str, ...]:
        """Of the word."""
        found = self.objection or self.verdict
        return found.reasons if found is not None else ()

    @property
    def proposed(self) -> float | None:
        """The gain that was chosen, if one was to be."""
        return self.choice.kappa if self.choice is not None else None

    @property
    def predicted(self) -> Mapping[str, float]:
        """What the deviations may be at most, by constraint: the expected ones with the factor of safety."""
        return self.prediction.bounds if self.prediction is not None else {}


@dataclass(frozen=True)
class Decision:
    """A compiled phase with its gains, the options (the step may have been reduced), and whether it may be run.

    ``reason`` is what is said against the gains. ``unmet`` are those of the notes that tell which constraints the initial
    state does not satisfy.
    """

    segment: Segment
    options: Options
    allowed: bool
    reason: str
    gains: GainReport | None = None
    notes: tuple[str, ...] = ()
    unmet: tuple[str, ...] = ()


@dataclass(frozen=True)
class Refusal:
    """Why a phase cannot be run; ``decision`` tells of its gains, where it was they that were refused."""

    status: Status
    reason: str
    decision: Decision | None = None


def without_constraints(
    equations: Equations, held: tuple[HeldIntegral, ...], options: Options, state: Array, span: tuple[float, float]
) -> Decision:
    """Only held integrals have gains here."""
    kappa = options.stabilize.numbers["kappa"] if options.stabilize.kind == "one gain" else None
    law = replace(perturbation(equations, OFF), kappa=kappa, described="held integrals")
    plain = replace(options, stabilize=OFF)
    segment = prepare(equations, law, held, plain, span[0], state)
    return Decision(segment, options, True, "", GainReport(law.described, law=law) if held else GainReport(""))
