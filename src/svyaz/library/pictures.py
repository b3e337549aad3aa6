"""What is shown in a notebook and kept in files: figures and players."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

from svyaz import show
from svyaz.arguments import check_arguments

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from svyaz.motion import Motion


class Picture:
    """A figure of matplotlib (``figure``) that shows itself in notebooks; ``save`` writes it as .png, .svg or .pdf.

    >>> import svyaz
    >>> picture = svyaz.load("pendulum:1").simulate(until=1).plot("u1")
    >>> picture.figure.axes[0].get_xlabel()
    '$t$'
    """

    def __init__(self, figure: Figure) -> None:
        self.figure = figure

    @check_arguments
    def save(self, file: str | Path) -> Path:
        """Write it; the file appears whole or not at all."""
        return show.save(self.figure, file)

    def _repr_png_(self) -> bytes:
        out = BytesIO()
        show.save_to(self.figure, out, ".png")
        return out.getvalue()

    def __repr__(self) -> str:
        titles = [axes.get_title() or axes.get_ylabel() for axes in self.figure.axes]
        return f"<Picture: {', '.join(title for title in titles if title) or 'a figure'}>"


class Player:
    """An animation with its own controls; ``save`` writes it as .html, .gif or, with ffmpeg, .mp4.

    >>> import svyaz
    >>> player = svyaz.load("pendulum:1").simulate(until=1).animate()
    >>> "<iframe" in player._repr_html_()
    True
    """

    def __init__(self, motion: Motion) -> None:
        self.motion = motion

    def save(self, file: str | Path) -> Path:
        """Write it; the file appears whole or not at all."""
        return show.animate(self.motion, file)

    def _repr_html_(self) -> str:
        return show.player_frame(self.motion)

    def __repr__(self) -> str:
        return f"<Player of '{self.motion.system.name}', {self.motion.times[-1]:g} s>"
