"""What a system is in Python: stated by words or parts, shown in a line, changed without changing."""

from __future__ import annotations

from collections.abc import Mapping, Sized
from typing import TYPE_CHECKING, Self, Unpack

from svyaz import forms, integrate, model
from svyaz.arguments import check_arguments
from svyaz.library.dressing import dress
from svyaz.library.parts import PART_WORDS, Part, join_words
from svyaz.library.sympy_words import as_words
from svyaz.shown import Shown

if TYPE_CHECKING:
    from svyaz.expr import Expression
    from svyaz.model import Choices, ModelWords, Places, Table, Tree

MOST_NAMED = 8
"""So many coordinates are named where a system is shown in a line."""

STABILIZE = ("off", "auto", "projection")


def run_choices() -> Choices:
    """The values of [run] that other packages define, by key."""
    return {
        "form": lambda: tuple(dict.fromkeys(name.partition(":")[0] for name in forms.form_names())),
        "method": integrate.method_names,
        "stabilize": lambda: STABILIZE,
    }


class StatedSystem(Shown, model.System):
    """A system as it was stated, from words of model files, objects of Python, or both."""

    def __init__(self, *parts: Part, **words: Unpack[ModelWords]) -> None:
        plain = {key: as_words(value) for key, value in join_words(words, parts).items()}
        super().__init__(**vars(model.system_of(plain, choices=run_choices())))

    @classmethod
    def of(cls, stated: model.System) -> Self:
        """The same system with verbs."""
        return dress(cls, stated)

    @classmethod
    def from_words(cls, words: Table, file: str | None = None, places: Places | None = None) -> Self:
        """A system from a table of words, with the places where they stand in a file."""
        return cls.of(model.system_of(words, file, places, run_choices()))

    @check_arguments
    def with_settings(self, settings: Table) -> Self:
        """The same system with some values changed: a parameter, or ``initial.x``, ``run.step`` by a dotted name."""
        return self.of(model.with_settings(self, settings, run_choices()))

    def with_(self, **values: object) -> Self:
        """The same system with other values, checked like a file: parameters and inputs by name, tables by theirs.

        >>> import svyaz
        >>> longer = svyaz.load("pendulum:1").with_(L1=2, initial={"u1": 0.1}, run={"until": 5})
        >>> longer.parameters["L1"], longer.initial["u1"]
        (2.0, 0.1)
        """
        settings: dict[str, object] = {}
        for name, value in values.items():
            if isinstance(value, Mapping) and name in model.DOTTED:
                settings |= {f"{name}.{key}": as_words(entry) for key, entry in value.items()}
            else:
                settings[name] = as_words(value)
        return self.with_settings(settings)

    def with_parts(self, *parts: Part, **words: Unpack[ModelWords]) -> Self:
        """The same system with further bodies, constraints …, checked like a file.

        Of further ``words`` the tables (parameters, initial values …) are added to those of the system, others take the place
        of its own.

        >>> import svyaz
        >>> pendulum = svyaz.load("pendulum:2")
        >>> pendulum.with_parts(svyaz.Constraint("u2 = k*u1", name="gear"), parameters={"k": 2}).constraints[0].text
        'u2 = k*u1'
        """
        own: Table = self.words
        given = {key: as_words(value) for key, value in join_words(words, parts).items()}
        for key, value in given.items():
            before = own.get(key)
            if isinstance(value, Mapping) and isinstance(before, Mapping):
                given[key] = {**before, **value}
            elif isinstance(value, list) and isinstance(before, list | tuple) and key in PART_WORDS:
                given[key] = [*before, *value]
        return self.from_words({**own, **given}, self.file)

    @property
    def tree(self) -> Tree | None:
        """The tree of its bodies, if it is one."""
        return self.law.tree if isinstance(self.law, model.Bodies) else None

    @property
    def lagrangian(self) -> Expression:
        """L = T - P of a mechanical system."""
        return forms.lagrangian(self)

    @property
    def kinetic(self) -> Expression:
        """T of a mechanical system; of a Lagrangian, the part that moves."""
        return forms.kinetic_and_potential(self)[0]

    @property
    def potential(self) -> Expression:
        """P of a mechanical system; of a Lagrangian, minus the part at rest."""
        return forms.kinetic_and_potential(self)[1]

    def __repr__(self) -> str:
        moving = self.coordinates or self.states
        shown = ", ".join(moving[:MOST_NAMED]) + (f", … ({len(moving)})" if len(moving) > MOST_NAMED else "")
        told = [shown, _count(self.parameters, "parameter")]
        told += [_count(self.constraints, "constraint")] if self.constraints else []
        told += [f"inputs {', '.join(self.inputs)}"] if self.inputs else []
        return f"<System '{self.name}': {'; '.join(told)}>"


def _count(things: Sized, what: str) -> str:
    return f"{len(things)} {what}{'' if len(things) == 1 else 's'}"
