"""What gains and laws add to the time of a run with a fixed step."""

from __future__ import annotations

from time import process_time

from bench.tools.jobs import Answer, Job, Samples, answer, series
from bench.tools.nine import rig
from bench.tools.rows import Row

from svyaz.stabilise import stabilisation
from svyaz.stabilise.perturbations import perturbation
from svyaz.stabilise.segment import integrated, prepare

MODULE = "bench.laws.cost"
SYSTEMS = ("pendulum-xy", "slider-crank", "three-link", "ball-on-plane")
MOST, REPEATED = 1.3, 7
PLACE = "-(20 + deviation^2)*deviation' - 100*deviation*(1 + t^2/100)"
SPEED = "-10*deviation*(1 + deviation^2)"


def job(name: str) -> Job:
    return Job(MODULE, ("cost", name), 1, 5.0)


def jobs(quick: bool) -> list[Job]:
    return [job(name) for name in SYSTEMS]


def rows(samples: Samples, quick: bool) -> list[Row]:
    found = []
    for name in SYSTEMS:
        plain = series(samples, job(name), "off")[0]
        for what in ("gains", "laws"):
            ours = series(samples, job(name), what)[0]
            found.append(Row(f"{name}: {what}", ours, plain, ours / plain, "s", "off", MOST, limit=True))
    return found


def cost_job(name: str) -> Answer:
    made = rig(name)
    options = made.options(method="rk4", step=1e-4, stabilize="off")
    laws = {d.name: SPEED if d.position is None else PLACE for d in made.equations.deviations}
    asked = {"off": "off", "gains": {"alpha": 20.0, "beta": 100.0, "kappa": 10.0}, "laws": {"law": laws}}
    found: Answer = {}
    for what, stabilize in asked.items():
        law = perturbation(made.equations, stabilisation(stabilize))
        segment = prepare(made.equations, law, (), options, made.span[0], made.state)
        taken = []
        for _ in range(REPEATED):
            begin = process_time()
            integrated(segment, made.state, made.span, options, None, None)
            taken.append(process_time() - begin)
        found[what] = min(taken)
    return found


if __name__ == "__main__":
    answer({"cost": cost_job})
