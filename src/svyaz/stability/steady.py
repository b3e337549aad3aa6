"""Steady motions: cyclic coordinates turn uniformly while everything else rests.

    α = α₀,   γ' = c,   s = s₀:     -∂/∂α (½ cᵀ a c + cᵀ d + L₀) - Bᵀ ∂/∂s (…) = Q_α + Bᵀ Q_s,     F(α, s) = 0,     Q_γ = 0

(2.1.8 and, by momenta, 2.7.2 of the work on redundant coordinates.) They are the equilibria of the system in which the cyclic
coordinates are ignored, at given speeds or at given momenta (Routh). Its first approximation decides their stability:

- each momentum on which no force acts is conserved and gives a zero root; the others are those of the system at fixed momenta;
- all of these in the left half-plane: stable, and asymptotically at unperturbed momenta (Theorem 2.6.1);
- a strict minimum of the reduced potential: stable (Routh, with Lyapunov's addition for perturbed momenta).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Unpack

from svyaz.arguments import check_arguments
from svyaz.expr import Advice, Expression, ModelError, Problem, names_in
from svyaz.forms import (
    Cyclic,
    momentum_of,
    pseudo_cyclic,
    refuse_negative_mass,
)
from svyaz.model import System, nearest
from svyaz.motion import searches_box
from svyaz.stability.admissible import refuse_unfit
from svyaz.stability.along import offered, with_cyclic_coordinates, with_parameters
from svyaz.stability.attitude_speeds import prescribed_turns, steady_chart
from svyaz.stability.attitudes import AttitudeChart, describe_chart
from svyaz.stability.choice import AskedPosition, Chosen, NoEquilibrium, equilibrium_near
from svyaz.stability.constraint_surface import complete_speeds
from svyaz.stability.descent import SAME
from svyaz.stability.equilibrium_search import Equilibrium, equilibria, searched_equilibria
from svyaz.stability.ignoring import pole_at, routhian_system, searched_system, speeds_near, uniform
from svyaz.stability.linear_forces import held_by_gyroscopic_forces
from svyaz.stability.long_rest import ASKED, MOST_CHARTS
from svyaz.stability.nonholonomic_rest import has_velocity_constraints, steady_rest
from svyaz.stability.options import SECONDS, SearchOptions
from svyaz.stability.positional import judge, with_momenta, without_cyclic
from svyaz.stability.rest import RestEquations, rest_equations, with_values
from svyaz.stability.speed_range import SpeedRange, initial_speeds, speed_range
from svyaz.stability.steady_result import SteadyMotion, SteadyMotions


@check_arguments
def steady_motions(
    system: System,
    fix: Mapping[str, float] | None = None,
    box: Mapping[str, tuple[float, float]] | None = None,
    **options: Unpack[SearchOptions],
) -> SteadyMotions:
    """All steady motions in the box with these speeds, momenta, coordinates, inputs and parameters.

    Where as many values are prescribed as the manifold of steady motions has dimensions, everything else is unknown: a speed
    without a side in the box may have any value. Only where fewer are prescribed, speeds that nothing determines have the
    values of the model's initial state, and nothing is claimed about others.
    """
    refuse_negative_mass(system, fix)
    dependent, seconds, progress = options.get("dependent"), options.get("seconds", SECONDS), options.get("progress")
    if system.turns_freely:
        return _turning_freely(system, fix or {}, box or {}, dependent, seconds)
    if has_velocity_constraints(system):
        return _rolling(system, fix or {}, box or {}, seconds, progress)
    search = SteadySearch(system, fix or {}, box or {}, boxed=searches_box(system, box or (), seconds))
    return _searched(search, dependent, seconds, progress)


def _searched(
    search: SteadySearch,
    dependent: Sequence[str] | None,
    seconds: float,
    progress: Callable[[float], object] | None = None,
) -> SteadyMotions:
    """The steady motions where a search looks for them."""
    within = search.bound()
    found = equilibria(search.system, search.fixed, within, dependent=dependent, seconds=seconds, progress=progress)
    motions = tuple(search.motion(e, dependent) for e in found.equilibria)
    ignored = search.ignored
    names = tuple(x for c in ignored for x in (f"{c.name}'", momentum_of(c.name)))
    found = replace(found, complete=found.complete and search.anywhere.proved)
    complete = found.complete and not search.taken
    return SteadyMotions(
        search.model, ignored, search.dimension, names, motions, found, search.notes, complete, search.taken
    )


@dataclass(frozen=True)
class SteadyChoice:
    """A steady motion as an equilibrium of the Routhian system: what a regulator is designed for.

    ``speeds`` are the velocities of the cyclic coordinates in its terms.
    """

    motion: SteadyMotion
    cyclic: tuple[Cyclic, ...]
    speeds: Mapping[str, Expression]
    chosen: Chosen


def steady_near(
    system: System,
    near: Mapping[str, float] | None = None,
    fix: Mapping[str, float] | None = None,
    box: Mapping[str, tuple[float, float]] | None = None,
    dependent: Sequence[str] | None = None,
    *,
    seconds: float = SECONDS,
    progress: Callable[[float], object] | None = None,
) -> SteadyChoice:
    """The steady motion with these speeds or momenta whose position is nearest to ``near`` or the model's initial one."""
    search = SteadySearch(system, fix or {}, box or {}, boxed=searches_box(system, box or (), seconds))
    place = AskedPosition(search.system, dict(near or {}), search.fixed, search.box, search.system.coordinates)
    within = search.bound(place.sides if search.unbounded else None)
    chosen = equilibrium_near(search.system, near, search.fixed, within, dependent, seconds=seconds, progress=progress)
    e = chosen.equilibrium
    motion = search.under_control(e, dependent)
    if motion.approximation is None:
        raise NoEquilibrium(*motion.notes)
    state = motion.approximation.state
    here = replace(e, state=state, approximation=motion.approximation, verdict=motion.at_fixed_momenta)
    held = {momentum_of(c.name): motion.momenta[momentum_of(c.name)] for c in search.ignored if not c.conserved}
    held |= {name: x for name, x in chosen.fixed.items() if name in state}
    known = {**search.routhian.system.constants, **motion.approximation.system.parameters, **motion.momenta, **state}
    speeds = speeds_near(search.routhian, known)
    return SteadyChoice(motion, search.ignored, speeds, Chosen(here, held, (*search.notes, *chosen.notes)))


class SteadySearch:
    """Where steady motions are looked for: the system at given speeds and momenta, what is prescribed, and the box that is
    searched where it is ``boxed``; else near the initial position.
    """

    def __init__(
        self,
        system: System,
        fix: Mapping[str, float],
        box: Mapping[str, tuple[float, float]],
        *,
        boxed: bool,
    ) -> None:
        refuse_unfit(system)
        system, fixed = with_parameters(system, fix)
        system, box, passed = with_cyclic_coordinates(system, fixed, box)
        self.model, self.ignored = system, pseudo_cyclic(system)
        _check_names(system, self.ignored, (*fixed, *box))
        by_momentum = [c for c in self.ignored if momentum_of(c.name) in fixed or momentum_of(c.name) in box]
        by_speed = [c for c in self.ignored if c not in by_momentum]
        self.boxed = boxed
        searched = searched_system(self.model, by_momentum, by_speed, boxed=boxed)
        self.dimension = sum(c.conserved for c in self.ignored) + len(system.inputs)
        freed = sum(name in system.parameters for name in box)
        self.taken = self._initial_speeds(by_speed, {*fixed, *box}, self.dimension + freed - len(fixed))
        fixed |= self.taken
        values = {name: fixed.pop(name) for name in list(fixed) if name in searched.parameters}
        self.system = replace(searched, parameters={**searched.parameters, **values})
        self.fixed = fixed
        told = (f"{name} = {value:.6g} is that of the model's initial state" for name, value in self.taken.items())
        self.notes = (*passed, *told, *(() if passed else offered(self.model)))
        unknown = [f"{c.name}'" for c in by_speed if not {f"{c.name}'"} & {*values, *fixed, *box}]
        self.box = {**box, **{name: system.box[name] for name in unknown if name in system.box}}
        self.unbounded = [name for name in unknown if name not in self.box and self.boxed]
        self.anywhere = SpeedRange({}, proved=True)
        self.alone, self.left_alone = without_cyclic(self.model)
        self.routhian = routhian_system(self.model, self.ignored) if self.left_alone != self.ignored else self.alone

    def _initial_speeds(self, by_speed: Sequence[Cyclic], named: set[str], missing: int) -> dict[str, float]:
        """The speeds that nothing determines and that have their initial values; of many bodies all of them."""
        free = [f"{c.name}'" for c in by_speed if not c.forced and not named & {f"{c.name}'", *c.driven}]
        return initial_speeds(self.model, free, missing if self.boxed else len(free))

    def bound(self, sides: Mapping[str, tuple[float, float]] | None = None) -> dict[str, tuple[float, float]]:
        """The box with the range of all solutions for unknown speeds without a side; ``sides`` are those of other unknowns."""
        if not self.unbounded:
            return self.box
        provisional = {**(sides or {}), **self.box, **dict.fromkeys(self.unbounded, (-1.0, 1.0))}
        rest = rest_equations(self.system, self.fixed, provisional)
        self.anywhere = speed_range(rest, self.unbounded, self.model.initial)
        self.box |= self.anywhere.sides
        self.notes = (*self.notes, *self.anywhere.notes)
        return self.box

    def motion(self, found: Equilibrium, dependent: Sequence[str] | None) -> SteadyMotion:
        """The motion with these values of what rests and of the speeds or momenta, its inputs held constant."""
        return self._motion(found, dependent, self.alone.system, self.left_alone)

    def under_control(self, found: Equilibrium, dependent: Sequence[str] | None) -> SteadyMotion:
        """The same with the momenta that inputs move among the states."""
        return self._motion(found, dependent, self.routhian.system, self.ignored)

    def _motion(
        self, found: Equilibrium, dependent: Sequence[str] | None, whole: System, ignored: Sequence[Cyclic]
    ) -> SteadyMotion:
        model, notes, freed = self.model, found.notes, dict(found.parameters)
        values = {**with_values(self.system, freed).constants, **found.state, **found.inputs}
        known = {**values, **{f"{q}'": 0.0 for q in whole.coordinates}, "t": 0.0}
        cyclic = [c.name for c in self.ignored]
        speeds, moving = uniform(self.system, model, cyclic, known)
        position = {name: values[name] for name in (*whole.coordinates, *model.rates)}
        inputs = {name: float(values.get(name, given.value)) for name, given in model.inputs.items()}
        own = {name: values[name] for name in model.parameters}
        free = {momentum_of(c.name): moving[momentum_of(c.name)] for c in ignored if c.conserved}
        held = {**whole.parameters, **own, **free}
        if pole := pole_at(self.system, model, cyclic, {**known, **speeds}):
            return SteadyMotion(position, speeds, moving, inputs, freed, None, None, None, (*notes, pole))
        inexact = {name: reach for name, reach in found.inexact.items() if name in position}
        try:
            approximation, here = judge(whole, {**position, **moving}, inputs, dependent, held, inexact)
        except ModelError as error:
            return SteadyMotion(position, speeds, moving, inputs, freed, None, None, None, (*notes, str(error)))
        if held_up := held_by_gyroscopic_forces(approximation):
            here = replace(here, notes=(*here.notes, held_up))
        verdict, perturbed = with_momenta(here, len(free))
        drift = tuple(c.name for c in ignored if c.conserved)
        return SteadyMotion(
            position, speeds, moving, inputs, freed, approximation, here, verdict, tuple(notes), perturbed, drift
        )


def _turning_freely(
    system: System,
    fix: Mapping[str, float],
    box: Mapping[str, tuple[float, float]],
    dependent: Sequence[str] | None,
    seconds: float,
) -> SteadyMotions:
    """With ball or free joints: near the initial attitude, in charts that follow the motion found until it is their middle."""
    chart = begin = steady_chart(system, fix, {})
    for _ in range(MOST_CHARTS):
        given = prescribed_turns(chart, fix, begin)
        found = _searched(SteadySearch(chart.system, given, box, boxed=False), dependent, seconds)
        there = [m for m in found.motions if all(abs(m.state.get(name, 0.0)) <= SAME for name in chart.turns)]
        if there or not found.motions:
            break
        first = {**dict.fromkeys(chart.turns, 0.0), **found.motions[0].state}
        chart = steady_chart(system, fix, chart.position({**chart.system.initial, **first}))
    motions = tuple(_of_model(chart, motion) for motion in (there or found.motions))
    notes = (*(note.removesuffix(ASKED) for note in found.notes), describe_chart(chart))
    return replace(found, system=system, motions=motions, notes=notes)


def _of_model(chart: AttitudeChart, motion: SteadyMotion) -> SteadyMotion:
    """The motion with quaternions in its state, and the angular velocity in body axes among its speeds."""
    values = {**chart.system.initial, **dict.fromkeys(chart.turns, 0.0), **motion.state}
    moving = {**values, **dict.fromkeys(chart.system.velocities, 0.0), **motion.speeds}
    return replace(motion, state=chart.position(values), speeds={**motion.speeds, **chart.velocities(moving)})


def _rolling(
    system: System,
    fix: Mapping[str, float],
    box: Mapping[str, tuple[float, float]],
    seconds: float,
    progress: Callable[[float], object] | None,
) -> SteadyMotions:
    """Where velocities are constrained: no momenta are conserved, and the speeds that the constraints leave are prescribed."""
    rest, speeds, taken = steady_rest(system, fix, box)
    if not rest.speeds:
        text = "every coordinate is in the equations, in turned axes too: what is steady is an equilibrium"
        raise ModelError([Problem(text, hint=Advice("look for equilibria", "equilibria"))])
    found = searched_equilibria(rest, seconds=seconds, progress=progress)
    motions = [rolling_motion(rest, e) for e in found.equilibria]
    driven = {q: tuple(u for u in system.inputs if u in names_in(force)) for q, force in system.forces.items()}
    ignored = [name.removesuffix("'") for name in rest.speeds]
    cyclic = tuple(Cyclic(q, driven.get(q, ()), q in system.forces, tied=True) for q in ignored)
    kept = [f"{name} = {rest.fixed[name]:.6g} is that of the model's initial state" for name in taken]
    kept += speeds.anywhere.notes
    kept += [f"{', '.join(axes)} are told in axes that turn with {psi}" for psi, axes in speeds.turning.items()]
    followed = [m.verdict.manifold for m in motions if m.verdict is not None and m.verdict.manifold is not None]
    dimension = len(speeds.free) + found.dimension
    if not any(name not in rest.fixed for name in system.inputs):  # else inputs hold whatever speeds are asked for
        dimension = max(followed, default=dimension)
    initial = {name: float(rest.fixed[name]) for name in taken}
    found = replace(found, complete=found.complete and speeds.anywhere.proved)
    complete = found.complete and not initial
    return SteadyMotions(
        rest.system, cyclic, dimension, rest.speeds, tuple(motions), found, tuple(kept), complete, initial
    )


def rolling_motion(rest: RestEquations, found: Equilibrium) -> SteadyMotion:
    """The motion at a solution of the equations of steady motions with constrained velocities."""
    freed = {name: x for name, x in found.parameters.items() if name not in rest.speeds}
    known = {**with_values(rest.system, freed).constants, **rest.fixed, **found.parameters, **found.inputs}
    given = {name: known[name] for name in rest.speeds if name in known}
    moving = complete_speeds(rest.system, {**found.state, **given}, known)
    speeds = {name: moving[name] for name in rest.speeds}
    verdict = found.verdict
    return SteadyMotion(found.state, speeds, {}, found.inputs, freed, None, verdict, verdict, found.notes, found.word)


def _check_names(system: System, ignored: Sequence[Cyclic], given: Sequence[str]) -> None:
    cyclic = [c.name for c in ignored]
    speeds = [f"{name}'" for name in cyclic]
    known = [
        *(q for q in system.coordinates if q not in cyclic),
        *system.rates,
        *system.inputs,
        *system.parameters,
        *speeds,
        *map(momentum_of, cyclic),
    ]
    for name in given:
        if name in cyclic:
            message = f"'{name}' is cyclic and turns uniformly in a steady motion: prescribe its speed or its momentum"
            raise ModelError([Problem(message, hint=f"{name}' or {momentum_of(name)}")])
        if name not in known:
            message = f"'{name}' is no coordinate, cyclic speed, momentum, input or parameter of the model"
            raise ModelError([Problem(message, hint=nearest(name, known))])
    for name in cyclic:
        if f"{name}'" in given and momentum_of(name) in given:
            raise ModelError([Problem(f"the speed {name}' and the momentum {momentum_of(name)} determine each other")])
