"""Reading [limits]: where a motion is physical."""

from __future__ import annotations

from collections.abc import Mapping

from svyaz.expr import Expression
from svyaz.model.reading import words as vocabulary
from svyaz.model.reading.common import Names, Path, Reader, Table
from svyaz.model.system import Limit

NO_SIDE = ""
"""Stands in a pair where there is no limit on that side."""


def read_limits(reader: Reader, given: Table, names: Names) -> tuple[Limit, ...]:
    """``r = [low, high]`` for what has a name, with "" for a side that is open; ``name = { of = …, low = …, high = … }``."""
    found = (_limit(reader, ("limits", name), value, names) for name, value in given.items())
    return tuple(limit for limit in found if limit is not None)


def _limit(reader: Reader, path: Path, value: object, names: Names) -> Limit | None:
    name = str(path[-1])
    if isinstance(value, Mapping):
        words = reader.known_words(value, vocabulary.LIMIT, path)
        sides = {key: words[key] for key in ("low", "high") if words.get(key, NO_SIDE) != NO_SIDE}
        paths: dict[str, Path] = {key: (*path, key) for key in sides}
        of, at = words.get("of", name), (*path, "of") if "of" in words else path
    elif isinstance(value, list | tuple) and len(value) == 2:
        both = zip(("low", "high"), range(2), value, strict=True)
        sides, paths = {}, {}
        for key, k, side in both:
            if side != NO_SIDE:
                sides[key], paths[key] = side, (*path, k)
        of, at = name, path
    else:
        reader.report(path, 'limits are [low, high], with "" for a side that is open, or a table with of, low and high')
        return None
    if of == name and not _is_named(reader, path, name, names):
        return None
    if not sides:
        reader.report(path, f"the limits of '{name}' have neither low nor high")
        return None
    scope = names.scope(velocities=True, inputs=False)
    before = len(reader.problems)
    expression = reader.expression(at, of, scope)
    in_points = None
    if names.points and len(reader.problems) == before:
        in_points = reader.expression(at, of, names.with_points(scope))
    numbers = {key: reader.value(paths[key], side, names) for key, side in sides.items()}
    if len(numbers) == 2 and not numbers["low"] < numbers["high"]:
        reader.report(
            path, f"the limits of '{name}' leave nothing: {numbers['low']:g} is not below {numbers['high']:g}"
        )
        return None
    read: dict[str, Expression] = {
        key: reader.expression(paths[key], side, names.constant_scope()) for key, side in sides.items()
    }
    return Limit(name, expression, read.get("low"), read.get("high"), in_points)


def _is_named(reader: Reader, path: Path, name: str, names: Names) -> bool:
    """Is it something that moves: a state, a velocity, a definition?"""
    known = (*names.states, *names.velocities, *names.definitions, *(f"{d}'" for d in names.definition_rates))
    if name in known:
        return True
    hint = (
        vocabulary.nearest(name, known) or "a name of its own is given to an expression: { of = …, low = …, high = … }"
    )
    reader.report(path, f"'{name}' is not among the variables of the state", hint=hint, at_key=True)
    return False
