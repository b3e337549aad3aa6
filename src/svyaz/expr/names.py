"""How names are shown: Greek letters, subscripts, dots for time derivatives; and the order in which people expect them.

``psi1'`` is ψ̇₁: a base (psi), a subscript (1) and the number of dots (1).
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple
from unicodedata import normalize

_SMALL = (
    "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu "
    "nu xi omicron pi rho sigma tau upsilon phi chi psi omega"
)
_LETTERS = "αβγδεζηθικλμνξοπρστυφχψω"

GREEK: dict[str, str] = dict(zip(_SMALL.split(), _LETTERS, strict=True))
"""Greek letters by their Latin names, small and capital: theta → θ, Theta → Θ."""
GREEK |= {name.capitalize(): letter.upper() for name, letter in GREEK.items()}

_LATEX_LETTERS = {letter: "\\" + name for name, letter in GREEK.items()}
# Capitals that look Latin have no command of their own in LaTeX; a small omicron neither.
_LATEX_LETTERS |= {GREEK[name]: rf"\mathrm{{{latin}}}" for name, latin in [
    ("Alpha", "A"), ("Beta", "B"), ("Epsilon", "E"), ("Zeta", "Z"), ("Eta", "H"), ("Iota", "I"), ("Kappa", "K"),
    ("Mu", "M"), ("Nu", "N"), ("Omicron", "O"), ("Rho", "P"), ("Tau", "T"), ("Chi", "X"),
]}  # fmt: skip
_LATEX_LETTERS["ο"] = "o"
_LATEX_LETTERS |= {"ϑ": r"\vartheta", "ϕ": r"\phi", "φ": r"\varphi", "ε": r"\varepsilon", "ς": r"\varsigma"}

_SUBSCRIPTS = str.maketrans("0123456789aehijklmnoprstuvx+-", "₀₁₂₃₄₅₆₇₈₉ₐₑₕᵢⱼₖₗₘₙₒₚᵣₛₜᵤᵥₓ₊₋")
_SUPERSCRIPTS = str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")
_DOTS = {0: "", 1: "\u0307", 2: "\u0308"}
_LATEX_DOTS = {1: r"\dot", 2: r"\ddot"}


class NameParts(NamedTuple):
    """A name taken apart: ``psi1''`` is ("psi", "1", 2); ``m_cart`` is ("m", "cart", 0)."""

    base: str
    subscript: str
    dots: int


@lru_cache(maxsize=10_000)
def split_name(name: str) -> NameParts:
    """Take a name apart. Digits at the end and what follows an underscore are subscripts; so is the a of ``La``."""
    plain = name.rstrip("'")
    dots = len(name) - len(plain)
    base, _, rest = plain.partition("_")
    if not base:
        return NameParts(plain, "", dots)
    rest = rest.strip("_").replace("_", ",")
    if base in GREEK:
        return NameParts(base, rest, dots)
    digits = re.search(r"[0-9]", base)
    if digits and digits.start() > 0:
        number = base[digits.start() :]
        base = base[: digits.start()]
        rest = f"{number},{rest}" if rest else number
    elif len(base) == 2 and base[0].isupper() and base[1].islower() and not rest:
        base, rest = base[0], base[1]
    return NameParts(base, rest, dots)


def unicode_name(name: str) -> str:
    """The name in Unicode: ``theta1'`` → θ̇₁, ``m_cart`` → m_cart."""
    base, subscript, dots = split_name(name)
    letter = GREEK.get(base, base)
    low = subscript.translate(_SUBSCRIPTS)
    words = any(len(part) > 1 and not part.isdigit() for part in subscript.split(","))
    if words or any(a == b != "," for a, b in zip(subscript, low, strict=True)):  # not every letter has a small form
        low = "_" + subscript.replace(",", "_")
    if len(letter) == 1 and dots in _DOTS:
        return normalize("NFC", letter + _DOTS[dots]) + low
    return letter + low + "′" * dots


def superscript(number: int) -> str:
    """A whole number as an exponent in Unicode: 12 → ¹²."""
    return str(number).translate(_SUPERSCRIPTS)


def latex_name(name: str) -> str:
    r"""The name in LaTeX: ``theta1'`` → \dot{\theta}_{1}, ``m_cart`` → m_{\mathrm{cart}}."""
    base, subscript, dots = split_name(name)
    text = _latex_word(base)
    if dots in _LATEX_DOTS:
        text = f"{_LATEX_DOTS[dots]}{{{text}}}"
    if subscript:
        text += "_{" + ",".join(_latex_word(part) for part in subscript.split(",")) + "}"
    if dots > 2:
        text += "^{" + r"\prime" * dots + "}"
    return text


def _latex_word(word: str) -> str:
    letter = GREEK.get(word, word)
    if letter in _LATEX_LETTERS:
        return _LATEX_LETTERS[letter]
    if word.isascii() and (len(word) == 1 or word.isdigit()) and word != "_":
        return word
    escaped = word.replace("_", r"\_")
    return rf"\mathrm{{{escaped}}}" if word.isascii() else rf"\text{{{escaped}}}"


NaturalKey = tuple[tuple[int, int, str], ...]


@lru_cache(maxsize=10_000)
def natural_key(name: str) -> NaturalKey:
    """Sorts u2 before u10, and a before B."""
    parts = re.findall(r"([0-9]+)|([^0-9]+)", name)
    key = tuple((0, int(number), "") if number else (1, 0, word.lower()) for number, word in parts)
    return (*key, (2, 0, name))
