"""Programs that the tests of this package share, built node by node."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from svyaz.program.tape import LinearSystem, Program

Array = NDArray[np.float64]


class Tape:
    """Appends nodes, each only once."""

    def __init__(self) -> None:
        self.nodes: list[tuple] = []
        self.places: dict[tuple, int] = {}

    def __call__(self, *node: object) -> int:
        if node not in self.places:
            self.places[node] = len(self.nodes)
            self.nodes.append(node)
        return self.places[node]


@pytest.fixture(autouse=True, scope="module")
def _own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SVYAZ_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture
def tape() -> type[Tape]:
    return Tape


def _pendulum(n: int) -> Program:
    """Rates of the n-link pendulum: M_ij = μ_ij L_i L_j cos(u_i - u_j), μ_ij = Σ_{k ≥ max(i, j)} m_k."""
    tape = Tape()
    parameters = [f"L{i}" for i in range(n)] + [f"m{i}" for i in range(n)] + ["g"]
    inputs = ["t", *(f"u{i}" for i in range(n)), *(f"u{i}'" for i in range(n))]
    length = [tape("parameter", i) for i in range(n)]
    carried = [tape("parameter", n + i) for i in range(n)]
    for i in range(n - 2, -1, -1):
        carried[i] = tape("add", carried[i], carried[i + 1])
    angle, speed = [tape("input", 1 + i) for i in range(n)], [tape("input", 1 + n + i) for i in range(n)]
    square = [tape("mul", v, v) for v in speed]
    matrix = [[0] * n for _ in range(n)]
    side = []
    for i in range(n):
        weight = tape("mul", carried[i], tape("mul", tape("parameter", 2 * n), length[i]))
        bias = tape("mul", weight, tape("sin", angle[i]))
        for j in range(n):
            factor = tape("mul", carried[max(i, j)], tape("mul", length[min(i, j)], length[max(i, j)]))
            low, high = min(i, j), max(i, j)
            matrix[i][j] = tape("mul", factor, tape("cos", tape("sub", angle[low], angle[high])))
            bias = tape(
                "add", bias, tape("mul", tape("mul", factor, tape("sin", tape("sub", angle[i], angle[j]))), square[j])
            )
        side.append(tape("neg", bias))
    system = LinearSystem(n, tuple(m for row in matrix for m in row), (tuple(side),), True)
    outputs = [(inputs[1 + i] + "'", speed[i]) for i in range(n)]
    outputs += [(inputs[1 + n + i] + "'", tape("unknown", 0, i)) for i in range(n)]
    return Program(tuple(parameters), tuple(inputs), tuple(tape.nodes), tuple(outputs), (system,))


@pytest.fixture
def pendulum() -> Callable[[int], Program]:
    return _pendulum


@pytest.fixture
def pendulum_rates() -> Callable[[int, Array, Array], Array]:
    """Rates of the n-link pendulum by NumPy from the closed form."""

    def rates(n: int, parameters: Array, inputs: Array) -> Array:
        length, mass, g = parameters[:n], parameters[n : 2 * n], parameters[2 * n]
        u, v = inputs[1 : n + 1], inputs[n + 1 :]
        carried = np.cumsum(mass[::-1])[::-1]
        i, j = np.indices((n, n))
        factor = carried[np.maximum(i, j)] * np.outer(length, length)
        difference = u[:, None] - u[None, :]
        bias = (factor * np.sin(difference)) @ (v * v) + carried * g * length * np.sin(u)
        return np.concatenate([v, np.linalg.solve(factor * np.cos(difference), -bias)])

    return rates


class Linear:
    """A program that solves one linear system whose entries are its inputs; zeros of ``present`` are zero for ever."""

    def __init__(self, present: NDArray[np.bool_], symmetric: bool, sides: int = 1) -> None:
        self.present, self.symmetric = present, symmetric
        size = len(present)
        tape, names, places = Tape(), [], {}

        def entry(name: str) -> int:
            names.append(name)
            return tape("input", len(names) - 1)

        for i in range(size):
            for j in range(size):
                if symmetric and j < i:
                    places[i, j] = places[j, i]
                else:
                    places[i, j] = entry(f"a{i}_{j}") if present[i, j] else tape("const", 0.0)
        right = tuple(tuple(entry(f"b{k}_{i}") for i in range(size)) for k in range(sides))
        unknowns = [tape("unknown", 0, k) for k in range(sides * size)]
        matrix = tuple(places[i, j] for i in range(size) for j in range(size))
        outputs = tuple((f"x{k}", node) for k, node in enumerate(unknowns))
        system = LinearSystem(size, matrix, right, symmetric)
        self.program = Program((), tuple(names), tuple(tape.nodes), outputs, (system,))

    def row(self, matrix: Array, sides: Array) -> Array:
        """The inputs for a matrix and its sides."""
        size = len(matrix)
        entries = [
            matrix[i, j]
            for i in range(size)
            for j in range(size)
            if self.present[i, j] and not (self.symmetric and j < i)
        ]
        return np.concatenate([entries, np.ravel(sides)])


@pytest.fixture
def linear() -> type[Linear]:
    return Linear


@pytest.fixture
def cache_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache."""
    folder = tmp_path / "own cache"
    monkeypatch.setenv("SVYAZ_CACHE", str(folder))
    return folder
