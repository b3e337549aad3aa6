"""Programs written in other languages, one module each.

A language is a module here with a function ``write(program) -> str``; naming it in ``LANGUAGES`` makes it known. Where a
file bears the name of its function, the module also has ``write_for(program, file) -> str``.
"""

from __future__ import annotations

from importlib import import_module

from svyaz.program.errors import ProgramError
from svyaz.program.tape import Program

LANGUAGES = ("python", "c", "matlab", "julia", "maple", "latex", "json")


def export(program: Program, language: str, file: str | None = None) -> str:
    """The program in one of ``LANGUAGES``, for a file of this name if it is given."""
    if language not in LANGUAGES:
        raise ProgramError(f"programs are not written in {language!r}; known are {', '.join(LANGUAGES)}")
    module = import_module(f"svyaz.program.exports.{language}")
    named = file is not None and hasattr(module, "write_for")
    text: str = module.write_for(program, file) if named else module.write(program)
    return text
