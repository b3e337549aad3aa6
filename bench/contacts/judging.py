"""What a motion with contacts must satisfy, from its rows alone."""

from __future__ import annotations

import numpy as np
import symengine as se
from bench.contacts.models import Case

from svyaz.motion import Motion, simulate

GAP, PULL, RISE, REST = 1e-5, 1e-5, 1e-6, 1e-5
"""Parts of the size, of the largest reaction, of the energy that there was, and of the size."""


def run_case(case: Case) -> tuple[Motion, list[str]]:
    """The motion, and what is wrong with it."""
    motion = simulate(case.system, **case.options)
    return motion, find_faults(case, motion)


def find_faults(case: Case, motion: Motion) -> list[str]:
    """In words: negative gaps, pulls, energy that rises, a place at which it does not rest."""
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
    energy = motion.column("energy")
    rise = float((energy - np.minimum.accumulate(energy)).max())
    if rise > RISE * max(float(np.ptp(energy)), RISE * float(np.abs(energy).max())):
        found.append(f"the energy rises by {rise:.3g} of {float(np.ptp(energy)):.3g}")
    for name, place in case.rest.items():
        at, speed = float(known[name][-1]), float(motion.column(f"{name}'")[-1])
        if abs(at - place) > REST * case.size or abs(speed) > REST:
            found.append(f"{name} is at {at:.9g} with {speed:.3g}, and should rest at {place:.9g}")
    return found
