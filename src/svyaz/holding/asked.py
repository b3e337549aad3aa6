"""How constraints are to be kept, as a run asks for it: the word of a model or a caller, read once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import TypeAlias

from svyaz.expr import ModelError, Problem
from svyaz.json_types import Json
from svyaz.model import is_number, nearest

BLOCKS = ("A", "B", "C", "D", "E")
BAUMGARTE = ("alpha", "beta", "kappa")
EXTENDED = ("mass", "stiffness", "damping")

Block = float | Sequence[Sequence[float]]
"""A multiple of the unit matrix, or rows."""


@dataclass(frozen=True)
class Off:
    """Constraints are differentiated and left to themselves; no integral is held."""


@dataclass(frozen=True)
class ByProjection:
    """The state is moved onto the constraints after each step."""


@dataclass(frozen=True)
class Automatic:
    """The gain is chosen from rehearsals of the run."""


@dataclass(frozen=True)
class OneGain:
    """ḧ + 2κ ḣ + κ² h = 0 for positions, ḟ = -κ f for velocities."""

    kappa: float


@dataclass(frozen=True)
class Baumgarte:
    """ḧ + α ḣ + β h = 0 for positions, ḟ = -κ f for velocities; what is not given is zero."""

    gains: Mapping[str, float]


@dataclass(frozen=True)
class GainBlocks:
    """Blocks A, …, E of the perturbation equation."""

    blocks: Mapping[str, Block]


@dataclass(frozen=True)
class ExtendedLagrangian:
    """Matrices of an extended Lagrangian: mass, stiffness, damping."""

    matrices: Mapping[str, Block]


@dataclass(frozen=True)
class WrittenLaw:
    """A law of the user, one for all constraints, or by their names."""

    law: str | Mapping[str, str]


Gains: TypeAlias = OneGain | Baumgarte | GainBlocks | ExtendedLagrangian | WrittenLaw
"""Gains that are given."""

Stabilisation: TypeAlias = Off | ByProjection | Automatic | Gains

_WORDS: Mapping[str, Stabilisation] = {"off": Off(), "projection": ByProjection(), "auto": Automatic()}


def stabilisation(word: object) -> Stabilisation:
    """What a value of ``stabilize`` asks for."""
    if isinstance(word, str) and word in _WORDS:
        return _WORDS[word]
    if is_number(word):
        return OneGain(finite("the gain", word))
    if not isinstance(word, Mapping):
        raise bad(f"'stabilize' cannot be {word!r}", 'it is "off", "auto", "projection", a number, or a table')
    keys = set(word)
    if keys == {"law"}:
        return WrittenLaw(_law(word["law"]))
    if keys and keys <= set(BAUMGARTE):
        return Baumgarte({key: _gain(key, value) for key, value in word.items()})
    if keys and keys <= set(BLOCKS):
        return GainBlocks(dict(word))
    if keys and keys <= set(EXTENDED):
        return ExtendedLagrangian(dict(word))
    words = [*BAUMGARTE, *BLOCKS, *EXTENDED, "law"]
    wrong = next((key for key in keys if key not in words), None)
    if wrong is not None:
        raise bad(f"'stabilize' has no entry '{wrong}'", nearest(wrong, words))
    raise bad("the entries of 'stabilize' do not go together: " + ", ".join(sorted(keys)), None)


def word_of(chosen: Stabilisation) -> Json:
    """The value of ``stabilize`` that asks for it."""
    match chosen:
        case OneGain(kappa):
            return kappa
        case Baumgarte(gains) | GainBlocks(gains) | ExtendedLagrangian(gains):
            return dict(gains)
        case WrittenLaw(law):
            return {"law": law}
    return next(word for word, meaning in _WORDS.items() if meaning == chosen)


def decay_rate(chosen: Stabilisation) -> float | None:
    """The decay rate that is asked for integrals: κ; 0, nothing is held, for "off"; None for their own ones."""
    match chosen:
        case Off():
            return 0.0
        case OneGain(kappa):
            return kappa
        case Baumgarte(gains):
            return gains.get("kappa")
    return None


def _gain(key: str, value: object) -> float:
    if not is_number(value):
        raise bad(f"the gain '{key}' must be a number", None)
    return finite(f"the gain '{key}'", value)


def _law(law: object) -> str | Mapping[str, str]:
    if isinstance(law, str):
        return law
    if isinstance(law, Mapping) and all(isinstance(text, str) for text in law.values()):
        return dict(law)
    raise bad("a law is an expression of y and y' in quotes, or a table of them by constraint", None)


def finite(what: str, value: float) -> float:
    """A number, refused when it is none."""
    if not isfinite(value):
        raise bad(f"{what} must be a finite number, not {value}", None)
    return float(value)


def bad(message: str, hint: str | None) -> ModelError:
    """A complaint without a place."""
    return ModelError([Problem(message, None, hint)])
