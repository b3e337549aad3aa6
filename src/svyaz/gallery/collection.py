"""Models of the literature, each as the text of a model file that says what was published about it.

The folder ``models`` is the list of models. A file NAME.toml is the model NAME; what can be chosen of it stands in its
first lines, ``#: WHAT = DEFAULT | CHOICE``, and the text of a choice is the file NAME--CHOICE.toml or, without such a file,
has other lines: ``#: WHAT=CHOICE: LINE`` gives the one instead of the line above it. A Python file makes the text of its
model, or of the models NAME:N for any N, and declares that as its MODEL.

What a Python file of ``models`` declares as its MODEL.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from pkgutil import iter_modules

from svyaz.expr import ModelError, Problem
from svyaz.gallery import models
from svyaz.model import nearest, nearest_of

Variants = Mapping[str, tuple[str, ...]]
"""What can be chosen → choices; the first is the default."""


@dataclass(frozen=True)
class MadeModel:
    """A model whose text is made from what was chosen."""

    make: Callable[[Mapping[str, str]], str]
    variants: Variants


@dataclass(frozen=True)
class MadeFamily:
    """Models NAME:N, made for any N up to the ``largest``.

    ``parts`` are what N counts. What is ``open`` can be chosen besides, numbers among it; the maker knows what fits.
    """

    make: Callable[[int, Mapping[str, str]], str]
    largest: int
    parts: str = "links"
    open: Variants = field(default_factory=dict)


SUFFIXES = (".toml", ".urdf")
"""How the names of model files end."""

MARK = "#: "
OFFERED = re.compile(rf"^{MARK}(\w+) = (.+)$", re.MULTILINE)
INSTEAD = re.compile(rf"^{MARK}(\w+)=([\w-]+): (.*\n)")


@cache
def _makers() -> dict[str, str]:
    """The names of the models that Python files make → the modules; nothing is loaded."""
    return {found.name.replace("_", "-"): found.name for found in iter_modules(models.__path__)}


def _maker(name: str) -> MadeModel | MadeFamily | None:
    """The model of this name, if a Python file makes it."""
    stem = _makers().get(name)
    found: MadeModel | MadeFamily | None = None if stem is None else import_module(f"{models.__name__}.{stem}").MODEL
    return found


@cache
def _file_names() -> frozenset[str]:
    """The names of the models that are files."""
    found = [entry.name.removesuffix(".toml") for entry in files(models).iterdir() if entry.name.endswith(".toml")]
    return frozenset(name for name in found if "--" not in name)


def _file(name: str) -> Traversable:
    return files(models).joinpath(f"{name}.toml")


@cache
def names() -> tuple[str, ...]:
    """Names of all models, ``pendulum:N``, ``chain:N`` and ``random-tree:N`` among them."""
    made = [f"{name}:N" if isinstance(_maker(name), MadeFamily) else name for name in _makers()]
    return tuple(sorted([*made, *_file_names()]))


def gallery() -> dict[str, str]:
    """The models of the gallery: the name that ``svyaz.load`` takes → what the model is called.

    >>> import svyaz
    >>> svyaz.gallery()["sleigh"]
    'Chaplygin sleigh on an incline'
    """
    return {name: _title(name) for name in names()}


def _title(name: str) -> str:
    whole = str(tomllib.loads(find(name.replace(":N", ":2")) or "")["name"])
    return whole.replace(" 2 ", " N ") if name.endswith(":N") else whole


def is_path(name: str) -> bool:
    """Does it contain a folder separator, or end as model files do?"""
    return Path(name).name != name or name.lower().endswith(SUFFIXES)


def not_found(name: str) -> Problem:
    """What to say where there is neither a model nor a file of this name."""
    if Path(name).is_dir():
        inside = sorted(path.name for ending in SUFFIXES for path in Path(name).glob(f"*{ending}"))
        such = f", such as {Path(name) / inside[0]}" if inside else ""
        return Problem(f"'{name}' is a folder; a model is a file{such}")
    if is_path(name):
        return Problem(f"there is no model file '{name}'")
    family, _, number = name.partition(":")
    close = nearest_of(family, [known.removesuffix(":N") for known in names()])
    meant = f"{close}:{number if number.isdigit() else 2}" if close in _families() else close
    message = f"there is neither a model of the gallery nor a file called '{name}'"
    return Problem(message, None, f"did you mean '{meant}'?" if close else None)


def _families() -> set[str]:
    return {name for name in _makers() if isinstance(_maker(name), MadeFamily)}


@cache
def variants_of(name: str) -> Variants:
    """What can be chosen of a model, the default first; nothing where there is no choice or no such model."""
    model = _maker(name)
    if isinstance(model, MadeModel):
        return model.variants
    if name not in _file_names():
        return {}
    found = OFFERED.findall(_file(name).read_text(encoding="utf-8"))
    return {what: tuple(choices.split(" | ")) for what, choices in found}


def open_choices_of(name: str) -> Variants:
    """What can be chosen of the models ``NAME:N`` besides N, numbers among it; their makers know what fits."""
    model = _maker(name.partition(":")[0])
    return model.open if isinstance(model, MadeFamily) else {}


def sequence(name: str) -> str | None:
    """The shortest sequence that was found for the inertia matrix of a tree, as ``svyaz inertia`` writes it."""
    entry = files("svyaz.gallery").joinpath("sequences", f"{name}.txt")
    known = name in names() and entry.is_file()
    return entry.read_text(encoding="utf-8") if known else None


def template(kind: str) -> str:
    """A commented model file to begin with; NAME stands for its name."""
    return files("svyaz.gallery").joinpath("templates", f"{kind}.toml").read_text(encoding="utf-8")


def find(name: str, choices: Mapping[str, str] | None = None) -> str | None:
    """The text of the model of this name, or None when the gallery has none."""
    choices = choices or {}
    family, colon, number = name.partition(":")
    model = _maker(family)
    if isinstance(model, MadeFamily) and colon and number != "N":
        if not model.open:
            _check_choices(name, choices)
        return model.make(_count(family, number, model), choices)
    if colon or not (isinstance(model, MadeModel) or name in _file_names()):
        return None
    _check_choices(name, choices)
    return model.make(choices) if isinstance(model, MadeModel) else _choose_lines(name, choices)


def _choose_lines(name: str, choices: Mapping[str, str]) -> str:
    """The text of a model file with the lines that were chosen; what the gallery alone reads is left out."""
    suffixes = [f"--{choice}" for choice in choices.values() if _file(f"{name}--{choice}").is_file()]
    lines: list[str] = []
    for line in _file(name + "".join(suffixes)).read_text(encoding="utf-8").splitlines(keepends=True):
        instead = INSTEAD.match(line)
        if instead is not None and choices.get(instead[1]) == instead[2]:
            lines[-1] = instead[3]
        elif not line.startswith(MARK):
            lines.append(line)
    return "".join(lines)


def _count(name: str, text: str, family: MadeFamily) -> int:
    if not text.isascii() or not text.isdigit() or not 1 <= int(text[:9]) <= family.largest or len(text) > 9:
        message = f"a {name} has from 1 to {family.largest} {family.parts}, not '{text[:20]}'"
        raise ModelError([Problem(message, None, f"write {name}:3")])
    return int(text)


def _check_choices(name: str, choices: Mapping[str, str]) -> None:
    """Refuse what cannot be chosen."""
    known = variants_of(name)
    for what, choice in choices.items():
        if what not in known:
            message = f"the model '{name}' has no variants '{what}'"
            raise ModelError([Problem(message, None, nearest(what, known) or _offer(known))])
        if choice not in known[what]:
            message = f"'{what}' of '{name}' cannot be '{choice}'"
            raise ModelError([Problem(message, None, "there are " + ", ".join(known[what]))])


def _offer(known: Variants) -> str:
    if not known:
        return "it has no variants at all"
    return "it has " + "; ".join(f"{what} = {' or '.join(choices)}" for what, choices in known.items())
