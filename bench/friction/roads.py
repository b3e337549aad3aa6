"""A block on a spring with a law of friction, by every road on which svyaz runs it.

    x' = w + u,     m w' = -k x + A sin(om t) - σ size + rest,

where u is the speed of what the block rubs on. Each road is a model of this motion with its own mechanism: coordinates that a
constraint ties, friction by the reaction of a table, a tree of bodies by recursions, members of a sweep, exported code.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random

import numpy as np
from bench.friction.laws import LAWS, Law
from bench.friction.reference import Array, Piecewise, Plane

from svyaz import RunFailed, System
from svyaz.gallery.random_mechanisms import random_tree

RANGES = {"m": (0.5, 2.0), "k": (0.5, 6.0), "A": (0.3, 2.0), "om": (1.0, 5.0)}
GRAVITY = 9.81
FORMS = ("multipliers", "maggi", "shulgin", "voronets", "appell", "routh", "chaplygin")
ROADS = ("force", "fixed steps", "form", "reaction", "multiplier", "tree", "long tree", "sweep", "export")
RATIO = 1.6
"""Static to sliding friction of the law with stiction."""


@dataclass(frozen=True)
class Member:
    """Values of all parameters and a start (x, w, z)."""

    values: Mapping[str, float]
    start: tuple[float, ...]


def draw(law: Law, random: Random, moving: bool) -> Member:
    """Some of them begin at rest on what they rub on."""
    values = {name: float(f"{random.uniform(*ends):.3g}") for name, ends in RANGES.items()} | law.drawn(random)
    values["u"] = float(f"{random.uniform(-0.5, 0.5):.3g}") if moving else 0.0
    slip = 0.0 if law.slips and random.random() < 0.15 else random.uniform(-1.5, 1.5)
    return Member(values, (random.uniform(-0.6, 0.6), slip, *[law.begin] * len(law.states)))


def reference(law: Law, member: Member) -> Piecewise:
    """The same motion for an integration of its own."""
    p, count = member.values, len(law.states)
    ratio = RATIO if law.static else 1.0
    own = [Plane((0.0, 1.0), ratio=ratio)] if law.slips else []
    planes = [*own, *law.planes(p)]
    planes = [
        Plane((*plane.normal, *[0.0] * (2 + count - len(plane.normal))), plane.offset, plane.ratio) for plane in planes
    ]

    def rates(t: float, y: Array, sides: Array) -> Array:
        x, w, z = float(y[0]), float(y[1]), y[2:]
        force = law.rest_of(p, x, w, z, sides) - p["k"] * x + p["A"] * np.sin(p["om"] * t)
        if law.slips:
            force -= float(sides[0]) * law.size_of(p, x, w, z, sides)
        return np.array([w + p["u"], force / p["m"], *[rate(p, x, w, z, sides) for rate in law.rates_of]])

    return Piecewise(rates, planes, np.array(member.start), thin="vs" in p or "v0" in p)


def _texts(law: Law, moving: bool) -> dict[str, str]:
    """Of the law, with the slip put in."""
    slip = "(x' - u)" if moving else "x'"
    texts = {"force": law.text, "size": law.size, "rest": law.rest, "static": law.static or law.size, "sign": law.sign}
    return {name: text.replace("{w}", slip) for name, text in texts.items()} | {"slip": slip}


def model(law: Law, road: str, member: Member, moving: bool, random: Random) -> dict[str, object]:
    """The words of a model of the motion by this road."""
    texts, drive = _texts(law, moving), "A*sin(om*t)"
    slip = texts["slip"]
    words: dict[str, object] = {
        "coordinates": ["x"],
        "kinetic": "m*x'^2/2",
        "potential": "k*x^2/2",
        "forces": {"x": f"{drive} + {texts['force']}"},
        "parameters": dict(member.values),
        "initial": _initial(member, law),
    }
    if law.states:
        words |= {"states": list(law.states), "rates": {n: e.replace("{w}", slip) for n, e in law.states.items()}}
    if road == "form":
        c = float(f"{random.uniform(-0.8, 0.8):.2g}")
        words |= {
            "coordinates": ["x", "y"],
            "kinetic": f"(m - {0.1 * c * c})*x'^2/2 + 0.1*y'^2/2",
            "constraint": [{"name": "tie", "equation": random.choice((f"y = {c}*x", f"y' = {c}*x'"))}],
            "initial": {
                **_initial(member, law),
                "y": c * member.start[0],
                "y'": c * (member.start[1] + member.values["u"]),
            },
        }
    if road in ("reaction", "multiplier"):
        words |= {"coordinates": ["x", "y"], "kinetic": "m*(x'^2 + y'^2)/2", "potential": f"k*x^2/2 + {GRAVITY}*m*y"}
        table: dict[str, object] = {"name": "base", "equation": "y = 0"}
        size, static = (f"({texts[name]})/({GRAVITY}*m)" for name in ("size", "static"))
        if road == "reaction":
            table["friction"] = {"sliding": size, "static": static, "along": slip}
            words["forces"] = {"x": f"{drive} + {texts['rest']}"}
        else:
            words["forces"] = {"x": f"{drive} + {texts['rest']} - {size}*abs(lambda_base)*{texts['sign']}"}
        words["constraint"] = [table]
    if road in ("tree", "long tree"):
        block = {"name": "block", "base": "ground", "joint": "prismatic", "coordinate": "x", "axis": [1, 0, 0]}
        block |= {"pole": [0, 0, 0], "mass": "m", "center": [0, 0, 0], "inertia": {"xx": 1, "yy": 1, "zz": 1}}
        others = random_tree(17, random.randrange(100), axes="parallel")["body"] if road == "long tree" else []
        for word in ("coordinates", "kinetic", "potential"):
            del words[word]
        words |= {"gravity": [0, 0, 0], "body": [*others, block]}
        words["forces"] = {"x": f"{drive} - k*x + {texts['force']}"}
    return words


def _initial(member: Member, law: Law) -> dict[str, float]:
    x, w, *z = member.start
    return {"x": x, "x'": w + member.values["u"], **dict(zip(law.states, z, strict=True))}


def fits(name: str, road: str) -> bool:
    """Has the law a model on this road? Static friction belongs to reactions, which have no signs of their own."""
    law = LAWS[name]
    if road == "reaction":
        return law.slips and name not in ("Karnopp", "Coulomb, uneven")
    if road == "multiplier":
        return law.slips and not law.static and name != "Karnopp"
    return law.static is None


def ends(law: Law, road: str, members: Sequence[Member], until: float, moving: bool, random: Random) -> Array:
    """The states (x, w, z) in which svyaz says that the motions end, by member."""
    words = model(law, road, members[0], moving, random)
    system, names = System(**words), ("x", "x'", *law.states)  # type: ignore[arg-type]
    how: dict[str, object] = {"until": until, "stabilize": "off"}
    if road == "fixed steps":
        # iterations of implicit steps need slopes, which the root of |w| has none of where a slip begins; explicit ones are
        # of first order there, and are taken shorter
        rough = "^0.5" in law.size
        how |= (
            {"method": "rk4", "step": 0.0005} if rough else {"method": random.choice(("rk4", "radau")), "step": 0.002}
        )
    else:
        how |= {"method": random.choice(("dop853", "dop853", "dopri5", "radau")), "rtol": 1e-10}
    if road in ("tree", "long tree"):
        how |= {"form": "articulated", "method": "dop853"}
    if road == "form":
        how["form"] = _form(system, random)
    if road == "sweep":
        return _swept(system, law, members, names, how)
    found = []
    for member in members:
        start = _initial(member, law)
        if road == "form":
            tie = words["initial"]["y"] / words["initial"]["x"]  # type: ignore[index]
            start |= {"y": tie * start["x"], "y'": tie * start["x'"]}
        try:
            motion = system.with_(parameters=member.values, initial=start).simulate(**how)  # type: ignore[arg-type]
            end = [motion.column(name)[-1] for name in names]
        except RunFailed:
            end = [np.nan] * len(names)
        end[1] -= member.values["u"]
        found.append(end)
    return np.array(found)


def _form(system: System, random: Random) -> str:
    """A form that takes the model."""
    from svyaz.expr import ModelError

    for form in random.sample(FORMS, len(FORMS)):
        try:
            system.derive(form)
        except ModelError:
            continue
        return form
    raise AssertionError("no form fits")


def _swept(
    system: System, law: Law, members: Sequence[Member], names: Sequence[str], how: Mapping[str, object]
) -> Array:
    """All members by one sweep over their slips."""
    slips = [member.start[1] + member.values["u"] for member in members]
    first = _initial(members[0], law)
    swept = system.with_(initial=first).sweep({"initial.x'": slips}, ["final"], workers=1, **how)  # type: ignore[arg-type]
    found = np.array([[row.measures.get(f"final.{name}", np.nan) for name in names] for row in swept.rows], dtype=float)
    found[:, 1] -= members[0].values["u"]
    return found


def exported(law: Law, member: Member, moving: bool, random: Random) -> float:
    """The largest difference of rates in exported Python from those of the formulas, at random states, of their size."""
    system = System(**model(law, "export", member, moving, random))  # type: ignore[arg-type]
    space: dict[str, object] = {}
    exec(system.export("python"), space)  # noqa: S102
    constants = space["constants"]([system.constants[name] for name in space["PARAMETERS"]])  # type: ignore[operator, attr-defined]
    made, worst = reference(law, member), 0.0
    for _ in range(20):
        x, w, t = random.uniform(-1, 1), random.uniform(-3, 3) * 10 ** random.uniform(-4, 0), random.uniform(0, 3)
        y = np.array([x, w, *[random.uniform(0.01, 0.1) for _ in law.states]])
        values = [float(np.dot(plane.normal, y) - plane.offset) for plane in made.planes]
        expected = made.rates(t, y, np.sign(values))
        state = [x, w + member.values["u"], *y[2:]]
        told = np.array(space["rates"](t, state, constants))  # type: ignore[operator]
        worst = max(worst, float(np.abs(told - expected).max() / (1.0 + np.abs(expected).max())))
    return worst
