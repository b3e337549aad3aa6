"""Rates that jump at surfaces s(x, t) = 0: on which side of each the motion goes on, or whether it slides along.

Between two events the sides σ are numbers and the rates are smooth, so that every method keeps its order. At a surface,

    ṡ_k = a_k + Σ C_kl σ_l   over the surfaces that are touched, with

σ_k = 1 and ṡ_k ≥ 0, or σ_k = -1 and ṡ_k ≤ 0, or ṡ_k = 0 and |σ_k| ≤ 1, where the motion is held (A. F. Filippov, 1988, §4).
For dry friction this is Coulomb's law for any number of contacts: C is then symmetric and not positive.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from functools import cached_property
from itertools import product

import numpy as np
import symengine as se
from numpy.typing import NDArray

from svyaz.arrays import Array
from svyaz.constraints import magnitude, measure_of, typical_speeds
from svyaz.expr import TIME, Expression, differentiate, gradient, to_text
from svyaz.forms import Equations, may_jump, on_sides, sided
from svyaz.holding import Decision, HeldIntegral, Off, Options, Segment, decide, perturbation, prepare
from svyaz.motion.events.conditions import SIDED, Key
from svyaz.program import Function, Native, SingularSystem, function, remembered

ON = 1e-13
"""A state lies on a surface within this part of the size of its terms."""

IDLE = 1e-12
"""What moves a state off a surface, as a part of what forces usually do, is nothing: constraints keep it there."""

SLACK = 1e-9
"""A motion that is held is let go when its side passes 1 by this much, so that it does not return at once."""

MOST_TRIED = 7
"""For so many surfaces at once all ways to go on are tried; for more they are found by iteration."""

MOST_ITERATIONS = 20_000


class Sides:
    """The surfaces of a phase, its rates on each side, and those that hold it there; made when they are first met."""

    def __init__(self, segment: Segment) -> None:
        equations = segment.equations
        jumps = may_jump(equations.system)
        self.equations, self.surfaces = sided(equations) if jumps else (equations, ())
        self.names = tuple(to_text(surface.expression) for surface in self.surfaces)
        self._segment = segment
        self._modes: dict[tuple[object, ...], Segment] = {}

    @cached_property
    def _numbers(self) -> Function:
        """Values of the surfaces, the sizes of their terms, and their slopes, at [t, states…]."""
        states = [se.Symbol(name) for name in self.equations.states]
        surfaces = [surface.expression for surface in self.surfaces]
        tables = {
            "value": surfaces,
            "size": [magnitude(e) for e in surfaces],
            "slopes": [gradient(e, states) for e in surfaces],
            "rate": [differentiate(e, TIME) for e in surfaces],
        }
        still = {str(surface.side): 0.0 for surface in self.surfaces}
        return function(tables, ("t", *self.equations.states), {**self.equations.system.constants, **still})

    def _at(self, time: float, state: Array, sides: Array) -> dict[str, Array]:
        named = {str(surface.side): float(x) for surface, x in zip(self.surfaces, sides, strict=True)}
        return self._numbers.with_values(named)(np.concatenate([[time], state]))

    def begun(self, time: float, state: Array) -> tuple[Array, set[int]]:
        """The sides on which a state lies, and the surfaces that it lies on."""
        here = self._at(time, state, np.zeros(len(self.surfaces)))
        on = np.abs(here["value"]) <= ON * np.maximum(here["size"], self._usual(time, state)[0])
        return np.where(on, 0.0, np.sign(here["value"])), set(np.flatnonzero(on).tolist())

    def _usual(self, time: float, state: Array) -> tuple[Array, Array]:
        """How large surfaces of velocities, and their rates, usually are: what the motion or the forces would give."""
        equations, nothing = self._segment.equations, np.zeros(len(self.surfaces))
        if not equations.accelerated or equations.quasi:
            return nothing, nothing
        here = measure_of(equations).at(state, time)
        inertia = np.diagonal(here.mass)
        heavy = np.where(inertia > 0.0, inertia, np.inf)
        places = [equations.states.index(str(v)) for v in equations.velocities]
        slopes = np.abs(self._at(time, state, nothing)["slopes"][:, places])
        bias = np.nan_to_num(here.bias)  # a/|a| on the surface itself
        speeds = typical_speeds(here.mass, bias, here.q, here.v)
        return slopes @ speeds, slopes @ (np.abs(bias).max() / heavy)

    def values(self, time: float, state: Array, sides: Array) -> Array:
        """The surfaces s_k."""
        return self._at(time, state, sides)["value"]

    def segment_on(
        self, sides: Array, sliding: tuple[int, ...], options: Options, time: float, state: Array
    ) -> Segment:
        """Native code of the rates on these sides, and along the surfaces that are slid along."""
        key = (tuple(np.delete(sides, sliding).tolist()), sliding, options.method)
        if key not in self._modes:
            equations = on_sides(self.equations, self.surfaces, sides.tolist(), sliding)
            given = self._segment
            self._modes[key] = prepare(equations, given.perturbation, given.held, options, time, state)
        return self._modes[key]

    def speeds(self, time: float, state: Array, sides: Array, options: Options) -> Array:
        """ṡ of all surfaces with these sides."""
        base = self.segment_on(np.ones(len(self.surfaces)), (), options, time, state)
        code = base.code
        assert isinstance(code, Native), "the rates of a phase are native"
        named = {str(surface.side): float(x) for surface, x in zip(self.surfaces, sides, strict=True)}
        values = {**dict.fromkeys(code.program.parameters, 0.0), **base.known, **named}
        rates = code.evaluate(np.concatenate([[time], state]), code.constants(values))
        here = self._at(time, state, sides)
        return np.asarray(here["slopes"] @ rates + here["rate"])

    def held(self, time: float, state: Array, sides: Array, sliding: tuple[int, ...]) -> Array:
        """The nearest state on the surfaces that are slid along; rounding alone is taken away, and not from coordinates
        if it can be taken from other states.
        """
        if not sliding:
            return state
        here, rows = self._at(time, state, sides), list(sliding)
        slopes = here["slopes"][rows]
        coordinates = [k for k, name in enumerate(self.equations.states) if name in self.equations.system.coordinates]
        others = slopes.copy()
        others[:, coordinates] = 0.0
        if np.linalg.matrix_rank(others) == len(rows):
            slopes = others
        return np.asarray(state - np.linalg.pinv(slopes) @ here["value"][rows])

    def decided(
        self, time: float, state: Array, sides: Array, touched: Collection[int], options: Options
    ) -> tuple[Array, tuple[int, ...]] | None:
        """The sides on which the motion goes on, and the surfaces that it slides along; None where none is found.

        The side 0 is that of a surface on which nothing moves the state to either side.
        """
        at = sorted(touched)
        if not at:
            return sides, ()
        free = sides.copy()
        free[at] = 0.0
        try:
            drift = self.speeds(time, state, free, options)[at]
            effect = np.empty((len(at), len(at)))
            for column, k in enumerate(at):
                pushed = free.copy()
                pushed[k] = 1.0
                effect[:, column] = self.speeds(time, state, pushed, options)[at] - drift
        except SingularSystem:
            return None
        small = IDLE * self._usual(time, state)[1][at]
        drift[np.abs(drift) <= small] = 0.0
        effect[np.abs(effect) <= small[:, None]] = 0.0
        found = way_on(drift, effect, sides[at])
        if found is None:
            return None
        chosen, slid = found
        free[at] = chosen
        return free, tuple(at[k] for k in slid)

    def watched(self, sides: Array, sliding: tuple[int, ...]) -> list[tuple[Key, Expression]]:
        """What rises through zero where a surface is reached, or a motion that slides is let go."""
        up, down = SIDED[1:]
        found: list[tuple[Key, Expression]] = []
        for k, surface in enumerate(self.surfaces):
            margin = se.Symbol(margin_name(k))
            if k in sliding:
                side = se.Symbol(f"sliding {surface.side}")
                found += [((up, str(k)), side - 1 - SLACK), ((down, str(k)), -side - 1 - SLACK)]
            elif sides[k] == 0.0:
                found += [((up, str(k)), surface.expression - margin), ((down, str(k)), -surface.expression - margin)]
            else:
                found.append(((SIDED[0], str(k)), -surface.side * surface.expression - margin))
        return found

    def margins(self, time: float, state: Array, sides: Array) -> dict[str, float]:
        """How far beyond a surface a state must be to have crossed it, by the names of constants in ``watched``."""
        values = self.values(time, state, sides)
        past = np.where(sides == 0.0, np.abs(values), np.maximum(-sides * values, 0.0))
        return {margin_name(k): 4.0 * float(x) + float(np.finfo(float).tiny) for k, x in enumerate(past)}


def on_first_sides(segment: Segment, options: Options, time: float, state: Array) -> Equations:
    """The equations of a phase on the sides on which it begins: smooth ones, on which gains can be tried."""
    sides = sides_of(segment)
    if not sides.surfaces:
        return segment.equations
    found = sides.decided(time, state, *sides.begun(time, state), options)
    chosen, sliding = found or (np.ones(len(sides.surfaces)), ())
    return on_sides(sides.equations, sides.surfaces, chosen.tolist(), sliding)


def decided_on_sides(
    equations: Equations, held: tuple[HeldIntegral, ...], options: Options, state: Array, span: tuple[float, float]
) -> Decision:
    """Gains as ``decide`` finds them, tried on the sides of surfaces at which the rates jump on which the phase begins."""
    if not may_jump(equations.system):
        return decide(equations, held, options, state, span)
    plain = prepare(equations, perturbation(equations, Off()), held, options, span[0], state)
    smooth = on_first_sides(plain, options, span[0], state)
    found = decide(smooth, held, options, state, span)
    if smooth is equations:
        return found
    segment = prepare(equations, found.segment.perturbation, held, found.options, span[0], state)
    return replace(found, segment=segment)


@remembered
def sides_of(segment: Segment) -> Sides:
    """The surfaces of the rates of a phase."""
    return Sides(segment)


def margin_name(k: int) -> str:
    """The name of the constant by which the condition of a surface is lowered."""
    return f"margin of side {k + 1}"


def way_on(drift: Array, effect: Array, before: Array) -> tuple[Array, tuple[int, ...]] | None:
    """Sides σ (n,) with ṡ = drift + effect σ as the module says, and the surfaces that are slid along; None if there are none.

    Where both sides lead away from a surface, the side before is kept; where it is 0, the upper one is taken.
    """
    idle = (drift == 0.0) & (effect == 0.0).all(axis=1)
    if idle.any():
        moved = np.flatnonzero(~idle)
        rest = way_on(drift[moved], effect[np.ix_(moved, moved)], before[moved]) if len(moved) else (np.zeros(0), ())
        if rest is None:
            return None
        sides = np.zeros(len(drift))
        sides[moved] = rest[0]
        return sides, tuple(int(moved[k]) for k in rest[1])
    if len(drift) > MOST_TRIED:
        return _iterated(drift, effect)
    choices = [(0.0, -1.0, 1.0) if side < 0 else (0.0, 1.0, -1.0) for side in before]
    for word in product(*choices):
        found = _fitting(drift, effect, np.array(word))
        if found is not None:
            return found
    return None


def _fitting(drift: Array, effect: Array, word: Array) -> tuple[Array, tuple[int, ...]] | None:
    """The sides for a word of 1, -1 and 0 (slid along), if all conditions hold."""
    slid = np.flatnonzero(word == 0.0)
    sides = word.copy()
    if len(slid):
        block = effect[np.ix_(slid, slid)]
        if not attracts(block):
            return None
        sides[slid] = np.linalg.solve(block, -(drift + effect @ word)[slid])
        if (np.abs(sides[slid]) > 1.0 + 0.5 * SLACK).any():
            return None
    speeds = drift + effect @ sides
    allowed = 1e-12 * (np.abs(drift) + np.abs(effect).sum(axis=1))
    gone = np.flatnonzero(word != 0.0)
    if (speeds[gone] * word[gone] < -allowed[gone]).any():
        return None
    return sides, tuple(slid.tolist())


def attracts(block: Array) -> bool:
    """Does a small deviation from surfaces that are slid along die out?"""
    return bool((np.linalg.eigvals(block).real < 0.0).all())


def _iterated(drift: Array, effect: Array) -> tuple[Array, tuple[int, ...]] | None:
    """By projected Gauss-Seidel iteration, for dry friction of many contacts; what it finds is checked."""
    diagonal = np.diag(effect)
    if (diagonal >= 0.0).any():
        return None
    sides = np.zeros(len(drift))
    for _ in range(MOST_ITERATIONS):
        before = sides.copy()
        for k in range(len(drift)):
            sides[k] = np.clip(sides[k] - (drift[k] + effect[k] @ sides) / diagonal[k], -1.0, 1.0)
        if np.abs(sides - before).max() <= 1e-14:
            break
    word: NDArray[np.float64] = np.where(np.abs(sides) < 1.0, 0.0, sides)
    return _fitting(drift, effect, word)
