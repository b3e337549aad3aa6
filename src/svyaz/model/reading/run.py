"""Reading the defaults of a run, the bypass of singular points, and where a model comes from."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from svyaz.model.reading import words as vocabulary
from svyaz.model.reading.common import Names, Reader, Table
from svyaz.model.system import Bypass

NUMBERS = ("step", "until", "rtol", "atol", "tolerance", "every")

Choices = Mapping[str, Callable[[], Sequence[str]]]
"""The words that rooms above this one know for some keys of [run]; what follows a colon is theirs to judge."""


def read_run(reader: Reader, given: Table, names: Names, choices: Choices) -> dict[str, object]:
    """The [run] table with its numbers evaluated."""
    run = reader.known_words(given, vocabulary.RUN, ("run",))
    for key in (key for key in NUMBERS if key in run):
        value = reader.value(("run", key), run[key], names)
        run[key] = value
        if value <= 0:
            reader.report(("run", key), f"'{key}' must be positive")
    for key in (key for key in choices if isinstance(run.get(key), str)):
        word, known = vocabulary.text(run, key).partition(":")[0], choices[key]()
        if word not in known:
            message = f"'{key}' cannot be '{word}'; there are {', '.join(known)}"
            reader.report(("run", key), message, hint=vocabulary.nearest(word, known))
    if "step" in run and "rtol" in run:
        reader.report(("run", "rtol"), "give either 'step' (fixed) or 'rtol' (error-controlled), not both", at_key=True)
    return run


def read_bypass(reader: Reader, given: Table, names: Names) -> Bypass | None:
    """The [bypass] table: the watched expression, and numbers."""
    words = reader.known_words(given, vocabulary.BYPASS, ("bypass",))
    if not given:
        return None
    for key in (key for key in vocabulary.BYPASS if key not in given):
        reader.report(("bypass",), f"[bypass] needs '{key}'", at_key=True)
    watch = reader.expression(("bypass", "watch"), words.get("watch", 0), names.scope(velocities=False))
    at, window, jump = (reader.value(("bypass", key), words.get(key, 0), names) for key in ("at", "window", "jump"))
    return Bypass(watch, at, window, jump)


def read_source(reader: Reader, given: Table, names: Names) -> dict[str, object]:
    """Where the model was published, and which of its numbers were published, recovered or chosen."""
    words = reader.known_words(given, vocabulary.SOURCE, ("source",))
    for key in ("published", "recovered", "chosen"):
        for k, name in enumerate(vocabulary.names(words, key)):
            plain = name.removeprefix("initial.").removeprefix("run.")
            if plain == name and name not in names.parameters and name not in names.inputs:
                reader.report(("source", key, k), f"'{name}' is not a parameter of the model")
    return words
