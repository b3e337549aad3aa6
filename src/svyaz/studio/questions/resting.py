"""Equilibria, steady motions and their branches, each with its verdict and its picture."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeVar

from svyaz.expr import ModelError, Problem
from svyaz.studio.questions import Tell
from svyaz.studio.questions.asked import Asked, Table, quantities, ranges, read_question
from svyaz.studio.questions.drawn import positions_drawn

if TYPE_CHECKING:
    from svyaz.model import System

Found = TypeVar("Found")

SECONDS = 45.0
"""So long a box is searched: less than a question may take."""

MOST_DRAWN = 24


def equilibria(question: Table, tell: Tell) -> Mapping[str, object]:
    """All equilibria in the box."""
    from svyaz.show import as_json
    from svyaz.stability import equilibria as found_in

    given = read_question(question)
    found = _in_box(found_in, given, tell)
    members = [*found.equilibria, *(e for family in found.families for e in family.members)]
    fixed = {name: x for name, x in found.fixed.items() if name in given.system.parameters}
    places = [({**fixed, **e.parameters}, e.state) for e in members]
    return {"record": as_json(found), "scene": _draw(given.system, places)}


def steady(question: Table, tell: Tell) -> Mapping[str, object]:
    """All steady motions in the box."""
    from svyaz.show import as_json
    from svyaz.stability import steady_motions

    given = read_question(question)
    found = _in_box(steady_motions, given, tell)
    places = [(dict(m.parameters), m.state) for m in found.motions]
    return {"record": as_json(found), "scene": _draw(given.system, places)}


def _in_box(search: Callable[..., Found], given: Asked, tell: Tell) -> Found:
    """What a search finds in the box, with what is fixed."""
    return search(
        given.system,
        quantities(given.options, "fix", given.system),
        ranges(given.options, "box", given.system),
        seconds=SECONDS,
        progress=tell,
    )


def branches(question: Table, tell: Tell) -> Mapping[str, object]:
    """Steady motions followed along a quantity."""
    from svyaz.show import as_json
    from svyaz.stability import steady_branches

    given = read_question(question)
    along = ranges(given.options, "along", given.system)
    if len(along) != 1:
        raise ModelError([Problem("branches are followed along one quantity, from a value to another")])
    ((name, span),) = along.items()
    found = steady_branches(
        given.system,
        name,
        span,
        quantities(given.options, "fix", given.system),
        ranges(given.options, "box", given.system),
        seconds=SECONDS,
    )
    return {"record": as_json(found)}


def places(question: Table, tell: Tell) -> Mapping[str, object]:
    """The mechanism in given states, each with the parameters that belong to it: pictures of members of a branch."""
    given = read_question(question)
    states = given.options.get("states")
    if not isinstance(states, list) or len(states) > MOST_DRAWN or not all(isinstance(s, Mapping) for s in states):
        raise ModelError([Problem(f"'states' is a list of at most {MOST_DRAWN} tables of values")])
    system = given.system
    found = [quantities({"state": state}, "state", system) for state in states]
    known = {*system.parameters, *system.states}
    own = [
        (
            {name: x for name, x in state.items() if name in system.parameters},
            {name: x for name, x in state.items() if name in known and name not in system.parameters},
        )
        for state in found
    ]
    return {"scene": _draw(system, own)}


def _draw(system: System, places: Sequence[tuple[Mapping[str, float], Mapping[str, float]]]) -> object:
    """The mechanism in each place, with the parameters that belong to it."""
    from svyaz.model import with_settings

    if not system.drawings or not places:
        return None
    known = [
        (with_settings(system, dict(own)) if own else system, {**dict.fromkeys(system.states, 0.0), **state})
        for own, state in places[:MOST_DRAWN]
    ]
    return positions_drawn(known)


ANSWERS = {"equilibria": equilibria, "steady": steady, "branches": branches, "places": places}
