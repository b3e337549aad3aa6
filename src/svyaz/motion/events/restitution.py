"""Impacts that give back a part e of what they take: by Newton of the speed, by Poisson of the impulse.

For the contacts that approach each other, on'(v) > 0, with on'⁻ and on'⁺ before and after,

    Newton:   0 ≤ -(on'⁺ + e on'⁻) ⊥ Λ ≥ 0,
    Poisson:  a compression to on' ≤ 0 by the inelastic impact Λ_c, then Λ = Λ_c + Λ_e, Λ_e ≥ e Λ_c, 0 ≤ -on'⁺ ⊥ Λ_e - e Λ_c ≥ 0

(F. Pfeiffer, C. Glocker 1996, ch. 8). Bodies that touch without approaching take part when the impact before has made them
approach: what happens at one moment is a sequence of impacts, each of all contacts that approach (J. Bernoulli's rule for a
row of balls). Constraints without restitution take part in all of them. The energy that an impact takes away,

    -½ Λᵀ (g⁺ + g⁻),     g = G v + ∂h/∂t,

is not negative; where Newton's law would make it so, since the contacts differ in e, Poisson's takes its place.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from svyaz.arrays import Array
from svyaz.motion.events.complementarity import Collision, Kept, kept_contacts
from svyaz.motion.events.contacts import RISING

MOST_STRUCK = 500
"""A contact that was struck so often at one moment gives nothing back any more."""

OFTEN = 3
"""The same for one that was struck so often at one moment, if its hop would be lower than can be seen."""

FAINT = 1e-9
"""Approaches with less than this part of the strongest one at the same moment are rounding."""

GAINED = 1e-9
"""Energy that an impact may add, as a part of the kinetic energy, for rounding."""

Impulses = dict[str, float]


@dataclass(frozen=True)
class Rebound:
    """Velocities after an impact, its impulses by constraint, and by name the constraints that it keeps.

    ``resting`` are the contacts that neither part nor approach afterwards, ``stages`` those struck at once, one set after
    another; ``notes`` tell what was decided. ``halted``: hops have become lower than can be seen.
    """

    speeds: Array
    impulses: Impulses
    kept: frozenset[str]
    resting: frozenset[str]
    stages: tuple[tuple[str, ...], ...] = ()
    notes: tuple[str, ...] = ()
    halted: bool = False


@dataclass(frozen=True)
class Struck:
    """One impact: velocities after it, impulses by constraint and of frictions, and the names of the constraints it kept."""

    speeds: Array
    impulses: Impulses
    forces: Array
    kept: frozenset[str]


def rebound(collision: Collision, coefficients: Mapping[str, float], before: Collection[str]) -> Rebound | str:
    """Impact after impact until nothing approaches; in words if one of them has no solution.

    ``coefficients`` are the restitutions by name; contacts that have settled are not among them. Of those that are, the ones
    that acted ``before`` go on if they are neither struck nor left.
    """
    if not coefficients and collision.settled:
        return _halt(collision)
    here = replace(collision, fitting=0.0) if coefficients else collision
    least, total, stages, notes = 0.0, dict[str, float](), list[tuple[str, ...]](), list[str]()
    lively = {k for k in range(len(here.groups)) if any(map(coefficients.get, here.names(k)))}
    bounced, counts = {name for k in lively for name in here.names(k)}, dict.fromkeys(lively, 0)
    while True:
        approaches = {k: x for k, x in here.approaches.items() if k in lively}
        least = max([least, *(FAINT * x for x in approaches.values())])
        struck = {k for k, x in approaches.items() if x > least}
        tired = {k for k in struck if _is_tired(here, k, counts[k])} if struck else set(approaches)
        lively, struck = lively - tired, struck - tired
        if not struck and not tired and stages:
            break
        if any(counts[k] >= MOST_STRUCK for k in tired):
            notes.append(
                f"after {MOST_STRUCK} impacts of a contact at t = {collision.snapshot.time:.9g} bodies still approached each "
                "other: they are stopped together"
            )
        calm = frozenset(range(len(here.groups))) - lively
        given = {name: coefficients[name] for k in lively for name in here.names(k) if name in coefficients}
        found = _struck(here.among(sorted(calm | struck)), given, notes)
        if isinstance(found, str):
            if stages and not struck:  # what still approaches does so by rounding
                break
            return found
        here, acting = here.at_speeds(found.speeds), found.kept
        counts.update({k: counts[k] + 1 for k in struck})
        stages.append(tuple(here.first(k).name for k in sorted(struck)))
        total = {name: total.get(name, 0.0) + found.impulses.get(name, 0.0) for name in {**total, **found.impulses}}
    if coefficients and here.settled:
        stopped = _halt(here)
        total = _sum(total, stopped.impulses)
        return replace(stopped, impulses=total, stages=tuple(filter(None, stages)), notes=tuple(dict.fromkeys(notes)))
    bounced -= {name for k in range(len(here.groups)) if k not in lively for name in here.names(k)}
    acting = frozenset(acting - bounced) | (here.at_rest(least) & set(before) & bounced)
    told = tuple(filter(None, stages))
    if len(told) > 1:
        notes += _at_once(collision, coefficients, told, here.speeds)
    return Rebound(here.speeds, total, acting, here.at_rest(least), told, tuple(dict.fromkeys(notes)))


def _is_tired(here: Collision, contact: int, count: int) -> bool:
    """Was a contact struck so often at one moment, or so often and so slowly, that it gives nothing back any more?"""
    return count >= MOST_STRUCK or (count >= OFTEN and here.groups[contact][0] in here.slow)


def _halt(collision: Collision) -> Rebound:
    """All contacts come to rest where they touch: their hops would be lower than can be seen."""
    names = [c.name for c in collision.members]
    speeds, impulses = collision.speeds, dict.fromkeys(names, 0.0)
    if not collision.fits.all():
        jump, found = collision.place.least(range(len(names)), -collision.velocity)
        speeds, impulses = speeds + jump, dict(zip(names, found.tolist(), strict=True))
    return Rebound(speeds, impulses, frozenset(names), collision.touching, halted=True)


def _at_once(
    collision: Collision, coefficients: Mapping[str, float], stages: Sequence[tuple[str, ...]], after: Array
) -> list[str]:
    """A note on what one impact of all contacts at once would have given, where that is something else."""
    found = _struck(collision, coefficients, [])
    if isinstance(found, str):
        return []
    s, v, names = collision.snapshot, collision.speeds, [str(v) for v in collision.measure.equations.velocities]
    scale = np.sqrt(max(float(v @ s.mass @ v), 0.0))
    off = found.speeds - after
    if np.sqrt(max(float(off @ s.mass @ off), 0.0)) <= RISING * scale:
        return []
    would = ", ".join(f"{n} = {x:.6g}" for n, x in zip(names, found.speeds, strict=True) if x != v[names.index(n)])
    told = f"bodies that touch are struck one after another at t = {s.time:.9g}, {len(stages)} impacts in all"
    return [f"{told}; one impact of all contacts at once would give {would}"]


def _struck(part: Collision, coefficients: Mapping[str, float], notes: list[str]) -> Struck | str:
    """One impact, by the law of its contacts; by Poisson's if one of them has it or Newton's adds energy."""
    e = np.array([coefficients.get(c.name, 0.0) for c in part.place.constraints])
    told, when = part.contact_names, f"at t = {part.snapshot.time:.9g}"
    if not any(c.impact == "poisson" for c in part.members if coefficients.get(c.name)):
        found = _solved(replace(part, restitution=e))
        if found is not None and not _gains(part, [found]):
            return found
        if found is not None:
            notes.append(f"Newton's law would add energy in the impact of {told} {when}: Poisson's is used there")
    squeezed = _solved(part)
    if squeezed is not None:
        given = {c.name: coefficients.get(c.name, 0.0) * squeezed.impulses.get(c.name, 0.0) for c in part.members}
        pushed = np.array([given.get(c.name, 0.0) for c in part.place.constraints])
        opened = _solved(replace(part.at_speeds(squeezed.speeds), pushed=pushed))
        if opened is not None:
            parts = (squeezed.impulses, given, opened.impulses)
            impulses = {name: sum(p.get(name, 0.0) for p in parts) for name in given}
            if _gains(part, (squeezed, replace(opened, impulses=_sum(given, opened.impulses)))):
                return f"the impact {when} of {told} would add energy, by Newton's law and by Poisson's"
            return replace(opened, impulses=impulses, forces=squeezed.forces + opened.forces)
    return (
        f"the impact {when} has no solution for the constraints {told}: whichever of them act, one would have to pull or one "
        "that does not act would be entered"
    )


def _solved(part: Collision) -> Struck | None:
    everything: Kept = frozenset(range(len(part.groups)))
    kept = kept_contacts(part, everything)
    found = None if kept is None else part.solved(kept)
    if kept is None or found is None:
        return None
    return Struck(*found, frozenset(c.name for c in part.chosen(kept)))


def _sum(a: Mapping[str, float], b: Mapping[str, float]) -> Impulses:
    return {name: a.get(name, 0.0) + b.get(name, 0.0) for name in {**a, **b}}


def _gains(part: Collision, parts: Sequence[Struck]) -> bool:
    """Does an impact in parts, one after another, add energy, apart from the work of constraints that move?"""
    s, rubs, gained, v = part.snapshot, part.rubs, 0.0, part.speeds
    largest, speeds = float(v @ s.mass @ v), v
    for struck in parts:
        pushes = np.array([struck.impulses.get(c.name, 0.0) for c in part.place.constraints])
        both = 2.0 * part.velocity + s.jacobian @ (struck.speeds + speeds - 2.0 * v)
        gained += float(pushes @ both) / 2.0
        if rubs is not None and len(struck.forces):
            gained -= float(struck.forces @ (2.0 * rubs.slip + rubs.slopes @ (struck.speeds + speeds - 2.0 * v))) / 2.0
        speeds = struck.speeds
        largest = max(largest, float(speeds @ s.mass @ speeds))
    return gained > GAINED * largest / 2.0
