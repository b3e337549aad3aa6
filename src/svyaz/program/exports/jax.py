"""A program as a module of Python over JAX: pure functions, which jit, grad and vmap take; in double precision."""

from __future__ import annotations

from svyaz.program.array_code import NAMED, STACKED, ArrayText

write = ArrayText(
    imports='import jax\nimport jax.numpy as np\n\njax.config.update("jax_enable_x64", True)',
    called="np.{0}",
    named=NAMED,
    made="np.asarray({0})",
    entry="{0}[..., {1}]",
    returned="np.stack(np.broadcast_arrays(…), axis=-1)",
    nothing="np.zeros(0)",
    solver=STACKED,
    told="The outputs (…, m) of inputs (…, n); jax.jacobian(step) is exact.",
).write
