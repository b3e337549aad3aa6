"""A system under sliders: which values may be moved how far, and the motion that follows a move, as a page draws it."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import ceil, floor, isfinite, log10, pi
from typing import TYPE_CHECKING

import numpy as np

from svyaz import model, motion, show, stabilise
from svyaz.expr import ModelError, Problem

if TYPE_CHECKING:
    from svyaz.json_types import Record
    from svyaz.library.motions import WorkingMotion
    from svyaz.library.systems import WorkingSystem

FRAMES = 400
"""Moments of a motion that are drawn."""

LONGEST = 2.0
"""Seconds after which a motion is shown as far as it has come."""

MOST_SLIDERS = 24
"""So many values get sliders unless they are asked for; the others are named by ``vary``."""

INITIAL = "initial."


@dataclass(frozen=True)
class Slider:
    """A value that is moved between two others in small steps: a parameter, an input, or ``initial.x`` of a state."""

    name: str
    low: float
    high: float
    value: float
    step: float


@dataclass(frozen=True)
class Explored:
    """The motion at some values of the sliders, or why there is none."""

    system: WorkingSystem
    motion: WorkingMotion | None
    trouble: str
    seconds: float


@dataclass(frozen=True)
class Exploration:
    """A system whose values are moved, what is drawn of its motions, and how they are run.

    Constraints are held by projection unless something else is asked for: gains would be sought again at every move.
    """

    system: WorkingSystem
    sliders: tuple[Slider, ...]
    views: tuple[motion.View, ...]
    options: Mapping[str, object] = field(default_factory=dict)

    def at(self, values: Mapping[str, float], moved: str | None = None) -> Explored:
        """The motion with these values; a start off the constraints is moved onto them, what was ``moved`` last stays."""
        began = time.perf_counter()
        system = self.system
        try:
            system = system.with_settings(self._settings(values))
            found, trouble = self._run(system, moved), ""
        except (ModelError, ArithmeticError, ValueError) as fault:
            found, trouble = None, _first(fault)
        return Explored(system, found, trouble, time.perf_counter() - began)

    def _settings(self, values: Mapping[str, float]) -> dict[str, float]:
        """Within the sliders, whatever a page may send; a value that stands where it stood is left as it was written."""
        known = {slider.name: slider for slider in self.sliders}
        asked = {name: min(max(float(value), known[name].low), known[name].high) for name, value in values.items()}
        return {name: value for name, value in asked.items() if value != known[name].value}

    def _run(self, system: WorkingSystem, moved: str | None) -> WorkingMotion:
        limit = time.monotonic() + LONGEST

        def enough(_: float) -> None:
            if time.monotonic() > limit:
                raise KeyboardInterrupt

        kept = [moved.removeprefix(INITIAL)] if moved is not None and moved.startswith(INITIAL) else []
        wishes: dict[str, object] = {}
        if system.constraints:
            wishes = {"project": True, "keep": kept, "stabilize": "projection"}
        wishes |= self.options
        until = stabilise.options_for(system, {"until": wishes.get("until")}).until
        rows = np.linspace(0.0, until, FRAMES)
        return system.simulate(rows=rows, progress=enough, on_failure="return", **wishes)  # type: ignore[arg-type]

    def record(self, found: Explored) -> Record:
        """What a page needs to draw it: the mechanism, curves, and words on how the run went."""
        run = found.motion
        if run is None:
            return {"trouble": found.trouble, "seconds": found.seconds}
        drawn = show.scene_record(run) if show.can_be_drawn(run) else None
        return {
            "trouble": "" if run.finished else _ending(run),
            "words": _words(run),
            "seconds": found.seconds,
            "scene": drawn,
            "curves": [show.curve_record(run, view) for view in self.views],
            "initial": {f"{INITIAL}{name}": float(x) for name, x in zip(run.state_names, run.states[0], strict=True)},
        }


def exploration(
    system: WorkingSystem,
    vary: Mapping[str, tuple[float, float]] | Sequence[str] | None,
    shown: str | Sequence[str],
    options: Mapping[str, object],
) -> Exploration:
    """Sliders over what is to ``vary``, by name or with ranges; else over parameters, inputs and initial coordinates."""
    texts = motion.parted(shown, ",") if isinstance(shown, str) else list(shown)
    views = motion.views_of(system, [text for text in texts if text])
    if not views:
        views = (motion.View("coordinates" if system.coordinates else system.states[0]),)
    if vary is None:
        names = [*_free_parameters(system), *system.inputs]
        names += [INITIAL + name for name in system.coordinates or system.states]
        return Exploration(system, tuple(_slider(system, name) for name in names[:MOST_SLIDERS]), views, options)
    ranges = dict(vary) if isinstance(vary, Mapping) else {}
    sliders = tuple(_slider(system, name, ranges.get(name)) for name in vary)
    return Exploration(system, sliders, views, options)


def _free_parameters(system: WorkingSystem) -> list[str]:
    """Parameters that are given as numbers; one that follows from others moves with them."""
    stated = system.words.get("parameters", {})
    return [name for name in system.parameters if isinstance(stated.get(name), int | float)]


def _slider(system: WorkingSystem, name: str, span: tuple[float, float] | None = None) -> Slider:
    value = _value(system, name)
    low, high = _usual(system, name, value) if span is None else (float(span[0]), float(span[1]))
    if not (isfinite(low) and isfinite(high) and low < high):
        raise ModelError([Problem(f"'{name}' cannot be moved between {low:g} and {high:g}")])
    low, high = min(low, value), max(high, value)
    return Slider(name, low, high, value, 10.0 ** floor(log10((high - low) / 100)))


def _value(system: WorkingSystem, name: str) -> float:
    state = name.removeprefix(INITIAL)
    if name != state and state in system.states:
        return float(system.initial.get(state, 0.0))
    if name in system.constants:
        return float(system.constants[name])
    hint = (
        f"write '{INITIAL}{name}' for its initial value"
        if name in system.states
        else model.nearest(name, system.constants)
    )
    raise ModelError([Problem(f"'{name}' is neither a parameter nor an input nor an initial value", hint=hint)])


def _usual(system: WorkingSystem, name: str, value: float) -> tuple[float, float]:
    """How far a value is moved unless it is said: an input within its bounds, an angle once around, others about themselves."""
    state = name.removeprefix(INITIAL)
    given = system.inputs.get(name)
    if given is not None and given.low is not None and given.high is not None:
        return given.low, given.high
    if name != state and state in model.angles(system):
        return -pi, pi
    if name != state or value == 0 or name in system.inputs:
        reach = _round_up(2 * abs(value)) if value else 1.0
        return (value - reach, value + reach) if name != state else (-reach, reach)
    far = _round_up(3 * abs(value))
    near = _round_up(abs(value) / 10)
    return (near, far) if value > 0 else (-far, -near)


def _round_up(size: float) -> float:
    """The next number of one digit that is not smaller."""
    power = 10.0 ** floor(log10(size))
    return ceil(size / power - 1e-9) * power


def _first(fault: Exception) -> str:
    return fault.problems[0].message if isinstance(fault, ModelError) and fault.problems else str(fault)


def _ending(run: WorkingMotion) -> str:
    if run.status == "stopped":
        return f"this takes longer than {LONGEST:g} s and is shown until t = {run.times[-1]:.3g}"
    return f"{run.status}: {run.reason}" if run.reason else str(run.status)


def _words(run: WorkingMotion) -> list[str]:
    told = [f"{run.steps} steps of {run.method}"]
    told += [f"{name} within {size.largest:.1e}" for name, size in list(run.residual_sizes().items())[:3]]
    told += [f"{name} changes by {drift.drift:.1e}" for name, drift in list(run.drifts().items())[:3]]
    return told
