"""Programs written in other languages, one module each.

A language is a module here with a function ``write(program) -> str``; naming it in ``LANGUAGES`` makes it known.
"""

from __future__ import annotations

from importlib import import_module

from svyaz.program.errors import ProgramError
from svyaz.program.tape import Program

LANGUAGES = ("python", "c", "matlab", "julia", "maple", "latex", "json")


def export(program: Program, language: str) -> str:
    """The program in one of ``LANGUAGES``."""
    if language not in LANGUAGES:
        raise ProgramError(f"programs are not written in {language!r}; known are {', '.join(LANGUAGES)}")
    text: str = import_module(f"svyaz.program.exports.{language}").write(program)
    return text
