"""Gains where rates jump: tried on the sides on which a phase begins."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from svyaz.arrays import Array
from svyaz.forms import Equations, may_jump
from svyaz.motion.events.sides import sides_of
from svyaz.stabilise import OFF, Decision, HeldIntegral, Options, Segment, decide, perturbation, prepare


def on_first_sides(segment: Segment, options: Options, time: float, state: Array) -> Equations:
    """The equations of a phase on the sides on which it begins: smooth ones, on which gains can be tried."""
    sides = sides_of(segment)
    if not sides.surfaces:
        return segment.equations
    found = sides.decided(time, state, *sides.begun(time, state), options)
    chosen, sliding = found or (np.ones(len(sides.names)), ())
    return sides.segment_on(chosen, sliding, options, time, state).equations


def decided_on_sides(
    equations: Equations, held: tuple[HeldIntegral, ...], options: Options, state: Array, span: tuple[float, float]
) -> Decision:
    """Gains as ``decide`` finds them, tried on the sides of surfaces at which the rates jump on which the phase begins."""
    if not may_jump(equations.system):
        return decide(equations, held, options, state, span)
    plain = prepare(equations, perturbation(equations, OFF), held, options, span[0], state)
    smooth = on_first_sides(plain, options, span[0], state)
    found = decide(smooth, held, options, state, span)
    if smooth is equations:
        return found
    segment = prepare(equations, found.segment.perturbation, held, found.options, span[0], state)
    return replace(found, segment=segment)
