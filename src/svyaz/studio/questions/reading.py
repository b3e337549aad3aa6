"""Models as they are typed: what is wrong with them and where, what they state, and how they look."""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite
from typing import TYPE_CHECKING

from svyaz.expr import ModelError
from svyaz.json_types import Json, Record
from svyaz.studio.questions import Tell
from svyaz.studio.questions.asked import Table, model_text, read_question, table
from svyaz.studio.questions.drawn import positions_drawn

if TYPE_CHECKING:
    from svyaz.library import System

TEMPLATES = ("energies", "constraint", "bodies", "control", "equations")
HIGHEST_EXAMPLE = 3
"""Of the models NAME:N this one is shown in the gallery."""


def read(question: Table, tell: Tell) -> Mapping[str, object]:
    """What the model states, and its picture at the start."""
    text, name = model_text(question)
    system = read_question(question).system
    warnings: Json = [
        {"message": str(w.message), "hint": w.hint, "line": w.place.line if w.place else None} for w in system.warnings
    ]
    return {"text": text, "name": name, "stated": statement(system), "warnings": warnings, "scene": _start(system)}


def statement(system: System) -> Record:
    """All that a page must know to ask about a system."""
    from svyaz.forms import form_names, pseudo_cyclic
    from svyaz.integrate import method_names
    from svyaz.program import languages
    from svyaz.stabilise import options_for

    try:
        until: Json = options_for(system, {}).until
    except ModelError:
        until = None
    units, source = system.words.get("units", {}), system.source
    known = {place: kind for kind in ("published", "recovered", "chosen") for place in _names(source.get(kind))}
    return {
        "title": system.name,
        "notes": str(system.words.get("notes", "")),
        "coordinates": list(system.coordinates),
        "velocities": list(system.velocities),
        "states": list(system.states),
        "parameters": {
            name: {"value": _finite(value), "unit": _unit(units, name), "source": known.get(name, "")}
            for name, value in system.parameters.items()
        },
        "derived": [n for n, word in _words(system).items() if isinstance(word, str) and not _is_number(word)],
        "inputs": {
            name: {"value": _finite(i.value), "low": _finite(i.low), "high": _finite(i.high)}
            for name, i in system.inputs.items()
        },
        "initial": {name: _finite(x) for name, x in zip(system.states, system.initial_state(), strict=True)},
        "constraints": [
            {"name": c.name, "text": c.text, "order": c.order, "dependent": list(c.dependent)}
            for c in system.constraints
        ],
        "limits": {limit.name: [_finite(side) for side in limit.sides(system.constants)] for limit in system.limits},
        "box": {name: [_finite(x) for x in sides] for name, sides in system.box.items()},
        "cyclic": [c.name for c in pseudo_cyclic(system)],
        "outputs": list(system.outputs),
        "run": {name: word for name, word in system.run.items() if isinstance(word, str | int | float | dict)},
        "until": until,
        "drawn": bool(system.drawings),
        "forms": list(form_names()),
        "methods": list(method_names()),
        "languages": list(languages()),
    }


def _words(system: System) -> Mapping[str, object]:
    given = system.words.get("parameters", {})
    return given if isinstance(given, Mapping) else {}


def _is_number(word: str) -> bool:
    try:
        return isfinite(float(word))
    except ValueError:
        return False


def _names(given: object) -> list[str]:
    return [str(name) for name in given] if isinstance(given, list | tuple) else []


def _unit(units: object, name: str) -> str:
    return str(units.get(name, "")) if isinstance(units, Mapping) else ""


def _finite(value: float | None) -> float | None:
    return float(value) if value is not None and isfinite(value) else None


def _start(system: System) -> object:
    """The mechanism at the start; none where it has no looks, or no place."""
    state = dict(zip(system.states, system.initial_state(), strict=True))
    return positions_drawn([(system, state)]) if system.drawings else None


def gallery(question: Table, tell: Tell) -> Mapping[str, object]:
    """All models of the gallery with what can be chosen of them, and templates to begin with."""
    from svyaz.gallery import names, open_choices_of, template, variants_of

    models: list[Json] = []
    for name in names():
        variants = variants_of(name) or open_choices_of(name)
        models.append({"name": name, "variants": {what: list(choices) for what, choices in variants.items()}})
    return {"models": models, "templates": {kind: template(kind).replace("NAME", kind, 1) for kind in TEMPLATES}}


def thumbnails(question: Table, tell: Tell) -> Mapping[str, object]:
    """Title, notes and picture of some models of the gallery."""
    from svyaz.gallery import find
    from svyaz.library import loads

    found: dict[str, object] = {}
    wanted = list(table(question, "names"))
    for k, name in enumerate(wanted):
        tell(k, len(wanted))
        example = name.replace(":N", f":{HIGHEST_EXAMPLE}")
        text = find(example)
        if text is None:
            continue
        system = loads(text, example)
        notes = str(system.words.get("notes", "")).replace("\n", " ")
        found[name] = {"title": system.name, "notes": notes, "example": example, "scene": _start(system)}
    return found


ANSWERS = {"read": read, "gallery": gallery, "thumbnails": thumbnails}
