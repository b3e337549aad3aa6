"""Tables of model files that state a source's own rule for the state after each step, read by plug-ins.

A table ``[NAME]`` is read by the module ``svyaz_published/rules/NAME.py``, which declares itself by ``read``: a function of
the reader, the table and the names of the model that gives a ``StepRule``, or None where it reported a mistake.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pkgutil import iter_modules

from svyaz.model.reading import words as vocabulary
from svyaz.model.reading.common import Reader
from svyaz.model.reading.names import Names
from svyaz.model.system import StepRule

HOME = "svyaz_published"


@cache
def rule_tables() -> tuple[str, ...]:
    """The names of the tables that there are rules for; none where the package of the sources is not installed."""
    if find_spec(HOME) is None:
        return ()
    return tuple(module.name for module in iter_modules(import_module(f"{HOME}.rules").__path__))


def read_rule(reader: Reader, words: vocabulary.Table, names: Names) -> StepRule | None:
    """The rule that a model states; of several, all but the first are reported."""
    stated = [name for name in rule_tables() if vocabulary.table(words, name)]
    for name in stated[1:]:
        reader.report(
            (name,), f"[{name}] does not go with [{stated[0]}]: one rule is applied after a step", at_key=True
        )
    found: list[StepRule | None] = [
        import_module(f"{HOME}.rules.{name}").read(reader, vocabulary.table(words, name), names) for name in stated
    ]
    return found[0] if found else None
