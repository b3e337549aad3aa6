"""The standard streams in any surroundings: another alphabet, a closed or a full output.

A letter that the terminal's encoding lacks is written out (``θ`` as theta, ``≤`` as <=) instead of ending the program.
"""

from __future__ import annotations

import codecs
import io
import os
import sys
import unicodedata

WRITTEN_OUT = "svyaz.written_out"
"""The name of the way of encoding that writes letters out."""

_SIGNS = {
    "−": "-", "–": "-", "—": "-", "·": "*", "×": "x", "≤": "<=", "≥": ">=", "≠": "!=", "≈": "~", "≡": "==", "…": "...",
    "∂": "d", "′": "'", "∞": "inf", "√": "sqrt", "→": "->", "←": "<-", "±": "+-", "∈": "in", "Σ": "sum", "°": " deg", "ᵀ": "^T",
    "⁻": "-", "‖": "||", "‘": "'", "’": "'", "“": '"', "”": '"', "⋅": "*", "∫": "integral", "∇": "grad", "ℓ": "l", "№": "No.",
}  # fmt: skip


def to_ascii(text: str) -> str:
    """The text in ASCII: Greek letters by their names, signs by those of programs, accents left off."""
    return "".join(map(_letter, text))


def _letter(letter: str) -> str:
    if letter.isascii():
        return letter
    if letter in _SIGNS:
        return _SIGNS[letter]
    words = unicodedata.name(letter, "").split()
    if words[:1] == ["GREEK"] and "LETTER" in words:
        name = words[words.index("LETTER") + 1]
        name = {"LAMDA": "LAMBDA", "FINAL": "SIGMA"}.get(name, name)  # names of Unicode's own
        return name.capitalize() if "CAPITAL" in words else name.lower()
    if words[:1] in (["SUPERSCRIPT"], ["SUBSCRIPT"]):
        return ("^" if words[0] == "SUPERSCRIPT" else "_") + unicodedata.normalize("NFKD", letter)
    simple = unicodedata.normalize("NFKD", letter).encode("ascii", "ignore").decode()
    return simple or letter.encode("ascii", "backslashreplace").decode()


def _replace(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return to_ascii(error.object[error.start : error.end]), error.end


def prepare() -> None:
    """Make the streams take any text; a stream that was closed before the program began takes it and forgets it."""
    codecs.register_error(WRITTEN_OUT, _replace)
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115 (it lives as long as the program)
        elif isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors=WRITTEN_OUT)


def readable(argument: str) -> str:
    """An argument NAME=VALUE whose letters the locale could not read, as the UTF-8 it was typed in; others as they are.

    File names stay as the system gave them, because they are given back to it.
    """
    if argument.isascii() or "=" not in argument or argument.startswith("-"):
        return argument
    try:
        return os.fsencode(argument).decode("utf-8")
    except UnicodeError:
        return argument


def takes_all_letters() -> bool:
    """Can the standard output show every letter as it is?"""
    return (getattr(sys.stdout, "encoding", None) or "ascii").lower().replace("-", "").startswith("utf")


def forget_output() -> None:
    """Nothing more can be written to the standard output: let what is left in its buffer go nowhere."""
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (OSError, ValueError):  # it is no file of the system
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
