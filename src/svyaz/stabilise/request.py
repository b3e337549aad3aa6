"""What a value of ``stabilize`` asks for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite
from typing import Literal

from svyaz.arguments import short_text
from svyaz.expr import ModelError, Problem
from svyaz.json_types import Json
from svyaz.model import is_number, nearest

BAUMGARTE = ("alpha", "beta", "kappa")
BLOCKS = ("A", "B", "C", "D", "E")
EXTENDED = ("mass", "stiffness", "damping")

Block = float | str | Sequence[Sequence[float | str]]
"""A multiple of the unit matrix, or rows; entries are numbers or expressions of the state."""


Kind = Literal["off", "projection", "auto", "one gain", "Baumgarte", "blocks", "extended Lagrangian", "law"]
"""How constraints are kept.

off: they are differentiated and left to themselves, and no integral is enforced. projection: the state is moved onto the
constraints after each step. auto: gains are chosen from trial runs. The others have gains. One gain: ḧ + 2κ ḣ + κ² h = 0,
ḟ = -κ f. Baumgarte: ḧ + α ḣ + β h = 0, ḟ = -κ f, zero where not given. blocks: the matrices A, …, E of the perturbation
equation. Extended Lagrangian: its matrices. law: laws of the user, for all constraints or by their names.
"""


@dataclass(frozen=True)
class Stabilisation:
    """A way to keep constraints: its kind, and its ``gains`` by name or its ``law``."""

    kind: Kind
    gains: Mapping[str, Block] = field(default_factory=dict)
    law: str | Mapping[str, str] = ""

    @property
    def has_gains(self) -> bool:
        """Are gains given?"""
        return self.kind not in ("off", "projection", "auto")

    @property
    def numbers(self) -> dict[str, float]:
        """One gain or Baumgarte's, by name; of other kinds none."""
        named = self.gains.items() if self.kind in ("one gain", "Baumgarte") else ()
        return {name: value for name, value in named if isinstance(value, int | float)}

    @property
    def decay_rate(self) -> float | None:
        """The decay rate κ asked for integrals; 0, they are not enforced, where it is off; None: each keeps its own."""
        return 0.0 if self.kind == "off" else self.numbers.get("kappa")

    @property
    def word(self) -> Json:
        """The value of ``stabilize`` that asks for it."""
        if self.kind == "law":
            return {"law": self.law if isinstance(self.law, str) else dict(self.law)}
        if not self.has_gains:
            return self.kind
        gains: dict[str, Json] = {name: _plain(value) for name, value in self.gains.items()}
        return gains["kappa"] if self.kind == "one gain" else gains


def _plain(value: Block) -> Json:
    return value if isinstance(value, int | float | str) else [list(row) for row in value]


OFF, PROJECTION, AUTO = Stabilisation("off"), Stabilisation("projection"), Stabilisation("auto")


def one_gain(kappa: float) -> Stabilisation:
    """One gain κ for all constraints."""
    return Stabilisation("one gain", {"kappa": kappa})


def baumgarte(**gains: float) -> Stabilisation:
    """Baumgarte's gains α, β and κ."""
    return Stabilisation("Baumgarte", gains)


def stabilisation(word: object) -> Stabilisation:
    """What a value of ``stabilize`` asks for."""
    for plain in (OFF, PROJECTION, AUTO):
        if word == plain.kind:
            return plain
    if is_number(word):
        return one_gain(finite("'stabilize'", word))
    if not isinstance(word, Mapping):
        raise bad(f"'stabilize' cannot be {word!r}", 'it is "off", "auto", "projection", a number, or a table')
    keys = set(word)
    if keys == {"law"}:
        return Stabilisation("law", law=_law(word["law"]))
    if keys and keys <= set(BAUMGARTE):
        return baumgarte(**{key: _gain(key, value) for key, value in word.items()})
    if keys and (keys <= set(BLOCKS) or keys <= set(EXTENDED)):
        kind: Kind = "blocks" if keys <= set(BLOCKS) else "extended Lagrangian"
        return Stabilisation(kind, {key: _block(key, value) for key, value in word.items()})
    words = [*BAUMGARTE, *BLOCKS, *EXTENDED, "law"]
    wrong = next((key for key in keys if key not in words), None)
    if wrong is not None:
        raise bad(f"'stabilize' has no entry '{wrong}'", nearest(wrong, words))
    raise bad("the entries of 'stabilize' do not go together: " + ", ".join(sorted(keys)), None)


def _gain(key: str, value: object) -> float:
    if not is_number(value):
        raise bad(f"the gain '{key}' must be a number", None)
    return finite(f"the gain '{key}'", value)


def _block(key: str, value: object) -> Block:
    """A number, an expression, or rows of them."""
    rows = value if isinstance(value, list | tuple) else [[value]]
    for entry in (entry for row in rows for entry in (row if isinstance(row, list | tuple) else [None])):
        if is_number(entry):
            finite(f"the block '{key}' of 'stabilize'", entry)
        elif not isinstance(entry, str):
            raise bad(f"'{key}' of 'stabilize' must be a number or a list of rows, not {short_text(entry)}", None)
    return value  # type: ignore[return-value]


def _law(law: object) -> str | Mapping[str, str]:
    if isinstance(law, str):
        return law
    if isinstance(law, Mapping) and all(isinstance(text, str) for text in law.values()):
        return dict(law)
    raise bad("a law is an expression of y and y' in quotes, or a table of them by constraint", None)


def finite(what: str, value: float) -> float:
    """A number, refused when it is none, or so large that its square is none."""
    if not isfinite(value):
        raise bad(f"{what} must be a finite number, not {value}", None)
    if not isfinite(float(value) * float(value)):
        raise bad(f"{what} is too large: {value:g}", None)
    return float(value)


MOST_LISTED = 3
"""So many things are named one by one in a message."""


def bad(message: str, hint: str | None) -> ModelError:
    """A complaint without a place."""
    return ModelError([Problem(message, None, hint)])
