"""Weights of a design: of states and inputs for the regulator, of noises for the observer.

A file of weights (TOML) gives them by name, ``[state] r = 10``, ``[input] nu = 0.1``, ``[noise] r = 2`` of the process by
variable, ``[measurement] r = 0.01`` by measured expression (what is left out is 1), or as matrices ``Q``, ``R``, ``W``, ``V``
in place of these tables. A measured expression that is not itself a variable may also stand in ``[noise]``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeGuard

import numpy as np

from svyaz.arrays import Array
from svyaz.expr import ModelError, Problem
from svyaz.matrices import eigvalsh
from svyaz.model import Places, is_number, nearest, read_named, read_toml


@dataclass(frozen=True)
class Weights:
    """Q, R of the regulator; of the observer, the dual weights W, V. ``notes`` say how a name with two meanings was taken."""

    state: Array
    input: Array
    process_noise: Array
    measurement_noise: Array
    notes: tuple[str, ...] = ()


def unit_weights(states: int, inputs: int, measurements: int = 0) -> Weights:
    """All ones."""
    return Weights(np.eye(states), np.eye(inputs), np.eye(states), np.eye(measurements))


def read_weights(path: str | Path, variables: Sequence[str], inputs: Sequence[str], measured: Sequence[str]) -> Weights:
    """Weights from a file; what is not given is 1. Mistakes are shown at their place."""
    words, places = read_toml(read_named(path, "weights"), str(path))
    return weights_from(words, variables, inputs, measured, places)


def weights_from(
    words: Mapping[str, object],
    variables: Sequence[str],
    inputs: Sequence[str],
    measured: Sequence[str] = (),
    places: Places | None = None,
) -> Weights:
    """Weights from words: [state], [input], [noise], [measurement] by name, or matrices Q, R, W, V."""
    reader = _WeightsReader(places)
    known = ("state", "input", "noise", "measurement", "Q", "R", "W", "V")
    for key in words:
        if key not in known:
            raise reader.mistake(f"weights have no '{key}'; there are {', '.join(known)}", (key,), nearest(key, known))
    for one, other in (("Q", "state"), ("R", "input"), ("W", "noise"), ("V", "measurement")):
        if one in words and other in words:
            raise reader.mistake(f"give either the matrix {one} or [{other}], not both", (one,))
    process, meters, notes = _noises(words, variables, measured, reader)
    return Weights(
        reader.weights("Q", "state", words, variables, strict=False),
        reader.weights("R", "input", words, inputs, strict=True),
        reader.weights("W", "noise", {**words, "noise": process}, variables, strict=False),
        reader.weights("V", "measurement", {**words, "measurement": meters}, measured, strict=True),
        notes,
    )


def _noises(
    words: Mapping[str, object], variables: Sequence[str], measured: Sequence[str], reader: _WeightsReader
) -> tuple[dict[str, float], dict[str, float], tuple[str, ...]]:
    """[noise] of the process and of what is measured: expressions in [noise] that are no variables belong to the latter."""
    noise = reader.table("noise", words.get("noise", {}), tuple(dict.fromkeys((*variables, *measured))), strict=False)
    meters = reader.table("measurement", words.get("measurement", {}), measured, strict=True)
    moved = {name: value for name, value in noise.items() if name not in variables}
    for name, value in moved.items():
        if "V" in words or name in meters:
            other = "the matrix V" if "V" in words else "[measurement]"
            raise reader.mistake(f"{other} already weighs the measurement of '{name}'", ("noise", name))
        if not value > 0:
            raise reader.mistake(f"[noise] of what is measured must be positive: {name} = {value:g}", ("noise", name))
    process = {name: value for name, value in noise.items() if name in variables}
    notes = tuple(
        f"[noise] {name} is taken as noise of the process; the measurement of {name} is weighed by [measurement]"
        for name in process
        if name in measured and name not in meters and "V" not in words
    )
    return process, {**meters, **moved}, notes


class _WeightsReader:
    """Checks of what was written, told at its place in the file, if there is one."""

    def __init__(self, places: Places | None) -> None:
        self.places = places

    def mistake(self, message: str, path: tuple[str | int, ...], hint: str | None = None) -> ModelError:
        place = None if self.places is None else self.places.key(path)
        return ModelError([Problem(message, place, hint)])

    def table(self, what: str, table: object, names: Sequence[str], *, strict: bool) -> dict[str, float]:
        """A table of numbers that are positive, or at least not negative, for known names."""
        if not isinstance(table, Mapping):
            raise self.mistake(f"[{what}] is a table: a number for each name", (what,))
        found: dict[str, float] = {}
        for name, value in table.items():
            if name not in names:
                kind = "measured expression" if what == "measurement" else "variable"
                there = f"there are {', '.join(names)}" if names else "there is none"
                message = f"[{what}] has no {kind} '{name}'; {there}"
                raise self.mistake(message, (what, name), nearest(name, names))
            if not is_number(value) or not np.isfinite(value):
                raise self.mistake(f"[{what}] {name} must be a number, not {value!r}", (what, name))
            if value < 0 or (strict and value == 0):
                kind = "positive" if strict else "positive or zero"
                raise self.mistake(f"weights must be {kind}: [{what}] {name} = {value:g}", (what, name))
            found[name] = value
        return found

    def weights(self, key: str, what: str, words: Mapping[str, object], names: Sequence[str], *, strict: bool) -> Array:
        """The matrix ``key``, or the diagonal one of the table ``what``."""
        if key in words:
            return self.matrix(key, words[key], names, strict=strict)
        given = self.table(what, words.get(what, {}), names, strict=strict)
        return np.diag([float(given.get(name, 1.0)) for name in names]).reshape(len(names), len(names))

    def matrix(self, key: str, rows: object, names: Sequence[str], *, strict: bool) -> Array:
        """A symmetric matrix, positive definite or semidefinite, in the order of the names."""
        size = len(names)
        rows = rows.tolist() if isinstance(rows, np.ndarray) else rows
        told = f"{key} must be a {size} × {size} matrix of numbers, for {', '.join(names)}"
        flat = [entry for row in rows for entry in row] if _is_rows(rows) else []
        if len(flat) != size * size or not all(is_number(e) and np.isfinite(e) for e in flat):
            raise self.mistake(told, (key,))
        matrix = np.array(rows, dtype=float)
        if matrix.shape != (size, size):
            raise self.mistake(told, (key,))
        if not np.allclose(matrix, matrix.T, rtol=1e-12, atol=0):
            raise self.mistake(f"{key} must be symmetric", (key,))
        least = float(eigvalsh(matrix).min())
        rounding = 1e-14 * float(np.abs(matrix).max(initial=0.0))
        if least < -rounding or (strict and least <= 0):
            kind = "positive definite" if strict else "positive semidefinite"
            raise self.mistake(f"weights must be {kind}: {key} has the root {least:.4g}", (key,))
        return matrix


def _is_rows(rows: object) -> TypeGuard[Sequence[Sequence[object]]]:
    return isinstance(rows, list | tuple) and all(isinstance(row, list | tuple) for row in rows)


def told_weights(
    given: Weights | Mapping[str, object] | str | Path | None,
    variables: Sequence[str],
    inputs: Sequence[str],
    measured: Sequence[str],
) -> Weights | None:
    """Weights as they are, by the words of a file of weights, or by the name of such a file."""
    if given is None or isinstance(given, Weights):
        return given
    if isinstance(given, Mapping):
        return weights_from(given, variables, inputs, measured)
    return read_weights(given, variables, inputs, measured)
