"""Is a motion that was computed one that the system can have? What its energy and its integrals say.

Rates may be finite where the energy is not (log(u - 5) for u < 5), and a step may lead over a pole of the potential energy
without meeting it. The first ends a motion where the energy ends; the second shows as a jump of the energy balance.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from svyaz.arrays import Array
from svyaz.expr import Advice, jumping_parts
from svyaz.forms import energy, stated_as_difference
from svyaz.integrate import Status
from svyaz.motion.result import Motion
from svyaz.program import function
from svyaz.stabilise import Options

COARSE, FINE = 1e-2, 1e-6
"""Parts of the energies that a balance must change by, between two rows, to be looked at; the second where it is known
what the tolerances of the run allow."""

OUTSTANDING = 100.0
"""So many times the usual change between two rows is a jump."""

UNLIKE = 3.0
"""A jump is that of reactions off the constraints unless it is so many times as large: their work is known roughly."""

SMALL = 1e-4
"""An absolute error of the size of rtol is more than rtol where no state is larger than this, by so many digits."""

EXPLAINED = 1000.0
"""So many times what the tolerances allow in a step is not explained by them."""


def defined_part(motion: Motion) -> Motion:
    """The motion up to where its energy ends to be a number, which is then its end; one that diverged has ended so."""
    row = _undefined(motion)
    if row is None or motion.status is Status.DIVERGED:
        return motion
    if row == 0:
        reason = "the energy has no value in the initial state: the motion is not defined there"
        return replace(first_rows(motion, 1), status=Status.INFEASIBLE, reason=reason)
    reason = f"the energy has no value after t = {motion.times[row - 1]:.9g}: the motion is not defined there"
    return replace(first_rows(motion, row), status=Status.SINGULAR, reason=reason)


def _undefined(motion: Motion) -> int | None:
    """The first row at which the energy is not a number although the state is.

    The last row of a motion that did not finish has its own reason, and may not have been observed.
    """
    if motion.energy is None:
        return None
    count = len(motion.times) if motion.finished else len(motion.times) - 1
    wrong = np.flatnonzero(~np.isfinite(motion.energy[:count]) & np.isfinite(motion.states[:count]).all(axis=1))
    return int(wrong[0]) if len(wrong) else None


def first_rows(motion: Motion, count: int) -> Motion:
    """The motion with so many of its rows."""

    def cut(table: Mapping[str, Array]) -> dict[str, Array]:
        return {name: column[:count] for name, column in table.items()}

    account, last = motion.account, float(motion.times[count - 1])
    return replace(
        motion,
        times=motion.times[:count],
        states=motion.states[:count],
        phases=tuple(event for event in motion.phases if event.t <= last),
        account=None if account is None else lambda size: account(size)[:count],
        multipliers=cut(motion.multipliers),
        residuals=cut(motion.residuals),
        hidden=cut(motion.hidden),
        integrals=cut(motion.integrals),
        quantities=cut(motion.quantities),
        inputs=cut(motion.inputs),
    )


def doubts(motion: Motion, options: Options) -> tuple[str, ...]:
    """Notes on energies that are not defined everywhere, negative, or jump, on integrals without values, on tolerances."""
    row, notes = _undefined(motion) if motion.finished else None, []
    if row is not None:
        notes.append(f"the energy has no value at t = {motion.times[row]:.9g}: the motion is not defined there")
    for name, values in motion.integrals.items():
        wrong = np.flatnonzero(~np.isfinite(values))
        if len(wrong) and name != "energy":
            notes.append(f"the integral '{name}' has no value at t = {motion.times[wrong[0]]:.9g}")
    return (*notes, *_light(motion), *_unseen(motion, options), *_unlocated(motion, options), *_jumps(motion, options))


def _light(motion: Motion) -> list[str]:
    """Words for a kinetic energy that is negative somewhere, which that of bodies is nowhere."""
    energy = motion.kinetic
    if energy is None or not stated_as_difference(motion.system):
        return []
    wrong = np.flatnonzero(energy < -FINE * np.nanmax(np.abs(energy), initial=0.0))
    if not len(wrong):
        return []
    when = f"{energy[wrong[0]]:.3g} at t = {motion.times[wrong[0]]:.6g}"
    return [f"the kinetic energy is negative, {when}: the sign of a mass or of a moment of inertia may be wrong"]


def _unseen(motion: Motion, options: Options) -> list[str]:
    """Words for motions so small, in their units, that the absolute error which a run allows unless told is a large part."""
    reached = np.max(np.abs(motion.states), axis=0, initial=0.0)
    places = [k for k, name in enumerate(motion.state_names) if name in motion.system.coordinates]
    if options.rtol is None or options.atol is not None or not 0.0 < np.max(reached, initial=0.0) < SMALL:
        return []
    size = float(np.max(reached[places], initial=0.0)) or float(np.max(reached))
    words = (
        f"no state is larger than {np.max(reached):.2g} in its unit, and an error of {options.rtol:.1g} was allowed in "
        f"each of them, for atol is as large as rtol unless given: too much for {size:.1g}"
    )
    return [Advice(f"{words}; give atol = {options.rtol * size:.0e}", "atol", words, f"{options.rtol * size:.0e}")]


def _unlocated(motion: Motion, options: Options) -> list[str]:
    """Words for coefficients of friction that jump with something else than their slip: no event is made of that."""
    jump = [
        c for c in motion.system.constraints if jumping_parts([e for f in c.frictions for e in (f.sliding, f.static)])
    ]
    if options.step is None or not jump:
        return []
    words = f"the coefficient of friction of '{jump[0].name}' jumps, and equal steps do not locate the moment"
    return [
        f"{words}: the error is that of a part of a step; error control (rtol) follows it, or give the friction as a force"
    ]


def _jumps(motion: Motion, options: Options) -> list[str]:
    """Words for jumps of the energy that neither its balance, nor reactions off the constraints, nor tolerances explain."""
    total = motion.energy
    if total is None or len(total) < 3 or any(i.hold for i in motion.system.integrals) or motion.undetermined:
        return []
    judged = options.rtol is not None and not motion.system.bodies
    least = (FINE if judged else COARSE) * motion.energy_scale
    if not len(_outstanding(motion, total, least)):
        return []
    left = total if motion.balance is None else motion.balance.remainder
    reactions = _work_off_the_constraints(motion)
    rows = [k for k in _outstanding(motion, left, least) if _step_of(left, k) > UNLIKE * _step_of(reactions, k)]
    rows = [k for k in rows if not any(motion.times[k] <= j.t <= motion.times[k + 1] for j in motion.jumps)]
    allowed = _allowed(motion, options, rows) if judged and rows else np.zeros(len(rows))
    found = [k for k, most in zip(rows, allowed, strict=True) if not _step_of(left, k) <= most]
    return [_told(motion, left, found)] if found else []


def _step_of(values: Array, k: int) -> float:
    return abs(float(values[k + 1] - values[k]))


def _outstanding(motion: Motion, values: Array, least: float) -> list[int]:
    """Rows after which a quantity changes by far more than it usually does; rows at events are none."""
    change = np.abs(np.diff(values))
    inside = (np.diff(motion.times) > 0.0) & np.isfinite(change)
    usual = float(np.sort(change[inside])[inside.sum() // 2]) if inside.any() else 0.0
    return [int(k) for k in np.flatnonzero(inside & (change > max(least, OUTSTANDING * usual)))]


def _work_off_the_constraints(motion: Motion) -> Array:
    """The work of reactions against deviations, Σ λ ḣ and Σ λ f, of which stabilisation is a part; by the trapezoidal rule."""
    power, servo = np.zeros(len(motion.times)), {c.name for c in motion.system.constraints if c.servo}
    for name, push in motion.multipliers.items():
        if name in servo:  # the work of controls is in the balance, whole
            continue
        with np.errstate(over="ignore"):  # of a run that diverged
            power += np.nan_to_num(push * motion.hidden.get(name, motion.residuals.get(name, np.nan)))
    parts = 0.5 * (power[1:] + power[:-1]) * np.diff(motion.times)
    return np.concatenate([[0.0], np.cumsum(parts)])


def _allowed(motion: Motion, options: Options, rows: list[int]) -> Array:
    """What the tolerances explain at some rows: a multiple of Σ |∂E/∂y| (atol + rtol |y|), by differences."""
    found, states, rtol = np.zeros(len(rows)), motion.states[rows], options.rtol or 0.0
    least = options.atol if options.atol is not None else rtol
    of = function({"energy": energy(motion.system)}, ("t", *motion.state_names), motion.system.constants)
    here = of(np.column_stack([motion.times[rows], states]))["energy"]
    for j in range(states.shape[1]):
        moved = states.copy()
        own = least.get(motion.state_names[j], rtol) if isinstance(least, Mapping) else least
        moved[:, j] += own + rtol * np.abs(states[:, j])
        found += np.abs(of(np.column_stack([motion.times[rows], moved]))["energy"] - here)
    return EXPLAINED * found


def _told(motion: Motion, left: Array, rows: list[int]) -> str:
    jump, k = max((_step_of(left, k), k) for k in rows)
    more = f" (and at {len(rows) - 1} other places)" if len(rows) > 1 else ""
    words = (
        f"the energy balance jumps by {jump:.3g}, {jump / motion.energy_scale:.2g} of the energies, between "
        f"t = {motion.times[k]:.6g} and {motion.times[k + 1]:.6g}{more}, and no force, constraint or tolerance explains it: "
        "a singularity was stepped over, or the steps are too long there"
    )
    return Advice(f"{words}; an error control with a small tolerance would tell", "jump", words)
