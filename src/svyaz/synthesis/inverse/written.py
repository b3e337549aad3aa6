"""The system of an inverse problem written out: code and a model file."""

from __future__ import annotations

import json
from collections.abc import Mapping

from svyaz.expr import to_text, velocity
from svyaz.forms import lagrangian
from svyaz.program import Program, build
from svyaz.synthesis.inverse.inversion import Inverse, deviation


def inverse_program(found: Inverse) -> Program:
    """Outputs: q̈ of each coordinate (``acceleration[x]``), the deviations h (``h[x]``), the gains (``K[x,y]``), and the
    rates of all states, by which the code can be integrated.
    """
    system = found.system
    q = system.coordinates
    outputs = [(f"acceleration[{name}]", a) for name, a in found.accelerations.items()]
    outputs.extend((f"h[{name}]", h) for name, h in zip(q, deviation(system), strict=True))
    outputs.extend(
        (f"K[{a},{b}]", entry) for a, row in zip(q, found.gains, strict=True) for b, entry in zip(q, row, strict=True)
    )
    rates = {name: velocity(name) for name in q} | {f"{name}'": a for name, a in found.accelerations.items()}
    outputs.extend((f"rate[{state}]", rates[state]) for state in system.states)
    return build(outputs, inputs=("t", *system.states), parameters=tuple(system.constants))


def inverse_model(found: Inverse) -> str:
    """A model file with the Lagrangian and the Rayleigh function, to be simulated like any other."""
    system = found.system
    lines = [f"name = {_quoted(system.name)}", f"coordinates = {json.dumps(list(system.coordinates))}"]
    lines += [f"lagrangian = {_quoted(to_text(lagrangian(system)))}"]
    lines += [f"dissipation = {_quoted(to_text(system.dissipation))}"]
    lines += _table("parameters", system.constants)
    start = dict(zip(system.states, system.initial_state(), strict=True))
    lines += _table("initial", {name: value for name, value in start.items() if value})
    kept = ("method", "step", "rtol", "atol", "until")
    run = {key: value for key, value in system.run.items() if key in kept and isinstance(value, str | float)}
    lines += _table("run", run)
    return "\n".join(lines) + "\n"


def _table(name: str, entries: Mapping[str, str | float]) -> list[str]:
    written = (f"{_key(k)} = {_quoted(v) if isinstance(v, str) else repr(float(v))}" for k, v in entries.items())
    return ["", f"[{name}]", *written] if entries else []


def _key(name: str) -> str:
    plain = name.isascii() and name.replace("_", "").replace("-", "").isalnum()
    return name if plain else _quoted(name)


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
