"""Equilibria and steady motions as JSON and in notebooks."""

from __future__ import annotations

from collections.abc import Sequence

from svyaz import __version__
from svyaz.json_types import Json, Record
from svyaz.show.results import as_json, stated_numbers
from svyaz.stability import (
    UNDECIDED,
    Equilibria,
    Equilibrium,
    FamilyBranch,
    Hypothesis,
    Pole,
    SteadyBranches,
    SteadyMotion,
    SteadyMotions,
    forces_of,
)


@as_json.register(Equilibrium)
def _(found: Equilibrium) -> Record:
    return {
        "state": dict(found.state),
        "inputs": dict(found.inputs),
        "multipliers": dict(found.multipliers),
        "parameters": dict(found.parameters),
        **_verdict_record(found),
        "outside": list(found.outside),
    }


def _verdict_record(found: Equilibrium | SteadyMotion) -> Record:
    """Roots, verdict and theorem; where nothing was decided, that."""
    verdict = found.verdict
    return {
        "roots": [] if verdict is None else [[float(z.real), float(z.imag)] for z in verdict.roots],
        "zero_roots": None if verdict is None else verdict.zero_roots,
        "constraint_roots": None if verdict is None else verdict.constraint_roots,
        "verdict": UNDECIDED if verdict is None else verdict.word,
        "theorem": "" if verdict is None else verdict.theorem,
        "hypotheses": [] if verdict is None else hypotheses_json(verdict.hypotheses),
        "drift": list(found.drift),
        "notes": [*found.notes, *(verdict.notes if verdict else ())],
    }


@as_json.register(Pole)
def _(found: Pole) -> Record:
    box = {name: list(sides) for name, sides in found.box.items()}
    return {"where": list(found.where), "box": box, "parts": found.parts}


@as_json.register(FamilyBranch)
def _(found: FamilyBranch) -> Record:
    return {
        "dimension": found.dimension,
        "may_be_fixed": list(found.free),
        "members": [as_json(e) for e in found.members],
        "verdict": found.verdict,
    }


@as_json.register(Equilibria)
def _(found: Equilibria) -> Record:
    system = found.system
    return {
        "svyaz": __version__,
        "model": system.name,
        "equilibria": [as_json(e) for e in found.equilibria],
        "dimension": found.dimension,
        "complete": found.complete,
        "left": found.left,
        "box": {name: list(sides) for name, sides in found.box.items()},
        "fixed": dict(found.fixed),
        "may_be_fixed": list(found.free),
        "families": [as_json(family) for family in found.families],
        "members": [dict(m) for m in found.members],
        "poles": [as_json(pole) for pole in found.poles],
        "reason": found.reason(),
        "notes": list(found.notes),
        **stated_numbers(system),
    }


@as_json.register(SteadyMotion)
def _(found: SteadyMotion) -> Record:
    fixed = found.at_fixed_momenta
    forces = {} if found.approximation is None else forces_of(found.approximation)
    return {
        "state": dict(found.state),
        "speeds": dict(found.speeds),
        "momenta": dict(found.momenta),
        "inputs": dict(found.inputs),
        "parameters": dict(found.parameters),
        **_verdict_record(found),
        "at_fixed_momenta": UNDECIDED if fixed is None else fixed.word,
        "at_perturbed_momenta": found.perturbed,
        "forces": {name: matrix.tolist() for name, matrix in forces.items()},
    }


@as_json.register(SteadyMotions)
def _(found: SteadyMotions) -> Record:
    return {
        "svyaz": __version__,
        "model": found.system.name,
        "cyclic": [c.name for c in found.cyclic],
        "conserved": [c.name for c in found.cyclic if c.conserved],
        "dimension": found.dimension,
        "prescribable": list(found.prescribable),
        "motions": [as_json(motion) for motion in found.motions],
        "complete": found.complete,
        "taken": dict(found.taken),
        "left": found.found.left,
        "box": {name: list(sides) for name, sides in found.found.box.items()},
        "reason": found.reason(),
        "notes": [*found.notes, *found.found.notes],
        **stated_numbers(found.system),
    }


@as_json.register(SteadyBranches)
def _(found: SteadyBranches) -> Record:
    return {
        "svyaz": __version__,
        "model": found.system.name,
        "along": found.along,
        "span": list(found.span),
        "complete": not found.incomplete,
        "branch": [{**as_json(m.motion), "value": m.value, "kind": m.kind, "number": m.number} for m in found.members],
        **stated_numbers(found.system),
    }


def sure_text(found: Equilibria | SteadyMotions) -> str:
    """What is known of others."""
    if isinstance(found, SteadyMotions):
        return sure_text(found.found) + (found.condition if found.found.complete else "")
    if not found.complete and not (found.poles and found.beside_poles):
        return "there may be others"
    return "there are no others in the box" + (" outside of what encloses its poles" if found.poles else "")


def hypotheses_json(hypotheses: Sequence[Hypothesis]) -> Json:
    """Each with its text and whether it holds; null where neither that nor the contrary is shown."""
    return [{"text": h.text, "holds": None if h.holds is None else bool(h.holds)} for h in hypotheses]
