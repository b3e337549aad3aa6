"""Which coordinates are angles, as far as a model tells."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import symengine as se

from svyaz.expr import Expression, differentiate
from svyaz.model.system import System


def angles(system: System) -> frozenset[str]:
    """Coordinates and states that are angles: those of joints that turn, and those that stand, with a whole factor, in a sine
    or cosine of the model and nowhere else in its pictures.
    """
    turning = {body.coordinates[0] for body in system.bodies if body.kind.turns}
    candidates = [name for name in system.states if name not in system.velocities and name not in turning]
    drawn = [e for d in system.drawings for point in d.points for e in point]
    waves = {wave for e in (*_expressions(system), *drawn) for wave in e.atoms(se.sin, se.cos)}
    bare = {str(s) for e in drawn for s in _hidden(e).free_symbols}
    return frozenset(turning | {q for q in candidates if q not in bare and any(_turns(wave, q) for wave in waves)})


def _expressions(system: System) -> Iterator[Expression]:
    """Expressions in which a model speaks of its coordinates; of trees only what is said beside the bodies."""
    for said in vars(system.law).values():
        entries = said.values() if isinstance(said, Mapping) else [said]
        yield from (e for e in entries if isinstance(e, se.Basic))
    yield from system.forces.values()
    yield from system.rates.values()
    yield from (c.expression for c in system.constraints)


def _turns(wave: Expression, q: str) -> bool:
    """Does the name stand in a sine or cosine with a whole factor?"""
    symbol = se.Symbol(q)
    if symbol not in wave.free_symbols:
        return False
    slope = differentiate(wave.args[0], symbol)
    return bool(slope.is_Number) and float(slope) == round(float(slope)) != 0


def _hidden(expression: Expression) -> Expression:
    """The expression without its sines and cosines."""
    return expression.xreplace({wave: se.Integer(1) for wave in expression.atoms(se.sin, se.cos)})
