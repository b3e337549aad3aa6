"""The dynamics of a tree of bodies as native functions of arrays, for one state or for many at once.

In the coordinates q and velocities v of its joints a tree moves by M(q) v̇ + bias(q, v) = τ: bias has the terms of velocities
and of gravity, τ are all other forces (motors, friction, reactions of constraints).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import prod

import numpy as np
from numpy.typing import ArrayLike

from svyaz.arrays import Array
from svyaz.expr import ModelError, Problem
from svyaz.forms import TreePrograms
from svyaz.model import System, Tree, constant_tree
from svyaz.program import Native, SingularSystem, compile_program, direct_function, remembered

ARGUMENTS = {
    "mass": ("q",),
    "gravity": ("q",),
    "bias": ("q", "v"),
    "inverse": ("q", "v", "a"),
    "forward": ("q", "v", "tau"),
}


class Robot:
    """M(q), bias(q, v), gravity(q), inverse and forward dynamics of a tree of bodies; :meth:`System.robot` gives it.

    Arguments are arrays (n,), or (k, n) for k states at once: q in the order of ``coordinates``, v, accelerations and forces
    in that of ``velocities``. New arrays are returned unless ``out`` is given, a contiguous array of doubles, which is filled
    and returned. A function is compiled when it is first called. Forces of the model other than gravity, constraints and
    limits are no part of it: they are what τ stands for.

    >>> import svyaz
    >>> robot = svyaz.load("planar-2r").robot()
    >>> robot.mass([0.0, 0.0]).shape, robot.bias([[0.0, 0.0]] * 5, [[1.0, 0.0]] * 5).shape
    ((2, 2), (5, 2))
    """

    def __init__(self, tree: Tree, parameters: Mapping[str, float]) -> None:
        self.coordinates = tree.coordinates
        self.velocities = tree.velocities
        self.parameters = dict(parameters)
        self.programs = TreePrograms(tree, self.parameters)

    @staticmethod
    def of(system: System) -> Robot:
        """The dynamics of the bodies of a system, prepared once; a system that is no tree is refused."""
        return _robot(system)

    def mass(self, q: ArrayLike, *, out: Array | None = None) -> Array:
        """The inertia matrix M, (n, n) or (k, n, n), both of its triangles."""
        return self._function("mass")(q, out=out)

    def bias(self, q: ArrayLike, v: ArrayLike, *, out: Array | None = None) -> Array:
        """Terms of velocities and gravity: the forces at which all v̇ are zero."""
        return self._function("bias")(q, v, out=out)

    def gravity(self, q: ArrayLike, *, out: Array | None = None) -> Array:
        """The forces that keep the tree at rest against gravity."""
        return self._function("gravity")(q, out=out)

    def inverse(self, q: ArrayLike, v: ArrayLike, a: ArrayLike, *, out: Array | None = None) -> Array:
        """The forces τ = M a + bias at which v̇ = a."""
        return self._function("inverse")(q, v, a, out=out)

    def forward(self, q: ArrayLike, v: ArrayLike, tau: ArrayLike, *, out: Array | None = None) -> Array:
        """The accelerations v̇ = M⁻¹ (τ - bias); NaN in those of many rows where M is singular."""
        return self._function("forward")(q, v, tau, out=out)

    def __repr__(self) -> str:
        return f"<Robot: {len(self.velocities)} degrees of freedom, {len(self.coordinates)} coordinates>"

    def __reduce__(self) -> tuple[object, ...]:
        return Robot, (self.programs.tree, self.parameters)

    def _function(self, name: str) -> Callable[..., Array]:
        """A function, compiled: from now on it stands in the place of the method, and is called at once."""
        if name in vars(self):  # a method that was kept before its first call
            known: Callable[..., Array] = vars(self)[name]
            return known
        n, m = len(self.coordinates), len(self.velocities)
        sizes = {a: n if a == "q" else m for a in ARGUMENTS[name]}
        native = compile_program(getattr(self.programs, name), often=True)
        shape = (m, m) if name == "mass" else (m,)
        constants = native.constants(self.parameters)
        checking = StateFunction(name, sizes, shape, native, constants)
        found = direct_function(name, native, constants, list(sizes.values()), shape, checking)
        vars(self)[name] = found
        return found


@remembered
def _robot(system: System) -> Robot:
    return Robot(constant_tree(system, "a robot"), system.parameters)


def _array(name: str, size: int, given: ArrayLike) -> Array:
    """What was given for an argument with so many numbers for one state, (size,) or (k, size), as doubles."""
    found = np.asarray(given)
    if found.dtype.kind not in "fiu":
        raise TypeError(f"{name}: real numbers expected, not {found.dtype}")
    if found.ndim not in (1, 2) or found.shape[-1] != size:
        raise ValueError(f"{name}: an array of shape ({size},) or (k, {size}) expected, not {found.shape}")
    return np.ascontiguousarray(found, dtype=float)


@dataclass(frozen=True, eq=False)
class StateFunction:
    """A native function of a state, with its constants: for arguments of any kind, which are checked."""

    name: str
    sizes: Mapping[str, int]
    """How many numbers the arguments have for one state."""
    shape: tuple[int, ...]
    native: Native
    constants: Array

    def __call__(self, *given: ArrayLike, out: Array | None = None, **named: ArrayLike) -> Array:
        names = list(self.sizes)
        values = dict(zip(names, given, strict=False)) | named
        if values.keys() != set(names) or len(given) + len(named) != len(names):
            message = f"{self.name}() takes {', '.join(names)} and out, not {len(given)} arguments"
            raise TypeError(f"{message} and {', '.join(named)}" if named else message)
        parts = [_array(name, size, values[name]) for name, size in self.sizes.items()]
        rows = parts[0].shape[:-1]
        for name, part in zip(names, parts, strict=True):
            if part.shape[:-1] != rows:
                message = (
                    f"as many rows as in {names[0]} expected, which has the shape {parts[0].shape}, not {part.shape}"
                )
                raise ValueError(f"{name}: {message}")
        result = self._result(rows, out)
        x = np.concatenate(parts, axis=-1) if len(parts) > 1 or np.may_share_memory(parts[0], result) else parts[0]
        try:
            self.native.evaluate(x, self.constants, result.reshape(*rows, prod(self.shape)))
        except SingularSystem:
            raise ModelError([Problem("the inertia matrix is singular at this position")]) from None
        return result

    def _result(self, rows: tuple[int, ...], out: Array | None) -> Array:
        """A new array for what is computed, or the caller's, checked."""
        shape = (*rows, *self.shape)
        if out is None:
            return np.empty(shape)
        if not isinstance(out, np.ndarray) or out.dtype != np.float64:
            kind = out.dtype if isinstance(out, np.ndarray) else type(out).__name__
            raise TypeError(f"out: an array of float64 expected, not {kind}")
        if out.shape != shape:
            raise ValueError(f"out: an array of shape {shape} expected, not {out.shape}")
        if not (out.flags.c_contiguous and out.flags.aligned and out.flags.writeable):
            raise ValueError("out: a contiguous array (in the order of C) that may be written to is expected")
        return out
