"""What happens to the state when constraints begin to act: the velocities are made to fit.

An inelastic impact takes away the least kinetic energy that the constraints demand. With G of all constraints that act
after the event, and g their velocity-level residuals (G v + ∂h/∂t where they move),

    v⁺ = v⁻ - M⁻¹Gᵀ (G M⁻¹Gᵀ)⁻¹ g(v⁻),      M (v⁺ - v⁻) = Gᵀ Λ,

with M + GᵀG in place of M where M has no inverse, which gives the same. Λ are the impulses, with the sign of the
multipliers. For constraints that do not move the energy falls by ½ (v⁺ - v⁻)ᵀ M (v⁺ - v⁻) (L. Carnot's theorem).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

import numpy as np

from svyaz.arrays import Array
from svyaz.constraints import RankReport, corrected, examine, residuals
from svyaz.dynamics import measure_of
from svyaz.expr import Expression, evaluate
from svyaz.forms import Equations
from svyaz.integrate import Path, Status
from svyaz.model import Constraint, System, multiplier_symbol, multipliers_in
from svyaz.motion.events.complementarity import Collision
from svyaz.motion.events.contacts import CLOSED, MOST_LOOKED_AT, Contacts
from svyaz.motion.events.place import CollisionPlace
from svyaz.motion.events.rubbing import Frictions
from svyaz.motion.phases import Phase, reached
from svyaz.stabilise import SWITCH_TOLERANCE, Refusal, deviations


@dataclass(frozen=True)
class Impact:
    """The state after constraints began to act, and the impulses that led to it.

    ``stages`` are the contacts that were thrown back, ``rests`` those that were not any more, with the moments at which their
    impacts accumulate; ``notes`` tell what was decided.
    """

    state: Array
    impulses: dict[str, float] = field(default_factory=dict)
    stages: tuple[tuple[str, ...], ...] = ()
    rests: dict[str, float] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


def anchored(equations: Equations, new: Sequence[Constraint], state: Array, time: float) -> Array:
    """The state with the anchors of the constraints that begin to act set to their values at this moment."""
    names = list(equations.states)
    known = {**equations.system.constants, **dict(zip(names, map(float, state), strict=True)), "t": time}
    moved = state.copy()
    for name, expression in (anchor for c in new for anchor in c.anchors):
        moved[names.index(name)] = evaluate(expression, known)
    return moved


def collision_of(
    system: System,
    contacts: Contacts,
    equations: Equations,
    active: Sequence[Constraint],
    phase: Phase,
    path: Path,
    frictions: Frictions,
    close: float = CLOSED,
) -> Collision | None:
    """The collision at the end of a path; None if nothing begins or ceases to act or nothing could be let go.

    Besides the constraints that conditions let act, it knows one-sided ones that touch: those that are let go at this very
    moment, and others whose ``on`` is zero to rounding, or within the part ``close`` of its size. ``equations`` are those with
    all constraints.
    """
    now, before = float(path.times[-1]), path.states[-1]
    acted, acting, one_sided = {c.name for c in phase.active}, {c.name for c in active}, contacts.numbered
    if not path.events and acting <= acted:
        return None
    near, nearer = (contacts.touching(now, before, tolerance) for tolerance in (contacts.tolerance, close))
    near |= {name for key, name in path.events if key == "on" and name in one_sided}
    candidates = []
    for c in system.constraints:
        touches = c.name in near if c.name in acted else c.name in nearer and c.impact is not None
        over = c.end is not None and reached(now, c.end)
        if c.name in acting or (touches and c.name in one_sided and not over):
            candidates.append(c)
    groups = contacts_among(candidates, [c.name in acted or c.name in one_sided for c in candidates])
    if not groups:
        return None
    measure, new = measure_of(equations), [c for c in candidates if c.name not in acted]
    places = {name: row for row, name in enumerate(equations.multiplier_names)}
    snapshot = measure.at(anchored(equations, new, before, now), now).of_rows([places[c.name] for c in candidates])
    if not (snapshot.finite and np.isfinite(snapshot.mass).all()):
        return None
    touched = [row for row, c in enumerate(candidates) if c.name in near]
    gaps = contacts.at(now, snapshot.state).of([one_sided[candidates[row].name] for row in touched])
    grouped = {row for group in groups for row in group}
    return Collision(
        place=CollisionPlace(tuple(candidates), snapshot),
        groups=groups,
        fixed=tuple(row for row in range(len(candidates)) if row not in grouped),
        measure=measure,
        contacts=contacts,
        speeds=snapshot.v,
        velocity=snapshot.velocity,
        gaps=gaps,
        touched=tuple(touched),
        restitution=np.zeros(len(candidates)),
        rubs=frictions.at(now, snapshot.state, candidates),
        frictions=frictions,
    )


def contacts_among(constraints: Sequence[Constraint], free: Sequence[bool]) -> tuple[tuple[int, ...], ...]:
    """The numbers of those with multipliers in ``off`` that are ``free`` to go, those with the same ``off`` together."""
    found: dict[Expression, list[int]] = {}
    for number, (c, is_free) in enumerate(zip(constraints, free, strict=True)):
        if is_free and c.off is not None and (c.pushes or multipliers_in(c.off)):
            found.setdefault(c.off, []).append(number)
    return tuple(map(tuple, found.values()))


def fitted(
    equations: Equations,
    new: Sequence[Constraint],
    state: Array,
    before: Path,
    touching: Collection[str] = (),
    independent: bool = False,
) -> Impact | Refusal:
    """Let constraints begin to act: positions must fit them, velocities must fit or are made to by an impact.

    ``before`` is the path that led there; how large the terms of a constraint were along it tells what is small. Of those
    called ``touching`` it is known that positions fit, of all that they are ``independent``.
    """
    time = float(before.times[-1])
    if not new:
        return Impact(state)
    if not independent:
        report = examine(equations, state, time)
        if (report.singular or not report.full) and not may_repeat(equations, report):
            reason = "; ".join(report.messages) or f"the constraints are singular at t = {time:g}"
            return Refusal(Status.SINGULAR, reason)
    doubtful = [c for c in new if c.name not in touching or c.impact is None]
    refused = _refused(equations, doubtful, state, before, touching) if doubtful else []
    if refused:
        reason = f"at t = {time:g} the state does not satisfy {' and '.join(refused)}, which begins to act"
        return Refusal(Status.INFEASIBLE, reason)
    after = corrected(equations, state, time)
    return Impact(after, _impulses(equations, state, after, time))


def asked_multipliers(equations: Equations) -> set[str]:
    """The multipliers that decide when a constraint lets go."""
    ends = [d.constraint.off for d in equations.deviations if d.constraint.off is not None]
    return {str(m) for off in ends for m in multipliers_in(off)}


def may_repeat(equations: Equations, report: RankReport) -> bool:
    """Do constraints only repeat others, none of whose multipliers decides when it lets go?"""
    asked = asked_multipliers(equations)
    return report.repetitive and not asked & {str(multiplier_symbol(name)) for name in report.redundant}


def _refused(
    equations: Equations, new: Sequence[Constraint], state: Array, before: Path, touching: Collection[str]
) -> list[str]:
    """In words: the new constraints that the state does not fit."""
    stride = -(-len(before.times) // MOST_LOOKED_AT)
    times, states = before.times[::-stride], before.states[::-stride]
    found = residuals(equations, state, float(before.times[-1]))
    measured = deviations(equations)
    scales = measured.scales(times, states)
    p = measured.positions
    refused = []
    for c in new:
        r, k = found[c.name], measured.names.index(c.name)
        misplaced = r.position is not None and abs(r.position) > SWITCH_TOLERANCE * scales[k]
        misplaced = misplaced and c.name not in touching
        too_fast = c.impact is None and abs(r.velocity) > SWITCH_TOLERANCE * scales[k + p]
        if misplaced or too_fast:
            hint = "" if misplaced else '; impact = "inelastic" would make the velocities fit'
            refused.append(_told(c.name, r.position if misplaced else None, r.velocity) + hint)
    return refused


def _told(name: str, position: float | None, velocity: float) -> str:
    if position is not None:
        return f"the constraint '{name}': its residual is {position:.4g}"
    return f"the velocity level of '{name}': its rate is {velocity:.4g}"


def _impulses(equations: Equations, before: Array, after: Array, time: float) -> dict[str, float]:
    """Λ of M (v⁺ - v⁻) = Gᵀ Λ."""
    here = measure_of(equations).at(after, time)
    jump = here.v - measure_of(equations).at(before, time).v
    found = here.mobility.impulses(here.jacobian, jump)
    return dict(zip(equations.multiplier_names, map(float, found), strict=True))
