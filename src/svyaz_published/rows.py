"""What was published about the models of the gallery, and whether it can be had again.

Each row of the tables beside this file states what was printed and how to compute it. A row is measured on a run, or
computed by a function of ``measures``, or it is an erratum: a function of ``errata_…`` gives the error of the printed
formula and that of the corrected one. The verdict follows from the numbers.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from importlib import import_module
from importlib.resources import files
from math import isfinite
from pathlib import Path
from typing import Any

from svyaz.json_types import Json, Record

TABLES = (
    "sleigh",
    "carts",
    "ball",
    "links",
    "flight",
    "pendulum",
    "forms",
    "formulas",
    "walker",
    "trees",
    "beam",
    "redundant",
)

TRANSIENTS_OF = "ball-and-beam"
"""The model whose transients under control were published; other figures stand in the tables."""

REPRODUCED, CORRECTED, IMPOSSIBLE, DIFFERS = "reproduced", "corrected", "not reproducible", "differs"

FORMULA_WRONG, FORMULA_RIGHT = 1e-3, 1e-9
"""A printed formula is refuted by an error above the first; a corrected one is confirmed by an error below the second."""


@dataclass(frozen=True)
class Row:
    """One printed number, claim or formula.

    ``printed``: the numbers, or ``between`` bounds for each, or how the run ``ends``, or a ``text`` alone. A printed number
    that is given as text agrees within 0.6 units of its last digit. ``measure``: what is read off the run, or
    ``compute``/``check``: MODULE.FUNCTION, ``compute`` with the ``choices`` as its arguments. ``missing`` says why a row cannot
    be expected to agree; a row with nothing to compute states what was shown and cannot be had.
    """

    model: str
    what: str
    source: str
    text: str = ""
    printed: Sequence[float | str] = ()
    between: Sequence[Sequence[float]] = ()
    ends: Sequence[str] = ()
    tolerance: float = 1e-6
    absolute: float = 0.0
    settings: Mapping[str, float | str] = field(default_factory=dict)
    choices: Mapping[str, str] = field(default_factory=dict)
    run: Mapping[str, Json] = field(default_factory=dict)
    measure: Sequence[str] = ()
    compute: str = ""
    check: str = ""
    erratum: str = ""
    missing: str = ""


@dataclass(frozen=True)
class Outcome:
    """A row with what was computed and the verdict."""

    row: Row
    computed: tuple[float | str, ...]
    verdict: str

    @property
    def expected(self) -> bool:
        """Is the verdict one that may stand?"""
        return self.verdict != DIFFERS

    def as_json(self) -> Record:
        told = {key: value for key, value in asdict(self.row).items() if value not in ("", (), {})}
        finite = [None if isinstance(x, float) and not isfinite(x) else x for x in self.computed]
        return {**told, "computed": finite, "verdict": self.verdict}


def published(names: Sequence[str] = ()) -> list[Row]:
    """All rows, or those of the models named."""
    rows = [Row(**entry) for entry in _entries("row")]
    return [row for row in rows if not names or row.model in names]


def _entries(kind: str) -> list[dict[str, Any]]:
    """What the tables state of a kind: rows or figures."""
    texts = (files("svyaz_published").joinpath(f"{table}.toml").read_text(encoding="utf-8") for table in TABLES)
    return [entry for text in texts for entry in tomllib.loads(text).get(kind, [])]


def subjects() -> list[str]:
    """The models about which something was published, in order."""
    return list(dict.fromkeys(row.model for row in published()))


def drawable() -> list[str]:
    """The models of which figures were published that can be drawn."""
    return list(dict.fromkeys([*(entry["model"] for entry in _entries("figure")), TRANSIENTS_OF]))


def draw_figures(names: Sequence[str], folder: Path, progress: Callable[[str], object] | None = None) -> list[Path]:
    """Draw the published figures of the models named (of all, unless some are) into the folder; tables of their numbers
    stand beside them."""
    from svyaz_published.figures import write_figures
    from svyaz_published.pictures import draw, pictures_of

    drawn: list[Path] = []
    for picture in pictures_of(_entries("figure")):
        if not names or picture.model in names:
            if progress is not None:
                progress(f"figure {picture.name}")
            drawn += draw(picture, folder)
    if not names or TRANSIENTS_OF in names:
        drawn += write_figures(folder)
    return drawn


def reproduce(row: Row) -> Outcome:
    """Compute what the row states and judge it."""
    computed: tuple[float | str, ...]
    if row.check:
        errors: tuple[float, float] = _function(row.check)()
        return Outcome(row, errors, _formula_verdict(*errors))
    if row.compute:
        computed = tuple(_function(row.compute)(**row.choices))
    elif not row.measure:
        return Outcome(row, (), IMPOSSIBLE)
    else:
        from svyaz_published.measures import measured

        computed = measured(row.model, row.choices, row.settings, row.run, row.measure)
    if _agrees(row, computed):
        return Outcome(row, computed, REPRODUCED)
    return Outcome(row, computed, IMPOSSIBLE if row.missing else DIFFERS)


def _function(name: str) -> Any:
    module, function = name.split(".")
    return getattr(import_module(f"svyaz_published.{module}"), function)


def _formula_verdict(printed: float, corrected: float) -> str:
    if printed <= FORMULA_RIGHT:
        return REPRODUCED
    return CORRECTED if printed > FORMULA_WRONG and corrected <= FORMULA_RIGHT else DIFFERS


def _agrees(row: Row, computed: Sequence[float | str]) -> bool:
    """All numbers within their bounds, or within the tolerance of what was printed; or the run ended as stated."""
    if row.ends:
        return all(value in row.ends for value in computed)
    numbers = [float(value) for value in computed]
    if row.between:
        return all(low <= x <= high for x, (low, high) in zip(numbers, row.between, strict=True))
    return all(abs(x - float(p)) <= _allowed(row, p) for x, p in zip(numbers, row.printed, strict=True))


def _allowed(row: Row, printed: float | str) -> float:
    """By how much a number may differ: of a text, 0.6 units of its last digit."""
    if isinstance(printed, str):
        digits, _, power = printed.lower().partition("e")
        return float(0.6 * 10.0 ** (int(power or 0) - len(digits.partition(".")[2])))
    return max(row.tolerance * abs(printed), row.absolute)
