"""Curves of a motion as they are drawn: smooth however few its rows are, open where it jumps, in the units asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from svyaz.arrays import Array
from svyaz.json_types import Json, Record
from svyaz.model import angles
from svyaz.motion import along
from svyaz.show.style import MUTED, Looks, label

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from svyaz.model import System
    from svyaz.motion import Motion, View

POINTS = 1500
"""Rows of a curve between which no straight lines are seen."""

SEEN = 0.003
"""Corners less than this part of the height of a curve are not seen."""

DEAREST = 3.0
"""A motion that took more seconds is not run once more for its looks."""

HUGE = 1e100
"""Larger numbers are no place on paper."""

TORN = 5.0
"""A change at an event that is so many times the changes before and after it is a jump."""

MOST_BORDERS = 40


def dense(motion: Motion) -> Motion:
    """The same motion with rows close enough for curves, from its dense output; itself where it has them, or cannot be run
    once more.
    """
    times = motion.times
    stale = motion.again is None or motion.status == "stopped" or motion.seconds > DEAREST
    if stale or len(times) >= POINTS or len(times) < 2 or not _has_corners(motion):
        return motion
    found = motion.resampled(np.union1d(times, np.linspace(times[0], times[-1], POINTS)))
    return found if found.status == motion.status and found.times[-1] == times[-1] else motion


def _has_corners(motion: Motion) -> bool:
    """Would straight lines between the rows be seen? The sagitta of an arc is a quarter of how far its middle row is off."""
    t, x = motion.times, motion.states
    if len(t) < 20:
        return True
    with np.errstate(all="ignore"):
        share = ((t[1:-1] - t[:-2]) / (t[2:] - t[:-2]))[:, None]
        off = np.abs(x[1:-1] - (1 - share) * x[:-2] - share * x[2:]) / 4
        off[(np.diff(t)[:-1] == 0) | (np.diff(t)[1:] == 0)] = 0.0
        heights = np.nanmax(x, axis=0) - np.nanmin(x, axis=0)
        return bool((np.nanmax(off, axis=0) > SEEN * np.maximum(heights, 1e-12 * np.nanmax(np.abs(x), axis=0))).any())


def moments(motion: Motion) -> list[float]:
    """When constraints begin or cease to act, impacts, when sliding begins or ends, jumps over singular points."""
    found = [event.t for event in motion.phases[1:]] + [jump.t for jump in motion.jumps]
    found += [time for slide in motion.slides for time in (slide.start, slide.end)]
    return sorted(time for time in set(found) if motion.times[0] < time < motion.times[-1])


def borders(axes: Axes, motion: Motion) -> None:
    """Thin lines at these moments, unless there are too many to be told apart."""
    found = moments(motion)
    for time in found if len(found) <= MOST_BORDERS else []:
        axes.axvline(time, color=MUTED, linewidth=0.6, linestyle=(0, (2, 3)), zorder=0.5)


class Curve(NamedTuple):
    """Numbers to the right and upwards; a gap is not a number."""

    right: Array
    up: Array


def curve(motion: Motion, right: Array, up: Array) -> Curve:
    """Two columns of a motion, drawable: open where one of them jumps at an event, without what is beyond all paper."""
    x, y = _drawable(right), _drawable(up)
    gaps = np.union1d(_jumps(motion, x), _jumps(motion, y))
    return Curve(np.insert(x, gaps, np.nan), np.insert(y, gaps, np.nan))


def _drawable(values: Array) -> Array:
    with np.errstate(invalid="ignore"):
        return np.where(np.abs(values) < HUGE, values, np.nan)


def _jumps(motion: Motion, values: Array) -> NDArray[np.intp]:
    """Before which rows does it jump? At two rows of one time, and across an event, where the change is sudden."""
    change = np.abs(np.diff(values))
    change = np.where(np.isfinite(change), change, 0.0)
    if not len(change):
        return np.zeros(0, dtype=np.intp)
    steps = np.diff(motion.times)
    near = np.maximum(np.insert(change[:-1], 0, 0.0), np.append(change[1:], 0.0))
    right = np.searchsorted(motion.times, moments(motion))
    across = np.zeros(len(change), dtype=bool)
    across[[k for end in right for k in (end - 1, end) if 0 <= k < len(change)]] = True
    height = np.nanmax(values, initial=-np.inf) - np.nanmin(values, initial=np.inf)
    return np.flatnonzero((change > SEEN * height) & ((steps == 0) | (across & (change > TORN * near)))) + 1


def curve_record(motion: Motion, view: View) -> Record:
    """The columns of a view over what they are drawn over, as a script draws them; a gap is null."""
    columns, across = view.columns(motion), along(motion, view.across)
    found = {name: curve(motion, across, column) for name, column in columns.items()}
    lines: Record = {name: {"right": _numbers(line.right), "up": _numbers(line.up)} for name, line in found.items()}
    return {"across": view.across, "up": view.up, "lines": lines}


def _numbers(values: Array) -> list[Json]:
    """Rounded to what can be seen: a hundred-thousandth of the largest."""
    known = np.abs(values[np.isfinite(values)])
    digits = 5 - int(np.floor(np.log10(known.max()))) if known.any() else 0
    return [value if value == value else None for value in np.round(values, digits).tolist()]


class Scale(NamedTuple):
    """By what the numbers of a column are multiplied when they are drawn, and the unit that they are then in, if known."""

    factor: float
    unit: str

    def told(self, name: str) -> str:
        """The name at an axis, with the unit."""
        return f"{name}, {self.unit}" if self.unit else name


def scale(system: System, name: str, looks: Looks) -> Scale:
    """In which unit a column is drawn: as the model says; an angle and its rate in degrees where they are asked for."""
    plain = name.rstrip("'")
    if looks.degrees and plain in angles(system):
        rate = f"°/{system.units['t']}" if system.units else "° per unit of $t$"
        return Scale(180 / np.pi, "°" if name == plain else rate)
    return Scale(1.0, str(system.units.get(name, "")))


def axis_label(system: System, name: str, looks: Looks) -> str:
    """A variable as it is written in formulas, with its unit."""
    return scale(system, name, looks).told(label(name))


def fit(axes: Axes, values: Array, finished: bool) -> str:
    """Heights at which something is seen: a constant in the middle, a motion that grew beyond all bounds up to where it did;
    words for what is cut off.
    """
    known = values[np.isfinite(values)]
    if not len(known):
        axes.text(0.5, 0.5, "no numbers", transform=axes.transAxes, ha="center", va="center", color=MUTED)
        axes.set_yticks([])
        return ""
    low, high = float(known.min()), float(known.max())
    size = max(abs(low), abs(high))
    if high - low <= 1e-13 * size or size == 0:
        room = 0.5 * size or 1.0
        axes.set_ylim(low - room, high + room)
    elif not finished:
        bulk = 3 * float(np.quantile(np.abs(known), 0.8))
        if 0 < 30 * bulk < size:
            axes.set_ylim(max(low, -bulk) - 0.05 * bulk, min(high, bulk) + 0.05 * bulk)
            return ", cut"
    return ""
