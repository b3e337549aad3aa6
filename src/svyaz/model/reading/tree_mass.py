"""Reading how the mass of a body is distributed: mass, centre, inertia about the pole or at the centre of mass."""

from __future__ import annotations

import symengine as se

from svyaz.expr import ZERO, Expression, Scope
from svyaz.model.reading import words as vocabulary
from svyaz.model.reading.common import Path, Reader, Table
from svyaz.model.tree import MOMENTS, Vector

INERTIA_KEYS = ("inertia", "central_inertia")
"""About the pole; at the centre of mass, about parallel axes."""

Mass = tuple[Expression, Vector, tuple[Expression, ...]]


def read_mass(reader: Reader, scope: Scope, path: Path, words: Table) -> Mass:
    """(mass, centre from the pole, inertia about the pole) of a table with these words."""
    mass = read_constant(reader, scope, (*path, "mass"), words.get("mass", 0))
    center = read_vector(reader, scope, (*path, "center"), words.get("center", (0, 0, 0)))
    if all(key in words for key in INERTIA_KEYS):
        message = "give the inertia about the pole or at the centre of mass, not both"
        reader.report((*path, "central_inertia"), message, at_key=True)
    key = inertia_key(words)
    moments = reader.known_words(vocabulary.table(words, key), vocabulary.INERTIA, (*path, key))
    inertia = tuple(read_constant(reader, scope, (*path, key, m), moments.get(m, 0)) for m in MOMENTS)
    return mass, center, inertia if key == "inertia" else about_pole(mass, center, inertia)


def inertia_key(words: Table) -> str:
    """Under which key the inertia stands."""
    return "central_inertia" if "central_inertia" in words and "inertia" not in words else "inertia"


def about_pole(mass: Expression, center: Vector, central: tuple[Expression, ...]) -> tuple[Expression, ...]:
    """The inertia about a point from which the centre of mass is at ``center`` (Huygens, Steiner)."""
    x, y, z = center
    shift = (y * y + z * z, x * x + z * z, x * x + y * y, x * y, x * z, y * z)
    return tuple(own + mass * square for own, square in zip(central, shift, strict=True))


def read_constant(reader: Reader, scope: Scope, path: Path, value: object) -> Expression:
    """An expression of the parameters; a whole number stays exact."""
    expression = reader.expression(path, value, scope)
    return se.Integer(int(value)) if isinstance(value, float) and value == int(value) else expression


def read_vector(reader: Reader, scope: Scope, path: Path, given: object) -> Vector:
    """Three expressions of the parameters."""
    if not isinstance(given, list | tuple) or len(given) != 3:
        reader.report(path, f"'{path[-1]}' is a vector [x, y, z]")
        return ZERO, ZERO, ZERO
    entries = [
        read_constant(reader, scope, (*path, i), e) if reader.fits((*path, i), e, vocabulary.EXPRESSION) else ZERO
        for i, e in enumerate(given)
    ]
    return entries[0], entries[1], entries[2]
