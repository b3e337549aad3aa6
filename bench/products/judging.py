"""What a run of a product is asked: an answer, and in it nothing that physics forbids."""

from __future__ import annotations

import traceback
from dataclasses import dataclass
from time import process_time

import numpy as np
from bench.products.draws import Product, product

from svyaz import System
from svyaz.expr import ModelError
from svyaz.motion import Motion, simulate

BUDGET = 20.0
"""Seconds of CPU that a run may take."""

RESIDUAL, GAP, PULL, ENERGY = 1e-4, 1e-6, 1e-6, 1e-3
"""Allowed parts: of residuals (of one plus the largest coordinate), depths (of the same), pulls (of the largest push), and
energy that the balance does not explain (of the energy that moved)."""

FINER = 8.0
"""Where a given step leaves energy unexplained, one so many times shorter must not: else it is not the step that is wrong."""

ANSWERS = ("finished", "infeasible", "singular", "diverged", "left")


@dataclass(frozen=True)
class Verdict:
    """How a run ended, what is wrong with it, and the seconds of CPU that it took."""

    outcome: str
    wrong: tuple[str, ...]
    seconds: float
    reason: str = ""


def judge(seed: int) -> Verdict:
    """Run one product and look at the answer."""
    drawn, begun = product(seed), process_time()
    try:
        outputs = {f"gap_{name}": text for name, text in drawn.gaps.items()}
        words = {**drawn.words, "outputs": outputs} if outputs else drawn.words
        system, options = System(**words), {"project": True, **drawn.options}  # type: ignore[arg-type]
        motion = simulate(system, **options)  # type: ignore[arg-type]
        wrong = faults(drawn, motion)
        if any(text.startswith("energy") for text in wrong) and "step" in options:
            options["step"] = float(options["step"]) / FINER  # type: ignore[arg-type]
            finer = faults(drawn, simulate(system, **options))  # type: ignore[arg-type]
            wrong = finer or [text for text in wrong if not text.startswith("energy")]
    except ModelError as refusal:
        return Verdict("refused", (), process_time() - begun, str(refusal).strip().splitlines()[0])
    except Exception:
        return Verdict("error", (traceback.format_exc(limit=-3),), process_time() - begun)
    seconds = process_time() - begun
    late = [f"{seconds:.1f} s of CPU"] if seconds > BUDGET else []
    return Verdict(str(motion.status), (*wrong, *late), seconds, motion.reason)


def faults(drawn: Product, motion: Motion) -> list[str]:
    """What is wrong with an answer."""
    found = []
    if motion.status not in ANSWERS:
        found.append(f"status '{motion.status}'")
    if motion.status != "finished" and not motion.reason:
        found.append("no reason given")
    if not np.isfinite(motion.states).all():
        found.append("states that are no numbers")
        return found
    if motion.status not in ("finished", "left"):
        return found
    size = 1.0 + float(np.abs(motion.states).max())
    for name, values in motion.residuals.items():
        off = float(np.nanmax(np.abs(values), initial=0.0))
        if off > RESIDUAL * size:
            found.append(f"residual of '{name}': {off:.2g}")
    for name in drawn.gaps:
        depth = -float(np.nanmin(motion.column(f"gap_{name}")))
        if depth > GAP * size:
            found.append(f"'{name}' is entered by {depth:.2g}")
        pushes = motion.multipliers.get(name, np.zeros(len(motion.times)))[_lasting(motion.times)]
        most, least = np.nanmax(np.abs(pushes), initial=0.0), np.nanmin(pushes, initial=0.0)
        if least < -PULL * max(1.0, float(most)):
            found.append(f"'{name}' pulls with {-least:.2g}")
    balance = motion.balance
    if balance is not None:
        moved = balance.scale + float(np.abs(balance.work).max() + np.abs(balance.dissipated).max())
        rest = float(np.nanmax(np.abs(balance.remainder)))
        if rest > ENERGY * moved:
            found.append(f"energy off by {rest:.2g} of {moved:.2g}")
    return found


def _lasting(times: np.ndarray) -> np.ndarray:
    """Rows of phases that last: a contact that an impact closes and that lets go at once has a row of no length."""
    gaps = np.diff(times)
    return np.concatenate([[True], gaps > 0.0]) | np.concatenate([gaps > 0.0, [True]])
