"""What a form of the equations of motion declares: each file of ``named`` ends with its ``FORM``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from svyaz.forms.equations import Equations
from svyaz.model import Constraint, System


class Reduction(Protocol):
    """(system, constraints that act, dependent coordinates) → equations; all constraints and the best chart unless given."""

    def __call__(
        self, system: System, active: Sequence[Constraint] | None = None, dependent: Sequence[str] | None = None
    ) -> Equations: ...


@dataclass(frozen=True)
class Form:
    """A form of the equations, by the name under which it is asked for.

    ``derive`` makes the equations of a system. A form that uses up the velocity constraints and needs no multipliers for
    them also declares how it is ``reduced`` with other constraints acting or other coordinates dependent, and which
    ``wider`` form takes over where it applies to no better chart. A ``free`` form takes no constraints at all.
    """

    name: str
    derive: Callable[[System], Equations]
    reduced: Reduction | None = None
    wider: str = ""
    free: bool = False
