"""Watching the chart of a reduced form along a run, and changing to another one where it degenerates.

The quality of a chart is |det α_D| / √det(α αᵀ) (see ``forms.reduction_choice``), that of a basis of quasi-velocities
√det(NᵀN) for N with columns of length one. A chart is left at the first row at which its quality is below POOR for the
one whose least quality over the last rows is the best, if that is twice as good; below LEAST, or where its determinant
has changed sign, it is said to be singular. Where Chaplygin's equations apply to no better chart, those of Voronets,
which are the same for the charts of Chaplygin, take over.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from math import comb

import numpy as np
from numpy.typing import NDArray

from svyaz.arrays import Array
from svyaz.constraints import model_states
from svyaz.expr import ZERO, Expression, ModelError, gradient, substitute, velocity
from svyaz.forms import MOST_CHOICES, Equations, form_of
from svyaz.holding import Decision, Entry, HeldIntegral, Options, Refusal, Segment
from svyaz.integrate import Path, Status
from svyaz.model import Constraint, System
from svyaz.motion.phases import Advance, Beginning, Chapter, Structure, Wishes, grid_of, only
from svyaz.program import function

POOR, NEAR, LEAST = 0.2, 0.02, 0.01
"""A chart is left for a better one of its form when its condition number exceeds 1/POOR, for one of a wider form when it
exceeds 1/NEAR; beyond 1/LEAST it is singular."""

USUAL_STEPS = 20_000
"""More steps than this are taken only if the chart of the equations stays good over them."""

FINE = 4000
"""Where rows are wanted at given times only, the chart is looked at this many times at least."""


MOST_IN_VAIN = 4
"""Charts are changed so often without getting on; where none is good the last one is kept."""


@dataclass(frozen=True)
class Charted:
    """Phases of another structure, each on as many charts as it needs."""

    phases: Structure

    @property
    def system(self) -> System:
        return self.phases.system

    @property
    def form(self) -> str:
        return self.phases.form

    @property
    def options(self) -> Options:
        return self.phases.options

    def with_options(self, options: Options) -> Charted:
        return Charted(self.phases.with_options(options))

    def begin(self, state: Array) -> Beginning:
        return self.phases.begin(state)

    def settle(self, beginning: Beginning, before: Sequence[Chapter], *, force: bool) -> Decision | Refusal:
        """As the phases are; charts that were changed in vain too often are kept from then on."""
        decision = self.phases.settle(beginning, before, force=force)
        if isinstance(decision, Refusal) or not _in_vain(before):
            return decision
        return replace(decision, options=replace(decision.options, charts="keep"))

    def foreseen(self, beginning: Beginning, held: tuple[HeldIntegral, ...]) -> float:
        return self.phases.foreseen(beginning, held)

    def advance(self, beginning: Beginning, segment: Segment, options: Options, wishes: Wishes) -> Advance:
        """Integrate a phase up to where its chart degenerates, on a chart that may first only as many steps as are usual.

        Before a singular point of the chart the steps of a method with error control grow short without end; another chart
        is looked for instead.
        """
        phase, equations = beginning.phase, segment.equations
        if not equations.charted:
            return self.phases.advance(beginning, segment, options, wishes)
        grid = grid_of(options, (phase.start, phase.end), wishes.rows)
        fine = None if grid is None else np.union1d(grid, np.linspace(grid[0], grid[-1], FINE))

        def advanced(options: Options) -> Advance:
            return self.phases.advance(beginning, segment, options, replace(wishes, rows=fine))

        if options.charts == "keep":
            found = advanced(options)
            return _ended(found, kept_chart(equations, found.path), grid)
        usual = replace(options, max_steps=min(USUAL_STEPS, options.max_steps))
        found = advanced(options if options.rtol is None else usual)
        switch = chart_switch(equations, found.path, phase.active)
        stalled = options.rtol is not None and found.path.status is Status.STALLED
        if stalled and (switch is None or switch.equations is None):
            found = advanced(options)
            switch = chart_switch(equations, found.path, phase.active)
        return _ended(found, switch, grid)

    def after(self, chapters: Sequence[Chapter]) -> Beginning | None:
        last = chapters[-1]
        if last.onward is None:
            return self.phases.after(chapters)
        phase = replace(last.phase, start=last.end, new=(), equations=last.onward)
        return Beginning(phase, last.last_state, Entry.TIME)


def _in_vain(chapters: Sequence[Chapter]) -> bool:
    """Were charts changed without getting on, more often in a row than is allowed?"""
    count = 0
    for chapter in chapters:
        if chapter.onward is not None:
            count = count + 1 if len(chapter.path.times) == 1 else 0
        if count > MOST_IN_VAIN:
            return True
    return False


@dataclass(frozen=True)
class Switch:
    """After ``row`` of a path other equations take over; without equations there is no better chart."""

    row: int
    note: str
    equations: Equations | None


def _ended(found: Advance, switch: Switch | None, grid: Array | None) -> Advance:
    """The path up to the row at which another chart takes over, or to the singular point of the only one."""
    path = found.path
    if switch is None:
        return replace(found, path=only(path, grid))
    if switch.equations is None and path.status in (Status.FINISHED, Status.LEFT):
        return replace(found, path=only(path, grid), note=switch.note)
    every_step = len(path.times) == path.steps + 1
    if path.status is Status.STOPPED:
        status, reason = Status.STOPPED, f"stopped by the user after t = {path.times[switch.row]:.9g}"
    else:
        status, reason = (Status.FINISHED, "") if switch.equations else (Status.SINGULAR, switch.note)
    cut = replace(
        path,
        times=path.times[: switch.row + 1],
        states=path.states[: switch.row + 1],
        steps=switch.row if every_step else path.steps,
        status=status,
        reason=reason,
        passed=tuple(limit for limit in path.passed if limit[-1] <= path.times[switch.row]),
    )
    modes = tuple(mode for mode in found.modes if mode.start <= path.times[switch.row])
    return Advance(only(cut, grid), switch.note, switch.equations, modes)


@dataclass(frozen=True)
class Watch:
    """The rows of a path at which the state is finite: scaled α, quality of the chart, and where its sign turned."""

    alpha: Array
    quality: Array
    turned: NDArray[np.bool_]

    def first_below(self, limit: float) -> int | None:
        """The first row at which the quality is below the limit or the determinant has changed its sign."""
        found = np.flatnonzero((self.quality < limit) | self.turned)
        return int(found[0]) if len(found) else None


def chart_switch(equations: Equations, path: Path, active: Sequence[Constraint]) -> Switch | None:
    """What is to be done about the chart of a run; None when it stays good."""
    watch = _watched(equations, path)
    if watch is None:
        return None
    times, form = path.times, equations.form
    wider = form_of(form).wider or form
    for limit, taken in ((POOR, form), (NEAR, wider), (LEAST, wider)):
        bad = watch.first_below(limit)
        if bad is None:
            break
        passed = watch.turned[bad] or watch.quality[bad] < LEAST
        row = bad - 1 if passed and bad > 1 else bad
        wanted = 2 * min(float(watch.quality[bad]), POOR)
        other = _better(equations, taken, watch.alpha[row : bad + 1], wanted, active)
        if other is not None:
            words = f"{_told(equations)} degenerates near t = {times[bad]:.4g}: from t = {times[row]:.6g} the chart "
            words += f"with {_named(other)} is taken"
            if other.form != form:
                words += f", in the form '{other.form}', for '{form}' does not apply to it"
            return Switch(row, words, other)
    if bad is None:
        return None
    return Switch(bad, f"{_told(equations)} is singular near t = {times[bad]:.4g}, and no other one is better", None)


def kept_chart(equations: Equations, path: Path) -> Switch | None:
    """Words about a chart that is kept although the run comes to its singular point."""
    watch = _watched(equations, path)
    bad = None if watch is None else watch.first_below(LEAST)
    if bad is None:
        return None
    return Switch(bad, f"{_told(equations)} is singular near t = {path.times[bad]:.4g}, and was kept", None)


def _watched(equations: Equations, path: Path) -> Watch | None:
    if not equations.charted:
        return None
    states = model_states(equations, path.times, path.states)
    good = np.isfinite(states).all(axis=1)
    count = len(path.times) if good.all() else int(np.argmin(good))
    if count == 0:
        return None
    alpha = _scaled_rows(equations, path.times[:count], states[:count])
    return Watch(alpha, *_qualities(equations, alpha, path, count))


def _told(equations: Equations) -> str:
    if equations.named_basis:
        names = ", ".join(f"'{name}'" for name in equations.accelerated)
        return f"the basis of the form '{equations.form}' with the quasi-velocities {names}"
    return f"the chart of the form '{equations.form}' with {_named(equations)} dependent"


def _named(equations: Equations) -> str:
    return ", ".join(f"'{q}'" for q in equations.dependent)


def _qualities(equations: Equations, alpha: Array, path: Path, count: int) -> tuple[Array, NDArray[np.bool_]]:
    """The quality at each row, and whether the determinant has changed its sign since the row before.

    A basis of our own has no denominators and is judged by itself; its drift has those of the chart.
    """
    times, states = path.times[:count], path.states[:count]
    turned = np.zeros(count, dtype=bool)
    if equations.named_basis:
        block = np.linalg.det(np.concatenate([alpha, _quasi_rows(equations, times, states)], axis=1))
    elif equations.quasi and not _drifts(equations):
        return _basis_quality(equations, times, states), turned
    else:
        coordinates = equations.system.coordinates
        block = np.linalg.det(alpha[:, :, [coordinates.index(q) for q in equations.dependent]])
    turned[1:] = block[1:] * block[:-1] < 0.0
    return np.abs(block) / _whole(alpha), turned


def _drifts(equations: Equations) -> bool:
    """Do the coordinates move when all quasi-velocities are zero?"""
    still = dict.fromkeys(equations.velocities, ZERO)
    return any(substitute(equations.explicit[q], still) != 0 for q in equations.system.coordinates)


def _whole(alpha: Array) -> Array:
    """√det(α αᵀ) along the rows."""
    return np.sqrt(np.maximum(np.linalg.det(alpha @ alpha.transpose(0, 2, 1)), 1e-300))


def _better(
    equations: Equations, form: str, alpha: Array, wanted: float, active: Sequence[Constraint]
) -> Equations | None:
    """The equations in a form and the chart with the best least quality over these rows, among those that apply."""
    coordinates = equations.system.coordinates
    m, n = alpha.shape[1:]
    reduced = form_of(form).reduced
    if comb(n, m) > MOST_CHOICES or reduced is None:
        return None
    choices = list(combinations(range(n), m))
    whole = _whole(alpha)
    least = [float(np.min(np.abs(np.linalg.det(alpha[:, :, list(c)])) / whole)) for c in choices]
    own = None if equations.named_basis else tuple(sorted(coordinates.index(q) for q in equations.dependent))
    good = [k for k in np.argsort(least)[::-1] if least[k] > max(wanted, 2 * LEAST) and choices[k] != own]
    for k in good:
        try:
            return reduced(equations.system, active, tuple(coordinates[j] for j in choices[k]))
        except ModelError:
            continue  # a form that does not apply with these dependent coordinates
    return None


def _scaled_rows(equations: Equations, times: Array, states: Array) -> Array:
    """α (k, m, n) along rows of states of the model."""
    origin = equations.origin
    assert origin is not None, "a reduced form has an origin"
    names = {c.name for c in equations.eliminated}
    rows = [row for d, row in zip(origin.deviations, origin.constraint_jacobian, strict=True) if d.name in names]
    return _scaled(origin, rows, times, states)


def _quasi_rows(equations: Equations, times: Array, states: Array) -> Array:
    """∂u/∂q̇ (k, n - m, n) of the model's quasi-velocities along rows of states of the form."""
    origin = equations.origin
    assert origin is not None, "a reduced form has an origin"
    v = [velocity(q) for q in equations.system.coordinates]
    rows = [gradient(u, v) for u in equations.system.quasi.values()]
    return _scaled(origin, rows, times, model_states(equations, times, states))


def _scaled(origin: Equations, rows: Sequence[Sequence[Expression]], times: Array, states: Array) -> Array:
    """Rows of coefficients of the velocities in numbers, columns scaled by 1/√M_ii, rows of length one."""
    diagonal = [row[k] for k, row in enumerate(origin.mass_matrix)]
    numbers = function({"rows": rows, "inertia": diagonal}, ("t", *origin.states), origin.system.constants)
    found = numbers(np.column_stack([times, states]))
    inertia = found["inertia"]
    scale = np.where(inertia > 0.0, 1.0 / np.sqrt(np.where(inertia > 0.0, inertia, 1.0)), 1.0)
    alpha = found["rows"] * scale[:, None, :]
    lengths = np.linalg.norm(alpha, axis=2, keepdims=True)
    scaled: Array = alpha / np.where(lengths > 0.0, lengths, 1.0)
    return scaled


def _basis_quality(equations: Equations, times: Array, states: Array) -> Array:
    """√det(NᵀN) along rows of states of the form, N with columns of length one; zero where a column vanishes."""
    tables = {"basis": list(equations.directions.values())}
    numbers = function(tables, ("t", *equations.states), equations.system.constants)
    basis = numbers(np.column_stack([times, states]))["basis"]
    lengths = np.linalg.norm(basis, axis=1, keepdims=True)
    unit = basis / np.where(lengths > 0.0, lengths, 1.0)
    quality: Array = np.sqrt(np.maximum(np.linalg.det(unit.transpose(0, 2, 1) @ unit), 0.0))
    short = lengths.min(axis=(1, 2)) < LEAST * lengths.max(axis=(0, 2)).min()
    return np.where(short, 0.0, quality)
