"""Poles: places where the equations of rest have no bounds, named by the expression that vanishes there, and enclosed.

Near a pole the search by intervals can prove nothing. What is left of the box around it is told, so that all the rest is
proved to be free of further equilibria.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import symengine as se

from svyaz.expr import Expression, to_text
from svyaz.program import Interval, build, ranges
from svyaz.stability.adjacency import connected, touching
from svyaz.stability.rest import RestEquations, rest_expressions


@dataclass(frozen=True)
class Pole:
    """Parts of the box that hang together, in which the equations have no bounds.

    ``where`` are expressions that may vanish there, with the forces growing without bound; ``box`` encloses the ``parts``.
    """

    where: tuple[str, ...]
    box: Mapping[str, tuple[float, float]]
    parts: int

    def __str__(self) -> str:
        sides = ", ".join(f"{name} in [{low:.6g}, {high:.6g}]" for name, (low, high) in self.box.items())
        reason = f"a pole of the forces, where {' or '.join(f'{e} = 0' for e in self.where)}" if self.where else ""
        count = f"{self.parts} part{'s' if self.parts > 1 else ''}"
        return f"{reason or 'the forces have no bounds'}: {sides} ({count})"


def poles_in(rest: RestEquations, unbounded: Sequence[Interval]) -> tuple[Pole, ...]:
    """What the parts without bounds enclose, and why."""
    if not unbounded:
        return ()
    d = len(rest.bounded)
    low, high = (np.vstack([lot[side][:, :d] for lot in unbounded]) for side in (0, 1))
    turns = np.array([name in rest.angles for name in rest.bounded], dtype=bool)
    classes = connected(len(low), lambda k: touching(low, high, k, turns))
    named = [] if rest.speeds or any(c.order == 1 for c in rest.system.constraints) else rest_expressions(rest.system)
    factors = sorted(set().union(*(_vanishing(e) for e in named)), key=str)
    inside = _contains_zero(rest, factors, low, high)
    return tuple(
        Pole(
            tuple(to_text(e) for k, e in enumerate(factors) if inside[together, k].any()),
            {
                name: (float(low[together, k].min()), float(high[together, k].max()))
                for k, name in enumerate(rest.bounded)
            },
            len(together),
        )
        for together in classes
    )


def _vanishing(e: Expression) -> set[Expression]:
    """Bases of negative powers, arguments of logarithms, cosines of tangents: where they vanish the value is infinite."""
    found = set()
    for part in (e, *_parts(e)):
        if (part.is_Pow and part.args[1].is_Number and float(part.args[1]) < 0) or isinstance(part, se.log):
            found.add(part.args[0])
        elif isinstance(part, se.tan):
            found.add(se.cos(part.args[0]))
    return {x for x in found if not x.is_Number}


def _parts(e: Expression) -> list[Expression]:
    return [x for a in e.args for x in (a, *_parts(a))]


def _contains_zero(rest: RestEquations, factors: Sequence[Expression], low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Which factors may vanish in which parts (parts, factors)?"""
    if not factors:
        return np.zeros((len(low), 0), dtype=bool)
    values = {**rest.system.constants, **rest.fixed}
    parameters = tuple(name for name in values if name not in rest.bounded)
    outputs = [(str(k), e) for k, e in enumerate(factors)]
    program = build(outputs, inputs=rest.bounded, parameters=parameters)
    least, most = ranges(program, values, low, high)
    return np.asarray((least <= 0) & (most >= 0))
