"""A program as a module of Python over NumPy: inputs of the shape (…, n) give outputs of the shape (…, m)."""

from __future__ import annotations

from svyaz.program.array_code import NAMED, STACKED, ArrayText

write = ArrayText(
    imports="import numpy as np",
    called="np.{0}",
    named=NAMED,
    made="np.asarray({0})",
    entry="{0}[..., {1}]",
    returned="np.stack(np.broadcast_arrays(…), axis=-1)",
    nothing="np.zeros(0)",
    solver=STACKED,
    told="The outputs (…, m) of inputs (…, n); one state or many.",
).write
