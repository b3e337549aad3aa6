"""``chain:N``, a hanging chain of N equal links for any N, as the text of a model file.

The links are turned by a quarter against each other as those of a chain are: they swing about x and y in turn.
"""

from __future__ import annotations

from svyaz.gallery.collection import MadeFamily

NOTES = (
    "Equal slender links of mass m and length l hang one below the other; link 1 swings about x, link 2 about y, and so on "
    "in turn. J is the moment of a link about its own length."
)

LARGEST = 5000
"""Longer chains than this are refused."""


def chain(count: int) -> str:
    """The model file of a chain of ``count`` links."""
    lines = [
        f'name = "chain of {count} link{"s" if count > 1 else ""}"',
        f'notes = "{NOTES}"',
        'gravity = [0, 0, "-g"]',
        "",
    ]
    for k in range(1, count + 1):
        lines += _link(k)
    lines += [
        "[parameters]",
        "m = 0.1",
        "l = 0.1",
        "J = 1e-5",
        "g = 9.81",
        "",
        "[initial]",
        *(f'q{k} = "{30 if k < 3 else 5}*deg"' for k in range(1, count + 1)),
        "",
        "[run]",
        'method = "dopri5"',
        "rtol = 1e-6",
        "until = 2",
        "",
        "[source]",
        'work = "Chosen: a chain on which the time of long recursions is measured"',
        'chosen = ["m", "l", "J", "g"]',
    ]
    return "\n".join(lines) + "\n"


def _link(k: int) -> list[str]:
    return [
        "[[body]]",
        f'name = "{k}"',
        f'base = "{k - 1 if k > 1 else "ground"}"',
        'joint = "revolute"',
        f'coordinate = "q{k}"',
        f"axis = {'[1, 0, 0]' if k % 2 else '[0, 1, 0]'}",
        "pole = [0, 0, 0]" if k == 1 else 'pole = [0, 0, "-l"]',
        'mass = "m"',
        'center = [0, 0, "-l/2"]',
        'inertia = { xx = "m*l^2/3", yy = "m*l^2/3", zz = "J" }',
        "",
    ]


MODEL = MadeFamily(lambda count, _: chain(count), LARGEST)
