"""Forward dynamics: native code against Pinocchio's aba from Python and in C++, and against MuJoCo's step."""

from __future__ import annotations

from bench.tools.jobs import Answer, Job, Samples, answer, series
from bench.tools.rows import Row, faster
from bench.trees.matrix import clocked

MODULE = "bench.trees.dynamics"
TREES = ("puma-560", "stanford", "chain:12", "chain:20", "chain:30")
BARRED = ("puma-560", "stanford", "chain:12")
"""Up to twelve joints Pinocchio's C++ is to be beaten; beyond it is reported."""
BATCH = 5_000


def _job(what: str, tree: str, quick: bool) -> Job:
    return Job(MODULE, (what, tree), 2 if quick else 5, 3.0)


def jobs(quick: bool) -> list[Job]:
    return [_job(what, tree, quick) for tree in TREES for what in ("svyaz", "python", "cpp", "mujoco")]


def rows(samples: Samples, quick: bool) -> list[Row]:
    found = []
    for tree in TREES:
        ours, python, cpp, mujoco = (
            series(samples, _job(what, tree, quick), "seconds") for what in ("svyaz", "python", "cpp", "mujoco")
        )
        found.append(faster(f"accelerations of {tree} against aba from Python", ours, python, "Pinocchio, Python", 1.0))
        bar = 1.0 if tree in BARRED else None
        found.append(faster(f"accelerations of {tree} against aba in C++", ours, cpp, "Pinocchio, C++", bar))
        found.append(faster(f"accelerations of {tree} against a step of MuJoCo", ours, mujoco, "mj_step", 1.0))
    return found


def ours(tree: str) -> Answer:
    """The faster of equations with a full matrix and the loop over bodies, as ``simulate`` takes them by size."""
    import numpy as np
    from bench.trees.robots import states, system

    from svyaz.motion.long_trees import LONGEST_WRITTEN

    read = system(tree)
    q, v, tau = states(tree, BATCH)
    if len(read.tree.bodies) <= LONGEST_WRITTEN:
        robot, out = read.robot(), np.empty_like(v)
        return {"seconds": min(clocked(lambda: robot.forward(q, v, tau, out=out)) for _ in range(5)) / BATCH}
    from bench.trees.chains import loop_seconds

    return {"seconds": loop_seconds(read)}


def python(tree: str) -> Answer:
    import pinocchio as pin
    from bench.trees.robots import pinocchio_model, states

    model = pinocchio_model(tree)
    data = model.createData()
    q, v, tau = states(tree, BATCH)

    def loop() -> None:
        for k in range(BATCH):
            pin.aba(model, data, q[k], v[k], tau[k])

    return {"seconds": min(clocked(loop) for _ in range(3)) / BATCH}


def cpp(tree: str) -> Answer:
    from bench.trees.cpp import times

    return {"seconds": min(times(tree, 4 * BATCH)["aba"] for _ in range(3))}


def mujoco(tree: str) -> Answer:
    """One semi-implicit Euler step of a model without geometry, in MuJoCo's own loop over steps."""
    import mujoco as mj
    from bench.trees.robots import mujoco_text

    model = mj.MjModel.from_xml_string(mujoco_text(tree))
    data = mj.MjData(model)

    def run() -> None:
        mj.mj_resetData(model, data)
        mj.mj_step(model, data, BATCH)

    return {"seconds": min(clocked(run) for _ in range(3)) / BATCH}


if __name__ == "__main__":
    answer({"svyaz": ours, "python": python, "cpp": cpp, "mujoco": mujoco})
