"""Frictions in planes: two surfaces s₁ = 0, s₂ = 0 that are met together, where the slip s = (s₁, s₂) vanishes.

While it slips the sides of both are the components of n = s/|s|, and the larger one leads: the equations are smooth across
its surface. Near its end a slip is followed from half to half, since its direction turns the faster the slower it is; below
``STILL`` of what is usual it is none.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

import numpy as np
import symengine as se

from svyaz.arrays import Array
from svyaz.expr import Expression, Surface
from svyaz.forms import Pull, plane_pairs
from svyaz.motion.events.conditions import SIDED, Key

STILL = 1e-9
"""A slip in a plane is over below this part of the speed that is usual."""

SLOW, FAST = 1e6, 1e300
"""Slips up to so many times those that are none are followed from one to twice it; and a slip that none reaches."""

MOMENT = 1e-4
"""What forces usually give in this part of a phase is a usual speed too: a motion may begin at rest."""

TURNED = 2
"""The other slip leads when it is so much larger."""


@dataclass(frozen=True)
class Planes:
    """The pairs of surfaces, by number, that belong to one friction in a plane each."""

    pairs: tuple[tuple[int, int], ...] = ()

    @property
    def surfaces(self) -> set[int]:
        return {k for pair in self.pairs for k in pair}

    def held(self, sliding: Collection[int]) -> list[tuple[int, int]]:
        """Those whose slip is held at zero."""
        return [pair for pair in self.pairs if set(pair) & set(sliding)]

    def whole(self, numbers: Iterable[int]) -> set[int]:
        """The numbers, with the other one of each pair."""
        found = set(numbers)
        return found | {k for pair in self.pairs if set(pair) & found for k in pair}

    def directed(self, values: Array, sides: Array, touched: Collection[int]) -> Array:
        """The sides with the directions of those slips that are not ``touched``."""
        found = sides.copy()
        for pair in map(list, self.pairs):
            size = float(np.hypot(*values[pair]))
            if not set(pair) & set(touched) and size > 0.0:
                found[pair] = values[pair] / size
        return found

    def word(self, sides: Array, sliding: Collection[int]) -> Array:
        """The sides with ±1 for the slip of each plane that leads, and 0 for the other one."""
        found = sides.copy()
        for pair in self.pairs:
            if not set(pair) & set(sliding):
                lead, other = sorted(pair, key=lambda k: -abs(sides[k]))
                found[lead], found[other] = np.sign(sides[lead]), 0.0
        return found

    def touched(self, values: Array, still: Array, sides: Array, jumped: Collection[int]) -> set[int]:
        """The surfaces that a motion lies on: of those that it came to, or that nothing moved it from, which are no planes;
        and the planes with slips that are as good as zero.
        """
        found = {k for k in (*jumped, *np.flatnonzero(sides == 0.0).tolist()) if k not in self.surfaces}
        idle = {k for pair in self.pairs if not sides[list(pair)].any() for k in pair}
        over = {k for pair in self.pairs if np.hypot(*values[list(pair)]) <= still[list(pair)].max() for k in pair}
        return found | idle | over

    def beginning(self, values: Array, still: Array, sides: Array, sliding: Collection[int]) -> dict[int, float]:
        """By surface, the slip with which one that begins is started, since it has a direction only if it is not zero."""
        found: dict[int, float] = {}
        for pair in map(list, self.pairs):
            least = float(still[pair].max())
            if not set(pair) & set(sliding) and sides[pair].any() and np.hypot(*values[pair]) <= least:
                found.update(zip(pair, (2.0 * least * sides[pair]).tolist(), strict=True))
        return found

    def watched(
        self, pair: tuple[int, int], word: Array, surfaces: list[Surface], margins: list[se.Symbol]
    ) -> list[tuple[Key, Expression]]:
        """What rises where a slip has become half of what it was, or twice, or where the other one of its plane leads."""
        lead, other = pair if word[pair[0]] else pair[::-1]
        slip, across = surfaces[lead].expression, surfaces[other].expression
        forward = surfaces[lead].side * slip
        return [
            ((SIDED[0], str(lead)), -forward - margins[lead]),
            ((SIDED[0], str(lead)), forward - margins[other]),
            ((SIDED[0], str(other)), across**2 - TURNED**2 * slip**2),
        ]

    def margins(self, values: Array, still: Array, sides: Array) -> dict[int, float]:
        """By surface: minus half of the slip that leads, and twice it while it is slow."""
        found: dict[int, float] = {}
        for pair in self.pairs:
            if not sides[list(pair)].any():
                continue
            lead, other = sorted(pair, key=lambda k: -abs(sides[k]))
            slip = abs(float(values[lead]))
            found |= {lead: -0.5 * slip, other: 2.0 * slip if slip <= SLOW * still.max() else FAST}
        return found


def planes_of(surfaces: Iterable[Surface], pulls: Iterable[Pull]) -> Planes:
    """Those of the frictions among the surfaces."""
    known, found = {s.side: k for k, s in enumerate(surfaces)}, list(pulls)
    pairs = plane_pairs([p.friction for p in found])
    return Planes(tuple((known[found[i].side], known[found[j].side]) for i, j in pairs))
