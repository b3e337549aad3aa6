"""The constants of the choice of gains."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class SearchTable:
    """The constants of the search, each with its origin. Those that are *chosen* follow from no theory: ``svyaz bench gains``
    judges them together, against 25 constant gains on nine systems.
    """

    reference_rtol: float = 1e-13
    """Of the accurate motion: about the least that rounding allows."""
    compared: int = 401
    """Moments, about, over which the trajectory error is taken. Chosen."""
    trial_steps: int = 100_000
    """Equal steps of a run that are tried at most: its first ones. Chosen."""
    longest_trial: int = 400_000
    """Steps after which a trial run that chooses its steps is given up, about. Chosen."""
    noise: float = 1e-12
    """Residuals and errors below this are rounding: they do not tell gains apart, and the weakest gain is taken."""
    most_halvings: int = 12
    """Of the step, to keep a tolerance: 4096 times as many steps. Chosen."""
    noted_energy: float = 0.01
    """An energy that changes by more than this part of its scale over a run with a fixed step is reported. Chosen."""
    candidates: int = 17
    """Gains of the first round. Chosen."""
    largest_share: float = 0.8
    """Of the limit of the method, above which no gain is proposed. Chosen: the linear limit is necessary, not sufficient."""
    margin: float = 1.25
    """By which a residual stays below the tolerance. Chosen."""
    equal: float = 1.5
    """Products of residual and error within this factor of the least count as equal under error control, where strong gains
    cost steps, and the weakest gain of them is taken. Chosen."""
    equal_steps: float = 1.02
    """The same with fixed steps, where gains cost nothing. Chosen."""
    gap: float = 1.1
    """What √(residual · error) of the best gain exceeds the least of both by, before more is looked for; and by which variable
    gains must be better than the best constant. Chosen."""
    most_steps: int = 1_000_000
    """Steps of all further trial runs together. Chosen."""
    widths: tuple[float, ...] = (4.0, 2.0, 1.0, 0.7, 0.4, 0.2, 0.1, 0.05)
    """Parts of the distance between candidates, and powers of two of the damping ratio, by which the best is varied in turn;
    those above 0.7 belong to the search for another damping. Each is about half of the one before."""
    leaders: tuple[int, ...] = (4, 3, 2, 1)
    """Variable gains that are refined in turn, as many by deviations as by rates: fewer each time, as they come together.
    The first is chosen: 2 lose 10 % on the four-bar linkage."""
    factors: tuple[float, ...] = (2.0, 1.4, 1.2, 1.08)
    """By which they are varied: each about the root of the one before."""


TABLE = SearchTable()
