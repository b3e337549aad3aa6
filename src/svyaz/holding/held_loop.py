"""Held integrals where rates come from recursions: native code that adds what holds them to the rates of other code.

As for rates that are written out (see ``integrals``), ẋ = f + ∇gᵀ z with (∇g ∇gᵀ) z = F - ġ, the least correction of the
states for which the deviations of the integrals obey their laws. The gradients are short formulas; f is what the code gives.
One compiled function serves every model, whose numbers and addresses it finds in its constants, all 64-bit integers:

    c[0], c[1] the rates and their constants, c[2], c[3] the program of F - ġ and of the entries of ∇g, and its constants,
    c[4] number n of states, c[5] number g of integrals, c[6] number of entries, c[7] for each entry its integral and state,
    c[8] the inputs of the program [t, x, f], c[9] its outputs, c[10] ∇g, c[11] ∇g ∇gᵀ, c[12] pivots
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
    read,
    substitute,
    whole,
    whole_numbers,
    write,
)


def _held_step(x: int, c: int, out: int) -> int:
    n, count, entries, places = whole(c, 4), whole(c, 5), whole(c, 6), whole(c, 7)
    given, found, slopes = whole(c, 8), whole(c, 9), matrix(whole(c, 10), whole(c, 5), whole(c, 4))
    gram, pivots = matrix(whole(c, 11), count, count), whole_numbers(whole(c, 12), count)
    status = call(whole(c, 0), x, whole(c, 1), out)
    copy(x, given, 1 + n)
    copy(out, given + 8 * (1 + n), n)
    status |= call(whole(c, 2), given, whole(c, 3), found)
    if status != 0:
        return 1
    for k in range(entries):
        slopes[whole(places, 2 * k), whole(places, 2 * k + 1)] = read(found, count + k)
    for i in range(count):
        for j in range(count):
            total = 0.0
            for k in range(n):
                total += slopes[i, k] * slopes[j, k]
            gram[i, j] = total
    if not factorise(gram, pivots):
        return 1
    needed = numbers(found, count)
    substitute(gram, pivots, needed)
    for i in range(count):
        for k in range(n):
            write(out, k, read(out, k) + slopes[i, k] * needed[i])
    return 0


@lru_cache(maxsize=1)
def held_function() -> Callback:
    """The compiled function."""
    return callback(_held_step)
