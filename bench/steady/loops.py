"""Closed loops about steady motions from 20 random consistent starts, within 2 % of the size of each variable.

A variable that is zero has the size 1. Where a momentum is conserved, it is perturbed too, and the end is compared with the
steady motion that was foretold.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from bench.tools.jobs import Answer, Job, Samples, answer, series
from bench.tools.rows import Row, within

if TYPE_CHECKING:
    from svyaz.control import Regulation

MODULE = "bench.steady.loops"
REACH = 0.02


@dataclass(frozen=True)
class Loop:
    """A model of the gallery, the steady motion, other words of ``regulate``, and a conserved speed that is perturbed."""

    model: str
    fix: dict[str, float]
    choices: dict[str, str] = field(default_factory=dict)
    words: dict[str, str] = field(default_factory=dict)
    box: dict[str, tuple[float, float]] = field(default_factory=dict)
    perturbed: str = ""

    def regulation(self) -> Regulation:
        from svyaz import load

        return load(self.model, **self.choices).regulate(fix=self.fix, box=self.box, **self.words)


LOOPS = {
    "hoop, Lagrange's variables": Loop("hoop", {"psi'": 6.0}, {"shaft": "driven"}),
    "hoop, Routh's variables": Loop("hoop", {"psi'": 6.0}, {"shaft": "driven"}, {"variables": "routh"}),
    "hoop, observer of z": Loop("hoop", {"psi'": 6.0}, {"shaft": "driven"}, {"measure": "z"}),
    "governor": Loop("watt-governor", {"theta'": 13.0}),
    "governor, observer of s": Loop("watt-governor", {"theta'": 13.0}, words={"measure": "s"}),
    "top with a motor": Loop(
        "heavy-symmetric-top",
        {"psi'": 2.0, "theta": 0.5},
        {"mounting": "driven"},
        box={"phi'": (5.0, 200.0)},
        perturbed="psi'",
    ),
    "satellite": Loop(
        "flywheel-satellite", {"psi'": 0.5, "delta'": 20.0, "a": 0.3}, {"torques": "all"}, perturbed="psi'"
    ),
    "double gyroscope": Loop("double-gyroscope", {"phi1'": 60.0, "phi2'": -60.0, "beta1": 0.0}, perturbed="phi1'"),
    "disc upright, one torque": Loop("rolling-disc", {"phi'": 1.0}, {"control": "torques"}, {"inputs": "steer"}),
    "disc upright, both torques": Loop("rolling-disc", {"phi'": 1.0}, {"control": "torques"}),
    "disc on a circle": Loop("rolling-disc", {"phi'": 3.0, "psi'": 2.0}, {"control": "torques"}),
    "bicycle at 3 m/s": Loop("bicycle", {"ro'": 0.0, "v": 3.0}, {"control": "steer"}),
}


def _job(name: str, quick: bool) -> Job:
    return Job(MODULE, ("returning", name, "2" if quick else "20"), 1, 60.0)


def jobs(quick: bool) -> list[Job]:
    return [_job(name, quick) for name in LOOPS]


def rows(samples: Samples, quick: bool) -> list[Row]:
    found = []
    for name, loop in LOOPS.items():
        lost = series(samples, _job(name, quick), "lost")
        found.append(within(f"1 + starts that do not return: {name}", lost, [1.0], "one and no more", 1, "starts"))
        if loop.perturbed:
            off = series(samples, _job(name, quick), "off")
            found.append(within(f"end beside the one foretold: {name}", off, [1e-6], "1e-6", 1, ""))
    return found


def lasts(found: Regulation) -> float:
    """So long the slowest deviation needs to fall to a few parts in a hundred thousand."""
    roots = found.design.closed_roots(found.plant)
    return max(5.0, 10.0 / float(-roots.real[abs(roots) > 1e-6].max()))


def ranges(found: Regulation) -> dict[str, tuple[float, float]]:
    """2 % of the size of each variable to both sides."""
    rest = {name: found.plant.state.get(name, 0.0) for name in found.plant.variables}
    return {name: (x - REACH * (abs(x) or 1.0), x + REACH * (abs(x) or 1.0)) for name, x in rest.items()}


def returning(name: str, count: str) -> Answer:
    """How many of so many starts do not return, and how far from what was foretold a motion with another momentum ends."""
    loop = LOOPS[name]
    found = loop.regulation()
    tried = found.basin(ranges(found), int(count), lasts(found))
    told = {"lost": 1.0 + float((~tried.returned).sum() + tried.outside), "starts": float(len(tried.returned))}
    if loop.perturbed:
        start = {loop.perturbed: (1 + REACH) * loop.fix[loop.perturbed]}
        trial = found.run(start, 2 * lasts(found))["regulator"]
        off = trial.distance_from_limit
        told["off"] = float("inf") if off is None else off
    return told


if __name__ == "__main__":
    answer({"returning": returning})
