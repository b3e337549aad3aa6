"""What checks and figures share: models of the gallery, accelerations by dense linear algebra, random states, tables."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from svyaz import System, loads
from svyaz.arrays import Array
from svyaz.expr import Expression, evaluate
from svyaz.files import text_file
from svyaz.gallery import find
from svyaz.stabilise import perturbation, stabilisation


def gallery_model(
    name: str, choices: Mapping[str, str] | None = None, settings: Mapping[str, float | str] | None = None
) -> System:
    """A model of the gallery with a variant chosen and some values changed."""
    text = find(name, choices or {})
    assert text is not None, f"the gallery has no model '{name}'"
    system = loads(text, name)
    return system.with_settings(settings) if settings else system


def accelerations(system: System, state: Mapping[str, float], stabilize: str | float = "off") -> dict[str, float]:
    """q̈ by name from [M Gᵀ; G 0] (q̈, -λ) = (-bias, -constraint_bias - correction) at a state; λ under ``lambda NAME``."""
    equations = system.derive()
    law = perturbation(equations, stabilisation(stabilize))
    values = {"t": 0.0, **system.constants, **law.gains, **state}

    def numbers(entries: Sequence[Expression]) -> Array:
        return np.array([evaluate(e, values) for e in entries])

    mass = np.array([numbers(row) for row in equations.mass_matrix])
    n, m = len(mass), len(equations.deviations)
    rows = np.array([numbers(row) for row in equations.constraint_jacobian]).reshape(m, n)
    augmented = np.block([[mass, rows.T], [rows, np.zeros((m, m))]])
    side = np.concatenate([-numbers(equations.bias), -numbers(equations.constraint_bias) - numbers(law.correction)])
    found = np.linalg.solve(augmented, side)
    names = [*equations.accelerated, *(f"lambda {d.name}" for d in equations.deviations)]
    return dict(zip(names, [*found[:n], *(-found[n:])], strict=True))


def write_table(file: Path, columns: Mapping[str, Array]) -> Path:
    """Columns of numbers as CSV with full precision."""
    with text_file(file) as out:
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows([repr(float(x)) for x in row] for row in zip(*columns.values(), strict=True))
    return file


def generator() -> np.random.Generator:
    """The same random states for every check and every run."""
    return np.random.default_rng(20230523)
