"""Watching the chart of a reduced form along a run, and changing to another one where it degenerates.

The quality of a chart is |det α_D| / √det(α αᵀ) (see ``forms.reduction_choice``), that of a basis of quasi-velocities
√det(NᵀN) for N with columns of length one. Errors of the dependent velocities grow with its reciprocal, so a chart is
left early: at the last row before its quality falls below 0.6, or at the start of the run, for the one with the best
least quality over the two rows, if that is a quarter better (the hysteresis, by which a motion to and fro does not
change charts each time). Failing that it is tried again further down; below LEAST, or where the determinant has
changed sign, the chart is said to be singular. Where Chaplygin's equations apply to no better chart, those of
Voronets, which are the same for the charts of Chaplygin, take over.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from math import comb

import numpy as np

from svyaz.arrays import Array
from svyaz.constraints import entered
from svyaz.expr import ModelError
from svyaz.forms import Equations, form_of
from svyaz.integrate import Path, Status
from svyaz.model import Constraint, System, names_of
from svyaz.motion.chart_quality import LEAST, watched, whole_of
from svyaz.motion.phases import Advance, Beginning, Chapter, Structure, Wishes, grid_of, only
from svyaz.stabilise import Decision, Entry, HeldIntegral, Options, Refusal, Segment, next_stop

POOR, NEAR = 0.2, 0.02
EARLY, BETTER = (0.6, 0.4, POOR), 1.25
"""A chart is left for another of its form that is BETTER when its quality falls below one of EARLY, for one of a wider form
below NEAR; below LEAST it is singular."""

USUAL_STEPS = 20_000
"""More steps than this are taken only if the chart of the equations stays good over them."""

FINE = 4000
"""Where rows are wanted at given times only, the chart is looked at this many times at least."""


MOST_IN_VAIN = 4
"""Charts are changed so often without getting on; where none is good the last one is kept."""

PACES, SLOWER = ((25, 1e8), (200, 1e5)), 1.05
"""Changes over which it is seen how fast they follow each other, with the number of them that a phase may need at that pace;
and by how much a pace must fall to be a hope."""

ChartName = tuple[str, tuple[str, ...], tuple[str, ...]]
"""A form, its dependent coordinates, the constraints that act."""


@dataclass(frozen=True)
class Charted:
    """Phases of another structure, each on as many charts as it needs; one that is returned to is there already."""

    phases: Structure
    met: dict[ChartName, Equations | None] = field(default_factory=dict, repr=False, compare=False)

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
        """The first phase, on another chart if a run would leave the given one for it at once."""
        beginning = self.phases.begin(state)
        phase, equations = beginning.phase, beginning.phase.equations
        if not equations.charted or self.options.charts == "keep" or beginning.refusal is not None:
            return beginning
        own = entered(equations, beginning.state, phase.start)
        path = Path(np.array([phase.start]), own[None, :], Status.FINISHED, "", 0, 0, 0, 0.0)
        switch = chart_switch(equations, path, phase.acting, self.met, at_start=True)
        if switch is None or switch.equations is None:
            return beginning
        return replace(
            beginning, phase=replace(phase, equations=switch.equations), notes=(*beginning.notes, switch.note)
        )

    def settle(self, beginning: Beginning, before: Sequence[Chapter], *, force: bool) -> Decision | Refusal:
        """As the phases are; charts that were changed in vain too often are kept from then on.

        The steps that a phase may take with error control are those of all its charts together.
        """
        decision = self.phases.settle(beginning, before, force=force)
        if isinstance(decision, Refusal) or not before:
            return decision
        options, last = decision.options, before[-1]
        if last.onward is not None and options.rtol is not None:
            options = replace(options, max_steps=max(0, last.options.max_steps - last.path.steps))
        if last.options.charts == "keep" or _in_vain(before):
            options = replace(options, charts="keep")
        return replace(decision, options=options)

    def foreseen(self, beginning: Beginning, held: tuple[HeldIntegral, ...]) -> float:
        return self.phases.foreseen(beginning, held)

    def advance(self, beginning: Beginning, segment: Segment, options: Options, wishes: Wishes) -> Advance:
        """Integrate a phase up to where its chart degenerates, on a chart that may first only as many steps as are usual.

        Before a singular point of the chart the steps of a method with error control grow short without end; another chart
        is looked for instead. After a change the run is first looked at when a few times the stay in the charts before is
        over: what lies behind the next change is computed in vain.
        """
        phase, equations = beginning.phase, segment.equations
        if not equations.charted:
            return self.phases.advance(beginning, segment, options, wishes)
        if not equations.named_basis:
            self.met.setdefault(_chart_name(equations.form, equations.dependent, phase.acting), equations)
        kept = options.charts == "keep"
        stop = phase.end if kept else next_stop(phase.start - beginning.stay, phase.start, phase.end, options.step)
        grid = grid_of(options, (phase.start, stop), wishes.rows)
        fine = None if grid is None else np.union1d(grid, np.linspace(grid[0], grid[-1], FINE))

        def advanced(options: Options, end: float = stop, rows: Array | None = fine) -> Advance:
            near = replace(beginning, phase=replace(phase, end=end))
            return self.phases.advance(near, segment, options, replace(wishes, rows=rows))

        if kept:
            found = advanced(options)
            return _ended(found, kept_chart(equations, found.path), grid)
        usual = replace(options, max_steps=min(USUAL_STEPS, options.max_steps))
        found = advanced(options if options.rtol is None else usual)
        switch = chart_switch(equations, found.path, phase.acting, self.met)
        stalled = options.rtol is not None and found.path.status is Status.STALLED
        if stalled and (switch is None or switch.equations is None):
            found = advanced(options)
            switch = chart_switch(equations, found.path, phase.acting, self.met)
        ended = _ended(found, switch, grid)
        if ended.onward is None and stop < phase.end and ended.path.status is Status.FINISHED:
            return replace(ended, onward=equations)
        if ended.onward is None or fine is None or options.rtol is None or len(ended.path.times) < 2:
            return ended
        return _on_grid(ended, advanced(options, ended.path.times[-1], grid).path)

    def after(self, chapters: Sequence[Chapter]) -> Beginning | None:
        last = chapters[-1]
        if last.onward is None:
            return self.phases.after(chapters)
        phase = replace(last.phase, start=last.end, new=(), equations=last.onward)
        stay = last.end - chapters[-2:][0].phase.start
        refusal = _runaway(chapters)
        return Beginning(phase, last.last_state, Entry.TIME, refusal=refusal, stay=stay if stay > 0.0 else np.inf)


def _in_vain(chapters: Sequence[Chapter]) -> bool:
    """Were charts just changed without getting on, more often in a row than is allowed?"""
    late = chapters[-MOST_IN_VAIN - 1 :]
    return len(late) > MOST_IN_VAIN and all(c.onward is not None and len(c.path.times) == 1 for c in late)


def _runaway(chapters: Sequence[Chapter]) -> Refusal | None:
    """Do charts follow each other so fast, and no slower than before, that the phase would never end?"""
    for count, most in PACES:
        late = chapters[-2 * count :]
        if len(late) < 2 * count or any(c.onward is None for c in late):
            return None
        form, now, end = late[-1].phase.equations.form, late[-1].end, late[-1].phase.end
        first, second = late[count - 1].end - late[0].phase.start, now - late[count - 1].end
        if second <= SLOWER * first and end - now > second * most / count:
            reason = (
                f"the motion runs through the charts of the form '{form}', {count} of them between t = {now - second:.9g} "
                f"and t = {now:.9g}, too fast to come to t = {end:g}; the form 'multipliers' needs no charts"
            )
            return Refusal(Status.INFEASIBLE, reason)
    return None


def _chart_name(form: str, dependent: Sequence[str], active: Sequence[Constraint]) -> ChartName:
    return form, tuple(sorted(dependent)), names_of(active)


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


def _on_grid(ended: Advance, path: Path) -> Advance:
    """The same with the rows of a path that ends there: between steps a method knows the last state less well, and a path
    that stalled has its steps for rows.
    """
    if path.status is not Status.FINISHED:
        return ended
    return replace(ended, path=replace(ended.path, times=path.times, states=path.states))


def chart_switch(
    equations: Equations,
    path: Path,
    active: Sequence[Constraint],
    met: dict[ChartName, Equations | None],
    *,
    at_start: bool = False,
) -> Switch | None:
    """What is to be done about the chart of a run; None when it stays good. Equations on a new chart are added to ``met``, None
    for a chart to which the form does not apply.
    """
    watch = watched(equations, path)
    if watch is None:
        return None
    times, form = path.times, equations.form
    wider = form_of(form).wider or form
    for limit, taken in (*((limit, form) for limit in EARLY), (NEAR, wider), (LEAST, wider)):
        bad = watch.first_below(limit, 0 if at_start or limit <= POOR else 1)
        if bad is None:
            break
        passed = watch.turned[bad] or watch.quality[bad] < LEAST
        row = bad - 1 if bad > 1 or (bad == 1 and passed) else bad
        wanted = BETTER * min(float(watch.quality[bad]), limit)
        other = _better(equations, taken, watch.alpha[row : bad + 1], wanted, active, met)
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
    watch = watched(equations, path)
    bad = None if watch is None else watch.first_below(LEAST)
    if bad is None:
        return None
    return Switch(bad, f"{_told(equations)} is singular near t = {path.times[bad]:.4g}, and was kept", None)


def _told(equations: Equations) -> str:
    if equations.named_basis:
        names = ", ".join(f"'{name}'" for name in equations.accelerated)
        return f"the basis of the form '{equations.form}' with the quasi-velocities {names}"
    return f"the chart of the form '{equations.form}' with {_named(equations)} dependent"


def _named(equations: Equations) -> str:
    return ", ".join(f"'{q}'" for q in equations.dependent)


def _better(
    equations: Equations,
    form: str,
    alpha: Array,
    wanted: float,
    active: Sequence[Constraint],
    met: dict[ChartName, Equations | None],
) -> Equations | None:
    """The equations in a form and the chart with the best least quality over these rows, among those that apply."""
    from svyaz.forms import MOST_CHOICES

    coordinates = equations.system.coordinates
    m, n = alpha.shape[1:]
    if comb(n, m) > MOST_CHOICES or form_of(form).reduced is None:
        return None
    choices = list(combinations(range(n), m))
    whole = whole_of(alpha)
    least = [float(np.min(np.abs(np.linalg.det(alpha[:, :, list(c)])) / whole)) for c in choices]
    own = None if equations.named_basis else tuple(sorted(coordinates.index(q) for q in equations.dependent))
    good = [k for k in np.argsort(least)[::-1] if least[k] > max(wanted, 2 * LEAST) and choices[k] != own]
    for k in good:
        dependent = tuple(coordinates[j] for j in choices[k])
        name = _chart_name(form, dependent, active)
        if name not in met:
            met[name] = _on_chart(equations, form, dependent, active)
        found = met[name]
        if found is not None:
            return found
    return None


def _on_chart(
    equations: Equations, form: str, dependent: tuple[str, ...], active: Sequence[Constraint]
) -> Equations | None:
    """The equations in a form with these dependent coordinates; None where it does not apply to them."""
    reduced = form_of(form).reduced
    assert reduced is not None, "a form without charts has no others"
    try:
        made = reduced(equations.system, active, dependent)
    except ModelError:
        return None
    return replace(made, spare=equations.spare, undetermined=equations.undetermined)
