"""``system.robot()``: a call from Python, and rows of states at once, against Pinocchio's functions on robots of URDF files."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from bench.tools.jobs import Answer, Job, Samples, answer, clock, series
from bench.tools.rows import Row, faster, within

MODULE = "bench.trees.calls"
ROBOTS = {
    "ur5": ("ur_description/urdf/ur5_robot.urdf", False),
    "panda": ("panda_description/urdf/panda.urdf", False),
    "go2": ("go2_description/urdf/go2.urdf", True),
    "g1": ("g1_description/urdf/g1_29dof_with_hand_rev_1_0.urdf", True),
    "talos": ("talos_data/robots/talos_full_v2.urdf", True),
}
"""Files of example-robot-data, and whether the base is free."""
CALLED, IN_ROWS = ("ur5", "panda", "go2", "g1"), ("go2", "g1", "talos")
FUNCTIONS = {
    "mass": "crba",
    "gravity": "computeGeneralizedGravity",
    "bias": "nonLinearEffects",
    "inverse": "rnea",
    "forward": "aba",
}
"""Ours, and that of Pinocchio."""
TAKEN = {"mass": 1, "gravity": 1, "bias": 2, "inverse": 3, "forward": 3}
CALLS, ROWS, REPEATS = 300, 2_000, 15


def _job(what: str, robot: str, quick: bool) -> Job:
    return Job(MODULE, (what, robot), 1 if quick else 3, 10.0)


def jobs(quick: bool) -> list[Job]:
    return [*(_job("calls", robot, quick) for robot in CALLED), *(_job("rows", robot, quick) for robot in IN_ROWS)]


def rows(samples: Samples, quick: bool) -> list[Row]:
    found = []
    for robot in CALLED:
        job = _job("calls", robot, quick)
        for ours, theirs in FUNCTIONS.items():
            times = (series(samples, job, f"{side} {ours}") for side in ("svyaz", "peer"))
            found.append(within(f"a call of {ours}, {robot}", *times, f"Pinocchio's {theirs}", 1.2))
    for robot in IN_ROWS:
        job = _job("rows", robot, quick)
        whole, native = (series(samples, job, key) for key in ("svyaz mass", "native mass"))
        found.append(within(f"M of {robot} in rows, beyond its native part", whole, native, "its native part", 1.3))
        for ours, theirs in FUNCTIONS.items():
            times = (series(samples, job, f"{side} {ours}") for side in ("svyaz", "peer"))
            bar = 6.0 if ours == "forward" and robot != "go2" else None
            found.append(faster(f"{ours} of {robot} in rows", *times, f"Pinocchio's {theirs} in a loop", bar))
    bias = [series(samples, _job("rows", robot, quick), "svyaz bias") for robot in ("g1", "go2")]
    found.append(within("bias of g1 in rows against that of go2", *bias, "go2", 3.0))
    return found


def both(name: str) -> tuple[Any, Callable[[str], Callable[..., Any]], Any]:
    """Our robot; Pinocchio's function by name, for states of its own; rows of such states (q, v, a), ours then theirs."""
    import numpy as np
    import pinocchio as pin

    import svyaz

    path, free = ROBOTS[name]
    file = Path(pin.__file__).parents[4] / "share" / "example-robot-data" / "robots" / path
    robot = svyaz.load(file, free_base=free).robot()
    model = pin.buildModelFromUrdf(str(file), *([pin.JointModelFreeFlyer()] if free else []))
    data, random = model.createData(), np.random.default_rng(1)
    v, a = (random.uniform(-1.0, 1.0, (ROWS, model.nv)) for _ in range(2))
    q = random.uniform(-1.0, 1.0, (ROWS, len(robot.coordinates)))
    q[:, 3:7] /= np.linalg.norm(q[:, 3:7], axis=1)[:, None] if free else 1.0
    theirs = np.array([pin.integrate(model, pin.neutral(model), row) for row in v])

    def function(of: str) -> Callable[..., Any]:
        return partial(getattr(pin, FUNCTIONS[of]), model, data)

    return robot, function, ((q, v, a), (theirs, v, a))


def clocked(work: Callable[[], object]) -> float:
    begin = clock()
    work()
    return clock() - begin


def least(work: Callable[[], object], other: Callable[[], object]) -> tuple[float, float]:
    """Least seconds of each of two, in turn."""
    pairs = [(clocked(work), clocked(other)) for _ in range(REPEATS)]
    return min(a for a, _ in pairs), min(b for _, b in pairs)


def calls(name: str) -> Answer:
    """One state, into an array of the caller; Pinocchio writes into its own data."""
    import numpy as np

    robot, function, (ours, theirs) = both(name)
    found: Answer = {}
    for of, count in TAKEN.items():
        state, their_state = [part[0].copy() for part in ours[:count]], [part[0].copy() for part in theirs[:count]]
        out = np.empty_like(getattr(robot, of)(*state))
        own, peer = getattr(robot, of), function(of)

        def work(own: Any = own, state: Any = state, out: Any = out) -> None:
            for _ in range(CALLS):
                own(*state, out=out)

        def other(peer: Any = peer, state: Any = their_state) -> None:
            for _ in range(CALLS):
                peer(*state)

        least_own, least_peer = least(work, other)
        found |= {f"svyaz {of}": least_own / CALLS, f"peer {of}": least_peer / CALLS}
    return found


def in_rows(name: str) -> Answer:
    """Many states at once, against a loop over Pinocchio's function; M against its program alone too."""
    import numpy as np

    from svyaz.program import compile_program

    robot, function, (ours, theirs) = both(name)
    found: Answer = {}
    for of, count in TAKEN.items():
        state, own, peer = ours[:count], getattr(robot, of), function(of)
        out = own(*state)

        def work(own: Any = own, state: Any = state, out: Any = out) -> None:
            own(*state, out=out)

        def other(peer: Any = peer, count: int = count) -> None:
            for row in zip(*theirs[:count], strict=True):
                peer(*row)

        for _ in range(5):
            work()  # lanes are compiled where they are worth it
        least_own, least_peer = least(work, other)
        found |= {f"svyaz {of}": least_own / ROWS, f"peer {of}": least_peer / ROWS}
    native = compile_program(robot.programs.mass, often=True)
    constants, out = native.constants(robot.parameters), np.empty((ROWS, len(native.program.outputs)))
    matrices = np.empty((ROWS, len(robot.velocities), len(robot.velocities)))
    q = ours[0]
    whole, part = least(lambda: robot.mass(q, out=matrices), lambda: native.evaluate_batch(q, constants, out))
    return found | {"svyaz mass": whole / ROWS, "native mass": part / ROWS}


if __name__ == "__main__":
    answer({"calls": calls, "rows": in_rows})
