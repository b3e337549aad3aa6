"""What a motion with contacts must satisfy, from its rows alone."""

from __future__ import annotations

import numpy as np
import symengine as se
from bench.contacts.models import Case
from scipy.optimize import nnls

from svyaz.motion import InconsistentRun, Motion, simulate

GAP, PULL, RISE, REST = 1e-5, 1e-5, 1e-6, 1e-5
"""Parts of the size, of the largest reaction, of the energy that there was, and of the size."""

CONE, LOOKED_AT = 1e-5, 25
"""Forces that contacts cannot give, as a part of the weights; and the rows of a motion that are looked at for them."""


def run_case(case: Case) -> tuple[Motion | None, list[str]]:
    """The motion, and what is wrong with it."""
    try:
        motion = simulate(case.system, **case.options)
    except InconsistentRun as fault:
        return None, [str(fault)]
    return motion, find_faults(case, motion)


def find_faults(case: Case, motion: Motion) -> list[str]:
    """In words: negative gaps, pulls, energy that rises, friction beyond its bound, a wrong end."""
    if case.refusal:
        refused = motion.status == "infeasible" and case.refusal in motion.reason
        return [] if refused else [f"{motion.status} in spite of {case.refusal}: {motion.reason}"]
    if not motion.finished:
        return [f"{motion.status}: {motion.reason}"]
    found, known = [], {name: motion.column(name) for name in case.system.coordinates}
    for name, text in case.gaps.items():
        gap = se.Lambdify(se.symbols(" ".join(known)), [se.sympify(text)])(
            np.column_stack(list(known.values()))
        ).ravel()
        if gap.min() < -GAP * case.size:
            found.append(f"the gap of {name} is {gap.min():.3g}")
        push = motion.multipliers.get(name)
        if push is not None and np.nanmin(push, initial=0.0) < -PULL * np.nanmax(np.abs(push), initial=1.0):
            found.append(f"{name} pulls with {np.nanmin(push):.3g}")
    energy, moved = motion.column("energy"), float(np.ptp(motion.column("kinetic")))
    rise = float((energy - np.minimum.accumulate(energy)).max())
    if rise > RISE * max(float(np.ptp(energy)), moved, RISE * float(np.abs(energy).max())):
        found.append(f"the energy rises by {rise:.3g} of {float(np.ptp(energy)):.3g}")
    for name, place in case.rest.items():
        at, speed = float(known[name][-1]), float(motion.column(f"{name}'")[-1])
        if abs(at - place) > REST * case.size or abs(speed) > REST:
            found.append(f"{name} is at {at:.9g} with {speed:.3g}, and should rest at {place:.9g}")
    for name, place in case.final.items():
        if abs(known[name][-1] - place) > case.near:
            found.append(f"{name} ends at {known[name][-1]:.9g}, and should at {place:.9g}")
    excess = 0.0 if case.cones is None else _beyond_cones(case, motion)
    if excess > CONE:
        found.append(f"no pushes and frictions give the accelerations: {excess:.3g} of the weights is left")
    return found


def _beyond_cones(case: Case, motion: Motion) -> float:
    """The largest part of M q'' + ∂V/∂q that is no sum of N (∂g/∂q ± μ a), N ≥ 0, over the gaps g that are closed."""
    names, words = list(case.system.coordinates), case.system.words
    q, v = ([se.Symbol(f"{name}{more}") for name in names] for more in ("", "_t"))
    kinetic, potential = (_read(str(words[key])) for key in ("kinetic", "potential"))
    cones = [(case.cones or {}).get(name, (0.0, ["0"] * len(q))) for name in case.gaps]
    gaps = [_read(text) for text in case.gaps.values()]
    tables = [
        [se.diff(se.diff(kinetic, a), b) for a in v for b in v],
        [se.diff(potential, a) for a in q],
        gaps,
        [se.diff(gap, a) for gap in gaps for a in q],
        [_read(text) for _, along in cones for text in along],
    ]
    numbers = se.Lambdify(q, [e for table in tables for e in table])
    places = np.column_stack([motion.column(name) for name in names])
    accelerations = np.column_stack([motion.column(f"{name}''") for name in names])
    ends, n, worst = np.cumsum([len(table) for table in tables])[:-1], len(q), 0.0
    for row in np.unique(np.linspace(0, len(places) - 1, LOOKED_AT).astype(int)):
        mass, weight, gap, normal, along = np.split(np.asarray(numbers(places[row]), float).ravel(), ends)
        needed = mass.reshape(n, n) @ accelerations[row] + weight
        rubs = np.array([mu for mu, _ in cones])[:, None] * along.reshape(-1, n)
        closed = np.abs(gap) < GAP * case.size
        edges = np.concatenate([(normal.reshape(-1, n) + side * rubs)[closed] for side in (1, -1)])
        left = nnls(edges.T, needed, maxiter=1000)[1] if len(edges) else float(np.linalg.norm(needed))
        worst = max(worst, left / float(np.abs(weight).max()))
    return worst


def _read(text: str) -> se.Basic:
    return se.sympify(text.replace("'", "_t").replace("^", "**"))
