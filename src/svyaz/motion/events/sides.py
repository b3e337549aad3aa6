"""Rates that jump at surfaces s(x, t) = 0: on which side of each the motion goes on, or whether it slides along.

Between two events the sides σ are numbers and the rates are smooth, so that every method keeps its order. At a surface,

    ṡ_k = a_k + Σ C_kl σ_l   over the surfaces that are touched, with

σ_k = 1 and ṡ_k ≥ 0, or σ_k = -1 and ṡ_k ≤ 0, or ṡ_k = 0 and |σ_k| ≤ 1, where the motion is held (A. F. Filippov, 1988, §4).
For dry friction this is Coulomb's law for any number of contacts: C is then symmetric and not positive. Friction by the
reaction of a constraint has the force T_k in place of σ_k, and in place of 1 the bound μ|λ|, which is linear in all T.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import cached_property, partial
from itertools import product

import numpy as np
import symengine as se

from svyaz.arrays import Array
from svyaz.dynamics import Response, dynamics_of, magnitude, measure_of, typical_speeds
from svyaz.expr import TIME, Expression, differentiate, gradient, to_text
from svyaz.forms import may_jump, on_sides, sided
from svyaz.matrices import matrix_rank, pinv
from svyaz.model import multiplier_symbol
from svyaz.motion.events.conditions import SIDED, Key
from svyaz.motion.events.planes import MOMENT, STILL, Planes, planes_of
from svyaz.motion.events.ways import SLACK, Bounds, chosen_forces, linear_response, way_on
from svyaz.program import Function, SingularSystem, function, once_for_each
from svyaz.stabilise import Options, Segment, prepare

ON = 1e-13
"""A state lies on a surface within this part of the size of its terms."""

IDLE = 1e-12
"""What moves a state off a surface, as a part of what forces usually do, is nothing: constraints keep it there."""


class Sides:
    """The surfaces of a phase, its rates on each side, and those that hold it there; made when they are first met."""

    def __init__(self, segment: Segment) -> None:
        equations = segment.equations
        jumps = may_jump(equations.system)
        self.equations, self.surfaces = sided(equations) if jumps else (equations, ())
        self.loads = tuple(self.equations.loads)
        self.pulls = {k: p for k, s in enumerate(self.surfaces) for p in self.equations.pulls if p.side == s.side}
        self.names = (
            *(to_text(surface.expression) for surface in self.surfaces),
            *(f"the multiplier of '{name}'" for name in self.loads),
        )
        self.planes = planes_of(self.surfaces, self.equations.pulls) if self.pulls else Planes()
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
        return function(tables, ("t", *self.equations.states), self.named(np.zeros(len(self.names))))

    def named(self, sides: Array, holding: Mapping[int, float] | None = None) -> dict[str, float]:
        """Values of all constants, with these sides and signs of multipliers, and frictions that hold."""
        count = len(self.surfaces)
        found = {str(surface.side): float(x) for surface, x in zip(self.surfaces, sides[:count], strict=True)}
        found |= {str(self.equations.loads[n]): float(x) for n, x in zip(self.loads, sides[count:], strict=True)}
        found |= {str(p.holding): (holding or {}).get(k, 0.0) for k, p in self.pulls.items()}
        return {**self._segment.known, **found}

    def _at(self, time: float, state: Array, sides: Array) -> dict[str, Array]:
        return self._numbers.with_values(self.named(sides))(np.concatenate([[time], state]))

    def begun(self, time: float, state: Array) -> tuple[Array, set[int]]:
        """The sides on which a state lies, and the surfaces that it lies on."""
        here = self._at(time, state, np.zeros(len(self.names)))
        on = np.abs(here["value"]) <= ON * np.maximum(here["size"], self._usual(time, state)[0])
        loads = range(len(self.surfaces), len(self.names))
        sides = np.concatenate([np.where(on, 0.0, np.sign(here["value"])), np.ones(len(loads))])
        touched = set(np.flatnonzero(on).tolist()) - self.planes.surfaces
        touched |= self.planes.touched(here["value"], self.still(time, state, 0.0), np.ones(len(sides)), ())
        return self.planes.directed(here["value"], sides, touched), touched | set(loads)

    def still(self, time: float, state: Array, lasting: float) -> Array:
        """Slips in planes that are as good as zero, by surface, in a phase that may be ``lasting`` so long."""
        if not self.planes.pairs:
            return np.zeros(len(self.surfaces))
        values = self.values(time, state, np.zeros(len(self.names)))
        speeds, paces = self._usual(time, state)
        return STILL * np.max([speeds, np.abs(values), MOMENT * lasting * paces], axis=0)

    def _usual(self, time: float, state: Array) -> tuple[Array, Array]:
        """How large surfaces of velocities, and their rates, usually are: what the motion or the forces would give."""
        equations, nothing = self._segment.equations, np.zeros(len(self.surfaces))
        still = np.zeros(len(self.names))
        if not equations.accelerated or equations.quasi:
            return nothing, nothing
        here = measure_of(equations).at(state, time)
        inertia = np.diagonal(here.mass)
        heavy = np.where(inertia > 0.0, inertia, np.inf)
        places = [equations.states.index(str(v)) for v in equations.velocities]
        slopes = np.abs(self._at(time, state, still)["slopes"][:, places])
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
        sides = self.planes.word(sides, sliding)
        key = (tuple(np.delete(sides, sliding).tolist()), sliding, options.method)
        if key not in self._modes:
            count = len(self.surfaces)
            loads = dict(zip(self.loads, sides[count:].tolist(), strict=True))
            equations = on_sides(self.equations, self.surfaces, sides[:count].tolist(), sliding, loads)
            given = self._segment
            self._modes[key] = prepare(equations, given.perturbation, given.held, options, time, state)
        return self._modes[key]

    @cached_property
    def _response(self) -> Response:
        """Rates and multipliers with sides, signs of multipliers and holding frictions among the constants."""
        bounds = [(p.friction.sliding, p.friction.static) for p in self.pulls.values()]
        known = self.named(np.zeros(len(self.names)))
        return dynamics_of(self.equations).respond(self._segment.enforcement, bounds, known)

    def _responds(self, time: float, state: Array, sides: Array, holding: Mapping[int, float]) -> dict[str, Array]:
        """``speeds`` ṡ of all surfaces, and ``multipliers``, with these sides and holding frictions."""
        found = self._response(np.concatenate([[time], state]), self.named(sides, holding))
        here = self._at(time, state, sides)
        return {**found, "speeds": np.asarray(here["slopes"] @ found["rates"] + here["rate"])}

    def beginning(
        self, time: float, state: Array, sides: Array, sliding: tuple[int, ...], still: Array
    ) -> dict[int, float]:
        """By surface, the slips with which those in planes begin."""
        if not self.planes.pairs:
            return {}
        return self.planes.beginning(self.values(time, state, sides), still, sides, sliding)

    def held(
        self, time: float, state: Array, sides: Array, sliding: tuple[int, ...], begun: Mapping[int, float]
    ) -> Array:
        """The nearest state on the surfaces that are slid along, with the slips that have ``begun``; rounding alone is taken
        away, and not from coordinates if it can be taken from other states.
        """
        rows = [*sliding, *begun]
        if not rows:
            return state
        here = self._at(time, state, sides)
        slopes = here["slopes"][rows]
        coordinates = [k for k, name in enumerate(self.equations.states) if name in self.equations.system.coordinates]
        others = slopes.copy()
        others[:, coordinates] = 0.0
        if matrix_rank(others) == len(rows):
            slopes = others
        return np.asarray(state - pinv(slopes) @ (here["value"][rows] - [begun.get(k, 0.0) for k in rows]))

    def decided(
        self, time: float, state: Array, sides: Array, touched: Collection[int], options: Options
    ) -> tuple[Array, tuple[int, ...]] | None:
        """The sides on which the motion goes on, and the surfaces that it slides along; None where none is found.

        The side 0 is that of a surface on which nothing moves the state to either side.
        """
        count = len(self.surfaces)
        at = sorted(k for k in touched if k < count)
        if self.planes.pairs:
            sides = self.planes.directed(self.values(time, state, sides), sides, at)
        free = sides.copy()
        if not touched:
            return sides, ()
        free[at] = 0.0
        try:
            for signs in self._signs(sides, [k for k in touched if k >= count]):
                free[count:] = signs
                found = self._way_on(time, state, sides, free, at)
                if found is not None:
                    return found
        except SingularSystem:
            return None
        return None

    def _signs(self, sides: Array, touched: Sequence[int]) -> list[Array]:
        """Signs of the multipliers, those before first; others where they were ``touched``."""
        count, before = len(self.surfaces), sides[len(self.surfaces) :]
        found = []
        for turns in product((1.0, -1.0), repeat=len(touched)):
            signs = before.copy()
            signs[[k - count for k in touched]] *= turns
            found.append(signs)
        return found

    def _way_on(
        self, time: float, state: Array, sides: Array, free: Array, at: Sequence[int]
    ) -> tuple[Array, tuple[int, ...]] | None:
        """The same with given signs of the multipliers; None also where the multipliers have others.

        The rates are asked on both sides of each surface, never between them: what they are there is linear in σ.
        """
        count, base = len(at), free.copy()
        base[list(at)] = [0.0 if k in self.pulls else np.copysign(1.0, sides[k]) for k in at]
        ratio = np.array([self._ratio(k, time, state, base) for k in at])
        linear = linear_response(partial(self._affected, time, state, at), base, at)
        if linear is None:
            return None
        (drift, bound, loads), (effect, slope, changes) = (np.split(x, [count, 2 * count]) for x in linear)
        small = IDLE * self._usual(time, state)[1][list(at)]
        drift[np.abs(drift) <= small] = 0.0
        effect[np.abs(effect) <= small[:, None]] = 0.0
        bound[(bound < 0.0) & (np.abs(bound * np.diagonal(effect)) <= small)] = 0.0  # a reaction that is rounding
        pairs = [(at.index(i), at.index(j)) for i, j in self.planes.pairs if i in at]
        bounds = Bounds(bound, slope, ratio)
        found = way_on(drift, effect, sides[list(at)], bounds, pairs) if count else (np.zeros(0), ())
        if found is None:
            return None
        chosen, slid = found
        forces = chosen_forces(chosen, slid, drift, effect, bounds)
        if (loads + changes @ forces < -SLACK * (np.abs(loads) + np.abs(changes) @ np.abs(forces))).any():
            return None
        free = free.copy()
        free[list(at)] = chosen
        return free, tuple(at[k] for k in slid)

    def _affected(
        self, time: float, state: Array, at: Sequence[int], sides: Array, holding: Mapping[int, float]
    ) -> Array:
        """ṡ of some surfaces, the bounds of the numbers on them, and |λ| of the constraints with ``loads``, negative where the
        sign is wrong.
        """
        found = self._responds(time, state, sides, holding)
        names, signs = self.equations.multiplier_names, sides[len(self.surfaces) :]
        bounds = [self._bound(k, found, sides) if k in self.pulls else 1.0 for k in at]
        loads = [x * found["multipliers"][names.index(n)] for n, x in zip(self.loads, signs, strict=True)]
        return np.array([*found["speeds"][list(at)], *bounds, *loads])

    def _bound(self, k: int, found: Mapping[str, Array], sides: Array) -> float:
        """sliding·|λ| of a friction."""
        p, row = self.pulls[k], list(self.pulls).index(k)
        name = self.equations.deviations[p.number].name
        sign = sides[len(self.surfaces) + self.loads.index(name)] if name in self.loads else float(p.load)
        return float(sign * found["bounds"][row][0] * found["multipliers"][p.number])

    def _ratio(self, k: int, time: float, state: Array, sides: Array) -> float:
        """static/sliding of a friction."""
        if k not in self.pulls:
            return 1.0
        sliding, static = self._responds(time, state, sides, {})["bounds"][list(self.pulls).index(k)]
        return float(static / sliding) if sliding > 0.0 else 1.0

    def watched(self, sides: Array, sliding: tuple[int, ...]) -> list[tuple[Key, Expression]]:
        """What rises through zero where a surface is reached, or a motion that slides is let go."""
        up, down = SIDED[1:]
        found: list[tuple[Key, Expression]] = []
        margins, word = [se.Symbol(margin_name(k)) for k in range(len(self.surfaces))], self.planes.word(sides, sliding)
        held = self.planes.held(sliding)
        slipping = [pair for pair in self.planes.pairs if pair not in held and word[list(pair)].any()]
        for pair in held:
            size = se.sqrt(sum(se.Symbol(f"sliding {self.surfaces[k].side}") ** 2 for k in pair if k in sliding))
            found.append(((up, str(pair[0])), size - self._most(pair[0], sides) * (1 + SLACK)))
        for pair in slipping:
            found += self.planes.watched(pair, word, list(self.surfaces), margins)
        for k, surface in enumerate(self.surfaces):
            if k in {j for pair in (*held, *slipping) for j in pair}:
                continue
            margin = margins[k]
            side = se.Symbol(f"sliding {surface.side}")
            if k in sliding and k in self.pulls:
                most = self._most(k, sides) * (1 + SLACK)
                found += [((up, str(k)), side - most), ((down, str(k)), -side - most)]
            elif k in sliding:
                found += [((up, str(k)), side - 1 - SLACK), ((down, str(k)), -side - 1 - SLACK)]
            elif sides[k] == 0.0:
                found += [((up, str(k)), surface.expression - margin), ((down, str(k)), -surface.expression - margin)]
            else:
                found.append(((SIDED[0], str(k)), -surface.side * surface.expression - margin))
        for k, name in enumerate(self.loads, start=len(self.surfaces)):
            found.append(((SIDED[0], str(k)), -self.equations.loads[name] * multiplier_symbol(name)))
        return found

    def _most(self, k: int, sides: Array) -> Expression:
        """static·|λ| of a friction that holds."""
        p = self.pulls[k]
        return (
            self.equations.in_states(p.friction.static)
            * p.load
            * multiplier_symbol(self.equations.deviations[p.number].name)
        )

    def margins(self, time: float, state: Array, sides: Array, still: Array) -> dict[str, float]:
        """How far beyond a surface a state must be to have crossed it, by the names of constants in ``watched``."""
        values = self.values(time, state, sides)
        own = sides[: len(self.surfaces)]
        usual = ON * self._usual(time, state)[0]
        past = np.where(own == 0.0, np.abs(values), np.maximum(-own * values, 0.0))
        past = np.where(np.abs(values) <= usual, usual, past)  # it may be held there by another surface
        found = {k: 4.0 * float(x) + float(np.finfo(float).tiny) for k, x in enumerate(past)}
        found |= self.planes.margins(values, still, own)
        return {margin_name(k): x for k, x in found.items()}


@once_for_each
def sides_of(segment: Segment) -> Sides:
    """The surfaces of the rates of a phase."""
    return Sides(segment)


def margin_name(k: int) -> str:
    """The name of the constant by which the condition of a surface is lowered."""
    return f"margin of side {k + 1}"
