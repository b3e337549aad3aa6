"""Reading the defaults of a run, the bypass of singular points, and where a model comes from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from svyaz.model import words as vocabulary
from svyaz.model.reader import Names, Reader

FORMS = ("lagrange", "multipliers", "chaplygin", "voronets", "maggi", "appell", "shulgin", "routh")
METHODS = ("euler", "rk2", "rk4", "rkf45", "dopri5", "dop853", "radau")
STABILIZE = ("off", "auto", "projection")
NUMBERS = ("step", "until", "rtol", "atol", "tolerance", "every")


def read_run(reader: Reader, given: Mapping[str, Any], names: Names) -> dict[str, Any]:
    """The [run] table with its numbers evaluated."""
    words = reader.known_words(given, vocabulary.RUN, ("run",))
    run: dict[str, Any] = {}
    for key, value in words.items():
        path = ("run", key)
        if key in NUMBERS:
            run[key] = reader.value(path, value, names)
            if not run[key] > 0 and run[key] == run[key]:
                reader.report(path, f"'{key}' must be positive")
        else:
            run[key] = value
    _check_choice(reader, "form", run.get("form") and str(run["form"]).partition(":")[0], FORMS)
    _check_choice(reader, "method", str(run.get("method", METHODS[0])).partition(":")[0], METHODS)
    if isinstance(run.get("stabilize"), str):
        _check_choice(reader, "stabilize", run["stabilize"], STABILIZE)
    if "step" in run and "rtol" in run:
        reader.report(("run", "rtol"), "give either 'step' (fixed) or 'rtol' (error-controlled), not both", at_key=True)
    return run


def _check_choice(reader: Reader, key: str, value: str | None, known: tuple[str, ...]) -> None:
    if value is not None and value not in known:
        message = f"'{key}' cannot be '{value}'; there are {', '.join(known)}"
        reader.report(("run", key), message, hint=vocabulary.nearest(value, known))


def read_bypass(reader: Reader, given: Mapping[str, Any], names: Names) -> dict[str, Any]:
    """The [bypass] table: the watched expression, and numbers."""
    words = reader.known_words(given, vocabulary.BYPASS, ("bypass",))
    if not given:
        return {}
    bypass: dict[str, Any] = {}
    for key in vocabulary.BYPASS:
        if key not in words:
            if key not in given:
                reader.report(("bypass",), f"[bypass] needs '{key}'", at_key=True)
        elif key == "watch":
            bypass[key] = reader.expression(("bypass", key), words[key], names.scope(velocities=False))
        else:
            bypass[key] = reader.value(("bypass", key), words[key], names)
    return bypass


def read_source(reader: Reader, given: Mapping[str, Any], names: Names) -> dict[str, Any]:
    """Where the model was published, and which of its numbers were published, recovered or chosen."""
    words = reader.known_words(given, vocabulary.SOURCE, ("source",))
    for key in ("published", "recovered", "chosen"):
        for k, name in enumerate(words.get(key, ())):
            plain = name.removeprefix("initial.").removeprefix("run.")
            if plain == name and name not in names.parameters and name not in names.inputs:
                reader.report(("source", key, k), f"'{name}' is not a parameter of the model")
    return words
