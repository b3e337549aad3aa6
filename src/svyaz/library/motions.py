"""Motions with verbs: pictures, players, files."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias, Unpack

import numpy as np

from svyaz import model, motion
from svyaz import show as pages
from svyaz.arguments import check_arguments, show_options
from svyaz.expr import ModelError, Problem, is_name
from svyaz.files import whole, write_text
from svyaz.forms import derive
from svyaz.library.dressing import dress
from svyaz.motion import RunOptions
from svyaz.shown import Shown

if TYPE_CHECKING:
    from svyaz.arrays import Array
    from svyaz.forms import Equations
    from svyaz.integrate import Status
    from svyaz.library.pictures import Picture, Player

TABLES = ("multipliers", "residuals", "hidden", "integrals", "quantities", "inputs")
"""Columns by name that a file keeps, beside times and states."""

PLAIN = ("form", "method", "step", "rtol", "reason", "steps", "rejected", "evaluations", "seconds", "trajectory_error")
"""Numbers and texts that a file keeps."""


class WorkingMotion(Shown, motion.Motion):
    """A motion of a system, and all that can be asked of it.

    >>> import svyaz
    >>> found = svyaz.load("pendulum:1").simulate(until=1, every=0.5)
    >>> found["u1"].shape, found.at(0.25).shape
    ((3,), (2,))
    """

    __qualname__ = "Motion"

    @check_arguments
    def plot(
        self,
        *names: str,
        show: str | Sequence[str] = (),
        against: Mapping[str, motion.Motion] | None = None,
        size: str | tuple[float, float] | None = None,
        degrees: bool = False,
        style: str | Mapping[str, object] | None = None,
        file: str | Path | None = None,
    ) -> Picture:
        """The overview; the named columns against the time in one panel; or a panel for each of what is to ``show``.

        ``show`` takes columns, groups (``residuals``), expressions and ``y over x``, as a list or separated by commas. Other
        motions ``against`` which it is compared are given by their names. ``size`` is (width, height) in inches or "12x6",
        ``degrees`` draws angles and their rates in degrees, ``style`` is one of matplotlib or a table of its settings; with
        ``file`` the picture is written too.
        """
        from svyaz.library.pictures import Picture

        shown = [*motion.parted(show, ",")] if isinstance(show, str) else [*show]
        looks = pages.Looks(pages.size_of(size) if isinstance(size, str) else size, degrees, style)
        for name in names:
            if is_name(name) and name not in motion.GROUPS and name not in self.system.scope.symbols:
                self.column(name)
        with pages.in_style(looks):
            if shown or against or not all(motion.has_column(self, name) for name in names):
                views = motion.views_of(self.system, [*names, *filter(None, shown)]) or motion.usual_views(self)
                figure = pages.views_figure({"this": self, **(against or {})}, views, looks=looks)
            else:
                figure = pages.time_plot(self, names, looks=looks) if names else pages.overview(self, looks)
        picture = Picture(figure)
        if file is not None:
            picture.save(file)
        return picture

    @check_arguments
    def animate(self, file: str | Path | None = None) -> Player:
        """A player of the mechanism; with ``file`` (.html, .gif, .mp4) it is written too."""
        from svyaz.library.pictures import Player

        player = Player(self)
        if file is not None:
            player.save(file)
        return player

    @check_arguments
    def page(self, file: str | Path) -> Path:
        """Write a page in which the mechanism lives: one HTML file with sliders, in which the browser computes the motion.

        Where a browser cannot compute it, the page plays it as it was computed, and says why.

        >>> import svyaz
        >>> svyaz.load("pendulum:2").simulate(until=5).page("pendulum.html")  # doctest: +SKIP
        """
        lines = pages.latex_lines(derive(self.system, self.form))
        return write_text(Path(file), pages.living_page(self, lines))

    @check_arguments
    def save(self, file: str | Path) -> Path:
        """Keep it in a file .npz: all columns in full precision and the model; ``svyaz.load_motion`` reads it."""
        header = {name: getattr(self, name) for name in PLAIN} | {
            "status": str(self.status),
            "notes": list(self.notes),
            "model": model.to_toml(self.system.words),
            "file": self.system.file,
            "states": list(self.state_names),
            "columns": {table: list(getattr(self, table)) for table in TABLES},
            "phases": [asdict(event) for event in self.phases],
            "limits": {name: asdict(reach) for name, reach in self.limits.items()},
            "slides": [asdict(slide) for slide in self.slides],
        }
        arrays: dict[str, Array] = {"times": self.times, "states": self.states}
        arrays |= {table: _together(getattr(self, table), len(self.times)) for table in TABLES}
        path = Path(file)
        with whole(path) as temporary, temporary.open("wb") as out:
            np.savez_compressed(out, allow_pickle=False, header=np.array(json.dumps(header)), **arrays)
        return path

    def __repr__(self) -> str:
        reason = f" ({self.reason})" if self.reason else ""
        span = f"t = {self.times[0]:g} … {self.times[-1]:g}, {len(self.times)} rows"
        return f"<Motion of '{self.system.name}' by {self.method}: {self.status}{reason}, {span}>"


Motion = WorkingMotion
Motion.__name__ = "Motion"

OnFailure: TypeAlias = Literal["raise", "return"]
"""What a run does that does not reach its end: raise ``RunFailed``, or return the motion so far."""


class RunFailed(RuntimeError):
    """A run did not reach its end; ``motion`` is the motion up to there, ``status`` and ``reason`` are its own.

    >>> import svyaz
    >>> escape = svyaz.System(states=["x"], rates={"x": "x^2"}, initial={"x": 1})  # x = 1/(1 - t)
    >>> try:
    ...     escape.simulate(until=2)
    ... except svyaz.RunFailed as failure:
    ...     print(failure.status, round(failure.motion.times[-1], 6))
    diverged 1.0
    """

    def __init__(self, motion: WorkingMotion) -> None:
        super().__init__(motion)
        self.motion = motion

    @property
    def status(self) -> Status:
        """How the run ended: ``diverged``, ``singular``, ``infeasible``, ``left`` or ``stopped``."""
        return self.motion.status

    @property
    def reason(self) -> str:
        """Why it ended."""
        return self.motion.reason

    def __str__(self) -> str:
        reason = f": {self.reason}" if self.reason else ""
        return (
            f"the run of '{self.motion.system.name}' ended at t = {self.motion.times[-1]:g} ({self.status}){reason}. "
            'The motion up to there is .motion of this error; on_failure="return" returns it instead.'
        )


@show_options
def simulate(
    system: model.System | Equations, *, on_failure: OnFailure = "raise", **options: Unpack[RunOptions]
) -> WorkingMotion:
    """The motion of a system or of equations; the options are those of :meth:`System.simulate`.

    ``times`` is (k,), ``states`` (k, n) in the order of ``state_names``, every column (k,).

    >>> import svyaz
    >>> motion = svyaz.simulate(svyaz.load("pendulum:1"), until=1, every=0.25)
    >>> motion.times.shape, motion.states.shape
    ((5,), (5, 2))
    """
    check_on_failure(on_failure)
    found = dress(WorkingMotion, motion.simulate(system, **options))
    if on_failure == "raise" and not found.finished:
        raise RunFailed(found)
    return found


def check_on_failure(given: object) -> None:
    """Raise ModelError where ``on_failure`` is no word for what is done with a run that fails."""
    if given not in ("raise", "return"):
        raise ModelError([Problem(f'\'on_failure\' is "raise" or "return", not {given!r}')])


def _together(columns: Mapping[str, Array], rows: int) -> Array:
    return np.column_stack(list(columns.values())) if columns else np.empty((rows, 0))
