"""Rotations: of fixed frames as numbers, of joints for any elements (floats, arrays of floats, expressions)."""

from __future__ import annotations

from math import cos, pi, sin

from svyaz.expr import HALF, Expression

Vector = tuple[Expression, Expression, Expression]
Rotation = tuple[Vector, Vector, Vector]

Rows = tuple[tuple[float, float, float], tuple[float, float, float], tuple[float, float, float]]
Triple = tuple[float, float, float]

IDENTITY: Rows = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))

QUARTER = 2e-11
"""An angle so near to a multiple of 90° is one that was written with eleven digits or more."""

NEARLY = 2e-3
"""An angle so near to a multiple of 90°, and no nearer, was probably meant to be one."""

DUST = 1e-14
"""Entries of a rotation so near to 0, 1 and -1 are these numbers."""


def from_quarter(angle: float) -> float:
    """How far an angle is from the nearest multiple of 90°."""
    return abs(angle - round(angle / (pi / 2)) * (pi / 2))


def nearly_quarters(angle: float) -> bool:
    """Was one quarter turn, or several, probably meant by an angle that is not?"""
    return abs(angle) > 1.0 and QUARTER < from_quarter(angle) <= NEARLY


def sine_cosine(angle: float) -> tuple[float, float]:
    """Sine and cosine, exact at multiples of 90°."""
    if from_quarter(angle) <= QUARTER:
        exact = ((0.0, 1.0), (1.0, 0.0), (0.0, -1.0), (-1.0, 0.0))
        return exact[round(angle / (pi / 2)) % 4]
    return sin(angle), cos(angle)


def roll_pitch_yaw(roll: float, pitch: float, yaw: float) -> Rows:
    """Rz(yaw) Ry(pitch) Rx(roll): turns about fixed axes, roll about x first."""
    (sr, cr), (sp, cp), (sy, cy) = sine_cosine(roll), sine_cosine(pitch), sine_cosine(yaw)
    return clean(
        (
            (cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr),
            (sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr),
            (-sp, cp * sr, cp * cr),
        )
    )


def product(a: Rows, b: Rows) -> Rows:
    """The matrix a b."""
    columns = tuple(zip(*b, strict=True))
    x, y, z = (tuple(sum(r * c for r, c in zip(row, column, strict=True)) for column in columns) for row in a)
    return clean((_triple(x), _triple(y), _triple(z)))


def rotate(a: Rows, vector: Triple) -> Triple:
    """The matrix a times a vector, without dust."""
    largest = max(map(abs, vector))
    entries = (sum(r * v for r, v in zip(row, vector, strict=True)) for row in a)
    x, y, z = (0.0 if abs(e) <= DUST * largest else e for e in entries)
    return x, y, z


def clean(a: Rows) -> Rows:
    """A rotation whose entries are exact where they are meant to be."""
    x, y, z = (_triple(tuple(_plain(e) for e in row)) for row in a)
    return x, y, z


def quaternion(a: Rows) -> tuple[float, float, float, float]:
    """The unit quaternion of a rotation, scalar first and not negative (S. W. Shepperd, 1978)."""
    trace = a[0][0] + a[1][1] + a[2][2]
    squares = [1 + trace, *(1 + 2 * a[k][k] - trace for k in range(3))]
    products = {
        (0, 1): a[2][1] - a[1][2],
        (0, 2): a[0][2] - a[2][0],
        (0, 3): a[1][0] - a[0][1],
        (1, 2): a[0][1] + a[1][0],
        (1, 3): a[0][2] + a[2][0],
        (2, 3): a[1][2] + a[2][1],
    }
    largest = max(range(4), key=lambda k: squares[k])
    twice = squares[largest] ** 0.5
    found = [twice / 2 if k == largest else products[min(k, largest), max(k, largest)] / (2 * twice) for k in range(4)]
    sign = -1.0 if found[0] < 0 else 1.0
    e0, e1, e2, e3 = (sign * e for e in found)
    return e0, e1, e2, e3


def _plain(entry: float) -> float:
    nearest = float(round(entry))
    return nearest + 0.0 if abs(entry - nearest) <= DUST else entry


def _triple(entries: tuple[float, ...]) -> Triple:
    x, y, z = entries
    return x, y, z


def quaternion_rotation(e: tuple[Expression, ...]) -> Rotation:
    """The rotation matrix of a unit quaternion (scalar first), from body axes to base axes."""
    e0, e1, e2, e3 = e
    return (
        (1 - 2 * (e2 * e2 + e3 * e3), 2 * (e1 * e2 - e0 * e3), 2 * (e1 * e3 + e0 * e2)),
        (2 * (e1 * e2 + e0 * e3), 1 - 2 * (e1 * e1 + e3 * e3), 2 * (e2 * e3 - e0 * e1)),
        (2 * (e1 * e3 - e0 * e2), 2 * (e2 * e3 + e0 * e1), 1 - 2 * (e1 * e1 + e2 * e2)),
    )


def axis_rotation(axis: Vector, sine: Expression, cosine: Expression) -> Rotation:
    """Rotation about a unit vector: cos 1 + sin [n×] + (1 - cos) n nᵀ, with entries of coordinate axes left plain."""
    x, y, z = axis
    rest = 1 - cosine

    def diagonal(n: Expression) -> Expression:
        return cosine + rest * n * n if n * n != 1 else n * n

    return (
        (diagonal(x), rest * x * y - sine * z, rest * x * z + sine * y),
        (rest * x * y + sine * z, diagonal(y), rest * y * z - sine * x),
        (rest * x * z - sine * y, rest * y * z + sine * x, diagonal(z)),
    )


def across(normal: Vector) -> tuple[Vector, Vector]:
    """Two unit vectors across a unit vector, a right-handed triple with it; x and y for z."""
    k = min(range(3), key=lambda i: abs(_size(normal[i])))
    x, y, z = ((1 if i == k else 0) - normal[k] * normal[i] for i in range(3))
    length = (x * x + y * y + z * z) ** HALF
    x, y, z = x / length, y / length, z / length
    a, b, c = normal
    return (x, y, z), (b * z - c * y, c * x - a * z, a * y - b * x)


def _size(entry: Expression) -> float:
    """Of a number; a formula counts as one."""
    return float(entry) if isinstance(entry, float) or entry.is_Number else 1.0
