"""Weights of a design: of states and inputs for the regulator, of noises for the observer.

A file of weights (TOML) gives them by variable, ``[state] r = 10``, ``[input] nu = 0.1``, ``[noise] r = 2`` (what is left
out is 1), or as matrices ``Q = [[…]]``, ``R = [[…]]``; ``[noise]`` by a variable weighs the process, by a measured
expression the measurement.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from svyaz.expr import ModelError, Problem
from svyaz.model.words import is_number, nearest

Matrix = NDArray[np.float64]


@dataclass(frozen=True)
class Weights:
    """Q, R of the regulator; of the observer, the dual weights."""

    state: Matrix
    input: Matrix
    process_noise: Matrix
    measurement_noise: Matrix


def unit_weights(states: int, inputs: int, measurements: int = 0) -> Weights:
    """All ones."""
    return Weights(np.eye(states), np.eye(inputs), np.eye(states), np.eye(measurements))


def read_weights(path: str | Path, variables: Sequence[str], inputs: Sequence[str], measured: Sequence[str]) -> Weights:
    """Weights from a file; what is not given is 1."""
    try:
        words = tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise ModelError([Problem(f"cannot read the weights '{path}': {error.strerror}")]) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ModelError([Problem(f"the weights '{path}' are not TOML: {error}")]) from error
    return weights_from(words, variables, inputs, measured)


def weights_from(
    words: Mapping[str, Any], variables: Sequence[str], inputs: Sequence[str], measured: Sequence[str] = ()
) -> Weights:
    """Weights from words: [state], [input], [noise] by name, or matrices Q, R."""
    known = ("state", "input", "noise", "Q", "R")
    for key in words:
        if key not in known:
            message = f"weights have no '{key}'; there are {', '.join(known)}"
            raise ModelError([Problem(message, hint=nearest(key, known))])
    for one, other in (("Q", "state"), ("R", "input")):
        if one in words and other in words:
            raise ModelError([Problem(f"give either the matrix {one} or [{other}], not both")])
    noise = words.get("noise", {})
    _check_table("noise", noise, (*variables, *measured))
    return Weights(
        _matrix("Q", words["Q"]) if "Q" in words else _diagonal("state", words.get("state", {}), variables),
        _matrix("R", words["R"]) if "R" in words else _diagonal("input", words.get("input", {}), inputs),
        np.diag([float(noise.get(name, 1.0)) for name in variables]),
        np.diag([float(noise.get(text, 1.0)) if text not in variables else 1.0 for text in measured]),
    )


def _check_table(what: str, table: Any, names: Sequence[str]) -> None:
    if not isinstance(table, Mapping):
        raise ModelError([Problem(f"[{what}] is a table: a number for each variable")])
    for name, value in table.items():
        if name not in names:
            message = f"[{what}] has no variable '{name}'; there are {', '.join(names)}"
            raise ModelError([Problem(message, hint=nearest(name, names))])
        if not is_number(value):
            raise ModelError([Problem(f"[{what}] {name} must be a number, not {value!r}")])


def _diagonal(what: str, table: Any, names: Sequence[str]) -> Matrix:
    _check_table(what, table, names)
    return np.diag([float(table.get(name, 1.0)) for name in names])


def _matrix(name: str, rows: Any) -> Matrix:
    try:
        matrix = np.array(rows, dtype=float)
    except (TypeError, ValueError) as error:
        raise ModelError([Problem(f"{name} must be a square matrix of numbers")]) from error
    if matrix.ndim != 2:
        raise ModelError([Problem(f"{name} must be a square matrix of numbers")])
    return matrix
