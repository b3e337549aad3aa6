"""Every command takes every feature of a model, symbolic or recursive, with a free base and in loops.

Each mechanism is stated twice: by few bodies, of which equations are written out, and with so many massless bodies fixed to
the last one that recursions compute. Both answer alike: the same exit code, the same numbers, and no refusal.
"""

from __future__ import annotations

import io
import json
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import numpy as np
import pytest

from svyaz.cli import main

PADDING = 16
"""Massless bodies with which a tree is one of recursions."""


def hinge(name: str, base: str, coordinate: str, axis: str = "[0, 1, 0]", pole: str = '[0, 0, "-l"]') -> str:
    return f"""
[[body]]
name = "{name}"
base = "{base}"
joint = "revolute"
coordinate = "{coordinate}"
axis = {axis}
pole = {pole}
mass = "m"
center = [0, 0, "-l/2"]
central_inertia = {{ xx = "J", yy = "J", zz = "J/5" }}
"""


TRUNK = """
[[body]]
name = "trunk"
base = "ground"
joint = "free"
coordinates = ["x", "y", "z", "e0", "e1", "e2", "e3"]
mass = "4*m"
central_inertia = { xx = "3*J", yy = "4*J", zz = "5*J" }
"""
POINT = """
[[point]]
name = "tip"
body = "c"
at = [0, 0, "-l"]
"""
CLOSURE = """
[[constraint]]
name = "across"
equation = "tip_x = l"
dependent = "q3"
[[constraint]]
name = "along"
equation = "tip_z = -l/2"
dependent = "q2"
"""
FROM_GROUND = "[0, 0, 0]"
KINDS = {
    "chain": hinge("a", "ground", "q1", pole=FROM_GROUND) + hinge("b", "a", "q2") + hinge("c", "b", "q3") + POINT,
    "shaft": hinge("a", "ground", "q1", "[0, 0, 1]", FROM_GROUND)
    + hinge("b", "a", "q2")
    + hinge("c", "b", "q3")
    + POINT,
    "free": TRUNK + hinge("b", "trunk", "q2") + hinge("c", "b", "q3") + POINT,
    "loop": hinge("a", "ground", "q1", pole=FROM_GROUND)
    + hinge("d", "a", "q4")
    + hinge("b", "d", "q2")
    + hinge("c", "b", "q3")
    + POINT
    + CLOSURE,
}
SPRINGS = {  # forces of each kind, with which all have an equilibrium near the start
    "chain": {"q1": "-k*q1 - d*q1'", "q2": "-d*q2'", "q3": "-d*q3'"},
    "shaft": {"q2": "-k*(q2 - 0.3) - d*q2'", "q3": "-d*q3'"},
    "free": {
        "vx": "-40*x - vx",
        "vy": "-40*y - vy",
        "vz": "-40*z - vz",
        "wx": "-4*e1 - d*wx",
        "wy": "-4*e2 - d*wy",
        "wz": "-4*e3 - d*wz",
        "q2": "-k*q2 - d*q2'",
        "q3": "-k*q3 - d*q3'",
    },
    "loop": {"q1": "-k*q1 - d*q1'", "q2": "-d*q2'", "q3": "-d*q3'", "q4": "-d*q4'"},
}
TURN = np.arctan2(0.5, 2 * 0.5 * np.cos(0.6) - 0.25) - np.pi  # of the line from the middle of the loop to its tip
BEND = np.arccos(np.hypot(0.5, 2 * 0.5 * np.cos(0.6) - 0.25))
START = {
    "chain": {"q1": 0.2, "q2": 0.3, "q3": 0.1},
    "shaft": {"q2": 0.4, "q3": 0.1, "q1'": 2.0},
    "free": {"q2": 0.3, "q3": 0.1, "e0": 1.0},
    "loop": {"q1": 0.6, "q4": -1.2, "q2": TURN + BEND + 0.6, "q3": -2 * BEND},
}
WORDS = {
    "follower": "q3",
    "law": "q2 - 0.2",
    "rate": "cos(q2)*q2'",
    "touch": "tip_z = -2.9*l",
    "near": "-tip_z - 2.9*l",
}
IN_LOOPS = {
    "follower": "q4",
    "law": "-2*q1",
    "rate": "-2*cos(q1 - 0.6)*q1'",
    "touch": "q1 = 0.595",
    "near": "0.595 - q1",
}
"""Constraints of position and of velocity, which coordinate follows and how; a surface, and how far it is passed."""
BOX = {
    "chain": {"q1": (-1, 1), "q2": (-1, 1), "q3": (-1, 1)},
    "shaft": {"q2": (-1, 1), "q3": (-1, 1)},
    "free": {},
    "loop": {"q1": (-0.1, 0.1), "q4": (-0.1, 0.1), "q2": (-2.2, -1.9), "q3": (-1.1, -0.8)},
}
FEATURES: dict[str, tuple[str, dict[str, str]]] = {  # tables, and forces that are added
    "nothing": ("", {}),
    "position": ('[[constraint]]\nname = "gear"\nequation = "{follower} = {law}"\ndependent = "{follower}"\n', {}),
    "velocity": ('[[constraint]]\nname = "clutch"\nequation = "{follower}\' = {rate}"\ndependent = "{follower}"\n', {}),
    "motor": (
        """[inputs]
V = 0
[[motor]]
name = "drive"
current = "I"
voltage = "V"
inductance = 0.1
resistance = 1
back_emf = 0.2
supply = 1
torque = 0.2
shaft = "q2'"
on = "q2"
""",
        {},
    ),
    "friction": ("", {"q3": "-0.002*sign(q3')"}),
    "contact": (
        """[[constraint]]
name = "floor"
equation = "{touch}"
on = "{near}"
off = "-lambda_floor"
impact = "newton"
restitution = 0.5
""",
        {},
    ),
    "limit": ("[limits]\nq2 = [-2.5, 0.9]\n", {}),
    "integral": (
        '[[integral]]\nname = "sum"\nexpression = "w + q3"\nhold = true\n[rates]\nw = "-q3\'"\n',
        {},
    ),
    "input": ("[inputs]\nu = { value = 0, low = -5, high = 5 }\n", {"q2": "u"}),
    "state": ('[rates]\nw = "q2 - w"\n', {"q2": "-0.1*w"}),
    "time": ("", {"q2": "0.01*sin(3*t)"}),
}


def model(kind: str, feature: str, padding: int) -> str:
    """The text of a model file."""
    tables, more = FEATURES[feature]
    forces, start = dict(SPRINGS[kind]), dict(START[kind])
    for name, force in more.items():
        forces[name] = f"{forces[name]} + {force}"
    for word, meant in (IN_LOOPS if kind == "loop" else WORDS).items():
        tables = tables.replace("{" + word + "}", meant)
    if feature == "position" and kind != "loop":
        start["q3"] = start["q2"] - 0.2
    padded = "".join(f'[[body]]\nname = "f{k}"\nbase = "c"\njoint = "fixed"\nmass = 0\n' for k in range(padding))
    return "\n".join(
        [
            'name = "road"\ngravity = [0, 0, "-g"]',
            'states = ["w"]' if "[rates]" in tables else "",
            "[parameters]\nl = 0.5\nm = 0.4\nJ = 0.01\ng = 9.81\nk = 2.0\nd = 0.05",
            KINDS[kind] + padded + tables,
            "[box]",
            *(f"{name} = {[*sides]}" for name, sides in BOX[kind].items()),
            "[forces]",
            *(f'{name} = "{force}"' for name, force in forces.items()),
            "[initial]",
            *(f'"{name}" = {value}' for name, value in start.items()),
            '[run]\nmethod = "dopri5"\nrtol = 1e-9\nuntil = 0.15\n',
        ]
    )


def run(*arguments: str) -> tuple[int, str, str]:
    """``svyaz ARGUMENTS`` in this process: the exit code and what it prints."""
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        code = main(arguments)
    return code, out.getvalue(), err.getvalue()


EVERYWHERE = ("simulate --json -", "derive", "equilibria {fix} --json -")
IN_TURN = (
    "check --json -",
    "simulate --method rk4 --step 0.005 --halve --json -",
    "simulate --stabilize 5 --json -",
    "sweep --vary k=1:2:3 --until 0.05 --workers 1 --out {out} --json -",
    "simulate --stabilize auto --force --json -",
    "derive --format python --out {out}.py",
    "simulate --form articulated --method radau --rtol 1e-7 --until 0.05 --json -",
    "page --until 0.05 --out {out}.html",
    "simulate --stabilize projection --project --json -",
    "derive --program --format python --method rk4 --step 0.01 --out {out}.py",
)
"""Each model takes one of these, so that every kind and every feature meets several."""
REFUSED = {
    "equilibria": {("velocity", "free"), ("contact", None), ("time", None)},
    "regulate": set(),
    "steady": {("contact", None), ("time", None)},
}
"""What no road answers, with the reason that it names: features, and kinds where it is not all of them."""


def numbers(found: object) -> np.ndarray:
    """All numbers of a record, in order."""
    if isinstance(found, dict):
        return np.concatenate([numbers(found[name]) for name in sorted(found)] or [np.zeros(0)])
    return np.asarray(found, dtype=float).ravel()


def compare(one: dict, other: dict, command: str) -> None:
    """The numbers of both answers; of equilibria and steady motions those that recursions find are among all."""
    verb, close = command.split()[0], 1e-3 if "auto" in command else 1e-6
    if verb == "simulate":
        assert one["status"] == other["status"]
        np.testing.assert_allclose(numbers(one["final"]), numbers(other["final"]), atol=close)
    elif verb == "sweep":
        finals = [
            [{k: x for k, x in row.items() if k != "status" and k != "stable"} for row in d["rows"]]
            for d in (one, other)
        ]
        for a, b in zip(*finals, strict=True):
            np.testing.assert_allclose(numbers(a), numbers(b), atol=close)
    elif verb == "regulate":
        assert one.keys() == other.keys()
        for what in {"state", "K", "closed_roots"} & one.keys():
            np.testing.assert_allclose(numbers(one[what]), numbers(other[what]), rtol=1e-6, atol=close)
    elif verb in ("equilibria", "steady"):
        lists = [d["equilibria" if verb == "equilibria" else "motions"] for d in (one, other)]
        told = [[(np.r_[numbers(e["state"]), numbers(e["roots"])], e["verdict"]) for e in found] for found in lists]
        for mine, verdict in told[1]:
            alike = [v for theirs, v in told[0] if np.allclose(mine, theirs, rtol=1e-5, atol=1e-5)]
            assert verdict in alike, f"{command}: {lists}"


@pytest.mark.parametrize("feature", FEATURES)
@pytest.mark.parametrize("kind", KINDS)
def test_W2_every_road_answers_alike(kind: str, feature: str, tmp_path: Path) -> None:
    number = [*KINDS].index(kind) * len(FEATURES) + [*FEATURES].index(feature)
    commands = [*EVERYWHERE, IN_TURN[number % len(IN_TURN)]]
    if kind == "loop" and feature not in ("nothing", "position"):
        del commands[-2]  # a box of four positions is searched for two features only, for its time
    if feature in ("motor", "input"):
        commands.append("regulate {fix} --json - --run --until 0.1")
    if kind == "shaft":
        commands.append("steady --fix q1'=2 --json -")
    roads = {name: tmp_path / f"{name}.toml" for name in ("symbolic", "recursive")}
    for path, padding in zip(roads.values(), (0, PADDING), strict=True):
        path.write_text(model(kind, feature, padding), encoding="utf-8")
    fixed = (["q1"] if kind == "shaft" else []) + {"motor": ["V"], "input": ["u"]}.get(feature, [])
    for command in commands:
        verb, *rest = command.format(fix=" ".join(f"--fix {name}=0" for name in fixed), out="{out}").split()
        answers = {
            name: run(verb, str(path), *(word.replace("{out}", str(tmp_path / name)) for word in rest))
            for name, path in roads.items()
        }
        (code, out, err), (other, same, reason) = answers.values()
        assert code == other, f"{command}: {code} {err} and {other} {reason}"
        refused = {(feature, kind), (feature, None)} & REFUSED.get(verb, set())
        assert code in ((2,) if refused else (0, 1)), f"{command}: {code} {err}"
        if out.startswith("{") and "--json -" in command:
            compare(json.loads(out), json.loads(same), command)


def test_a_regulator_of_a_rolling_body_that_turns_freely_is_refused_with_the_reason(tmp_path: Path) -> None:
    path = tmp_path / "free.toml"
    path.write_text(model("free", "velocity", 0), encoding="utf-8")
    code, _, reason = run("regulate", str(path))
    assert code == 2
    assert "a free or ball joint has others" in reason
