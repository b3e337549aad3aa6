"""The pieces of HTML of a living model: stage, panel with sliders, plots; their script is ``living_script()``."""

from __future__ import annotations

import json
from collections.abc import Sequence
from hashlib import sha256
from html import escape
from math import isfinite, pi

import numpy as np

from svyaz.arrays import Array
from svyaz.expr import unicode_name
from svyaz.motion import Motion
from svyaz.program import SOLVER, as_value
from svyaz.show.files import asset
from svyaz.show.living.living import Living
from svyaz.show.living.record import LivingRecord
from svyaz.show.scene import timing

SCRIPTS = ("regulator", "engine", "picture", "player", "plots", "living")
MOST_KEPT = 800
"""Rows that are kept of a motion for its plots."""

ENERGIES = ("kinetic", "potential", "energy")

FEW_ROWS = 14
"""A group of more sliders than this is folded."""

STAGE = """<div class="player card{blank}" tabindex="0" role="group" aria-label="{title}" style="--shape: {shape}"{model}>
<canvas data-part="canvas" role="img" aria-label="{title}"></canvas>
<div class="controls">
<button type="button" data-part="play" aria-label="Play">▶</button>
<input type="range" data-part="slider" min="0" max="1" step="any" value="0" aria-label="Time">
<output data-part="clock">t</output>
<label>Speed <select data-part="speed"></select></label>
<label><input type="checkbox" data-part="trail" checked> Trail</label>
</div>
<p class="keys quiet">Keys: space plays and pauses, ← → step, Home and End, + − change the speed, T hides the \
trail{turning}.{dragging}</p>
{inside}</div>
"""

_ROW = """<div class="row" data-kind="{kind}" data-name="{name}">
<span class="name" aria-hidden="true">{shown}</span>
<input type="range" aria-label="{told}" min="{low!r}" max="{high!r}" step="any" value="{value!r}">
<input type="number" aria-label="{told}, as a number" step="any" value="{value:.6g}">
</div>
"""

_CHOICE = """<label class="choice"><input type="checkbox" data-part="{part}"{checked}> {words}</label>
"""

PLOTS = """<div class="plots" data-part="plots">
<section class="plot card" aria-label="Over time">
<header><h2>Over time</h2><select data-part="group" aria-label="What is drawn over time"></select></header>
<div class="frame"><canvas data-part="time" role="img" aria-label="Curves over time"></canvas>
<div class="cursor" data-part="cursor"></div></div>
<div class="legend" data-part="legend"></div>
</section>
<section class="plot card" aria-label="Phase plane">
<header><h2>Phase plane</h2><select data-part="up" aria-label="Drawn upwards"></select> over
<select data-part="across" aria-label="Drawn to the right"></select></header>
<div class="frame"><canvas data-part="phase" role="img" aria-label="Phase plane"></canvas>
<div class="dot" data-part="dot"></div></div>
</section>
</div>
"""

_FACTS = {
    "residual": "Largest residual",
    "remainder": "Energy remainder",
    "steps": "Steps",
    "milliseconds": "Computed and drawn in",
}


def living_script() -> str:
    """The script that brings all players and living models of a page to life."""
    return "".join(asset(f"living/{name}.js") for name in SCRIPTS) + "svyaz.startPlayers();\nsvyaz.startLiving();\n"


def stage(
    title: str, shape: float | None, spatial: bool, *, draggable: bool = False, inside: str = "", live: str = ""
) -> str:
    """The canvas with its controls; ``inside`` stands at its end, ``live`` is the id of its model.

    ``shape`` is its width over its height; None where there is nothing to draw.
    """
    return STAGE.format(
        blank=" blank" if shape is None else "",
        title=escape(title),
        shape=f"{shape or 2.4:.3f}",
        turning="; drag, or Shift with the arrows, turns the view" if spatial else "",
        dragging=" Drag a joint of the paused mechanism to set the start." if draggable else "",
        inside=inside,
        model=f' data-model="{live}"' if live else "",
    )


def model_script(found: Living) -> tuple[str, str]:
    """The id of a model, and its record and programs as scripts: they stand inside its element."""
    data = {"record": found.record, "speed": timing(*found.record["span"]).speed}
    text = json.dumps(data, separators=(",", ":"), allow_nan=False)
    key = sha256(text.encode()).hexdigest()[:12]
    written = ",\n".join(f"{json.dumps(name)}: {as_value(program)}" for name, program in found.programs.items())
    programs = (
        f"<script>(() => {{\n{SOLVER}\n"
        "const svyaz = (globalThis.svyaz ??= {});\nsvyaz.solveSystem = solveSystem;\n"
        f'(svyaz.programs ??= {{}})["{key}"] = {{\n{written}\n}};\n}})();</script>\n'
    )
    record = f'<script type="application/json" data-part="record">{_safe(text)}</script>\n'
    return key, record + programs


def rows_script(motion: Motion) -> str:
    """Rows of a motion that is played as it was computed, for the plots: seven digits of each number, or null."""
    names = motion.state_names
    rows = np.unique(np.linspace(0, len(motion.times) - 1, min(len(motion.times), MOST_KEPT)).astype(int))
    energies = {name: motion.quantities[name] for name in ENERGIES if name in motion.quantities}
    tables = {"residuals": motion.residuals, "multipliers": motion.multipliers, "energies": energies}
    tables |= {"integrals": motion.integrals}

    def round_column(column: Array) -> list[float | None]:
        return [float(f"{x:.7g}") if isfinite(x) else None for x in column[rows]]

    data = {
        "record": {
            "states": list(names),
            "coordinates": [names.index(q) for q in motion.system.coordinates if q in names],
            "shown": {name: unicode_name(name) for name in names},
        },
        "times": round_column(motion.times),
        "states": [round_column(column) for column in motion.states.T],
        "columns": {kind: {name: round_column(c) for name, c in table.items()} for kind, table in tables.items()},
    }
    text = _safe(json.dumps(data, separators=(",", ":"), allow_nan=False))
    return f'<script type="application/json" data-part="record">{text}</script>\n'


def _safe(text: str) -> str:
    return text.replace("<", "\\u003c")


def panel(found: Living, motion: Motion, *, heading: str = "Start and parameters", address: bool = True) -> str:
    """Sliders for the start, the parameters, the gains and the duration, with what is read off."""
    record = found.record
    groups = [
        _group("Start", _start_rows(record, motion)),
        _group("Equilibrium", _target_rows(record)),
        _group("Parameters", _slider_rows(record, inputs=False)),
        _group("Inputs", _slider_rows(record, inputs=True)),
        _group("Stabilisation: ḧ + α ḣ + β h = 0, ḟ + κ f = 0", _gain_rows(record)),
        _group("Regulator: u = u₀ - K x", _regulator_rows(record)),
        _group("Duration", [_until_row(record), *_choices(found)]),
    ]
    kinds = {kind for phase in record["phases"] for kind, _ in phase["columns"]}
    missing = {"residual": "residuals", "remainder": "energies"}
    shown = [key for key in _FACTS if missing.get(key) is None or missing[key] in kinds]
    facts = "".join(f'<div><dt>{_FACTS[key]}</dt><dd data-fact="{key}">–</dd></div>' for key in shown)
    link = '<button type="button" data-part="link">Copy link</button>' if address else ""
    return (
        f'<section class="panel card" data-part="panel" aria-label="{escape(heading)}">\n'
        f'<div class="panel-head"><h2>{escape(heading)}</h2>'
        f'<span><button type="button" data-part="reset">Reset</button>{link}</span></div>\n'
        f'<dl class="numbers">{facts}</dl>\n<p class="message" data-part="message" role="status" hidden></p>\n'
        f"{''.join(groups)}</section>\n"
    )


def _group(title: str, rows: Sequence[str]) -> str:
    if not rows:
        return ""
    inside = "".join(rows)
    if len(rows) > FEW_ROWS:
        return f"<details><summary>{escape(title)} ({len(rows)})</summary>\n{inside}</details>\n"
    return f"<fieldset><legend>{escape(title)}</legend>\n{inside}</fieldset>\n"


def _row(kind: str, name: str, value: float, low: float, high: float, told: str, shown: str = "") -> str:
    return _ROW.format(
        kind=kind,
        name=escape(name, quote=True),
        shown=shown or f"<i>{escape(unicode_name(name))}</i>",
        told=escape(told, quote=True),
        low=min(low, value),
        high=max(high, value),
        value=value,
    )


def _start_rows(record: LivingRecord, motion: Motion) -> list[str]:
    """A slider for each state, over the range in which it moves, an angle over a turn."""
    states = np.asarray(motion.states, dtype=float)
    rows = []
    for k, (name, value) in enumerate(zip(record["states"], record["start"], strict=True)):
        column = states[:, k][np.isfinite(states[:, k])]
        reach = max(float(np.max(np.abs(column - value), initial=0.0)), 0.5 * abs(value), 1e-3)
        low, high = value - reach, value + reach
        if name in record["angles"]:
            low, high = min(low, -pi), max(high, pi)
        elif reach == 1e-3:
            low, high = value - 1.0, value + 1.0
        rows.append(_row("start", str(name), float(value), low, high, f"{name} at the start"))
    return rows


def _slider_rows(record: LivingRecord, *, inputs: bool) -> list[str]:
    moved = [entry for entry in record["moved"] if entry["input"] is inputs and not _of_regulator(entry["name"])]
    return [
        _row("values", m["name"], m["value"], m["low"], m["high"], f"{'input' if inputs else 'parameter'} {m['name']}")
        for m in moved
        if m["name"] not in record["tied"]
    ]


def _of_regulator(name: str) -> bool:
    """Is it one of the numbers of a closed loop, ``gain U by X``, ``rest X``, ``held U``? No name of a model has a blank."""
    return name.startswith(("gain ", "rest ", "held "))


def _target_rows(record: LivingRecord) -> list[str]:
    """What is prescribed of the equilibrium, where it is found anew."""
    regulator, rows = record["regulator"], []
    for name, value in (regulator["targets"] if regulator is not None else {}).items():
        reach, shown = abs(value) or 1.0, f"<i>{escape(unicode_name(name))}</i><sub>0</sub>"
        rows.append(_row("targets", name, value, value - reach, value + reach, f"{name} in the equilibrium", shown))
    return rows


def _regulator_rows(record: LivingRecord) -> list[str]:
    """The gains, the position of rest and the inputs that hold it; and whether the equilibrium is found anew."""
    rows = []
    several = len({m["name"].split()[1] for m in record["moved"] if m["name"].startswith("gain ")}) > 1
    for m in record["moved"]:
        word, *rest = m["name"].split(" ")
        if not _of_regulator(m["name"]) or (word == "rest" and m["name"].endswith("'")):
            continue
        names = [escape(unicode_name(name)) for name in (rest if word != "gain" else (rest[0], rest[2]))]
        if word == "gain":
            shown = f"<i>K</i><sub>{', '.join(names if several else names[1:])}</sub>"
            reach = max(abs(m["low"]), abs(m["high"]))
            told, low, high = f"gain of {rest[0]} by {rest[2]}", -reach, reach
        else:
            shown, low, high = f"<i>{names[0]}</i><sub>0</sub>", m["low"], m["high"]
            told = f"{rest[0]} of the equilibrium"
        rows.append(_row("values", m["name"], m["value"], low, high, told, shown))
    if record["regulator"] is not None:
        rows.insert(
            0,
            _CHOICE.format(part="resolve", checked=" checked", words="Follow the equilibrium with the designed K"),
        )
    return rows


def _choices(found: Living) -> list[str]:
    """May the motion go on past the limits of the model?"""
    watch = found.record["programs"].get("watch")
    if watch is None or not any(name.startswith("limited ") for name in watch["outputs"]):
        return []
    return [_CHOICE.format(part="beyond", checked="", words="Run on beyond the limits of the model")]


def _gain_rows(record: LivingRecord) -> list[str]:
    gains: dict[str, float] = {}
    for phase in record["phases"]:
        gains |= phase["gains"] or {}
    return [
        _row("gains", name, gains[name], 0.0, max(20.0 if name != "beta" else 100.0, 3 * gains[name]), f"gain {name}")
        for name in ("alpha", "beta", "kappa")
        if name in gains
    ]


def _until_row(record: LivingRecord) -> str:
    first, last = record["span"]
    row = _row("until", "t", last, first + 0.02 * (last - first), last, "end of the motion")
    return row.replace("<i>t</i>", "<i>t</i> ≤")
