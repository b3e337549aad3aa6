"""Systems from files, from texts and from the gallery, and motions from the files that they were saved to."""

from __future__ import annotations

import json
from collections.abc import Mapping
from os import PathLike
from pathlib import Path

import numpy as np

from svyaz import model, motion
from svyaz.arguments import check_arguments
from svyaz.expr import ModelError, Problem
from svyaz.gallery import find, is_path, not_found
from svyaz.integrate import Status
from svyaz.library.dressing import dress
from svyaz.library.motions import TABLES, WorkingMotion
from svyaz.library.stated import run_choices
from svyaz.library.systems import System


@check_arguments
def load(
    name: str | PathLike[str],
    *,
    free_base: bool = False,
    damping: bool = False,
    **variant: str,
) -> System:
    """A system from a model file, or from the gallery by its name and what is chosen of it (``control="voltage"``).

    What looks like a path is one, and so is every other name that the gallery does not know. Of a URDF file the root is
    free, and the damping of its joints acts, if that is asked for.

    >>> import svyaz
    >>> svyaz.load("ball-and-beam", control="voltage").inputs.keys()
    dict_keys(['e'])
    """
    if not str(name):
        raise ModelError([Problem("'name' is empty: give a path, or a name of svyaz.gallery()")])
    text = find(name, variant) if isinstance(name, str) and not is_path(name) else None
    if text is not None:
        return loads(text, str(name))
    if Path(name).is_dir() or not Path(name).exists():
        raise ModelError([not_found(str(name))])
    if variant:
        message = f"'{name}' is not a model of the gallery: there is no '{next(iter(variant))}' to be chosen"
        raise ModelError([Problem(message)])
    return System.of(model.read_file(Path(name), free_base=free_base, damping=damping, choices=run_choices()))


@check_arguments
def loads(text: str, file: str = "model", *, within: str | PathLike[str] | None = None) -> System:
    """A system from the text of a model file, TOML or URDF; ``file`` is named in messages.

    Files that the text names count from the folder of ``file``. For a text of somebody else, ``within`` is the folder out of
    which none of them may lead.

    >>> import svyaz
    >>> svyaz.loads('states = ["x"]\\nrates = { x = "-x" }\\ninitial = { x = 1 }').simulate(until=1)["x"][-1].round(4)
    np.float64(0.3679)
    """
    return System.of(model.read_text(text, file, run_choices(), None if within is None else Path(within)))


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
