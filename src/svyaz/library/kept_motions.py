"""Motions read from the files that keep them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from svyaz import motion
from svyaz.arguments import check_arguments
from svyaz.integrate import Status
from svyaz.library.dressing import dress
from svyaz.library.loading import loads
from svyaz.library.motions import TABLES, WorkingMotion


@check_arguments
def load_motion(file: str | Path) -> WorkingMotion:
    """A motion that ``Motion.save`` has kept. Nothing in the file is executed.

    >>> import svyaz, tempfile, pathlib
    >>> motion = svyaz.load("pendulum:1").simulate(until=1)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     kept = svyaz.load_motion(motion.save(pathlib.Path(folder) / "motion.npz"))
    >>> (kept.states == motion.states).all()
    np.True_
    """
    with np.load(file, allow_pickle=False) as kept:
        header = json.loads(str(kept["header"]))
        columns = {table: dict(zip(header["columns"][table], kept[table].T, strict=True)) for table in TABLES}
        found = motion.Motion(
            system=loads(header["model"], header["file"] or "model"),
            form=header["form"],
            method=header["method"],
            step=header["step"],
            rtol=header["rtol"],
            status=Status(header["status"]),
            reason=header["reason"],
            times=kept["times"],
            states=kept["states"],
            state_names=tuple(header["states"]),
            multipliers=columns["multipliers"],
            residuals=columns["residuals"],
            hidden=columns["hidden"],
            integrals=columns["integrals"],
            quantities=columns["quantities"],
            inputs=columns["inputs"],
            steps=header["steps"],
            rejected=header["rejected"],
            evaluations=header["evaluations"],
            seconds=header["seconds"],
            trajectory_error=header["trajectory_error"],
            notes=tuple(header["notes"]),
            phases=tuple(motion.Event(**(event | _names_of(event))) for event in header["phases"]),
            limits={name: motion.Reach(**reach) for name, reach in header["limits"].items()},
            slides=tuple(motion.Slide(**slide) for slide in header["slides"]),
        )
    return dress(WorkingMotion, found)


def _names_of(event: Mapping[str, list[str]]) -> dict[str, tuple[str, ...]]:
    return {key: tuple(event[key]) for key in ("on", "off", "active")}
