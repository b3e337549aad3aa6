"""How fast a film shows a motion."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from svyaz.arrays import Array

MOST_FRAMES = 300
SHORTEST_FILM, LONGEST_FILM = 1.0, 30.0  # seconds; within these a film runs at the speed of the motion
QUICKEST = 3  # hundredths of a second a frame: browsers do not show GIFs faster than this evenly


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
