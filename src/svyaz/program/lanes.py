"""Programs for several states at once, in the vector registers of this processor; compiled when they are first wanted."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from threading import Lock
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from svyaz.arrays import Array, aligned_zeros
from svyaz.program import engine
from svyaz.program.compiled import BATCH, STEP, compiler_version
from svyaz.program.llvm_lanes import has_lanes, lanes_text
from svyaz.program.tape import Program
from svyaz.program.text import content_hash

if TYPE_CHECKING:
    from svyaz.program.native import Native

_POINTER = ctypes.c_void_p
_ROWS = ctypes.CFUNCTYPE(None, ctypes.c_int64, _POINTER, _POINTER, _POINTER, _POINTER)
_MADE: WeakKeyDictionary[Native, Lanes | None] = WeakKeyDictionary()
_MAKING = Lock()


def lane_width() -> int:
    """How many states are computed at once: 8, or 1 where there are no lanes."""
    return engine.vector_width()


@dataclass(eq=False)
class Lanes:
    """A program for ``width`` states: ``address`` is that of ``lanes`` (see ``llvm_lanes``), valid while this object lives."""

    program: Program
    width: int
    code: bytes

    def __post_init__(self) -> None:
        self._engine = engine.load_code(self.code)
        self._batch = BATCH(self._engine.get_function_address("batch"))
        self.address = int(self._engine.get_function_address("lanes"))
        self._rows = _ROWS(self._engine.get_function_address("rows"))

    def evaluate(self, inputs: Array, constants: Array, out: Array | None = None) -> tuple[Array, NDArray[np.int32]]:
        """Outputs (k, n_out) and statuses (k,) as ``Native.evaluate_batch`` gives them, for common constants (c,)."""
        count = len(inputs) // self.width * self.width
        outputs = np.empty((len(inputs), len(self.program.outputs))) if out is None else out
        statuses = np.zeros(len(inputs), dtype=np.int32)
        groups = np.zeros(count // self.width, dtype=np.int32)
        wide = aligned_zeros(constants.size * self.width)
        wide[:] = np.repeat(constants, self.width)
        if count:
            self._rows(len(groups), inputs.ctypes.data, wide.ctypes.data, outputs.ctypes.data, groups.ctypes.data)
        singular = [int(g) * self.width + lane for g in np.flatnonzero(groups) for lane in range(self.width)]
        self._one_by_one([*singular, *range(count, len(inputs))], inputs, constants, outputs, statuses)
        return outputs, statuses

    def evaluate_each(self, inputs: Array, constants: Array) -> Array:
        """Outputs (k, n_out) with a row of constants for each row of inputs; not numbers where a lane fails."""
        step, outputs = STEP(self.address), np.full((len(inputs), len(self.program.outputs)), np.nan)
        for first in range(0, len(inputs), self.width):
            rows = np.minimum(np.arange(first, first + self.width), len(inputs) - 1)
            x, c, found = (
                aligned_zeros(n * self.width) for n in (inputs.shape[1], constants.shape[1], outputs.shape[1])
            )
            x[:], c[:] = inputs[rows].T.ravel(), constants[rows].T.ravel()
            bad = step(x.ctypes.data, c.ctypes.data, found.ctypes.data)
            good = [lane for lane in range(self.width) if not bad >> lane & 1]
            outputs[rows[good]] = found.reshape(-1, self.width).T[good]
        return outputs

    def _one_by_one(
        self, places: Sequence[int], inputs: Array, constants: Array, outputs: Array, statuses: NDArray[np.int32]
    ) -> None:
        """Rows at some places by the program for one state, which says what is singular in them."""
        if not places:
            return
        taken, given, codes = inputs[places], outputs[places], statuses[places]
        self._batch(len(places), taken.ctypes.data, constants.ctypes.data, 0, given.ctypes.data, codes.ctypes.data)
        outputs[places], statuses[places] = given, codes


def lanes_of(native: Native) -> Lanes | None:
    """The program of native code for several states; None where this processor or the program does not allow it."""
    with _MAKING:
        if native not in _MADE:
            _MADE[native] = _made(native)
        return _MADE[native]


def _made(native: Native) -> Lanes | None:
    width, program = lane_width(), native.program
    if width == 1 or not has_lanes(program, often=native.often):
        return None
    parts = (f"{width} lanes{' often' * native.often}", compiler_version(), content_hash(program))
    text = partial(lanes_text, program, width, often=native.often)
    return Lanes(program, width, engine.kept_code(parts, lambda: engine.object_code(text())))
