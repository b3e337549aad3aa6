"""The conditions that switch constraints, as native code."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from svyaz.constraints.scales import magnitude
from svyaz.expr.calculus import ZERO, Expression, substitute
from svyaz.forms.programs import multiplier_symbols, rates_of
from svyaz.model import Constraint
from svyaz.model.system import multiplier_symbol
from svyaz.motion.phases import reached
from svyaz.motion.segment import Segment
from svyaz.program import Native, SingularSystem, compile_program
from svyaz.program.build import build

Floats = NDArray[np.float64]
Key = tuple[str, str]
"""("on" or "off", name of the constraint)."""

LOW = 1e-9
"""A condition is armed once it is below minus this part of the size of its terms."""


@dataclass(frozen=True)
class Conditions:
    """The conditions g that are watched in a phase, as native code, and the sizes of their terms."""

    keys: tuple[Key, ...]
    values: Native
    sizes: Native
    reacting: tuple[bool, ...]

    def constants(self, segment: Segment) -> Floats:
        """Constants of the values, with the gains of the segment."""
        return self.values.constants({**segment.equations.system.constants, **segment.perturbation.gains})

    def at(self, segment: Segment, time: float, state: Floats) -> Floats:
        """g (m,); not a number where the reactions are not defined."""
        try:
            return self.values.evaluate(np.concatenate([[time], state]), self.constants(segment))
        except SingularSystem:
            return np.full(len(self.keys), np.nan)

    def levels(self, segment: Segment, time: float, state: Floats) -> Floats:
        """Below minus these a condition is armed, (m,)."""
        known = {**segment.equations.system.constants, **segment.perturbation.gains}
        try:
            found = self.sizes.evaluate(np.concatenate([[time], state]), self.sizes.constants(known))
        except SingularSystem:
            return np.zeros(len(self.keys))
        return LOW * np.nan_to_num(found)

    def overdue(self, segment: Segment, time: float, state: Floats) -> tuple[Key, ...]:
        """Constraints that pull where they could only push: ``off`` contains multipliers and is positive already."""
        late = (self.at(segment, time, state) > self.levels(segment, time, state)) & np.array(self.reacting)
        return tuple(key for key, is_late in zip(self.keys, late, strict=True) if is_late and key[0] == "off")


def conditions(
    segment: Segment, constraints: Sequence[Constraint], active: Sequence[Constraint], time: float
) -> Conditions:
    """What may switch constraints in a phase: ``on`` of those that do not act, ``off`` of those that do.

    The multiplier of a constraint that does not act is zero.
    """
    equations = segment.equations
    found: dict[Key, Expression] = {}
    for c in constraints:
        if c not in active and c.on is not None and (c.end is None or not reached(time, c.end)):
            found["on", c.name] = c.on
        if c in active and c.off is not None:
            found["off", c.name] = c.off
    known = dict(zip(equations.multiplier_names, multiplier_symbols(equations), strict=True))
    reactions = {multiplier_symbol(c.name): known.get(c.name, ZERO) for c in constraints}
    written = {key: substitute(e, reactions) for key, e in found.items()}
    reacting = tuple(bool(e.free_symbols & set(reactions)) for e in found.values())
    return Conditions(
        tuple(found),
        _native(segment, list(written.values()), any(reacting)),
        _native(segment, [magnitude(e) for e in written.values()], any(reacting)),
        reacting,
    )


def _native(segment: Segment, expressions: Sequence[Expression], reacting: bool) -> Native:
    """Expressions of the state, and of the multipliers if some are ``reacting``, as native code."""
    equations, gains = segment.equations, tuple(segment.perturbation.gains)
    systems = rates_of(equations, segment.perturbation.correction).systems[:1] if reacting else ()
    outputs = [(str(k), e) for k, e in enumerate(expressions)]
    program = build(
        outputs, inputs=("t", *equations.states), parameters=(*equations.constants, *gains), systems=systems
    )
    return compile_program(program)
