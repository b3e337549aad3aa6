"""What a report says was given: notes, energies, constraints, bodies, numbers with units and sources, when and by what."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from html import escape

import symengine as se

from svyaz import __version__
from svyaz.expr import ModelError, Scope, latex_name, parse, start_of, to_latex, velocity
from svyaz.model import System, Tree, tree_of
from svyaz.motion import Motion
from svyaz.show.formulas import MOST_FORMULAS, formula_boxes, name_in_text, typeset
from svyaz.show.results import finite
from svyaz.show.tables import number, table

SIGNS = {"kinetic": "T", "potential": "P", "lagrangian": "L", "hamiltonian": "H", "dissipation": "D"}
ORIGINS = {"published": "published", "recovered": "recovered", "chosen": "chosen"}
LONGEST_TEXT = 400


def part_of_statement(motion: Motion) -> str:
    """The whole part: as it was written, with nothing derived."""
    system = motion.system
    notes = str(system.words.get("notes", "")).strip()
    parts = [f"<p>{escape(notes)}</p>\n"] if notes else []
    parts.append(_formulas(system))
    if system.bodies:
        parts.append(_bodies(tree_of(system)))
    parts += [_constraints(system), _motors(system), _numbers(motion), _origin(system)]
    return "".join(parts)


def _formulas(system: System) -> str:
    """Definitions, energies, forces, rates: as the model writes them, names of definitions kept."""
    scope = _as_written(system)
    shown, plain = [], []
    for left, text in _statements(system):
        found = _latex(text, scope)
        if found is None:
            plain.append(f"{left[1]} = {text}")
        else:
            shown.append(f"{left[0]} = {found}" if left[0] else found)
    boxes, missing = formula_boxes(shown, "Given")
    texts = "".join(f"<p><code>{escape(_cut(line))}</code></p>\n" for line in plain)
    rest = (
        f'<p class="quiet">{missing} more, too many or too long for a page, stand in the model.</p>\n'
        if missing
        else ""
    )
    return boxes + texts + rest


def _statements(system: System) -> Iterator[tuple[tuple[str, str], str]]:
    """(left side in LaTeX and in text, right side as it was written) of all that is stated by formulas."""
    words = system.words
    for name, text in _texts(words.get("definitions")):
        yield (latex_name(name), name), text
    for key, sign in SIGNS.items():
        if key in words:
            yield (sign, sign), str(words.get(key))
    for name, text in _texts(words.get("forces")):
        yield (f"Q_{{{latex_name(name)}}}", f"Q of {name}"), text
    for key, mark in (("rates", "'"), ("field", "'"), ("accelerations", "''")):
        for name, text in _texts(words.get(key)):
            yield (latex_name(name + mark), name + mark), text
    for name, text in _texts(words.get("equations")):
        yield ("", name), text
    for name, text in _texts(words.get("outputs")):
        yield (latex_name(name), name), text


def _texts(table_of_words: object) -> list[tuple[str, str]]:
    return [(str(k), str(v)) for k, v in table_of_words.items()] if isinstance(table_of_words, Mapping) else []


def _as_written(system: System) -> Scope:
    """What may be named, with definitions as names and not as what they stand for."""
    own = [name for name, _ in _texts(system.words.get("definitions"))]
    scope = system.scope
    symbols = {**scope.symbols, **{name: se.Symbol(name) for name in own}}
    rates = {**scope.derivatives, **{name: velocity(name) for name in own if name in scope.derivatives}}
    second = {q: se.Symbol(f"{q}''") for q in system.coordinates}
    return replace(scope, symbols=symbols, derivatives=rates, second=second, forbidden={})


def _latex(text: str, scope: Scope) -> str | None:
    """The text as a formula; None where it cannot be read by itself."""
    sides = text.split("=")
    try:
        return " = ".join(to_latex(parse(side, scope, start_of(side, "given")), tuple(scope.symbols)) for side in sides)
    except ModelError:
        return None


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST_TEXT else text[:LONGEST_TEXT] + " …"


def _constraints(system: System) -> str:
    if not system.constraints:
        return ""
    scope = _as_written(system)
    boxes = []
    for c in system.constraints[:MOST_FORMULAS]:
        found = _latex(c.text, scope)
        shown = f"<code>{escape(_cut(c.text))}</code>" if found is None else typeset(found)
        acts = [f"from t = {c.start:g}"] if c.start else []
        acts += [f"until t = {c.end:g}"] if c.end is not None else []
        acts += ["switched by events"] if c.switched else []
        told = "; ".join([f"{c.name}: on {'positions' if c.order == 0 else 'velocities'}", *acts])
        boxes.append(f'<div class="formula"><p class="quiet">{escape(told)}</p>{shown}</div>\n')
    missing = len(system.constraints) - len(boxes)
    rest = f'<p class="quiet">{missing} more constraints stand in the model.</p>\n' if missing else ""
    return f'<h3>Constraints</h3>\n<div class="card">\n{"".join(boxes)}</div>\n{rest}'


def _bodies(tree: Tree) -> str:
    """The tree, a row for each body."""
    rows = []
    for body in tree.bodies:
        base = tree.bodies[body.base].name if body.base >= 0 else "ground"
        moved = ", ".join(map(name_in_text, body.coordinates)) or "–"
        rows.append([escape(body.name), escape(base), escape(body.joint), moved, escape(str(body.mass))])
    heads = ["body", "carried by", "joint", "coordinates", "mass"]
    weight = ", ".join(map(str, tree.gravity))
    return table("Bodies", heads, rows) + f'<p class="quiet">Gravity ({escape(weight)}) in ground axes.</p>\n'


def _motors(system: System) -> str:
    rows = [
        [escape(m.name), name_in_text(m.current), name_in_text(m.voltage), name_in_text(m.on)] for m in system.motors
    ]
    return table("Motors", ["name", "current", "voltage", "acts on"], rows) if rows else ""


def _numbers(motion: Motion) -> str:
    """Parameters, inputs and the start, each with its unit and where it comes from."""
    system = motion.system
    starts = {name: f"initial.{name}" for name in motion.state_names}
    initial = dict(zip(motion.state_names, map(finite, motion.states[0]), strict=True))
    parameters = {name: value for name, value in system.constants.items() if name not in system.inputs}
    inputs = {name: given.value for name, given in system.inputs.items()}
    tables = []
    groups: Sequence[tuple[str, Mapping[str, float | None], Mapping[str, str]]] = (
        ("Parameters", parameters, {}),
        ("Inputs", inputs, {}),
        ("Initial state", initial, starts),
    )
    for title, values, called in groups:
        if values:
            tables.append(_value_table(title, values, system, called))
    return f'<div class="columns">\n{"".join(tables)}</div>\n'


def _value_table(title: str, values: Mapping[str, float | None], system: System, called: Mapping[str, str]) -> str:
    origins = {name: _origin_of(system, called.get(name, name)) for name in values}
    units = {name: str(system.units.get(name, "")) for name in values}
    heads = [
        "name",
        "value",
        *(["unit"] if any(units.values()) else []),
        *(["source"] if any(origins.values()) else []),
    ]
    rows = []
    for name, value in values.items():
        row = [name_in_text(name), number(value)]
        row += [escape(units[name])] if "unit" in heads else []
        row += [escape(origins[name])] if "source" in heads else []
        rows.append(row)
    return table(title, heads, rows)


def _origin_of(system: System, name: str) -> str:
    """Was it published, recovered or chosen, as the model says?"""
    listed = {key: system.source.get(key) for key in ORIGINS}
    return next((told for key, told in ORIGINS.items() if name in _names(listed[key])), "")


def _names(listed: object) -> list[str]:
    return [str(entry) for entry in listed] if isinstance(listed, list | tuple) else []


def _origin(system: System) -> str:
    """Where the model comes from, and when and by what this was computed."""
    work, notes = (str(system.source.get(key, "")) for key in ("work", "notes"))
    lines = [f"Source: {escape(work)}."] if work else []
    lines += [escape(notes)] if notes else []
    read = f"Model <code>{escape(system.file)}</code>. " if system.file else ""
    now = datetime.now().astimezone().strftime("%Y-%m-%d %H:%M")
    lines.append(f"{read}Computed on {now} by svyaz {escape(__version__)}.")
    return "".join(f'<p class="quiet">{line}</p>\n' for line in lines)
