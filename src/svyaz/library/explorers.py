"""The sliders of a notebook: a widget that asks for motions and draws them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from functools import cache
from typing import TYPE_CHECKING, Protocol

from svyaz import show
from svyaz.extras import extra
from svyaz.library.exploring import Exploration, exploration

if TYPE_CHECKING:
    from svyaz.json_types import Record
    from svyaz.library.motions import WorkingMotion
    from svyaz.library.systems import WorkingSystem


class Explorer(Protocol):
    """Sliders over a system, as a widget of Jupyter.

    >>> import svyaz
    >>> found = svyaz.load("pendulum:1").explore({"L1": (0.5, 2)}, until=1)
    >>> found.move(L1=1.5)
    >>> found.values["L1"]
    1.5
    """

    values: dict[str, float]
    """Where the sliders stand."""

    @property
    def system(self) -> WorkingSystem:
        """The system at these values."""

    @property
    def motion(self) -> WorkingMotion | None:
        """Its motion; none where the values allow none."""

    def move(self, **values: float) -> None:
        """Move sliders from Python; a name with a dot is written ``**{"initial.u": 1}``."""


def explorer(
    system: WorkingSystem,
    vary: Mapping[str, tuple[float, float]] | Sequence[str] | None,
    shown: str | Sequence[str],
    options: Mapping[str, object],
) -> Explorer:
    """The widget; :meth:`svyaz.System.explore` tells what is asked for."""
    asked = exploration(system, vary, shown, options)
    made: Explorer = _widget()(asked)
    return made


def _empty_player(motion: WorkingMotion | None) -> str:
    return show.empty_player(motion) if motion is not None and show.can_be_drawn(motion) else ""


def _still_sliders(asked: Exploration, values: Mapping[str, float]) -> str:
    rows = [[slider.name, slider.low, values[slider.name], slider.high] for slider in asked.sliders]
    note = "<p>The sliders move in a notebook that runs; here they stand still.</p>"
    return show.notebook_table(["slider", "from", "stands at", "to"], rows) + note


@cache
def _widget() -> type:
    """The class of the widgets, which exists where anywidget is installed."""
    with extra("notebook"):
        import anywidget
        import traitlets

    class SystemExplorer(anywidget.AnyWidget):
        """Sliders beside the mechanism and its curves. The page sends values, one message at a time; each is answered."""

        _esm = show.player_script() + show.asset("explore.js")
        _css = show.asset("explore.css")
        sliders: list[Record] = traitlets.List().tag(sync=True)
        given: dict[str, float] = traitlets.Dict().tag(sync=True)
        player: str = traitlets.Unicode().tag(sync=True)
        answer: Record = traitlets.Dict().tag(sync=True)

        def __init__(self, asked: Exploration) -> None:
            self._asked = asked
            self.values = {slider.name: slider.value for slider in asked.sliders}
            self._found = asked.at({})
            super().__init__(
                sliders=[asdict(slider) for slider in asked.sliders],
                given=self.values,
                answer=asked.record(self._found),
                player=_empty_player(self._found.motion),
            )
            self.on_msg(self._hear)

        @property
        def system(self) -> WorkingSystem:
            return self._found.system

        @property
        def motion(self) -> WorkingMotion | None:
            return self._found.motion

        def move(self, **values: float) -> None:
            self._answer({**self.values, **values}, next(iter(values), None))

        def _hear(self, _: object, content: Mapping[str, object], __: object) -> None:
            values, moved = content.get("values"), content.get("moved")
            if isinstance(values, Mapping):
                known = {name: float(values[name]) for name in self.values if name in values}
                self._answer({**self.values, **known}, moved if isinstance(moved, str) else None)

        def _answer(self, values: Mapping[str, float], moved: str | None) -> None:
            self.values = dict(values)
            self._found = self._asked.at(values, moved)
            self.send({"kind": "answer", "values": self.values, "answer": self._asked.record(self._found)})

        def _repr_mimebundle_(self, **asked: object) -> tuple[dict[str, object], dict[str, object]] | None:
            """The widget; beside it, for pages without a kernel, the sliders as a table and a player."""
            found = super()._repr_mimebundle_(**asked)
            if found is None:
                return None
            data, metadata = found
            drawn = show.player_frame(self.motion) if self.motion is not None and self.player else ""
            return {**data, "text/html": drawn + _still_sliders(self._asked, self.values)}, metadata

        def __repr__(self) -> str:
            return f"<Explorer of '{self.system.name}': {len(self.sliders)} sliders>"

    return SystemExplorer
