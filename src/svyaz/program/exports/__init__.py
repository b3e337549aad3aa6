"""Languages in which programs are written, one file each. The folder is the list of languages.

A file NAME.py has a function ``write(program) -> str``, which makes it the language called NAME. Where a file bears the
name of its function, the module also has ``write_for(program, file) -> str``. A language in which whole programs are
written has ``complete(program, run, file) -> str`` too: the model, a method with a fixed step, and its output, ready to be run.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import TYPE_CHECKING

from svyaz.arguments import check_arguments

if TYPE_CHECKING:
    from types import ModuleType

    from svyaz.program.fixed_run import FixedRun
    from svyaz.program.tape import Program


@cache
def languages() -> tuple[str, ...]:
    """The names of all languages, by alphabet; nothing is loaded."""
    return tuple(sorted(found.name for found in iter_modules(__path__)))


@check_arguments
def export(program: Program, language: str, file: str | None = None) -> str:
    """The program in one of the ``languages``, for a file of this name if it is given.

    >>> import symengine, svyaz
    >>> program = svyaz.build([("y", symengine.Symbol("x") ** 2)], inputs=["x"], parameters=[])
    >>> "def step(inputs, constants):" in svyaz.export(program, "python")
    True
    """
    module = _module(language)
    named = file is not None and hasattr(module, "write_for")
    text: str = module.write_for(program, file) if named else module.write(program)
    return text


def export_complete(program: Program, language: str, run: FixedRun, file: str | None = None) -> str:
    """The program in one of the languages, with all that a run takes: it can be run as it stands."""
    module = _module(language)
    if not hasattr(module, "complete"):
        from svyaz.program.tape import ProgramError

        able = [name for name in languages() if hasattr(_module(name), "complete")]
        raise ProgramError(f"no complete programs are written in {language!r}, but in {', '.join(able)}")
    text: str = module.complete(program, run, file or "")
    return text


def _module(language: str) -> ModuleType:
    if language not in languages():
        from svyaz.program.tape import ProgramError

        raise ProgramError(f"programs are not written in {language!r}; known are {', '.join(languages())}")
    return import_module(f"{__name__}.{language}")
