"""``pendulum:N``, the n-link pendulum for any n, as the text of a model file.

Source: L. N. Kutsenko, R. M. Kolochavin, "Description of the motion of an n-link pendulum by operators of Maple".
The positions, the squared speeds and the energies are written as the paper writes them, for any number of links.
"""

from __future__ import annotations

from svyaz.gallery.collection import MadeFamily

NOTES = (
    "Massless rods of lengths L1, L2, …, point masses m1, m2, … at their ends, the first end fixed; "
    "u1, u2, … are the angles with the vertical."
)

LARGEST = 400
"""Longer chains than this are refused: their equations would fill the memory."""


def pendulum(count: int) -> str:
    """The model file of a chain of ``count`` massless rods with a point mass at the end of each."""
    links = range(1, count + 1)
    lines = [
        f'name = "pendulum of {count} link{"s" if count > 1 else ""}"',
        f'notes = "{NOTES}"',
        "coordinates = [" + ", ".join(f'"u{i}"' for i in links) + "]",
        'kinetic = "' + " + ".join(f"m{i}/2*(x{i}'^2 + y{i}'^2)" for i in links) + '"',
        'potential = "' + " + ".join(f"m{i}*g*(y{i} + {_lengths(i, count)})" for i in links) + '"',
        "",
        "[definitions]",
        *_positions(count),
        "",
        "[parameters]",
        *(f"m{i} = 1" for i in links),
        "g = 9.81",
        *(f"L{i} = 1" for i in links),
        "",
        *_chain_drawing(count),
        "[initial]",
        *(f'u{i} = "60*deg"' for i in links),
        "",
        "[run]",
        'form = "lagrange"',
        'method = "dop853"',
        "rtol = 1e-9",
        "until = 10",
        "",
        "[source]",
        'work = "Kutsenko, Kolochavin: motion of an n-link pendulum by operators of Maple"',
        "chosen = ["
        + ", ".join(f'"{name}"' for name in ["g", *(f"L{i}" for i in links), *(f"m{i}" for i in links)])
        + "]",
    ]
    return "\n".join(lines) + "\n"


SUMMED = 100
"""Of more links the lengths are summed by definitions, D1, D2, …: written out they would fill pages."""


def _lengths(i: int, count: int) -> str:
    return f"D{i}" if count > SUMMED else " + ".join(f"L{j}" for j in range(1, i + 1))


def _positions(count: int) -> list[str]:
    lines = ['x1 = "L1*sin(u1)"', 'y1 = "-L1*cos(u1)"']
    for i in range(2, count + 1):
        lines.append(f'x{i} = "x{i - 1} + L{i}*sin(u{i})"')
        lines.append(f'y{i} = "y{i - 1} - L{i}*cos(u{i})"')
    if count > SUMMED:
        lines += ['D1 = "L1"', *(f'D{i} = "D{i - 1} + L{i}"' for i in range(2, count + 1))]
    return lines


def _chain_drawing(count: int) -> list[str]:
    joints = ['["0", "0"]', *(f'["x{i}", "y{i}"]' for i in range(1, count + 1))]
    lines = []
    for i in range(1, count + 1):
        lines += ["[[draw]]", f"link = [{joints[i - 1]}, {joints[i]}]", ""]
        lines += ["[[draw]]", f"point = {joints[i]}", f"trace = {'true' if i == count else 'false'}", ""]
    return lines


MODEL = MadeFamily(lambda count, _: pendulum(count), LARGEST)
