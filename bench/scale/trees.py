"""Trees of N bodies made at random, without loops and with one for ten bodies: first step, accelerations, memory.

A loop is a pin between a point of a body and one of the body that carries it over seven others; it fits at the angles at
which the motion begins at rest. Pinocchio is called from Python, which costs about a microsecond.
"""

from __future__ import annotations

from typing import Any

from bench.scale.points import curve, first_start, growth, memory
from bench.tools.growth import Curve
from bench.tools.jobs import Answer, Job, Samples, answer, clock, median, series
from bench.tools.rows import Row, within

MODULE = "bench.scale.trees"
COUNTS = (10, 30, 100, 300, 1000)
QUICK, LEAST_FITTED = (10, 30), 30
GROWTH, APART, ACROSS, STEP = 1.2, 10, 8, 1e-5
PEERS = {"open": ("pinocchio", "mujoco"), "loops": ("pinocchio",)}
JUDGED, SLACK, HELD = 300, 5, {"gains": 5.0, "auto": "auto"}
"""So many bodies with loops move for 0.2 s with given gains and with `auto`, which may take so many times as long."""
LARGEST_CLOSED = 300
"""Pinocchio's constrained dynamics takes minutes beyond so many bodies with loops: it is not measured there."""


def job(what: str, kind: str, count: int) -> Job:
    return Job(MODULE, (what, kind, str(count)), 1, 2 + 0.02 * count)


def judged(how: str) -> Job:
    return Job(MODULE, ("held", how), 1, 10)


def jobs(quick: bool) -> list[Job]:
    found = [
        job(who, kind, n)
        for kind, peers in PEERS.items()
        for n in (QUICK if quick else COUNTS)
        for who in ("svyaz", *peers)
        if _measured(who, kind, n)
    ]
    return found if quick else [*found, *map(judged, HELD)]


def _measured(who: str, kind: str, count: int) -> bool:
    return who == "svyaz" or kind == "open" or count <= LARGEST_CLOSED


def rows(samples: Samples, quick: bool) -> list[Row]:
    found = []
    for kind, peers in PEERS.items():
        for n in QUICK if quick else COUNTS:
            ours = job("svyaz", kind, n)
            note = f"first step {median(series(samples, ours, 'first')):.2f} s, "
            note += f"{median(series(samples, ours, 'megabytes')):.0f} MB"
            for peer in peers:
                taken = [series(samples, one, "seconds") for one in (ours, job(peer, kind, n))]
                found.append(within(f"{n} bodies, {kind}", *taken, peer.capitalize(), None, note=note))
        if not quick:
            sizes = {n: job("svyaz", kind, n) for n in COUNTS if n >= LEAST_FITTED}
            found.append(growth(f"trees, {kind}, exponent of the first step", samples, sizes, "first", GROWTH))
            found.append(growth(f"trees, {kind}, exponent of accelerations", samples, sizes, "seconds", GROWTH))
    if not quick:
        gains, automatic = (series(samples, judged(how), "whole") for how in HELD)
        allowed = [SLACK * whole for whole in gains]
        found.append(within(f"{JUDGED} bodies, loops, auto", automatic, allowed, f"{SLACK} × gains", 1.0))
    return found


def curves(samples: Samples, quick: bool) -> list[Curve]:
    if quick:
        return []
    found = []
    for kind, peers in PEERS.items():
        panel, sizes = f"trees, {kind}: first step and accelerations", {n: job("svyaz", kind, n) for n in COUNTS}
        found.append(curve("svyaz, first step", panel, samples, sizes, "first"))
        for who in ("svyaz", *peers):
            own = {n: job(who, kind, n) for n in COUNTS if _measured(who, kind, n)}
            found.append(curve(f"{who}, accelerations", panel, samples, own, "seconds"))
    return found


def model(kind: str, count: int) -> tuple[str, list[tuple[int, Any, int, Any]]]:
    """The text of a tree, and its pins: body, place in it, body, place in it."""
    import numpy as np

    from svyaz import loads
    from svyaz.gallery.models.random_tree import random_tree_model
    from svyaz.model import numbers

    text = random_tree_model(count, {"seed": "1", "branching": "1.3", "taper": "1"})
    if kind == "open":
        return text, []
    system = loads(text)
    tree = numbers(system.tree, system.parameters)
    poses = {-1: (np.eye(3), np.zeros(3))}
    for k, (body, angle) in enumerate(zip(tree.bodies, angles(count), strict=True)):
        turned, place = poses[body.base]
        poses[k] = turned @ _rotation(body.axis, angle), place + turned @ np.array(body.pole, dtype=float)
    long_ways = [tree.path(k) for k in range(count) if len(tree.path(k)) > ACROSS]
    loops = max(1, count // APART)
    chosen = long_ways[:: max(1, len(long_ways) // loops)][:loops]
    pins = []
    for way in chosen:
        ordered = sorted(way)
        a, b, at = ordered[-1 - ACROSS], ordered[-1], np.array([0.1, 0.2, -0.1])
        there = poses[b][1] + poses[b][0] @ at
        pins.append((a, poses[a][0].T @ (there - poses[a][1]), b, at))
    lines = [text.replace("[parameters]", "@@", 1).split("@@")[0]]
    for k, (a, at_a, b, at_b) in enumerate(pins):
        for side, body, at in (("a", a, at_a), ("b", b, at_b)):
            lines += ["[[point]]", f'name = "{side}{k}"', f'body = "{tree.bodies[body].name}"', f"at = {at.tolist()}"]
        for x in "xyz":
            lines += ["[[constraint]]", f'name = "pin {k} {x}"', f'equation = "a{k}_{x} = b{k}_{x}"']
    lines += ["[initial]", *(f"{q} = {angle!r}" for q, angle in zip(system.coordinates, angles(count), strict=True))]
    parameters = "[parameters]" + text.split("[parameters]", 1)[1].split("[initial]")[0]
    return "\n".join([*lines, parameters]), pins


def angles(count: int) -> list[float]:
    """Those at the start."""
    import numpy as np

    return np.random.default_rng(3).uniform(-1.0, 1.0, count).tolist()


def _rotation(axis: Any, angle: float) -> Any:
    import numpy as np

    across = np.cross(np.eye(3), np.array(axis, dtype=float))
    return np.eye(3) + np.sin(angle) * across + (1 - np.cos(angle)) * across @ across


def svyaz_job(kind: str, count: str) -> Answer:
    import numpy as np
    from bench.trees.chains import rates_of
    from bench.trees.loops import closed_rates

    from svyaz.integrate import solve

    text, _ = model(kind, int(count))
    first, system = first_start(model(kind, 20)[0], text)
    rates = rates_of(system) if kind == "open" else closed_rates(system)
    start = np.array([*angles(int(count)), *np.zeros(int(count))])
    steps, taken = max(20, 20_000 // len(start)), []
    for _ in range(5):
        begin = clock()
        solve(rates, start, (0.0, steps * STEP), method="euler", step=STEP, every=steps)
        taken.append((clock() - begin) / steps)
    return {"first": first, "seconds": min(taken), "megabytes": memory()}


def held_job(how: str) -> Answer:
    """Text to result at a first start."""
    from bench.scale.points import whole_motion

    options = {"method": "rk4", "step": 1e-3, "until": 0.2, "stabilize": HELD[how]}
    return whole_motion(model("loops", 20)[0], model("loops", JUDGED)[0], **options)


def pinocchio_job(kind: str, count: str) -> Answer:
    import numpy as np
    from bench.trees.loops import constrained, depth_first, pinocchio_tree

    from svyaz import loads
    from svyaz.model import numbers

    text, pins = model(kind, int(count))
    system = loads(text)
    tree = numbers(system.tree, system.parameters)
    none = np.zeros(int(count))
    place = np.array(angles(int(count)))[depth_first(tree)]
    if pins:
        solve = constrained(tree, pins)
    else:
        pin, made, _ = pinocchio_tree(tree)
        data = made.createData()

        def solve(q: Any, v: Any) -> Any:
            return pin.aba(made, data, q, v, none)

    times, taken = max(2, 2_000_000 // int(count) ** 2), []
    for _ in range(3):
        begin = clock()
        for _ in range(times):
            solve(place, none)
        taken.append((clock() - begin) / times)
    return {"seconds": min(taken)}


def mujoco_job(kind: str, count: str) -> Answer:
    import sys

    import mujoco as mj
    from bench.trees.robots import mujoco_tree_text

    from svyaz import loads
    from svyaz.model import numbers

    assert kind == "open"
    sys.setrecursionlimit(10_000)
    system = loads(model(kind, int(count))[0])
    made = mj.MjModel.from_xml_string(mujoco_tree_text(numbers(system.tree, system.parameters)))
    data, steps, taken = mj.MjData(made), max(10, 20_000 // int(count)), []
    for _ in range(5):
        begin = clock()
        mj.mj_step(made, data, steps)
        taken.append((clock() - begin) / steps)
    return {"seconds": min(taken)}


if __name__ == "__main__":
    answer({"svyaz": svyaz_job, "held": held_job, "pinocchio": pinocchio_job, "mujoco": mujoco_job})
