"""Where the parts of a mechanism are: its drawings evaluated along a motion, at the moments of a film."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from svyaz.arrays import Array
from svyaz.model import tree_of
from svyaz.show.style import COLOURS, GRID, MUTED, ink

if TYPE_CHECKING:
    from svyaz.model import System
    from svyaz.motion import Motion
if TYPE_CHECKING:
    from matplotlib.axes import Axes


AZIMUTH, ELEVATION = np.radians(-60.0), np.radians(22.0)  # from where a spatial mechanism is looked at
COILS = 7
TRIAD = 0.15  # length of the axes that are drawn in space, as a part of the largest extent
MOST_FRAMES = 300
SHORTEST_FILM, LONGEST_FILM = 1.0, 30.0  # seconds; within these a film runs at the speed of the motion
QUICKEST = 3  # hundredths of a second a frame: browsers do not show GIFs faster than this evenly


@dataclass(frozen=True)
class Item:
    """A link, point, circle or spring: ``points`` (k, p, dim) at k moments, dim 2 or 3; ``radius`` (k,) of a circle."""

    kind: str
    points: Array
    radius: Array | None = None
    trace: bool = False
    name: str = ""


@dataclass(frozen=True)
class Scene:
    """All parts at the same moments ``times`` (k,)."""

    times: Array
    items: tuple[Item, ...]
    up: int = 2  # the axis of space that is drawn upwards
    triad: Array | None = None  # of a plane picture of a spatial mechanism: origin and ends of the axes x, y, z (4, 2)

    @property
    def projected(self) -> bool:
        """Is it a plane picture of a spatial mechanism? Its two coordinates are then no lengths of the model."""
        return self.triad is not None

    @property
    def spatial(self) -> bool:
        """Does any part have a third coordinate?"""
        return any(item.points.shape[2] == 3 for item in self.items)


def build_scene(motion: Motion, times: Array | None = None) -> Scene:
    """The drawings of the system at the given times, or at every stored moment, as far as the state is a number."""
    inside = np.asarray(motion.times, dtype=float) if times is None else np.asarray(times, dtype=float)
    rows = states_at(motion, inside) if times is not None else np.asarray(motion.states, dtype=float)
    kept = np.isfinite(rows).all(axis=1)
    inside, rows = inside[kept], rows[kept]
    items = []
    for drawing in motion.system.drawings:
        points, radius = motion.evaluate_drawing(drawing, np.column_stack([inside, rows]))
        items.append(Item(drawing.kind, points, radius, drawing.trace, drawing.name))
    return Scene(inside, tuple(items), upward_axis(motion.system))


def upward_axis(system: System) -> int:
    """The axis along which gravity acts on a tree of bodies, if along one alone; else z."""
    gravity = tree_of(system).gravity if system.bodies else ()
    heavy = [k for k, entry in enumerate(gravity) if entry != 0]
    return heavy[0] if len(heavy) == 1 else 2


def states_at(motion: Motion, times: Array) -> Array:
    """States (k, n) between the stored ones: Hermite's cubic where the velocity is a column too, else linear."""
    stored, states, names = np.asarray(motion.times), np.asarray(motion.states), motion.state_names
    right = np.clip(np.searchsorted(stored, times, side="left"), 1, max(len(stored) - 1, 1))
    if len(stored) == 1:
        return np.repeat(states, len(times), axis=0)
    h = stored[right] - stored[right - 1]
    s = np.where(h > 0, (np.clip(times, stored[0], stored[-1]) - stored[right - 1]) / np.where(h > 0, h, 1), 1.0)
    h, s = h[:, None], s[:, None]
    before, after = states[right - 1], states[right]
    rows = (1 - s) * before + s * after
    smooth = [k for k, name in enumerate(names) if name + "'" in names]
    rates = [names.index(names[k] + "'") for k in smooth]
    q0, q1, v0, v1 = before[:, smooth], after[:, smooth], before[:, rates], after[:, rates]
    rows[:, smooth] = (
        (1 + 2 * s) * (1 - s) ** 2 * q0 + s * (1 - s) ** 2 * h * v0 + s**2 * (3 - 2 * s) * q1 + s**2 * (s - 1) * h * v1
    )
    return rows


def finite_span(motion: Motion) -> tuple[float, float]:
    """First and last moment at which the state is a number."""
    kept = np.asarray(motion.times)[np.isfinite(motion.states).all(axis=1)]
    return (float(kept[0]), float(kept[-1])) if len(kept) else (0.0, 0.0)


def spatial_drawings(system: System) -> bool:
    """Has any drawing a third coordinate?"""
    return any(len(point) == 3 for drawing in system.drawings for point in drawing.points)


def can_be_drawn(motion: Motion) -> bool:
    """Is it said what the mechanism looks like, and is its state known at some moment?"""
    return bool(motion.system.drawings) and bool(np.isfinite(motion.states).all(axis=1).any())


def project(points: Array, up: int = 2, azimuth: float = AZIMUTH, elevation: float = ELEVATION) -> Array:
    """Parallel projection (…, 3) → (…, 2) with the axis number ``up`` upwards.

    right = (-sin a, cos a, 0), up = (-sin e cos a, -sin e sin a, cos e) for azimuth a and elevation e of the eye, where z
    is upwards; another axis is brought there by a turn.
    """
    x, y, z = np.moveaxis(points, -1, 0)
    upright = np.stack({0: (y, z, x), 1: (x, -z, y), 2: (x, y, z)}[up], axis=-1)
    sa, ca, se, ce = np.sin(azimuth), np.cos(azimuth), np.sin(elevation), np.cos(elevation)
    return np.asarray(upright @ np.array([[-sa, -se * ca], [ca, -se * sa], [0.0, ce]]))


def flat(scene: Scene) -> Scene:
    """The scene as it is drawn on paper: itself when plane, its projection when spatial."""
    if not scene.spatial:
        return scene
    items = tuple(replace(item, points=project(_lift(item.points), scene.up)) for item in scene.items)
    low, high = bounds(scene)
    ends = np.concatenate([np.zeros((1, 3)), TRIAD * float(np.max(high - low)) * np.eye(3)])
    return Scene(scene.times, items, scene.up, project(ends, scene.up))


def _lift(points: Array) -> Array:
    if points.shape[2] == 3:
        return points
    return np.concatenate([points, np.zeros((*points.shape[:2], 1))], axis=2)


def bounds(scene: Scene) -> tuple[Array, Array]:
    """Lower and upper corner of all that is ever drawn; a little room is made for parts without extent."""
    corners = []
    for item in scene.items:
        reach = 0.0 if item.radius is None else np.abs(item.radius)[:, None, None]
        corners += [np.nanmin(item.points - reach, axis=(0, 1)), np.nanmax(item.points + reach, axis=(0, 1))]
    dim = 3 if scene.spatial else 2
    if not corners:
        return -np.ones(dim), np.ones(dim)
    padded = np.array([np.append(c, np.zeros(dim - len(c))) for c in corners])
    low, high = padded.min(axis=0), padded.max(axis=0)
    room = 0.06 * float(np.max(high - low)) or 1.0
    return low - room, high + room


def zigzag(ends: Array) -> Array:
    """A spring's polyline between two points (2, 2): straight ends, coils in between as wide as its length demands."""
    start, end = ends
    along = end - start
    across = np.array([-along[1], along[0]]) * 0.11
    steps = np.concatenate([[0.0, 0.15], 0.15 + 0.7 * (np.arange(2 * COILS) + 0.5) / (2 * COILS), [0.85, 1.0]])
    sides = np.concatenate([[0.0, 0.0], np.tile([1.0, -1.0], COILS), [0.0, 0.0]])
    return np.asarray(start + np.outer(steps, along) + np.outer(sides, across))


@dataclass(frozen=True)
class Timing:
    """Moments to draw, milliseconds each stays, and how many times faster than the motion the film is."""

    times: Array
    delay: int
    speed: float

    @property
    def note(self) -> str:
        """The speed in words, nothing when it is that of the motion."""
        if self.speed == 1:
            return ""
        return f"{self.speed:g} times faster" if self.speed > 1 else f"{1 / self.speed:g} times slower"


def timing(start: float, end: float) -> Timing:
    """Real time for motions of 1 to 30 s; others are made faster or slower by 1, 2 or 5 times a power of ten."""
    duration = end - start
    speed = 1.0
    if duration > LONGEST_FILM:
        speed = _round_number(duration / LONGEST_FILM)
    elif 0 < duration < SHORTEST_FILM:
        speed = 1 / _round_number(SHORTEST_FILM / duration)
    shown = duration / speed
    hundredths = max(QUICKEST, int(np.ceil(100 * shown / (MOST_FRAMES - 1) - 1e-9)))
    count = int(np.ceil(100 * shown / hundredths - 1e-9)) + 1
    return Timing(np.minimum(start + speed * hundredths / 100 * np.arange(count), end), 10 * hundredths, speed)


def _round_number(least: float) -> float:
    """The least of 1, 2, 5, 10, 20, 50 … that is not below the given number."""
    power = 10.0 ** np.floor(np.log10(least))
    return float(next(m * power for m in (1, 2, 5, 10) if m * power >= least * (1 - 1e-12)))


FEW_LINKS = 15  # joints are marked on mechanisms of up to so many links; more would be a row of dots


def prepare_axes(axes: Axes, scene: Scene) -> None:
    """Equal scales, room for the whole motion; a projection has no numbers on its axes."""
    low, high = bounds(scene)
    axes.set_aspect("equal", adjustable="box")
    axes.set_xlim(low[0], high[0])
    axes.set_ylim(low[1], high[1])
    if scene.projected:
        axes.set_xticks([])
        axes.set_yticks([])
        axes.spines[:].set_visible(False)
        _draw_triad(axes, scene)
    else:
        axes.set_xlabel("$x$")
        axes.set_ylabel("$y$")


def _draw_triad(axes: Axes, scene: Scene) -> None:
    """The axes of space, where they are in the picture."""
    if scene.triad is None:
        return
    origin = scene.triad[0]
    for name, end in zip("xyz", scene.triad[1:], strict=True):
        axes.plot(*np.column_stack([origin, end]), color=GRID, linewidth=1.4, zorder=1)
        axes.annotate(f"${name}$", end, color=MUTED, fontsize=8, clip_on=True, annotation_clip=True)


def draw_links(axes: Axes, scene: Scene, rows: NDArray[np.intp]) -> None:
    """Links at all these rows of the scene, from faint for the first to full for the last."""
    import matplotlib as mpl
    from matplotlib.collections import LineCollection

    colours = mpl.colormaps["YlGnBu"](np.linspace(0.25, 0.95, len(rows)))
    for item in scene.items:
        if item.kind == "link":
            lines = [item.points[k] for k in rows]
            axes.add_collection(LineCollection(lines, colors=colours, linewidths=0.9), autolim=False)


def draw_position(axes: Axes, scene: Scene, row: int) -> None:
    """The mechanism at one moment."""
    from matplotlib.patches import Circle

    joints = sum(item.kind == "link" for item in scene.items) <= FEW_LINKS
    for item in scene.items:
        if item.kind == "circle":
            radius = 0.0 if item.radius is None else float(item.radius[row])
            x, y = item.points[row, 0]
            axes.add_patch(Circle((x, y), radius, fill=False, edgecolor=ink(), linewidth=1.6, zorder=4))
        elif item.kind == "point":
            axes.plot(*item.points[row, 0], "o", color=COLOURS[1], markersize=6, zorder=6)
        else:
            line = _polyline(item, row)
            axes.plot(line[:, 0], line[:, 1], color=ink() if item.kind == "link" else MUTED, linewidth=1.8, zorder=4)
            if joints and item.kind == "link":
                ends = item.points[row]
                axes.plot(ends[:, 0], ends[:, 1], "o", color="white", markeredgecolor=ink(), markersize=4, zorder=5)


def paths_of_traces(scene: Scene) -> list[tuple[str, Array]]:
    """Name and path (k, 2) of what leaves a trace: a point, the centre of a circle, the last point of a link."""
    return [(item.name, item.points[:, -1]) for item in scene.items if item.trace]


def _polyline(item: Item, row: int) -> Array:
    corners = item.points[row]
    if item.kind != "spring":
        return corners
    pieces = [zigzag(corners[k : k + 2]) for k in range(len(corners) - 1)]
    return np.concatenate(pieces)
