"""From a model to its regulator: the equilibrium, the design, its rival from a wrong model, the verdict."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Unpack

from svyaz.arguments import check_arguments
from svyaz.constraints import without_repeated
from svyaz.control.closed import settled
from svyaz.control.design import Design, chosen_inputs, designed, measurement_of, theorem_of
from svyaz.control.lasting import told_lasting
from svyaz.control.nonholonomic_loop import nonholonomic_theorem
from svyaz.control.options import DEFAULTS, RegulateOptions
from svyaz.control.regulation import Regulation
from svyaz.control.regulators import METHODS, Method, NoRegulator, NotSolvable
from svyaz.control.uniform import LAGRANGE, UniformVariables, told_momenta, uniform_variables, with_feed
from svyaz.control.weights import Weights, told_weights, unit_weights
from svyaz.expr import ModelError, Problem
from svyaz.forms import momentum_of, pseudo_cyclic, refuse_negative_mass
from svyaz.model import System, nearest
from svyaz.stability import (
    Chosen,
    FirstApproximation,
    Hypothesis,
    Repetition,
    SteadyChoice,
    along_a_symmetry,
    equilibrium_near,
    has_velocity_constraints,
    nonholonomic_near,
    steady_near,
)

STEADY = (
    "Krasinskii: stabilisation of a steady motion by linear feedback at fixed momenta; asymptotic where the conserved momenta "
    "are not perturbed, stable where they are"
)

Held = tuple[Chosen, SteadyChoice | None]
"""What is to be held; the choice of the steady motion, where it is one."""


@check_arguments
def regulate(
    system: System,
    **options: Unpack[RegulateOptions],
) -> Regulation:
    """A regulator (and an observer) about the equilibrium nearest to ``near``.

    Where ``fix`` prescribes the speed or the momentum of a cyclic coordinate, it is about a steady motion; then gains and
    weights are those of Lagrange's or Routh's ``variables``.

    Weights are given by the words of a file of weights, by the name of such a file, or as matrices. The box is
    searched for so many ``seconds``; ``progress`` is told the part that is done. Raises NoEquilibrium or NotSolvable, with
    the reason, when there is none to be had.

    >>> import svyaz
    >>> found = svyaz.regulate(svyaz.load("inverted-pendulum-xy"))
    >>> bool((found.design.closed_roots(found.plant).real < 0).all())
    True
    """
    how: RegulateOptions = {**DEFAULTS, **options}
    method, variables, measure, fix = how["method"], how["variables"], how["measure"], how.get("fix")
    if isinstance(method, str) and method not in METHODS:
        raise ModelError(
            [Problem(f"'method' is {' or '.join(METHODS)}, not '{method}'", hint=nearest(method, METHODS))]
        )
    way = METHODS[method] if isinstance(method, str) else method
    refuse_negative_mass(system, fix)
    system, fix, passed = along_a_symmetry(system, fix or {})
    find = partial(
        _found,
        near=how.get("near"),
        fix=fix,
        box=how.get("box"),
        dependent=_names(how.get("dependent")) or None,
        variables=variables,
        seconds=how["seconds"],
        progress=how.get("progress"),
    )
    system, repeated, (chosen, steady) = _without_repetition(system, find)
    plant = chosen.equilibrium.approximation
    assert plant is not None, "a chosen equilibrium has a first approximation"
    uniform = None if steady is None else uniform_variables(steady, variables)
    texts = tuple(split_expressions(measure)) if isinstance(measure, str) else tuple(measure)
    speeds = None if steady is None else steady.speeds
    design = _design(
        plant, chosen_inputs(plant, _names(how.get("inputs")) or None), texts, how.get("weights"), way, uniform, speeds
    )
    rival, refused = _rival(plant, design) if how["against_linearised"] else (None, None)
    theorem, hypotheses = _theorem(design, plant, steady)
    notes = (*passed, *repeated, *_switching_notes(system), *_notes(chosen, plant, design, steady, refused))
    return Regulation(
        plant.system,
        chosen,
        plant,
        design,
        theorem,
        hypotheses,
        rival,
        tuple(dict.fromkeys(notes)),
        refused,
        system.constraints,
        uniform,
        system,
    )


def _design(
    plant: FirstApproximation,
    inputs: Sequence[str],
    measured: tuple[str, ...],
    weights: Weights | Mapping[str, object] | str | Path | None,
    method: Method,
    uniform: UniformVariables | None,
    speeds: Mapping[str, float] | None,
) -> Design:
    """The regulator of a first approximation, and the observer of what is measured; raises NoRegulator."""
    told = plant if uniform is None else uniform.renamed
    given = told_weights(weights, told.variables, inputs, measured)
    if uniform is not None:
        given = uniform.weights(given or unit_weights(len(plant.variables), len(inputs), len(measured)))
    try:
        seen = measurement_of(plant, measured, speeds) if measured else None
        design = with_feed(designed(plant, inputs, given, seen, method), uniform)
    except NotSolvable as refusal:
        raise NoRegulator(refusal, plant, inputs) from refusal
    return replace(design, fed={**design.fed, **plant.fed})


def _without_repetition(system: System, find: Callable[[System], Held]) -> tuple[System, tuple[str, ...], Held]:
    """The system, what is said of constraints that it repeats and goes on without, and what is to be held."""
    try:
        return system, (), find(settled(system))
    except Repetition:
        fewer = without_repeated(settled(system))
        if fewer is None:
            raise
    return fewer.system, (fewer.note,), find(fewer.system)


def _theorem(
    design: Design, plant: FirstApproximation, steady: SteadyChoice | None
) -> tuple[str, tuple[Hypothesis, ...]]:
    """The theorem by which the control works, with its hypotheses."""
    if has_velocity_constraints(plant.system):
        verdict, hypotheses = nonholonomic_theorem(design, plant)
        theorem = verdict.theorem
    else:
        theorem, hypotheses = theorem_of(design, plant)
    return STEADY if steady is not None and conserved_momenta(steady) else theorem, hypotheses


def _notes(
    chosen: Chosen, plant: FirstApproximation, design: Design, steady: SteadyChoice | None, refused: NoRegulator | None
) -> Iterator[str]:
    """What is to be said of the motion that is held, of its design and of the rival that was refused."""
    yield from (*chosen.notes, *chosen.equilibrium.notes, *plant.notes, *_zero_notes(chosen), *design.weights.notes)
    for name in chosen.equilibrium.outside:
        yield f"the equilibrium lies beyond the limits of {name}"
    if refused is not None:
        yield f"linearised constraints allow no design: {refused}"
    if steady is not None and (kept_momenta := conserved_momenta(steady)):
        yield told_momenta(kept_momenta)
    if design.lasting is not None:
        yield told_lasting(design.lasting)


def _found(
    system: System,
    near: Mapping[str, float] | None,
    fix: Mapping[str, float] | None,
    box: Mapping[str, tuple[float, float]] | None,
    dependent: Sequence[str] | None,
    variables: str,
    *,
    seconds: float,
    progress: Callable[[float], object] | None,
) -> Held:
    """What is to be held: an equilibrium, or a steady motion where a cyclic speed or momentum is prescribed."""
    if has_velocity_constraints(system):
        if variables != LAGRANGE or dependent:
            message = (
                "where velocities are constrained no momenta are assumed, and redundant variables follow by themselves"
            )
            raise ModelError([Problem(message)])
        return nonholonomic_near(system, near, fix, box, seconds=seconds, progress=progress), None
    if _turns(system, fix or {}):
        steady = steady_near(system, near, fix, box, dependent, seconds=seconds, progress=progress)
        return steady.chosen, steady
    if variables != LAGRANGE:
        message = "Routh's variables are those of steady motions, in which a cyclic coordinate turns uniformly"
        raise ModelError([Problem(message, hint="prescribe the speed or the momentum of a cyclic coordinate")])
    return equilibrium_near(system, near, fix, box, dependent, seconds=seconds, progress=progress), None


def _turns(system: System, fix: Mapping[str, float]) -> bool:
    """Is the speed or the momentum of a cyclic coordinate prescribed?"""
    return any(f"{c.name}'" in fix or momentum_of(c.name) in fix for c in pseudo_cyclic(system))


def conserved_momenta(steady: SteadyChoice) -> list[str]:
    """Those on which no force and no input acts."""
    return [momentum_of(c.name) for c in steady.cyclic if c.conserved]


def _switching_notes(system: System) -> list[str]:
    if settled(system) is system:
        return []
    acting = ", ".join(f"'{c.name}'" for c in settled(system).constraints) or "none of them"
    return [f"events switch constraints: the control is designed for those that act at the beginning ({acting})"]


def _rival(plant: FirstApproximation, design: Design) -> tuple[Design | None, NoRegulator | None]:
    """The design from linearised constraints; where they leave nothing to control or to see, the refusal."""
    wrong = plant.linearised()
    try:
        rival = designed(wrong, design.inputs, design.weights, design.measurement, design.method)
        return replace(rival, fed=design.fed), None
    except NotSolvable as refusal:
        return None, NoRegulator(refusal, wrong, design.inputs)


def _names(given: Sequence[str] | str | None) -> tuple[str, ...]:
    """Names in a list, or separated by commas."""
    parts = given.split(",") if isinstance(given, str) else given or ()
    return tuple(part.strip() for part in parts if part.strip())


def split_expressions(text: str) -> list[str]:
    """Expressions separated by commas that do not stand in parentheses."""
    parts, depth = [""], 0
    for character in text:
        depth += (character == "(") - (character == ")")
        if character == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += character
    return [part.strip() for part in parts if part.strip()]


def _zero_notes(chosen: Chosen) -> tuple[str, ...]:
    verdict = chosen.equilibrium.verdict
    return () if verdict is None else tuple(f"without control: {note}" for note in verdict.notes)
