"""What is known of steady motions: of one, and of all that were found."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from svyaz.forms import Cyclic
from svyaz.model import System
from svyaz.shown import Shown
from svyaz.stability.critical import UNDECIDED, StabilityVerdict
from svyaz.stability.equilibrium_search import Equilibria
from svyaz.stability.linearisation import FirstApproximation


@dataclass(frozen=True, repr=False)
class SteadyMotion(Shown):
    """Values of what rests, of the speeds and momenta of the cyclic coordinates, and of the inputs that maintain it.

    ``approximation`` is that of the system at fixed conserved momenta, ``at_fixed_momenta`` its verdict. ``verdict`` says the
    same with a zero root for each conserved momentum, ``perturbed`` is the word when momenta are perturbed as well; ``drift``
    are the cyclic coordinates that leave their uniform motion then.
    """

    state: Mapping[str, float]
    speeds: Mapping[str, float]
    momenta: Mapping[str, float]
    inputs: Mapping[str, float]
    parameters: Mapping[str, float]
    approximation: FirstApproximation | None
    at_fixed_momenta: StabilityVerdict | None
    verdict: StabilityVerdict | None
    notes: tuple[str, ...] = ()
    perturbed: str = UNDECIDED
    drift: tuple[str, ...] = ()


@dataclass(frozen=True, repr=False)
class SteadyMotions(Shown):
    """What was found: ``dimension`` of the manifold, ``prescribable`` names of which so many single out a motion.

    ``complete``: is it proved that there are no others in the box? Nothing is claimed about other speeds where they were
    ``taken`` from the initial state.
    """

    system: System
    cyclic: tuple[Cyclic, ...]
    dimension: int
    prescribable: tuple[str, ...]
    motions: tuple[SteadyMotion, ...]
    found: Equilibria
    notes: tuple[str, ...] = ()
    complete: bool = False
    taken: Mapping[str, float] = field(default_factory=dict)

    def reason(self) -> str:
        """Why the answer is negative, or an empty text."""
        if self.found.reason() or self.motions:
            return self.found.reason()
        if not self.found.complete:
            return "; ".join(self.found.notes)
        return f"there is no steady motion in the box{self.condition}"

    @property
    def condition(self) -> str:
        """Under which speeds of the initial state the answer holds, or an empty text."""
        told = ", ".join(f"{name} = {value:.6g}" for name, value in self.taken.items())
        return f" with {told} of the initial state" if told else ""
