"""One program for many sets of contacts: equations with switches, which take up further constraints as these begin to act."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from svyaz.dynamics import dynamics_of, is_brief
from svyaz.forms import Equations, may_jump
from svyaz.model import Constraint
from svyaz.stabilise import Options

LEAST = 8
"""So many constraints have switches from the beginning, if there are so many."""


class SharedPrograms:
    """The constraints that have switches so far; ``nearest`` names those that may act next, the closest ones first."""

    def __init__(self, free: Equations, options: Options, nearest: Callable[[], Sequence[str]]) -> None:
        self._free, self._nearest = free, nearest
        self._whole: Equations | None = None
        self._usable = self._can_share(options)

    def _can_share(self, options: Options) -> bool:
        """Do many constraints switch, none with times, laws or friction of its own?"""
        system = self._free.system
        simple = not any(
            c.start is not None or c.end is not None or c.law or c.drags or c.frictions for c in system.constraints
        )
        linear = options.stabilize.kind in ("auto", "Baumgarte", "off", "one gain")
        return is_brief(system) and simple and linear and not may_jump(system)

    def share(self, equations: Equations) -> Equations:
        """The same equations, served by programs with switches where that can be done."""
        if not self._usable:
            return equations
        known = () if self._whole is None else self._whole.multiplier_names
        if self._whole is None or not {*equations.multiplier_names} <= {*known}:
            chosen = self._chosen({*known, *equations.multiplier_names})
            self._whole = dynamics_of(self._free).with_switches(chosen)
            self._usable = self._whole is not None
        return replace(equations, within=self._whole) if self._usable else equations

    def _chosen(self, needed: set[str]) -> list[Constraint]:
        """The constraints that get switches: twice as many as are needed."""
        count, names = max(LEAST, 2 * len(needed)), {*needed}
        for name in self._nearest():
            if len(names) >= count:
                break
            names.add(name)
        return [c for c in self._free.system.constraints if c.name in names]
