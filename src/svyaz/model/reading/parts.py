"""Reading inputs, integrals and drawings."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from svyaz.expr import Expression
from svyaz.model.reading import words as vocabulary
from svyaz.model.reading.common import Names, Path, Reader, Table
from svyaz.model.system import Drawing, Input, Integral


def read_inputs(reader: Reader, given: Table, names: Names) -> dict[str, Input]:
    """Controls: a value, or a table with value, low and high."""
    inputs = {}
    for name, value in given.items():
        path = ("inputs", name)
        if names.known.get(name) != "input":
            continue
        if isinstance(value, Mapping):
            table = reader.known_words(value, vocabulary.INPUT, path)
            numbers = {key: reader.value((*path, key), entry, names) for key, entry in table.items()}
            inputs[name] = Input(numbers.get("value", 0.0), numbers.get("low"), numbers.get("high"))
        else:
            inputs[name] = Input(reader.value(path, value, names))
    return inputs


def read_integrals(reader: Reader, given: Sequence[Table], names: Names) -> tuple[Integral, ...]:
    """First integrals that the model declares."""
    integrals: list[Integral] = []
    for k, table in enumerate(given):
        path = ("integral", k)
        words = reader.known_words(table, vocabulary.INTEGRAL, path)
        name = vocabulary.text(words, "name", f"integral {k + 1}")
        if "expression" not in words:
            if "expression" not in table:
                reader.report(path, f"the integral '{name}' has no expression", at_key=True)
            continue
        here = (*path, "expression")
        expression = reader.expression(here, words["expression"], names.scope(velocities=True))
        gain = reader.value((*path, "gain"), words["gain"], names) if "gain" in words else 1.0
        value = reader.value((*path, "value"), words["value"], names) if "value" in words else None
        if gain <= 0:
            reader.report(
                (*path, "gain"), f"the gain of '{name}' is the decay rate of its deviation and must be positive"
            )
        if any(i.name == name for i in integrals):
            reader.report((*path, "name"), f"two integrals have the name '{name}'")
        integrals.append(Integral(name, expression, bool(words.get("hold", False)), gain, value, reader.place(here)))
    return tuple(integrals)


def read_drawings(reader: Reader, given: Sequence[Table], names: Names) -> tuple[Drawing, ...]:
    """What the mechanism looks like."""
    outlines: list[_Outline] = []
    scope = names.scope(velocities=False, inputs=False)
    for k, table in enumerate(given):
        path = ("draw", k)
        words = reader.known_words(table, vocabulary.DRAW, path)
        kinds = [kind for kind in vocabulary.DRAW_KINDS if kind in words]
        if len(kinds) != 1:
            if all(key in vocabulary.DRAW for key in table):
                reader.report(path, "a [[draw]] has exactly one of " + ", ".join(vocabulary.DRAW_KINDS), at_key=True)
            continue
        outline = _outline(reader, (*path, kinds[0]), kinds[0], words)
        if outline is not None:
            outlines.append(outline)
    entries = [entry for outline in outlines for entry in outline.entries]
    read = dict(zip((path for path, _ in entries), reader.expressions(entries, scope), strict=True))
    return tuple([found for outline in outlines if (found := _drawing(reader, outline, read)) is not None])


@dataclass(frozen=True)
class _Outline:
    """A drawing of which the formulas are still to be read: those of its points, each with its path, and of its radius."""

    path: Path
    kind: str
    words: Table
    points: tuple[Path, ...]
    entries: tuple[tuple[Path, object], ...]
    whole: bool


def _outline(reader: Reader, path: Path, kind: str, words: Table) -> _Outline | None:
    given = words[kind]
    corners: list[object]
    paths: list[Path]
    entries: list[tuple[Path, object]] = []
    if kind == "circle":
        table = vocabulary.table(words, kind)
        known = reader.known_words(table, vocabulary.CIRCLE, path)
        if len(known) < len(vocabulary.CIRCLE):
            if known.keys() == table.keys():
                reader.report(path, "a circle has a center and a radius")
            return None
        entries.append(((*path, "radius"), table["radius"]))
        corners, paths = [table["center"]], [(*path, "center")]
    elif kind == "point":
        corners, paths = [given], [path]
    else:
        if not isinstance(given, list | tuple) or len(given) < 2:
            reader.report(path, f"a {kind} goes through at least two points: [[x, y], [x, y]]")
            return None
        corners, paths = list(given), [(*path, k) for k in range(len(given))]
    for corner, here in zip(corners, paths, strict=True):
        if not isinstance(corner, list | tuple) or len(corner) not in (2, 3):
            reader.report(here, "a point has two or three coordinates")
            return _Outline(path, kind, words, (), tuple(entries), whole=False)  # these may be wrong too
        own = [((*here, k), e) for k, e in enumerate(corner)]
        entries += [(place, e) for place, e in own if reader.fits(place, e, vocabulary.EXPRESSION)]
    return _Outline(path, kind, words, tuple(paths), tuple(entries), whole=True)


def _drawing(reader: Reader, outline: _Outline, read: Mapping[Path, Expression]) -> Drawing | None:
    if not outline.whole:
        return None
    own = [place for place, _ in outline.entries]
    points = [tuple([read[place] for place in own if place[:-1] == here]) for here in outline.points]
    path, kind, words = outline.path, outline.kind, outline.words
    if len({len(point) for point in points}) != 1:
        reader.report(path, "all points of a drawing lie in the plane or all in space")
        return None
    radius = read.get((*path, "radius"))
    return Drawing(kind, tuple(points), radius, bool(words.get("trace", False)), vocabulary.text(words, "name"))


NUMBERS = ("step", "until", "rtol", "atol", "tolerance", "every", "written")

BY_NAME = ("tolerance",)
"""Of these, what may be a table by name."""

Choices = Mapping[str, Callable[[], Sequence[str]]]
"""The values that other packages define for some keys of [run]; they check what follows a colon."""


def read_run(reader: Reader, given: Table, names: Names, choices: Choices) -> dict[str, object]:
    """The [run] table with its numbers evaluated."""
    run = reader.known_words(given, vocabulary.RUN, ("run",))
    for key in (key for key in NUMBERS if key in run):
        value = run[key]
        if key in BY_NAME and isinstance(value, Mapping):
            run[key] = {name: _positive(reader, ("run", key, name), one, names) for name, one in value.items()}
        else:
            run[key] = _positive(reader, ("run", key), value, names)
    for key in (key for key in choices if isinstance(run.get(key), str)):
        word, known = vocabulary.text(run, key).partition(":")[0], choices[key]()
        if word not in known:
            message = f"'{key}' cannot be '{word}'; there are {', '.join(known)}"
            reader.report(("run", key), message, hint=vocabulary.nearest(word, known))
    if "step" in run and "rtol" in run:
        reader.report(("run", "rtol"), "give either 'step' (fixed) or 'rtol' (error-controlled), not both", at_key=True)
    return run


def _positive(reader: Reader, path: tuple[str, ...], given: object, names: Names) -> float:
    value = reader.value(path, given, names)
    if value <= 0:
        reader.report(path, f"'{path[-1]}' must be positive")
    return value


def read_source(reader: Reader, given: Table, names: Names) -> dict[str, object]:
    """Where the model was published, and which of its numbers were published, recovered or chosen."""
    words = reader.known_words(given, vocabulary.SOURCE, ("source",))
    for key in ("published", "recovered", "chosen"):
        for k, name in enumerate(vocabulary.names(words, key)):
            plain = name.removeprefix("initial.").removeprefix("run.")
            if plain == name and name not in names.parameters and name not in names.inputs:
                reader.report(("source", key, k), f"'{name}' is not a parameter of the model")
    return words
