"""Random small models, each a product of mechanisms: a body of a textbook, what acts on it, and how it is run.

Only the seed decides. What contradicts itself (a form for a constraint that it does not take) may be refused as a model.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

Words = dict[str, object]
Pick = np.random.Generator


@dataclass(frozen=True)
class Product:
    """The words of a model, the options of its run, the contacts by gap, and the names of the pieces."""

    words: Words
    options: dict[str, object]
    gaps: dict[str, str] = field(default_factory=dict)
    pieces: tuple[str, ...] = ()

    def with_words(self, piece: str, **more: object) -> Product:
        """With one piece more; lists and tables are added to."""
        words = dict(self.words)
        for key, value in more.items():
            known = words.get(key)
            if isinstance(known, dict) and isinstance(value, dict):
                words[key] = {**known, **value}
            elif isinstance(known, list) and isinstance(value, list):
                words[key] = [*known, *value]
            else:
                words[key] = value
        return replace(self, words=words, pieces=(*self.pieces, piece))


def number(pick: Pick, low: float, high: float) -> float:
    return float(np.round(pick.uniform(low, high), 4))


def product(seed: int) -> Product:
    """A body, one to three things that act on it, and how it is run."""
    pick = np.random.default_rng([26, seed])
    body = BODIES[seed % len(BODIES)](pick)
    made = replace(body, options=options(pick, body))
    for k in pick.permutation(len(ADDITIONS))[: int(pick.integers(0, 4))]:
        made = ADDITIONS[k](pick, made)
    return made


def options(pick: Pick, body: Product) -> dict[str, object]:
    """Method, stabilisation, form, charts, rows and length of a run."""
    method = str(pick.choice(["rk4", "dop853", "radau"]))
    found: dict[str, object] = {"method": method, "until": body.options.get("until", 1.0)}
    if method == "rk4":
        found["step"] = float(pick.choice([0.002, 0.001]))
    else:
        found["rtol"] = float(pick.choice([1e-6, 1e-8, 1e-10]))
    if "constraint" in body.words:
        stabilize: object = [10.0, "off", "auto", "projection", "auto"][int(pick.integers(5))]
        found["stabilize"] = stabilize
    forms = ["multipliers", *body.options.get("forms", ())]  # type: ignore[misc]
    found["form"] = str(pick.choice(forms)) if "coordinates" in body.words else "multipliers"
    if pick.random() < 0.15:
        found["charts"] = "keep"
    if pick.random() < 0.25:
        found["every"] = 0.05
    return found


def wall(name: str, gap: str, gradient: str, pick: Pick) -> dict[str, object]:
    """A one-sided constraint gap ≥ 0, with impacts and sometimes friction."""
    del gradient
    found: dict[str, object] = {"name": name, "equation": f"{gap} = 0", "on": f"-({gap})", "off": f"-lambda_{name}"}
    law = str(pick.choice(["inelastic", "newton", "poisson"]))
    found["impact"] = law
    if law != "inelastic":
        found["restitution"] = float(pick.choice([0.0, 0.3, 0.5, 0.8]))
    return found


def pendulum(pick: Pick) -> Product:
    """A point on a rod in x, y, that may go round."""
    a, w = number(pick, -2.5, 2.5), number(pick, -8, 8)
    initial = {"x": f"sin({a})", "y": f"-cos({a})", "x'": f"{w}*cos({a})", "y'": f"{w}*sin({a})"}
    words: Words = {
        "name": "pendulum",
        "coordinates": ["x", "y"],
        "kinetic": "m/2*(x'^2 + y'^2)",
        "potential": "m*g*y",
        "parameters": {"m": number(pick, 0.5, 3), "g": 9.81},
        "constraint": [{"name": "rod", "equation": "x^2 + y^2 = 1"}],
        "initial": initial,
    }
    return Product(words, {"until": 2.0, "forms": ["shulgin", "voronets", "maggi", "appell"]}, pieces=("pendulum",))


def cart(pick: Pick) -> Product:
    """A cart with a pendulum whose bob is at X + x, y."""
    made = pendulum(pick)
    words = {
        **made.words,
        "name": "cart",
        "coordinates": ["X", "x", "y"],
        "kinetic": f"{number(pick, 0.5, 3)}*X'^2/2 + m/2*((X' + x')^2 + y'^2)",
    }
    return Product(words, {"until": 2.0, "forms": ["shulgin", "routh", "maggi"]}, pieces=("cart",))


def spherical(pick: Pick) -> Product:
    """A spherical pendulum in angles, near its poles."""
    words: Words = {
        "name": "spherical pendulum",
        "coordinates": ["theta", "psi"],
        "kinetic": "m/2*(theta'^2 + sin(theta)^2*psi'^2)",
        "potential": "-m*g*cos(theta)",
        "parameters": {"m": number(pick, 0.5, 2), "g": 9.81},
        "initial": {
            "theta": number(pick, 0.3, 2.0),
            "theta'": number(pick, -3, 3),
            "psi'": float(pick.choice([0.0, 1e-6, 1e-3, 0.1, 2.0])),
        },
    }
    return Product(words, {"until": 2.0}, pieces=("spherical",))


SLIPS = (
    "x' + a*(cos(theta)*sin(psi)*theta' + sin(theta)*cos(psi)*psi') - r*(theta'*sin(psi) - phi'*sin(theta)*cos(psi))",
    "y' + a*(-cos(theta)*cos(psi)*theta' + sin(theta)*sin(psi)*psi') + r*(theta'*cos(psi) + phi'*sin(theta)*sin(psi))",
)


def top(pick: Pick) -> Product:
    """A sphere with an eccentric centre of mass that spins on a floor, almost upright, in Euler's angles."""
    tilt = float(pick.choice([0.3, 0.05, 0.01]))
    height = float(pick.choice([0.0, 0.01]))
    floor = wall("floor", "z + a*cos(theta) - r", "", pick)
    if height == 0.0:
        floor["active"] = True
    if pick.random() < 0.7:
        floor["friction"] = {"sliding": number(pick, 0.05, 0.4), "along": {"slips": list(SLIPS)}}
    words: Words = {
        "name": "top on a floor",
        "coordinates": ["x", "y", "z", "psi", "theta", "phi"],
        "kinetic": "m/2*(x'^2 + y'^2 + z'^2) + A/2*(theta'^2 + sin(theta)^2*psi'^2) + C/2*(phi' + psi'*cos(theta))^2",
        "potential": "m*g*z",
        "parameters": {"m": 0.02, "g": 9.81, "r": 0.02, "a": 0.003, "A": 3e-6, "C": 2.8e-6},
        "constraint": [floor],
        "initial": {"z": f"r - a*cos({tilt}) + {height}", "theta": tilt, "phi'": number(pick, 20, 100)},
    }
    return Product(words, {"until": 0.1}, {"floor": "z + a*cos(theta) - r"}, ("top",))


def ball(pick: Pick) -> Product:
    """A ball that spins and bounces over a floor, with friction."""
    floor = wall("floor", "y", "", pick)
    if pick.random() < 0.7:
        floor["friction"] = {"sliding": number(pick, 0.05, 0.6), "along": "x' + r*phi'"}
    words: Words = {
        "name": "ball",
        "coordinates": ["x", "y", "phi"],
        "kinetic": "m/2*(x'^2 + y'^2) + m*r^2/5*phi'^2",
        "potential": "m*g*y",
        "parameters": {"m": number(pick, 0.1, 2), "g": 9.81, "r": 0.1},
        "constraint": [floor],
        "initial": {"y": number(pick, 0.05, 0.5), "x'": number(pick, -2, 2), "phi'": number(pick, -20, 20)},
    }
    return Product(words, {"until": 2.0}, {"floor": "y"}, ("ball",))


def block(pick: Pick) -> Product:
    """A block on a shaken incline, with friction that may hold it."""
    base = {
        "name": "base",
        "equation": "y = 0",
        "off": "-lambda_base",
        "friction": {
            "static": number(pick, 0.35, 0.6),
            "sliding": number(pick, 0.1, 0.35),
            "along": f"x' - {number(pick, 0.0, 0.2)}*cos(8*t)",
        },
    }
    words: Words = {
        "name": "block",
        "coordinates": ["x", "y"],
        "kinetic": "m/2*(x'^2 + y'^2)",
        "potential": "m*g*(y*cos(i) - x*sin(i))",
        "parameters": {"m": number(pick, 0.5, 3), "g": 9.81, "i": number(pick, 0.0, 0.6)},
        "constraint": [base],
        "initial": {"x'": number(pick, -1, 1)},
    }
    return Product(words, {"until": 1.5}, {"base": "y"}, ("block",))


def rod(pick: Pick) -> Product:
    """A rod that falls on both ends."""
    left, right = wall("left", "y - l*sin(f)", "", pick), wall("right", "y + l*sin(f)", "", pick)
    right |= {key: left[key] for key in ("impact", "restitution") if key in left}
    if "restitution" not in left:
        right.pop("restitution", None)
    words: Words = {
        "name": "rod",
        "coordinates": ["x", "y", "f"],
        "kinetic": "m/2*(x'^2 + y'^2) + m*l^2/6*f'^2",
        "potential": "m*g*y",
        "parameters": {"m": number(pick, 0.5, 2), "g": 9.81, "l": 0.5},
        "constraint": [left, right],
        "initial": {"y": number(pick, 0.4, 0.8), "f": number(pick, -0.5, 0.5), "f'": number(pick, -2, 2)},
    }
    return Product(words, {"until": 1.5}, {"left": "y - l*sin(f)", "right": "y + l*sin(f)"}, ("rod",))


def column(pick: Pick) -> Product:
    """Two balls, one above the other, over a floor."""
    low, high = wall("low", "y1 - 0.1", "", pick), wall("high", "y2 - y1 - 0.2", "", pick)
    words: Words = {
        "name": "column",
        "coordinates": ["y1", "y2"],
        "kinetic": "m1/2*y1'^2 + m2/2*y2'^2",
        "potential": "g*(m1*y1 + m2*y2)",
        "parameters": {"m1": number(pick, 0.1, 2), "m2": number(pick, 0.1, 2), "g": 9.81},
        "constraint": [low, high],
        "initial": {"y1": number(pick, 0.1, 0.4), "y2": number(pick, 0.7, 1.2)},
    }
    return Product(words, {"until": 2.0}, {"low": "y1 - 0.1", "high": "y2 - y1 - 0.2"}, ("column",))


def sleigh(pick: Pick) -> Product:
    """Chaplygin's sleigh on an incline, turning."""
    words: Words = {
        "name": "sleigh",
        "coordinates": ["x", "y", "f"],
        "kinetic": "m/2*(x'^2 + y'^2) + J/2*f'^2",
        "potential": "-m*g*x/3",
        "parameters": {"m": number(pick, 0.5, 2), "J": number(pick, 0.1, 1), "g": 9.81},
        "constraint": [{"name": "blade", "equation": "y'*cos(f) = x'*sin(f)"}],
        "initial": {"x'": 1.0, "f'": number(pick, -3, 3)},
    }
    forms = ["voronets", "chaplygin", "maggi", "appell", "voronets:carried"]
    return Product(words, {"until": 3.0, "forms": forms}, pieces=("sleigh",))


def racer(pick: Pick) -> Product:
    """A Roller Racer that is steered, from rest."""
    words: Words = {
        "name": "racer",
        "coordinates": ["x", "y", "theta", "phi"],
        "kinetic": "(x'^2 + y'^2)/2 + 0.05*theta'^2 + 0.005*(theta' + phi')^2",
        "parameters": {"A": number(pick, 0.2, 0.8), "w": number(pick, 2, 8)},
        "constraint": [
            {"name": "rear", "equation": "x'*sin(theta) = y'*cos(theta)"},
            {
                "name": "front",
                "equation": "x'*sin(theta + phi) - y'*cos(theta + phi) = theta'*0.25*cos(phi) + (theta' + phi')*0.1",
            },
            {"name": "steer", "equation": "phi = A*sin(w*t)"},
        ],
        "initial": {},
    }
    return Product(words, {"until": 2.0, "forms": ["maggi", "voronets"]}, pieces=("racer",))


def crank(pick: Pick) -> Product:
    """A slider crank in three coordinates, with a drive for some of the time."""
    a = number(pick, 0.3, 2.5)
    b = f"-asin(sin({a})/2)"
    words: Words = {
        "name": "crank",
        "coordinates": ["a", "b", "x"],
        "kinetic": "0.2*a'^2 + 0.1*b'^2 + m/2*x'^2",
        "potential": "3*sin(a)",
        "parameters": {"m": number(pick, 0.2, 2)},
        "constraint": [
            {"name": "along", "equation": "cos(a) + 2*cos(b) = x"},
            {"name": "across", "equation": "sin(a) + 2*sin(b) = 0"},
        ],
        "initial": {"a": a, "b": b, "x": f"cos({a}) + 2*cos({b})", "a'": number(pick, -5, 5)},
    }
    return Product(words, {"until": 1.5, "forms": ["shulgin", "maggi"]}, pieces=("crank",))


def chain(pick: Pick) -> Product:
    """A chain of more than sixteen links by recursions, sometimes hung up at its end or over a floor."""
    count, gaps, constraints = int(pick.integers(17, 20)), {}, []
    bodies = [
        {
            "name": str(k),
            "base": "ground" if k == 1 else str(k - 1),
            "joint": "revolute",
            "coordinate": f"q{k}",
            "axis": [0, 0, 1],
            "pole": [0, 0, 0] if k == 1 else [0, "-l", 0],
            "mass": "m",
            "center": [0, "-l/2", 0],
            "inertia": {"xx": "m*l^2/3", "yy": "m*l^2/1000", "zz": "m*l^2/3"},
        }
        for k in range(1, count + 1)
    ]
    parameters = {"m": number(pick, 0.05, 0.2), "l": 0.1, "g": 9.81}
    words: Words = {"name": f"chain of {count}", "gravity": [0, "-g", 0], "body": bodies, "parameters": parameters}
    initial = {"q1": number(pick, 0.2, 1.2)}
    sums = ["+".join(f"q{j}" for j in range(1, k + 1)) for k in range(1, count + 1)]
    kind = int(pick.integers(3))
    if kind == 1:
        gap = f"{number(pick, 0.85, 0.95) * count / 10} - l*({' + '.join(f'cos({s})' for s in sums)})"
        constraints, gaps = [wall("floor", gap, "", pick)], {"floor": gap}
        initial = {"q1": 1.2}
    elif kind == 2:
        constraints = [
            {"name": "hook", "equation": f"l*({' + '.join(f'sin({s})' for s in sums)}) = {count / 10}*sin(q0)"}
        ]
        parameters["q0"] = initial["q1"]
    if constraints:
        words["constraint"] = constraints
    words["initial"] = initial
    return Product(words, {"until": 0.3}, gaps, ("chain",))


BODIES: tuple[Callable[[Pick], Product], ...] = (
    pendulum,
    ball,
    cart,
    top,
    spherical,
    block,
    sleigh,
    rod,
    crank,
    column,
    racer,
    chain,
)


def _freedom(pick: Pick, made: Product) -> str:
    names = made.words.get("coordinates") or [body["coordinate"] for body in made.words["body"]]  # type: ignore[index, union-attr]
    return str(pick.choice(list(names)))  # type: ignore[call-overload]


def _force(made: Product, piece: str, q: str, text: str) -> Product:
    forces: dict[str, str] = made.words.get("forces", {})  # type: ignore[assignment]
    return made.with_words(piece, forces={q: f"{forces[q]} + {text}" if q in forces else text})


def dry_friction(pick: Pick, made: Product) -> Product:
    q = _freedom(pick, made)
    return _force(made, "dry friction", q, f"-{number(pick, 0.01, 0.3) * _weight(made)}*sign({q}')")


def drag(pick: Pick, made: Product) -> Product:
    q = _freedom(pick, made)
    return _force(made, "drag", q, f"-{number(pick, 0.01, 0.5) * _weight(made)}*{q}'*abs({q}')")


def spring(pick: Pick, made: Product) -> Product:
    q = _freedom(pick, made)
    return _force(made, "spring", q, f"-{number(pick, 0.1, 20) * _weight(made)}*{q}")


def relay(pick: Pick, made: Product) -> Product:
    q = _freedom(pick, made)
    size = number(pick, 0.1, 1) * _weight(made)
    return _force(made, "relay", q, f"{size}*sign(sin({number(pick, 3, 12)}*t + 0.3))")


def _weight(made: Product) -> float:
    """Forces on bodies with little inertia are smaller, or equal steps would be too long for them."""
    return {"top": 1e-4, "ball": 0.01, "chain": 0.1}.get(made.pieces[0], 1.0)


def motor(pick: Pick, made: Product) -> Product:
    """A DC drive on a freedom."""
    q = _freedom(pick, made)
    drive = {
        "name": "drive",
        "current": "Im",
        "voltage": "em",
        "inductance": 0.01,
        "resistance": 1.0,
        "back_emf": 0.1,
        "supply": 1.0,
        "torque": 0.1 * _weight(made),
        "shaft": f"{q}'",
        "on": q,
    }
    return made.with_words("motor", motor=[drive], inputs={"em": number(pick, -5, 5)})


def limits(pick: Pick, made: Product) -> Product:
    q = _freedom(pick, made)
    return made.with_words("limits", limits={q: [-number(pick, 0.5, 3), number(pick, 0.5, 3)]})


def held_energy(pick: Pick, made: Product) -> Product:
    """The energy as an integral that is held, where nothing changes it."""
    del pick
    fixed = made.pieces[0] in ("pendulum", "cart", "spherical", "sleigh", "crank") and len(made.pieces) == 1
    if not fixed or "potential" not in made.words:
        return made
    energy = f"{made.words['kinetic']} + {made.words['potential']}"
    return made.with_words("held energy", integral=[{"name": "energy", "expression": energy, "hold": True}])


def drive(pick: Pick, made: Product) -> Product:
    """A coordinate that is driven for some of the time."""
    if made.pieces[0] not in ("cart", "sleigh", "crank", "pendulum") or len(made.words["constraint"]) > 2:  # type: ignore[arg-type]
        return made
    q = {"cart": "X", "sleigh": "f", "crank": "a", "pendulum": "x"}[made.pieces[0]]
    until = number(pick, 0.3, 1.0)
    row = {"name": "driven", "equation": f"{q}' = {number(pick, -2, 2)}*cos(3*t)", "from": 0.0, "until": until}
    return made.with_words("drive", constraint=[row])


def stop(pick: Pick, made: Product) -> Product:
    """A wall that a coordinate may strike."""
    q = {"pendulum": "x", "cart": "X", "spherical": "theta", "sleigh": "x", "crank": "x", "ball": "x"}.get(
        made.pieces[0]
    )
    if q is None:
        return made
    gap = f"{number(pick, 0.5, 2.5) + (1.0 if q == 'x' else 0.0)} - {q}"
    found = made.with_words("wall", constraint=[wall("wall", gap, "", pick)])
    return replace(found, gaps={**made.gaps, "wall": gap})


ADDITIONS = (dry_friction, drag, spring, relay, motor, limits, held_energy, drive, stop)
