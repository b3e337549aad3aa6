"""Models of the literature, each as the text of a model file that says what was published about it.

``pendulum:N`` is made for any N; the others are files. A model may have variants, chosen by name and choice.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib.resources import files

from svyaz.expr import ModelError, Problem
from svyaz.gallery.pendulum import LARGEST, pendulum
from svyaz.model.words import nearest

VARIANTS: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "ball-on-plane": {"coordinates": ("quaternion", "angles", "printed")},
    "three-link": {"potential": ("simplified", "full")},
    "three-link-10": {"constraints": ("corrected", "printed")},
}
"""Model → what can be chosen → choices; the first is the default. The file of another choice is NAME--CHOICE.toml."""


def names() -> list[str]:
    """Names of all models, ``pendulum:N`` among them."""
    models = files("svyaz.gallery").joinpath("models")
    stems = [entry.name.removesuffix(".toml") for entry in models.iterdir() if entry.name.endswith(".toml")]
    return sorted(["pendulum:N", *(stem for stem in stems if "--" not in stem)])


def find(name: str, choices: Mapping[str, str] | None = None) -> str | None:
    """The text of the model of this name, or None when the gallery has none."""
    if name.startswith("pendulum:") and name != "pendulum:N":
        _check_choices(name, choices or {})
        return pendulum(_links(name.removeprefix("pendulum:")))
    if name not in names() or name == "pendulum:N":
        return None
    suffix = _check_choices(name, choices or {})
    return files("svyaz.gallery").joinpath("models", f"{name}{suffix}.toml").read_text(encoding="utf-8")


def _links(text: str) -> int:
    if not text.isascii() or not text.isdigit() or not 1 <= int(text[:9]) <= LARGEST or len(text) > 9:
        raise ModelError(
            [Problem(f"a pendulum has from 1 to {LARGEST} links, not '{text[:20]}'", None, "write pendulum:3")]
        )
    return int(text)


def _check_choices(name: str, choices: Mapping[str, str]) -> str:
    """The suffix of the file for the choices; a wrong one is refused."""
    known = VARIANTS.get(name, {})
    suffix = ""
    for what, choice in choices.items():
        if what not in known:
            message = f"the model '{name}' has no variants '{what}'"
            raise ModelError([Problem(message, None, nearest(what, known) or _offer(known))])
        if choice not in known[what]:
            message = f"'{what}' of '{name}' cannot be '{choice}'"
            raise ModelError([Problem(message, None, "there are " + ", ".join(known[what]))])
        if choice != known[what][0]:
            suffix += f"--{choice}"
    return suffix


def _offer(known: Mapping[str, tuple[str, ...]]) -> str:
    if not known:
        return "it has no variants at all"
    return "it has " + "; ".join(f"{what} = {' or '.join(choices)}" for what, choices in known.items())
