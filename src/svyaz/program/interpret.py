"""A plain interpreter: slow, and simple enough to be trusted."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from svyaz.arrays import Array
from svyaz.program.outside import call_outside
from svyaz.program.tape import LinearSystem, Program, ProgramError, SingularSystem, Sparse, cells

Values = Mapping[str, float] | Sequence[float] | Array
"""Numbers by name, or in order."""


def _sign(a: float) -> float:
    return 1.0 if a > 0 else -1.0 if a < 0 else a


def _divide(a: float, b: float) -> float:
    return float(np.float64(a) / np.float64(b))


def _power(a: float, b: float) -> float:
    return float(np.float64(a) ** np.float64(b))


def _smaller(a: float, b: float) -> float:
    return a if a < b else b if b <= a else a + b


def _larger(a: float, b: float) -> float:
    return a if a > b else b if b >= a else a + b


def _by_numpy(function: Callable[[float], np.float64]) -> Callable[[float], float]:
    """NumPy's function: not a number outside of the domain, where the functions of ``math`` raise."""
    return lambda a: float(function(a))


_FUNCTIONS: dict[str, Callable[..., float]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "div": _divide,
    "neg": lambda a: -a,
    "sqrt": _by_numpy(np.sqrt),
    "sin": _by_numpy(np.sin),
    "cos": _by_numpy(np.cos),
    "tan": _by_numpy(np.tan),
    "asin": _by_numpy(np.arcsin),
    "acos": _by_numpy(np.arccos),
    "atan": _by_numpy(np.arctan),
    "sinh": _by_numpy(np.sinh),
    "cosh": _by_numpy(np.cosh),
    "tanh": _by_numpy(np.tanh),
    "exp": _by_numpy(np.exp),
    "log": _by_numpy(np.log),
    "abs": abs,
    "sign": _sign,
    "pow": _power,
    "atan2": math.atan2,
    "min": _smaller,
    "max": _larger,
    "outside": call_outside,
}


def parameter_row(program: Program, values: Values) -> list[float]:
    """Values of the parameters in the order of the program, from a mapping by name or from a row."""
    return _row(values, program.parameters, "parameter")


def _row(values: Values, names: Sequence[str], what: str) -> list[float]:
    if isinstance(values, Mapping):
        missing = [name for name in names if name not in values]
        if missing:
            raise ProgramError(f"no value for {what} {', '.join(missing)}")
        return [float(values[name]) for name in names]
    row = [float(value) for value in values]
    if len(row) != len(names):
        raise ProgramError(f"{len(names)} {what}s expected ({', '.join(names)}), got {len(row)}")
    return row


def node_values(
    program: Program,
    parameters: Values,
    inputs: Values,
) -> list[float]:
    """The value of every node; SingularSystem when a linear system has no solution."""
    given = {"parameter": parameter_row(program, parameters), "input": _row(inputs, program.inputs, "input")}
    values: list[float] = []
    solved: dict[int, Array] = {}
    with np.errstate(all="ignore"):
        for node in program.nodes:
            op = node[0]
            if op == "const":
                values.append(float(node[1]))
            elif op in given:
                values.append(given[op][node[1]])
            elif op == "unknown":
                number = node[1]
                if number not in solved:
                    solved[number] = _solve(program.systems[number], number, values)
                values.append(float(solved[number][node[2]]))
            else:
                values.append(_FUNCTIONS[op](*(values[argument] for argument in node[1:])))
    return values


def system_matrix(system: LinearSystem, values: Sequence[float]) -> Array:
    """The matrix of a linear system (size, size) at the given values of the nodes."""
    matrix = np.zeros((system.size, system.size))
    for row, column, node in cells(system):
        matrix[row, column] = values[node]
    return matrix


def _solve(system: LinearSystem, number: int, values: Sequence[float]) -> Array:
    """Unknowns side by side (sides · size,)."""
    sides = np.array([[values[node] for node in side] for side in system.sides])
    if isinstance(system.matrix, Sparse):
        return _solve_sparse(system, number, values, sides)
    try:
        return np.linalg.solve(system_matrix(system, values), sides.T).T.ravel()
    except np.linalg.LinAlgError:
        raise SingularSystem(number) from None


def _solve_sparse(system: LinearSystem, number: int, values: Sequence[float], sides: Array) -> Array:
    from scipy.sparse import csc_array
    from scipy.sparse.linalg import splu

    rows, columns, nodes = np.array(cells(system)).T
    matrix = csc_array((np.array(values)[nodes], (rows, columns)), shape=(system.size, system.size))
    try:
        found: Array = splu(matrix).solve(sides.T).T.ravel()
    except (RuntimeError, ValueError):
        raise SingularSystem(number) from None
    return found


def evaluate(
    program: Program,
    parameters: Values,
    inputs: Values,
) -> dict[str, float]:
    """The outputs by name."""
    values = node_values(program, parameters, inputs)
    return {name: values[node] for name, node in program.outputs}
