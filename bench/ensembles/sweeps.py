"""Steps of rk4 in a sweep of pendulums with the drift of energy, on one core: in lanes, one by one, and MuJoCo's rollout.

The energy is observed after every step, as ``sweep`` does; MuJoCo observes nothing. The lanes give the bits of one by one,
which is asserted. MuJoCo steps the same chain of rods by its own rk4.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from bench.tools.jobs import Answer, Job, Samples, answer, clock, series
from bench.tools.rows import Row, faster

MODULE = "bench.ensembles.sweeps"
PENDULUMS = ("pendulum:2", "pendulum:6")
MEMBERS, STEPS, STEP = 256, 500, 0.001
BAR = 2.5


def _job(what: str, name: str, quick: bool) -> Job:
    return Job(MODULE, (what, name), 2 if quick else 5, 4.0)


def jobs(quick: bool) -> list[Job]:
    return [_job(what, name, quick) for name in PENDULUMS for what in ("svyaz", "mujoco")]


def rows(samples: Samples, quick: bool) -> list[Row]:
    found = []
    for name in PENDULUMS:
        lanes, alone = (series(samples, _job("svyaz", name, quick), key) for key in ("lanes", "alone"))
        mujoco = series(samples, _job("mujoco", name, quick), "seconds")
        found.append(faster(f"a step of {name}", lanes, alone, "one by one", BAR, note="the same bits"))
        found.append(faster(f"a step of {name}", lanes, mujoco, "MuJoCo, rollout", None))
    return found


def ours(name: str) -> Answer:
    import svyaz
    from svyaz.forms import derive, observed_quantities
    from svyaz.integrate import Group, method, prepare_ensemble, schedule
    from svyaz.integrate.groups import prepare_group
    from svyaz.program import build, compile_program
    from svyaz.stabilise import OFF, options_for, perturbation, prepare

    system = svyaz.load(name)
    until = STEPS * STEP
    options = options_for(system, {"method": "rk4", "step": STEP, "until": until})
    equations = derive(system, None)
    start = np.array(system.initial_state())
    rates = prepare(equations, perturbation(equations, OFF), (), options, 0.0, start).rates
    code: Any = rates.owner
    energy = observed_quantities(equations)["integrals"]["energy"]
    inputs, parameters = ("t", *equations.states), tuple(system.constants)
    seen = compile_program(build([("energy", energy)], inputs=inputs, parameters=parameters))
    plan = schedule((0.0, until), STEP)
    count = len(system.states)
    starts = np.tile(np.concatenate([[0.0], start]), (MEMBERS, 1))
    starts[:, 1] += np.linspace(0.0, 0.5, MEMBERS)

    def group() -> Group:
        return Group(
            np.tile(rates.constants, (MEMBERS, 1)),
            np.tile(seen.constants(system.constants), (MEMBERS, 1)),
            np.zeros((MEMBERS, 1)),
            starts,
            np.zeros((MEMBERS, count + 1)),
            np.tile([plan.h, plan.last], (MEMBERS, 1)),
            np.tile(np.array([plan.total, plan.every]), (MEMBERS, 1)),
            np.zeros((MEMBERS, 2), dtype=np.int64),
            np.zeros((MEMBERS, 1, 5)),
        )

    first, never, tableau = np.zeros(1, dtype=np.int64), np.zeros(1, dtype=np.int64), method("rk4")
    seconds: dict[str, list[float]] = {"lanes": [], "alone": []}
    for _ in range(4):
        one, many = group(), group()
        begin = clock()
        prepare_group(tableau, (code.address, seen.address, 0), 1, one, first, 1, never)(0.0, until)
        middle = clock()
        prepare_ensemble(tableau, (code, seen, None), many, first, 1, never)(0.0, until)
        seconds["alone"].append(middle - begin)
        seconds["lanes"].append(clock() - middle)
        same = one.ends.tobytes() == many.ends.tobytes() and one.totals.tobytes() == many.totals.tobytes()
        assert same, "the lanes give the bits of one alone"
    return {what: min(times) / (MEMBERS * STEPS) for what, times in seconds.items()}


def mujoco(name: str) -> Answer:
    """Rods on hinges, without geometry, by MuJoCo's rk4 in its own rollout in one thread."""
    import mujoco as mj
    from mujoco import rollout

    count = int(name.partition(":")[2])
    head = f'<mujoco><option timestep="{STEP}" integrator="RK4"/><worldbody>'
    rod = '<body pos="0 0 {z}"><joint axis="0 1 0"/><inertial pos="0 0 -1" mass="1" diaginertia="1e-6 1e-6 1e-6"/>'
    bodies = "".join(rod.format(z=0 if k == 0 else -1) for k in range(count)) + "</body>" * count
    model = mj.MjModel.from_xml_string(f"{head}{bodies}</worldbody></mujoco>")
    data = mj.MjData(model)
    members = MEMBERS // 8
    state = np.zeros((members, mj.mj_stateSize(model, mj.mjtState.mjSTATE_FULLPHYSICS)))
    state[:, 1] = np.linspace(0.5, 1.0, members)
    seconds = []
    for _ in range(3):
        begin = clock()
        rollout.rollout(model, data, state, nstep=STEPS)
        seconds.append(clock() - begin)
    return {"seconds": min(seconds) / (members * STEPS)}


if __name__ == "__main__":
    answer({"svyaz": ours, "mujoco": mujoco})
