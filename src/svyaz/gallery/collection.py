"""Models of the literature, each as the text of a model file that says what was published about it.

``pendulum:N``, ``chain:N`` and ``random-tree:N`` are made for any N; the others are files. A model may have variants,
chosen by name and choice.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib.resources import files

from svyaz.expr import ModelError, Problem
from svyaz.gallery import ball_and_beam, chain, pendulum, random_tree_model
from svyaz.model import nearest

VARIANTS: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "ball-and-beam": ball_and_beam.CHOICES,
    "ball-on-plane": {"coordinates": ("quaternion", "angles", "printed")},
    "inverse-cart": {"given": ("rates", "field", "constraints"), "data": ("listing", "text")},
    "three-link": {"potential": ("simplified", "full")},
    "three-link-10": {"constraints": ("corrected", "printed")},
}
"""Model → what can be chosen → choices; the first is the default. The file of another choice is NAME--CHOICE.toml."""

REWRITTEN: Mapping[tuple[str, str], Mapping[str, str]] = {
    ("inverse-cart", "text"): {"step = 0.001\n": "step = 0.01\n", "until = 15\n": "until = 10\n"},
}
"""(model, choice) → lines of the file that it replaces, for a choice that has no file of its own."""


FAMILIES: Mapping[str, tuple[Callable[[int], str], int]] = {
    "pendulum": (pendulum.pendulum, pendulum.LARGEST),
    "chain": (chain.chain, chain.LARGEST),
}
"""Models for any number of links: how they are made, and the largest number."""

CHOSEN_FAMILIES: Mapping[str, tuple[Callable[[int, Mapping[str, str]], str], int]] = {
    "random-tree": (random_tree_model.random_tree_model, random_tree_model.LARGEST)
}
"""The same for models of which more can be chosen, numbers among it."""

OPEN_CHOICES: Mapping[str, Mapping[str, tuple[str, ...]]] = {"random-tree:N": random_tree_model.CHOICES}
"""What can be chosen of these, with the default first; their makers know what fits."""

MADE: Mapping[str, Callable[[Mapping[str, str]], str]] = {"ball-and-beam": ball_and_beam.ball_and_beam}
"""Models with many variants: the text is made from the choices."""


def names() -> list[str]:
    """Names of all models, ``pendulum:N``, ``chain:N`` and ``random-tree:N`` among them."""
    models = files("svyaz.gallery").joinpath("models")
    stems = [entry.name.removesuffix(".toml") for entry in models.iterdir() if entry.name.endswith(".toml")]
    return sorted(
        [
            *MADE,
            *(f"{family}:N" for family in (*FAMILIES, *CHOSEN_FAMILIES)),
            *(stem for stem in stems if "--" not in stem),
        ]
    )


def sequence(name: str) -> str | None:
    """The shortest sequence that was found for the inertia matrix of a tree, as ``svyaz inertia`` writes it."""
    entry = files("svyaz.gallery").joinpath("sequences", f"{name}.txt")
    known = name in names() and entry.is_file()
    return entry.read_text(encoding="utf-8") if known else None


def find(name: str, choices: Mapping[str, str] | None = None) -> str | None:
    """The text of the model of this name, or None when the gallery has none."""
    family, colon, number = name.partition(":")
    if colon and number != "N" and family in FAMILIES:
        _check_choices(name, choices or {})
        make, largest = FAMILIES[family]
        return make(_links(family, number, largest))
    if colon and number != "N" and family in CHOSEN_FAMILIES:
        make_chosen, largest = CHOSEN_FAMILIES[family]
        return make_chosen(_links(family, number, largest), choices or {})
    if name not in names() or colon:
        return None
    suffix = _check_choices(name, choices or {})
    if name in MADE:
        return MADE[name](choices or {})
    text = files("svyaz.gallery").joinpath("models", f"{name}{suffix}.toml").read_text(encoding="utf-8")
    for choice in (choices or {}).values():
        for line, other in REWRITTEN.get((name, choice), {}).items():
            text = text.replace(line, other)
    return text


def _links(family: str, text: str, largest: int) -> int:
    if not text.isascii() or not text.isdigit() or not 1 <= int(text[:9]) <= largest or len(text) > 9:
        parts = "bodies" if family in CHOSEN_FAMILIES else "links"
        message = f"a {family} has from 1 to {largest} {parts}, not '{text[:20]}'"
        raise ModelError([Problem(message, None, f"write {family}:3")])
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
        if choice != known[what][0] and (name, choice) not in REWRITTEN:
            suffix += f"--{choice}"
    return suffix


def _offer(known: Mapping[str, tuple[str, ...]]) -> str:
    if not known:
        return "it has no variants at all"
    return "it has " + "; ".join(f"{what} = {' or '.join(choices)}" for what, choices in known.items())
