"""Motions of trees that are held on surfaces at which forces jump: native code that finds the sides with which they are.

With sides σ between -1 and 1 in place of those of the surfaces s(x, t) = 0, the rates f are linear in σ, and so is
ṡ = ∂s/∂t + ∂s/∂x f. The loop over the bodies is called without sides and with each of them, which gives ṡ = a + C σ; then
with the σ for which ṡ = 0 (see ``forms.sides``). One compiled function serves every model, whose numbers and addresses it
finds in its constants, all 64-bit integers:

    c[0], c[1] the loop and its constants, c[2], c[3] the program of ṡ and its constants, c[4] number n of states, c[5] number
    m of surfaces, c[6] the state with its sides [t, x, σ], c[7] the inputs of the program [t, x, f], c[8] C, c[9] -a, c[10]
    pivots, c[11] rates, c[12], c[13] a function of [t, x, σ] that is watched, and its constants,
    c[14] the multipliers of constraints
"""

from __future__ import annotations

from functools import lru_cache

from svyaz.integrate import (
    Callback,
    call,
    callback,
    copy,
    factorise,
    matrix,
    numbers,
    part,
    substitute,
    whole,
    whole_numbers,
    write,
)

STATE, WATCHED, MULTIPLIED = 6, 12, 14


@part
def _drifted(c: int, out: int, target: int) -> int:
    """ṡ with the sides that stand behind the state."""
    n, given = whole(c, 4), whole(c, 7)
    status = call(whole(c, 0), whole(c, STATE), whole(c, 1), out)
    copy(whole(c, STATE), given, 1 + n)
    copy(out, given + 8 * (1 + n), n)
    return status | call(whole(c, 2), given, whole(c, 3), target)


@part
def _slid(x: int, c: int, out: int) -> int:
    """Rates with the sides that hold the motion, which are left behind the state."""
    n, m = whole(c, 4), whole(c, 5)
    sides, effect, drift = whole(c, STATE) + 8 * (1 + n), matrix(whole(c, 8), m, m), numbers(whole(c, 9), m)
    pivots, row = whole_numbers(whole(c, 10), m), whole(c, 9)
    copy(x, whole(c, STATE), 1 + n)
    for k in range(m):
        write(sides, k, 0.0)
    status = 0
    for k in range(m):
        write(sides, k, 1.0)
        status |= _drifted(c, out, row)
        write(sides, k, 0.0)
        for i in range(m):
            effect[i, k] = drift[i]
    status |= _drifted(c, out, row)
    for i in range(m):
        for k in range(m):
            effect[i, k] -= drift[i]
        drift[i] = -drift[i]
    if status != 0 or not factorise(effect, pivots):
        return 1
    substitute(effect, pivots, drift)
    copy(row, sides, m)
    return call(whole(c, 0), whole(c, STATE), whole(c, 1), out)


def _sliding_step(x: int, c: int, out: int) -> int:
    return 0 if _slid(x, c, out) == 0 else 1


def _sliding_watch(x: int, c: int, out: int) -> int:
    status = _slid(x, c, whole(c, 11))
    status |= call(whole(c, WATCHED), whole(c, STATE), whole(c, WATCHED + 1), out)
    return 0 if status == 0 else 1


@lru_cache(maxsize=1)
def sliding_step_function() -> Callback:
    """The compiled rates."""
    return callback(_sliding_step)


@lru_cache(maxsize=1)
def sliding_watch_function() -> Callback:
    """The compiled watch over states and sides."""
    return callback(_sliding_watch)
