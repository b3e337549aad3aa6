"""``random-tree:N``, a tree of N bodies made at random, as the text of a model file to start from."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random

from svyaz.expr import ModelError, Problem
from svyaz.gallery.collection import MadeFamily
from svyaz.gallery.random_mechanisms import BodyWords, random_tree
from svyaz.model import nearest

LARGEST = 500
"""Larger trees than this are refused."""

JOINTS: Mapping[str, tuple[str, ...]] = {
    "revolute": ("revolute",),
    "sliding": ("revolute", "revolute", "prismatic"),
    "mixed": ("revolute", "revolute", "prismatic", "fixed"),
    "floating": ("revolute",),
}
AXES = ("coordinate", "any", "parallel")

CHOICES: Mapping[str, tuple[str, ...]] = {
    "seed": ("0", "1", "2", "…"),
    "branching": ("1.5", "≥ 1"),
    "taper": ("0.95", "from 0.1 to 2"),
    "joints": tuple(JOINTS),
    "axes": AXES,
}
"""What can be chosen, with the default first."""

DIAGONAL = ("xx", "yy", "zz")
ROUNDNESS = 0.02
"""So much of its moments each body gains as a ball would: rounded numbers are then still those of a body."""

NUMBERS = {"branching": (1.0, 1e3), "taper": (0.1, 2.0)}

NOTES = (
    "Bodies made at random: each is carried by an earlier one, the nearer the smaller branching is (1 makes a chain), and is "
    "taper times as long as the one before it. The same seed gives the same tree."
)


def random_tree_model(count: int, choices: Mapping[str, str]) -> str:
    """The model file of a random tree; all numbers are parameters, rounded to four digits."""
    chosen = _chosen(choices)
    words = random_tree(
        count,
        int(chosen["seed"]),
        branching=float(chosen["branching"]),
        taper=float(chosen["taper"]),
        joints=JOINTS[chosen["joints"]],
        axes=chosen["axes"],
    )
    if chosen["joints"] == "floating":
        first = words["body"][0]
        del first["axis"], first["coordinate"]
        first |= {"joint": "free", "coordinates": ["x", "y", "z", "e0", "e1", "e2", "e3"]}
    parameters = {"g": 9.81}
    tables = [line for k, body in enumerate(words["body"], 1) for line in _body(k, body, parameters)]
    options = "".join(f", {key} {value}" for key, value in chosen.items() if value != CHOICES[key][0])
    chosen_names = ", ".join(f'"{name}"' for name in parameters)
    lines = [
        f'name = "random tree of {count} bod{"y" if count == 1 else "ies"}{options}"',
        f'notes = "{NOTES}"',
        'gravity = [0, 0, "-g"]',
        "",
        *tables,
        "[parameters]",
        *(f"{name} = {value!r}" for name, value in parameters.items()),
        "",
        "[initial]",
        *_initial(words["body"], int(chosen["seed"])),
        "",
        "[run]",
        'method = "dop853"',
        "rtol = 1e-9",
        "until = 2",
        "",
        "[source]",
        'work = "Made at random, after the generator of test trees in R. Featherstone\'s spatial_v2"',
        f"chosen = [{chosen_names}]",
    ]
    return "\n".join(lines) + "\n"


def _chosen(choices: Mapping[str, str]) -> dict[str, str]:
    chosen = {key: values[0] for key, values in CHOICES.items()}
    for key, value in choices.items():
        if key not in CHOICES:
            message = f"the model 'random-tree' has no variants '{key}'"
            raise ModelError([Problem(message, None, nearest(key, CHOICES) or "it has " + ", ".join(CHOICES))])
        if not _fits(key, value):
            hint = "there are " + ", ".join(CHOICES[key])
            raise ModelError([Problem(f"'{key}' of 'random-tree' cannot be '{value}'", None, hint)])
        chosen[key] = value
    return chosen


def _fits(key: str, value: str) -> bool:
    if key == "seed":
        return value.isascii() and value.isdigit() and len(value) < 10
    if key not in NUMBERS:
        return value in CHOICES[key]
    low, high = NUMBERS[key]
    try:
        return low <= float(value) <= high
    except ValueError:
        return False


def _body(k: int, body: BodyWords, parameters: dict[str, float]) -> list[str]:
    """The lines of a body, whose numbers become parameters."""

    def parameter(name: str, value: float) -> str:
        parameters[f"{name}{k}"] = _round(value)
        return f'"{name}{k}"'

    pole = ", ".join(parameter(f"p{axis}", value) for axis, value in zip("xyz", body["pole"], strict=True))
    mass = parameter("m", body["mass"])
    center = ", ".join(parameter(axis, value) for axis, value in zip("xyz", body["center"], strict=True))
    x, y, z = body["center"]
    shift = {"xx": y * y + z * z, "yy": x * x + z * z, "zz": x * x + y * y, "xy": x * y, "xz": x * z, "yz": y * z}
    central = {name: value - body["mass"] * shift[name] for name, value in body["inertia"].items()}
    ball = ROUNDNESS * sum(central[name] for name in DIAGONAL)
    moments = ", ".join(
        f"{name} = {parameter(name, value + (ball if name in DIAGONAL else 0.0))}" for name, value in central.items()
    )
    lines = ["[[body]]", f'name = "{body["name"]}"', f'base = "{body["base"]}"', f'joint = "{body["joint"]}"']
    if "coordinate" in body:
        lines += [f'coordinate = "{body["coordinate"]}"', f"axis = [{', '.join(_number(a) for a in body['axis'])}]"]
    if "coordinates" in body:
        lines.append("coordinates = [{}]".format(", ".join(f'"{q}"' for q in body["coordinates"])))
    lines += [f"pole = [{pole}]", f"mass = {mass}", f"center = [{center}]", f"central_inertia = {{ {moments} }}", ""]
    return lines


def _initial(bodies: list[BodyWords], seed: int) -> list[str]:
    """Angles and ways at random, so that the first motion shows all joints."""
    random = Random(f"start {seed}")
    coordinates = [body["coordinate"] for body in bodies if "coordinate" in body]
    return [f"{q} = {round(random.uniform(-0.5, 0.5), 3)}" for q in coordinates]


def _round(value: float) -> float:
    return float(f"{value:.4g}")


def _number(value: float) -> str:
    return str(int(value)) if value == int(value) else f"{value:.4g}"


MODEL = MadeFamily(random_tree_model, LARGEST, "bodies", CHOICES)
