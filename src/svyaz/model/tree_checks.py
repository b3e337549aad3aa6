"""Can a body have such a mass distribution? Checked on the numbers of the parameters."""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite
from typing import Any

from svyaz.expr.calculus import evaluate
from svyaz.model.reader import Path, Reader
from svyaz.model.tree import MOMENTS, Body

TOLERANCE = 1e-9
"""Part of the largest moment by which a moment may be negative, or a triangle inequality be broken, in rounding."""

DIAGONAL = ("xx", "yy", "zz")


def check_mass(
    reader: Reader, values: Mapping[str, float], path: Path, words: Mapping[str, Any], body: Body, planar: bool
) -> None:
    """Mass not negative; the moments at the centre of mass not negative and in the triangle inequality.

    In a planar tree the moments that were not given do not matter; elsewhere they are zero and a warning says so.
    """
    mass = evaluate(body.mass, values)
    center = [evaluate(c, values) for c in body.center]
    inertia = {name: evaluate(e, values) for name, e in zip(MOMENTS, body.inertia, strict=True)}
    if not all(map(isfinite, [mass, *center, *inertia.values()])):
        return
    if mass < 0:
        reader.report((*path, "mass"), f"the mass of '{body.name}' is negative: {mass:g}")
        return
    given = [name for name in DIAGONAL if name in words.get("inertia", {})]
    if 0 < len(given) < len(DIAGONAL) and not planar:
        missing = " and ".join(name for name in DIAGONAL if name not in given)
        reader.warn((*path, "inertia"), f"the inertia of '{body.name}' gives no {missing}: taken as zero")
    where = (*path, "inertia") if "inertia" in words else path
    if len(given) == len(DIAGONAL):
        scale = max(abs(value) for value in inertia.values())
        _check_moments(reader, where, body.name, _at_center(mass, center, inertia), TOLERANCE * scale)
        return
    about = {"xx": (1, 2), "yy": (0, 2), "zz": (0, 1)}
    for name in given:
        least = mass * sum(center[k] ** 2 for k in about[name])
        if inertia[name] - least < -TOLERANCE * max(abs(inertia[name]), least):
            message = (
                f"the inertia {name} of '{body.name}' about its pole, {inertia[name]:g}, is less than that of its mass "
                f"in its centre, {least:g}"
            )
            reader.report((*where, name), message)


def _at_center(mass: float, center: list[float], inertia: Mapping[str, float]) -> list[list[float]]:
    """The inertia tensor at the centre of mass, from that about the pole (Huygens, Steiner)."""
    x, y, z = center
    return [
        [
            inertia["xx"] - mass * (y * y + z * z),
            -(inertia["xy"] - mass * x * y),
            -(inertia["xz"] - mass * x * z),
        ],
        [-(inertia["xy"] - mass * x * y), inertia["yy"] - mass * (x * x + z * z), -(inertia["yz"] - mass * y * z)],
        [
            -(inertia["xz"] - mass * x * z),
            -(inertia["yz"] - mass * y * z),
            inertia["zz"] - mass * (x * x + y * y),
        ],
    ]


def _check_moments(reader: Reader, path: Path, name: str, tensor: list[list[float]], allowed: float) -> None:
    import numpy as np

    least, middle, largest = (float(value) for value in np.linalg.eigvalsh(np.array(tensor)))
    hint = f"its principal moments there are {least:.6g}, {middle:.6g} and {largest:.6g}"
    if least < -allowed:
        reader.report(path, f"inertia of '{name}' at its centre of mass is negative about an axis", hint=hint)
    elif largest - least - middle > allowed:
        reader.report(path, f"inertia of '{name}' at its centre of mass breaks the triangle inequality", hint=hint)
