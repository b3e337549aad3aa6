"""Motions of trees that are held on surfaces at which forces jump: native code that finds the sides with which they are.

With sides σ between -1 and 1 in place of those of the surfaces s(x, t) = 0, the rates f are linear in σ, and so is
ṡ = ∂s/∂t + ∂s/∂x f. The loop over the bodies is called without sides and with each of them, which gives ṡ = a + C σ; then
with the σ for which ṡ = 0 (see ``forms.sides``). One compiled function serves every model, whose ``SlidingModel`` stands at
its constants.
"""

from __future__ import annotations

from svyaz.integrate import (
    Routine,
    call,
    copy,
    factorise,
    lazy_callback,
    matrix,
    numbers,
    part,
    record_at,
    substitute,
    whole_numbers,
)


class SlidingModel:
    """A loop over bodies whose drive is given sides, and its workspace."""

    loop: Routine
    program: Routine
    """From [t, x, f] it gives ṡ."""
    watched: Routine
    """A function of [t, x, σ] that is watched."""
    size: int
    """How many states there are."""
    surfaces: int
    state: int
    """Address of [t, x, σ]."""
    inputs: int
    """Address of [t, x, f]."""
    effect: int
    """Address of C, (surfaces, surfaces)."""
    drift: int
    """Address of -a."""
    pivots: int
    rates: int
    multipliers: int
    """Address of those of the constraints of the loop."""


_sliding_at = record_at(SlidingModel)


@part
def _drift(model: SlidingModel, out: int) -> int:
    """ṡ with the sides that stand behind the state."""
    status = call(model.loop.function, model.state, model.loop.constants, out)
    copy(model.state, model.inputs, 1 + model.size)
    copy(out, model.inputs + 8 * (1 + model.size), model.size)
    return status | call(model.program.function, model.inputs, model.program.constants, model.drift)


@part
def _slide(model: SlidingModel, x: int, out: int) -> int:
    """Rates with the sides that hold the motion, which are left behind the state."""
    m = model.surfaces
    sides, drift = numbers(model.state + 8 * (1 + model.size), m), numbers(model.drift, m)
    effect, pivots = matrix(model.effect, m, m), whole_numbers(model.pivots, m)
    copy(x, model.state, 1 + model.size)
    for k in range(m):
        sides[k] = 0.0
    status = 0
    for k in range(m):
        sides[k] = 1.0
        status |= _drift(model, out)
        sides[k] = 0.0
        for i in range(m):
            effect[i, k] = drift[i]
    status |= _drift(model, out)
    for i in range(m):
        for k in range(m):
            effect[i, k] -= drift[i]
        drift[i] = -drift[i]
    if status != 0 or not factorise(effect, pivots):
        return 1
    substitute(effect, pivots, drift)
    for k in range(m):
        sides[k] = drift[k]
    return call(model.loop.function, model.state, model.loop.constants, out)


def _sliding_step(x: int, c: int, out: int) -> int:
    return 0 if _slide(_sliding_at(c), x, out) == 0 else 1


def _sliding_watch(x: int, c: int, out: int) -> int:
    model = _sliding_at(c)
    status = _slide(model, x, model.rates)
    status |= call(model.watched.function, model.state, model.watched.constants, out)
    return 0 if status == 0 else 1


sliding_step_function = lazy_callback(_sliding_step)
"""The compiled rates."""

sliding_watch_function = lazy_callback(_sliding_watch)
"""The compiled watch over states and sides."""
