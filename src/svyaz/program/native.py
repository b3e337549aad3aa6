"""Programs as native code: constants once, then steps, alone or in batches."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Sequence
from math import isfinite
from typing import TYPE_CHECKING
from weakref import WeakValueDictionary

import numpy as np
from numpy.typing import ArrayLike, NDArray

from svyaz.arrays import Array
from svyaz.expr import ModelError, Problem, uncollected
from svyaz.program import engine
from svyaz.program.compiled import BATCH, CONSTANTS, LARGEST_COMPILED, STEP, compiler_version, is_interpreted
from svyaz.program.interpret import Values, parameter_row
from svyaz.program.llvm_function import SUPPORT, support_text
from svyaz.program.llvm_interpreter import INTERPRET, INTERPRET_BATCH, interpreter_text
from svyaz.program.outside import publish_trampoline
from svyaz.program.tape import Program, ProgramError, SingularSystem
from svyaz.program.text import content_hash

if TYPE_CHECKING:
    import llvmlite.binding as llvm

_COUNT = struct.Struct("<q")
_COMPILED: WeakValueDictionary[str, Native] = WeakValueDictionary()
_SHARED: dict[str, llvm.ExecutionEngine] = {}
"""The engines that hold functions which programs share, once they are needed."""

WORTH_LANES, FEWEST_ROWS = 20_000_000, 64
"""Once so many nodes have been evaluated in batches, batches of so many rows go to the lanes."""


class Native:
    """A compiled program.

    ``address`` is that of ``int32_t step(const double *x, const double *c, double *out)``; it is valid for as long as
    this object lives. The three arrays must not overlap.

    Rows of inputs (k, n) give rows of outputs (k, m).

    >>> import symengine, svyaz
    >>> x, a = symengine.symbols("x a")
    >>> native = svyaz.compile_program(svyaz.build([("y", a * x**2)], inputs=["x"], parameters=["a"]))
    >>> native.evaluate(np.array([[2.0], [3.0]]), native.constants({"a": 10.0})).tolist()
    [[40.0], [90.0]]
    """

    def __init__(self, program: Program, code: bytes, constant_count: int, *, often: bool = False) -> None:
        self.program = program
        self.often = often
        self.constant_count = constant_count
        _provide_support(code)
        self._engine = engine.load_code(code)
        self.address = int(self._engine.get_function_address("step"))
        self.constants_address = int(self._engine.get_function_address("constants"))
        self.batch_address = int(self._engine.get_function_address("batch"))
        self._step = STEP(self.address)
        self._constants = CONSTANTS(self.constants_address)
        self._batch = BATCH(self.batch_address)
        part = int(self._engine.get_function_address("batch_part"))
        self._batch_part = BATCH(part) if part else self._batch
        self._interpreted = INTERPRET.encode() in code
        self._asked = 0

    def constants(self, values: Values) -> Array:
        """What ``step`` takes as ``c``, from the values of the parameters (by name, or in order)."""
        given = np.array(parameter_row(self.program, values), dtype=float)
        constants = np.zeros(max(1, self.constant_count))
        self._constants(given.ctypes.data, constants.ctypes.data)
        return constants

    def constants_each(self, values: Iterable[Values]) -> list[Array]:
        """The same for several rows of values."""
        return [self.constants(one) for one in values]

    def constants_of(self, rows: Array) -> Array:
        """``constants`` for many: from rows (k, parameters) of values in the order of the program, rows of constants."""
        given = np.ascontiguousarray(rows, dtype=float)
        found = np.zeros((len(given), max(1, self.constant_count)))
        begin, end, wide, long = given.ctypes.data, found.ctypes.data, given.strides[0], found.strides[0]
        for k in range(len(given)):
            self._constants(begin + k * wide, end + k * long)
        return found

    def evaluate(self, x: ArrayLike, constants: Array, out: Array | None = None) -> Array:
        """Outputs at one input (n_in,) or at a batch of them (k, n_in), in ``out`` where it is given: contiguous doubles.

        ``constants`` is common to the batch, or has a row for each. One input at which a linear system is singular
        raises SingularSystem; in a batch such rows are filled with NaN (``evaluate_batch`` says which system it was).
        """
        inputs = np.ascontiguousarray(x, dtype=float)
        if inputs.ndim == 1:
            return self._evaluate_one(inputs, constants, out)
        outputs, _ = self.evaluate_batch(inputs, constants, out)
        return outputs

    def _evaluate_one(self, inputs: Array, constants: Array, out: Array | None) -> Array:
        self._check(inputs, constants, 1)
        common = np.ascontiguousarray(constants, dtype=float)
        outputs = np.empty(len(self.program.outputs)) if out is None else out
        status = self._step(inputs.ctypes.data, common.ctypes.data, outputs.ctypes.data)
        if status:
            raise SingularSystem(status - 1)
        return outputs

    def evaluate_batch(
        self, inputs: Array, constants: Array, out: Array | None = None
    ) -> tuple[Array, NDArray[np.int32]]:
        """Outputs (k, n_out) and statuses (k,): 0, or 1 + the number of the singular system (its row is NaN)."""
        outputs, statuses = self._rows_or_lanes(inputs, constants, out)
        if statuses.any():
            outputs[statuses != 0] = np.nan
        return outputs, statuses

    def _rows_or_lanes(self, inputs: Array, constants: Array, out: Array | None) -> tuple[Array, NDArray[np.int32]]:
        """Rows one by one until so much has been asked for that it is worth while to compile the program for lanes."""
        self._asked += 0 if self._interpreted else len(inputs) * len(self.program.nodes)
        if self._asked > WORTH_LANES and constants.ndim == 1 and len(inputs) >= FEWEST_ROWS:
            from svyaz.program.lanes import lanes_of  # few programs are worth it

            lanes = lanes_of(self)
            if lanes is not None:
                inputs = np.ascontiguousarray(inputs, dtype=float)
                self._check(inputs, constants, 2)
                return lanes.evaluate(inputs, np.ascontiguousarray(constants, dtype=float), out)
        return self.evaluate_rows(inputs, constants, out=out)

    def evaluate_in_part(self, inputs: Array, constants: Array) -> Array:
        """Outputs (k, n_out); in a row with a singular system only those count that are computed before it."""
        outputs, _ = self.evaluate_rows(inputs, constants, part=True)
        return outputs

    def evaluate_rows(
        self, inputs: Array, constants: Array, *, part: bool = False, out: Array | None = None
    ) -> tuple[Array, NDArray[np.int32]]:
        """Outputs (k, n_out) as they are left by the steps, and their statuses (k,)."""
        inputs = np.ascontiguousarray(inputs, dtype=float)
        constants = np.ascontiguousarray(constants, dtype=float)
        self._check(inputs, constants, 2)
        count = len(inputs)
        outputs = np.empty((count, len(self.program.outputs))) if out is None else out
        statuses = np.zeros(count, dtype=np.int32)
        stride = constants.shape[1] if constants.ndim == 2 else 0
        batch = self._batch_part if part else self._batch
        batch(count, inputs.ctypes.data, constants.ctypes.data, stride, outputs.ctypes.data, statuses.ctypes.data)
        return outputs, statuses

    def _check(self, inputs: Array, constants: Array, dimensions: int) -> None:
        """Refuse arrays that the native code would read or write beyond."""
        width = len(self.program.inputs)
        if inputs.ndim != dimensions or inputs.shape[-1] != width:
            raise ProgramError(
                f"{width} inputs expected in a row ({', '.join(self.program.inputs)}); got the shape {inputs.shape}"
            )
        rows_agree = constants.ndim == 1 or (dimensions == 2 and constants.ndim == 2 and len(constants) == len(inputs))
        if not rows_agree or constants.shape[-1] < self.constant_count:
            raise ProgramError(
                f"{self.constant_count} constants expected, common or one row for each input; "
                f"got the shape {constants.shape}"
            )


@uncollected
def compile_program(
    program: Program, *, longest: int = LARGEST_COMPILED, seldom: bool = False, often: bool = False
) -> Native:
    """Native code of a program for this computer, from memory or from the cache where it is already there.

    A program with more nodes than the ``longest`` that is worth compiling is interpreted; what is ``seldom`` evaluated is
    not optimised, and in part where that is asked for; what is evaluated very ``often`` is optimised, and computed in lanes,
    at greater length too. Compiled in any way, a short program gives the same bits.

    >>> import symengine, svyaz
    >>> native = svyaz.compile_program(svyaz.build([("y", symengine.Symbol("x") + 1)], inputs=["x"], parameters=[]))
    >>> native.evaluate(np.array([[1.5]]), native.constants({})).tolist()
    [[2.5]]
    """
    _refuse_overflow(program)
    content = content_hash(program)
    interpreted = is_interpreted(program, longest)
    content = f"{content} interpreted" if interpreted else f"{content} often" if often else content
    native = _COMPILED.get(content)
    if native is None and seldom and not interpreted:
        content = f"{content} quick"
        native = _COMPILED.get(content)
    if native is None:
        code = _code(program, content, longest, seldom=seldom, often=often)
        native = _COMPILED[content] = Native(program, *code, often=often)
    return native


def _refuse_overflow(program: Program) -> None:
    """Refuse numbers that are not finite: products of what a model gives may be, though each of its values is."""
    if not all(isfinite(float(node[1])) for node in program.nodes if node[0] == "const"):
        message = "the equations contain a number beyond 1e308: values of the model are too large for each other"
        raise ModelError([Problem(message, hint="take units in which they are of a usual size")])


def _code(program: Program, content: str, longest: int, *, seldom: bool, often: bool) -> tuple[bytes, int]:
    """Object code, and how many constants the step takes."""

    def make() -> bytes:
        from svyaz.program.llvm_text import module_text

        module = module_text(program, longest, in_parts=seldom, often=often)
        emit = engine.object_code if module.optimise and not seldom else engine.quick_object_code
        code = emit(module.text)
        return _COUNT.pack(module.constant_count) + code

    kept = engine.kept_code(("program", compiler_version(), content), make)
    return kept[_COUNT.size :], _COUNT.unpack_from(kept)[0]


def _provide_support(code: bytes) -> None:
    """Make the shared functions known to a program that is loaded next; they are compiled once and stay."""
    if "support" not in _SHARED:
        _share("support", SUPPORT, support_text)
        publish_trampoline()
    if "interpreter" not in _SHARED and INTERPRET.encode() in code:
        _share("interpreter", (INTERPRET, INTERPRET_BATCH), interpreter_text)


def _share(what: str, names: Sequence[str], text: Callable[[], str]) -> None:
    code = engine.kept_code((what, compiler_version()), lambda: engine.object_code(text()))
    _SHARED[what] = engine.load_code(code)
    for name in names:
        engine.publish(name, _SHARED[what].get_function_address(name))
