"""Reading values with their places in the file, collecting what is wrong instead of stopping at the first mistake."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from math import isfinite
from typing import TYPE_CHECKING

import symengine as se

from svyaz.expr import (
    RESERVED,
    ZERO,
    Expression,
    ModelError,
    Place,
    Problem,
    Scope,
    evaluate,
    names_in,
    parse_each,
    symbols_in,
    velocity,
)
from svyaz.expr import real_value as as_float
from svyaz.model.law import Law
from svyaz.model.reading import words as vocabulary
from svyaz.model.reading.names import NO_TIME as NO_TIME
from svyaz.model.reading.names import Names
from svyaz.model.reading.places import Path, Places
from svyaz.model.reading.words import Table

if TYPE_CHECKING:
    from svyaz.model.system import Constraint

WORD = re.compile(r"[^\W\d]\w*")


class Reader:
    """Collects mistakes with their places while values are read."""

    def __init__(self, file: str | None, places: Places | None) -> None:
        self.file = file
        self.places = places
        self.problems: list[Problem] = []
        self.warnings: list[Problem] = []
        self._used: set[str] = set()
        self._formulas: list[Expression] = []
        self._by_path: dict[Path, list[Problem]] = {}
        self._listed_already: set[str] = set()
        self._noted: set[str] = set()

    def place(self, path: Path, *, at_key: bool = False) -> Place | None:
        """Where the value (or the key) stands in the file, if the model came from a file."""
        if self.places is None or not path:
            return None
        return self.places.key(path) if at_key else self.places.value(path)

    def start(self, path: Path, text: str) -> Place:
        """Where the text of a value starts; in a model that came from no file, the name of the value stands for it."""
        return self.place(path) or Place(_dotted_path(path), 1, 1, text.partition("\n")[0])

    def report(self, path: Path, message: str, *, hint: str | None = None, at_key: bool = False) -> None:
        """Note a mistake and go on."""
        where = "" if self.places or not path else _dotted_path(path) + ": "
        problem = Problem(where + message, self.place(path, at_key=at_key), hint)
        self.problems.append(problem)
        self._by_path.setdefault(path, []).append(problem)

    def warn(self, path: Path, message: str, *, about: str | None = None) -> None:
        """Note something that is odd but not wrong, ``about`` a name."""
        meant = () if about is None else (about,)
        self.warnings.append(Problem(message, self.place(path, at_key=True), meant=meant))

    def lasting_warnings(self) -> list[Problem]:
        """Warnings that remain when mistakes are mended: a parameter whose name was mistyped elsewhere is used after all."""
        meant = {name for problem in self.problems for name in problem.meant}
        return [warning for warning in self.warnings if not meant & set(warning.meant)]

    def problems_at(self, *paths: Path) -> list[Problem]:
        """Mistakes noted at these paths."""
        return [p for path in paths for p in self._by_path.get(path, ())]

    def is_faulty(self, table: str) -> bool:
        """Was a mistake noted anywhere in this table?"""
        return any(path[:1] == (table,) for path in self._by_path)

    def fits(self, path: Path, value: object, kind: str) -> bool:
        """Check the type of a value."""
        if vocabulary.fits(value, kind):
            return True
        what = "this" if isinstance(path[-1], int) else f"'{path[-1]}'"
        self.report(path, f"{what} must be {kind}, not {_describe(value)}")
        return False

    def known_words(self, given: Table, known: Mapping[str, str], path: Path = ()) -> dict[str, object]:
        """The entries of a table whose keys are known and whose values have the right type.

        A heading that is mistyped is reported, and read as the one that was meant: nothing that follows from it is a
        mistake of its own.
        """
        good = {}
        for key, value in given.items():
            here = (*path, key)
            if key in known:
                if self.fits(here, value, known[key]):
                    good[key] = value
                continue
            what = f"in [{path[0]}]" if path else "in a model"
            hint = vocabulary.nearest(str(key), known) or self._list_once(what, known)
            self.report(here, f"there is no key '{key}' {what}", hint=hint, at_key=True)
            meant = vocabulary.nearest_of(str(key), known)
            if not path and meant is not None and meant not in given and vocabulary.fits(value, known[meant]):
                good[meant] = value
        return good

    def _list_once(self, what: str, known: Iterable[str]) -> str | None:
        """The keys that there are, said once for each kind of table."""
        if what in self._listed_already:
            return None
        self._listed_already.add(what)
        return f"keys {what}: {', '.join(known)}"

    def declare(self, names: Names, words: Table, key: str, what: str) -> list[str]:
        """Declare a list of names; those that are fit to be names and new are returned."""
        given = enumerate(vocabulary.names(words, key))
        return [name for k, name in given if self.declare_one(names, name, what, (key, k))]

    def declare_one(self, names: Names, name: str, what: str, path: Path) -> bool:
        """Declare one name."""
        at_key = not isinstance(path[-1], int)
        if not name.isidentifier():
            self.report(
                path, f"'{name}' cannot be a name: letters, digits and _ only, beginning with a letter", at_key=at_key
            )
        elif name in RESERVED:
            self.report(
                path, f"'{name}' has a meaning of its own in expressions and cannot name a {what}", at_key=at_key
            )
        elif name in names.known:
            self.report(path, f"the name '{name}' is used twice: it is a {names.known[name]} already", at_key=at_key)
        else:
            names.known[name] = what
            return True
        return False

    def no_further(self, names: Names, path: Path, expression: Expression, what: str) -> None:
        """Refuse states of [rates] where only coordinates, velocities or momenta, and time are differentiated by."""
        for name in sorted(names_in(expression) & set(names.further)) if names.further else ():
            self.report(path, f"the state '{name}' may appear in energies, forces, rates and integrals, not in {what}")

    def expression(self, path: Path, value: object, scope: Scope) -> Expression:
        """Read an expression; zero stands for one that cannot be read, with the mistake noted."""
        return self.expressions([(path, value)], scope)[0]

    def expressions(self, given: Sequence[tuple[Path, object]], scope: Scope) -> list[Expression]:
        """The same of several."""
        texts = [(path, value) for path, value in given if isinstance(value, str)]
        parsed = iter(parse_each([(text, self.start(path, text)) for path, text in texts], scope) if texts else ())
        found: list[Expression] = []
        for path, value in given:
            read = next(parsed) if isinstance(value, str) else self._number(path, value)
            if isinstance(read, ModelError):
                self.take(path, str(value), read)
            found.append(ZERO if isinstance(read, ModelError) else read)
        read_now = zip(given, found, strict=True)
        fresh = {value: e for (_, value), e in read_now if isinstance(value, str) and value not in self._noted}
        self._noted.update(fresh)
        self._formulas += fresh.values()
        return found

    def uses(self, *formulas: Expression) -> None:
        """Note that what stands in formulas is used."""
        self._formulas += formulas

    def mentions(self, text: str) -> None:
        """Note that what stands in a text that cannot be read is used all the same."""
        self._used.update(WORD.findall(text))

    def used(self) -> set[str]:
        """All names that are used so far."""
        return self._used | set(map(str, symbols_in(self._formulas)))

    def _number(self, path: Path, value: object) -> Expression:
        """A number as an expression."""
        if not self.fits(path, value, vocabulary.EXPRESSION):
            return ZERO
        if isinstance(value, int):
            return se.Integer(value)
        assert isinstance(value, float)
        if not isfinite(value):
            kind = "the parameter " if path[0] == "parameters" else ""
            what = "this" if isinstance(path[-1], int) else f"{kind}'{path[-1]}'"
            self.report(path, f"{what} has no finite real value")
        return se.RealDouble(value if isfinite(value) else 0.0)

    def energy(self, key: str, words: Table, scope: Scope) -> Expression:
        """An energy of the model, zero if it is not stated."""
        return self.expression((key,), words[key], scope) if key in words else ZERO

    def take(self, path: Path, text: str, error: ModelError) -> None:
        """Note the mistakes of a text that cannot be read; the names in it are used all the same."""
        self.mentions(text)
        self.problems.extend(error.problems)
        self._by_path.setdefault(path, []).extend(error.problems)

    def value(self, path: Path, given: object, names: Names) -> float:
        """A number, or an expression of parameters, as a number; nan stands for one that cannot be had."""
        if not self.fits(path, given, vocabulary.EXPRESSION):
            return float("nan")
        if isinstance(given, int | float) and abs(given) < 1e300:
            return float(given)
        before = len(self.problems)
        expression = self.expression(path, given, names.constant_scope())
        if len(self.problems) > before:
            return float("nan")
        value = evaluate(expression, names.parameters)
        if not isfinite(value) and all(isfinite(names.parameters[n]) for n in names_in(expression)):
            self.report(path, f"'{given}' has no finite real value")
        return value

    def parameter_values(self, given: Table) -> dict[str, float]:
        """Values of the parameters, which may be given by each other in any order but not in a circle."""
        good = {n: v for n, v in given.items() if self.fits(("parameters", n), v, vocabulary.EXPRESSION)}
        scope = Scope(symbols={n: se.Symbol(n) for n in given}, derivatives={}, forbidden={"t": NO_TIME})
        read = self.expressions([(("parameters", n), v) for n, v in good.items()], scope)
        formulas = dict(zip(good, read, strict=True))
        values: dict[str, float] = {n: float("nan") for n in given if n not in good}
        waiting = dict(formulas)
        while waiting:
            ready = [n for n, e in waiting.items() if names_in(e) <= values.keys()]
            if not ready:
                circle = ", ".join(f"'{n}'" for n in waiting)
                for n in waiting:
                    self.report(("parameters", n), f"the parameters {circle} are given by each other in a circle")
                    values[n] = float("nan")
                break
            for n in ready:
                e = waiting.pop(n)
                values[n] = as_float(e) if not names_in(e) else evaluate(e, values)
                if (
                    not isfinite(values[n])
                    and all(isfinite(values[m]) for m in names_in(e))
                    and not self.problems_at(("parameters", n))
                ):
                    self.report(("parameters", n), f"the parameter '{n}' has no finite real value")
        return {n: values[n] for n in given}


def nothing_else(*_: object) -> None:
    """What most laws do at the stages of reading at which they have nothing to do."""


@dataclass(frozen=True)
class LawWords:
    """The words that state a law: by which it is known, what it needs, what does not go with it, and how it is read.

    Laws are asked in the order of their ``rank``. ``lists`` are the lists of names without which no expression could be
    read. First ``declare`` declares names that the law has beside those of the lists; when the parameters have values,
    ``moving`` says what moves; ``read`` makes the law; ``check`` looks at it together with the constraints.
    """

    given_by: str
    rank: int
    known_by: Callable[[AbstractSet[str]], bool]
    needed: tuple[str, ...]
    refused: tuple[str, ...]
    read: Callable[[Reader, Table, Names], Law]
    lists: tuple[str, ...] = ("coordinates",)
    declare: Callable[[Reader, Table, Names], None] = nothing_else
    moving: Callable[[Reader, Table, Names], None] = nothing_else
    check: Callable[[Reader, Names, Law, Sequence[Constraint]], None] = nothing_else
    always_constrained: bool = False


def with_velocities(reader: Reader, words: Table, names: Names) -> None:
    """Each coordinate q has a velocity q'."""
    names.rates = {q: velocity(q) for q in names.coordinates}
    names.velocities = tuple(map(str, names.rates.values()))


def _dotted_path(path: Path) -> str:
    return ".".join(str(part) for part in path)


def _describe(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Mapping):
        return "a table"
    if isinstance(value, list | tuple):
        return "a list"
    if isinstance(value, str):
        return f"the text '{value[:40]}'"
    return str(value)
