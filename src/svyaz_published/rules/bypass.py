"""The jump over a singular point (Kaspirovich 2.3), as an opt-in: [bypass] watch, at, window, jump.

When a watched coordinate, or velocity, would come within ``window`` of a singular value ``at``, it is overwritten by its
value before the step plus ``jump`` in the direction in which it changes, and the stabiliser is left to heal the
constraints. The window is cleared in one jump when jump > 2 window; with jump = 2 window it may take a second one. An
acceleration, the quantity of the published rule, is watched for its size: when it comes within ``window`` of ``at``, or
beyond, the coordinate jumps in the direction of its motion. Only the constraints recover: information lost in the jump is
not regained, so every jump is logged, and a regular chart (a unit quaternion) is the better way.
"""

from __future__ import annotations

from collections.abc import Sequence

import symengine as se
from symengine.lib.symengine_wrapper import Abs, Min, sign

from svyaz.expr import HALF, ONE, Expression
from svyaz.model import ANY, EXPRESSION, STEP, TEXT, Names, Reader, StepRule, Table, nearest

KEYS = {"watch": TEXT, "at": ANY, "window": EXPRESSION, "jump": EXPRESSION}


def read(reader: Reader, given: Table, names: Names) -> StepRule | None:
    """The rule of a [bypass] table; None where something in it is wrong."""
    words = reader.known_words(given, KEYS, ("bypass",))
    for key in (key for key in KEYS if key not in given):
        reader.report(("bypass",), f"[bypass] needs '{key}'", at_key=True)
    watch = str(words.get("watch", "")).strip()
    coordinate = watch.rstrip("'")
    order = len(watch) - len(coordinate)
    known = [name for name, what in names.known.items() if what == "coordinate"]
    if "watch" in words and (coordinate not in known or order > 2):
        message = f"[bypass] watches a coordinate, its velocity or its acceleration; '{watch}' is none"
        reader.report(("bypass", "watch"), message, hint=nearest(coordinate, known))
    window, jump = (reader.value(("bypass", key), words.get(key, 0), names) for key in ("window", "jump"))
    given_at = words.get("at", 0)
    places: list[tuple[tuple[str | int, ...], object]] = [(("bypass", "at"), given_at)]
    if isinstance(given_at, list):
        places = [(("bypass", "at", k), value) for k, value in enumerate(given_at)]
        if not places:
            reader.report(("bypass", "at"), "'at' is a value or a list of values, and this list is empty")
    at = [reader.value(path, value, names) for path, value in places]
    if reader.is_faulty("bypass"):
        return None
    if order < 2 and not jump * (1 + 1e-12) >= 2 * window > 0:
        reader.report(("bypass", "jump"), "a jump cannot clear the window unless jump ≥ 2 window > 0")
    state = f"{coordinate}'" if order == 1 else coordinate
    s, rate = se.Symbol(state), se.Symbol(f"{state}'")
    inside = HALF * (ONE + sign(se.RealDouble(window) - distance(se.Symbol(watch), order, at)))
    moved = s + inside * (jump * sign(rate) - STEP * rate)
    return StepRule("the jump over a singular point ([bypass])", state, moved, least=0.5 * jump)


def distance(watched: Expression, order: int, at: Sequence[float]) -> Expression:
    """From the nearest singular value: of a coordinate over the turn, below it of an acceleration by size."""
    if order == 0:
        distances = [Abs(se.sin((watched - a) / 2)) * 2 for a in at]
    else:
        distances = [a - Abs(watched) if order == 2 else Abs(watched - a) for a in at]
    return distances[0] if len(distances) == 1 else Min(*distances)
