"""Studies: many runs over what is varied. Rows are kept in the folder as they come, so that a study can be resumed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from svyaz.expr import ModelError, Problem
from svyaz.studio.questions import Tell
from svyaz.studio.questions.asked import Table, flag, quantity, read_question, run_options, table, texts
from svyaz.studio.questions.folders import out_folder

MOST_MEMBERS = 250_000
STUDY = "study.zarr"


def sweep(question: Table, tell: Tell) -> Mapping[str, object]:
    """The study, and its measures over the axes."""
    from svyaz.show import as_json
    from svyaz.study import discard, progress_of
    from svyaz.study import sweep as swept

    given = read_question(question)
    axes = _axes(given.options, given.system)
    folder = out_folder(question, "sweep")
    done, total = progress_of(folder / STUDY)
    if total and (flag(given.options, "anew") or done == total):
        discard(folder / STUDY)
    found = swept(
        given.system,
        axes,
        texts(given.options, "measure"),
        progress=tell,
        keep=folder / STUDY,
        resume=(folder / STUDY).exists(),
        inputs=dict(given.laws) or None,
        project=flag(given.options, "project"),
        beyond=flag(given.options, "beyond"),
        **run_options(given.options, given.system),
    )
    found.to_csv(folder / "sweep.csv")
    record = as_json(found)
    return {
        "record": {name: value for name, value in record.items() if name != "rows"},
        "axes": {axis.name: np.asarray(axis.values, dtype=float) for axis in found.axes},
        "grids": {name: found.grid(name) for name in found.measures},
        "finished": found.marks("finished").astype(float),
        "stable": found.marks("stable").astype(float),
        "file": str(folder / "sweep.csv"),
    }


def unfinished(question: Table, tell: Tell) -> Mapping[str, object]:
    """Is there an unfinished study of this model, and how many of its rows are done?"""
    from svyaz.study import progress_of

    done, total = progress_of(out_folder(question, "sweep", make=False) / STUDY)
    return {"rows": done if done < total else 0}


def _axes(options: Table, system: object) -> dict[str, np.ndarray]:
    from svyaz.library import System

    assert isinstance(system, System)
    axes: dict[str, np.ndarray] = {}
    total = 1
    for name, given in table(options, "vary").items():
        if isinstance(given, str) or not isinstance(given, Sequence) or len(given) != 4:
            raise ModelError([Problem(f"'{name[:60]}' is varied from a value to another, in so many values")])
        low, high = (quantity(side, system, f"vary {name}") for side in given[:2])
        count = round(quantity(given[2], system, f"vary {name}"))
        if not 1 <= count <= MOST_MEMBERS:
            raise ModelError([Problem(f"vary {name}: from 1 to {MOST_MEMBERS} values")])
        if given[3] is True and not (low > 0 and high > 0):
            raise ModelError([Problem(f"vary {name}: values spaced by their logarithm are positive")])
        axes[name] = np.geomspace(low, high, count) if given[3] is True else np.linspace(low, high, count)
        total *= count
    if not axes or len(axes) > 2:
        raise ModelError([Problem("a study of this page varies one or two quantities")])
    if total > MOST_MEMBERS:
        raise ModelError([Problem(f"a study of this page has at most {MOST_MEMBERS} members, not {total}")])
    return axes


ANSWERS = {"sweep": sweep, "kept": unfinished}
