"""A regulator for a model: the equilibrium, the design, its rival from a wrong model, the verdict, all in one answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from svyaz.arguments import Count, Natural, Positive, Span, check_arguments
from svyaz.arrays import Array
from svyaz.control.basin import Basin, basin, ranges_about, usual_ranges
from svyaz.control.design import (
    PAIR,
    Design,
    cannot_be_moved,
    cannot_be_seen,
    input_columns,
)
from svyaz.control.directions import Direction
from svyaz.control.loop import ClosedLoop, closed_loop, with_momenta
from svyaz.control.margins import Margin, kept, margin, redesigned_from_linearised
from svyaz.control.pairs import kalman_matrix
from svyaz.control.regulators import NoRegulator
from svyaz.control.spaces import loop_space, plant_space
from svyaz.control.trials import Trial, started, tried
from svyaz.control.uniform import (
    UniformVariables,
    conserved_directions,
    cyclic_drift,
    perturbed_momenta,
)
from svyaz.forms import momentum_of
from svyaz.model import Constraint, System
from svyaz.motion import named
from svyaz.shown import Shown
from svyaz.stability import (
    Chosen,
    FirstApproximation,
    Hypothesis,
)

if TYPE_CHECKING:
    from control import StateSpace


@dataclass(frozen=True, repr=False)
class Regulation(Shown):
    """A control for an equilibrium, with the reasons why it works; ``rival`` is designed from linearised constraints.

    ``refused`` is the model with linearised constraints where it allows no design, and says why. ``constraints`` are those
    of the model; where events switch them, the control is designed for those that act at the beginning. About a steady motion
    the system is the Routhian one, ``uniform`` tells of its variables and ``model`` is the system as it was stated.

    Shapes: A (n, n), B (n, r), K (r, n) for n ``variables`` and r inputs.

    >>> import svyaz
    >>> found = svyaz.load("inverted-pendulum-xy").regulate()
    >>> found.K.shape == (len(found.design.inputs), len(found.variables)), found.valid
    (True, True)
    """

    system: System
    chosen: Chosen
    plant: FirstApproximation
    design: Design
    theorem: str
    hypotheses: tuple[Hypothesis, ...]
    rival: Design | None = None
    notes: tuple[str, ...] = field(default=())
    refused: NoRegulator | None = None
    constraints: tuple[Constraint, ...] = ()
    uniform: UniformVariables | None = None
    model: System | None = None

    @property
    def state(self) -> dict[str, float]:
        """What is held: the state of the plant, and the quaternions of bodies that turn freely, about which its turns are."""
        model, held = self.model, self.chosen.equilibrium.state
        turning = held if model is not None and model.turns_freely else {}
        return {**self.plant.state, **{name: x for name, x in turning.items() if name not in self.plant.state}}

    @property
    def shown(self) -> FirstApproximation:
        """The first approximation in the variables asked for."""
        return self.plant if self.uniform is None else self.uniform.renamed

    @property
    def shown_gain(self) -> Array:
        """K for the variables asked for."""
        gain = self.design.regulator.gain
        return gain if self.uniform is None else self.uniform.gains(gain)

    @property
    def variables(self) -> tuple[str, ...]:
        """The names of x in ẋ = A x + B (u - u₀), u = u₀ - K x: deviations of these from the equilibrium."""
        return self.shown.variables

    @property
    def A(self) -> Array:
        """(n, n) of the first approximation in the variables asked for."""
        return self.shown.A

    @property
    def B(self) -> Array:
        """(n, r), a column for each of ``design.inputs``."""
        return input_columns(self.shown, self.design.inputs)

    @property
    def K(self) -> Array:
        """The gains (r, n) of u = u₀ - K x."""
        return self.shown_gain

    @property
    def shown_watcher(self) -> Array | None:
        """Λ of the observer of the variables asked for."""
        if self.design.watcher is None:
            return None
        gain = self.design.watcher.gain
        return gain if self.uniform is None else self.uniform.watched(gain)

    @property
    def observability_matrix(self) -> Array | None:
        """[C; CA; …] in the variables asked for."""
        measured = self.design.measurement
        if measured is None:
            return None
        back = np.eye(len(self.plant.variables)) if self.uniform is None else self.uniform.back
        return kalman_matrix(self.shown.A.T, (measured.matrix @ back).T).T

    @property
    def conserved(self) -> tuple[Direction, ...]:
        """Conserved momenta, which no input moves, in the variables asked for."""
        return () if self.uniform is None else conserved_directions(self.uniform)

    @property
    def drift(self) -> dict[str, dict[str, float]]:
        """How far cyclic coordinates end beside their uniform motion, by unit deviations of the variables."""
        return {} if self.uniform is None else cyclic_drift(self.uniform, self.design)

    @property
    def valid(self) -> bool:
        """Do all hypotheses of the theorem hold?"""
        return all(h.holds for h in self.hypotheses)

    @property
    def reason(self) -> str:
        """Why the theorem does not apply, or an empty text."""
        design, told = self.design, []
        if not design.controllable.complete:
            told.append(cannot_be_moved(design.facts.uncontrollable, design.inputs))
        if design.observable is not None and design.measurement is not None and not design.observable.complete:
            told.append(cannot_be_seen(design.facts.unobservable, design.measurement.texts))
        others = [h.text for h in self.hypotheses if not h.holds and h.about != PAIR]
        return "; ".join(
            [*told, *(["the theorem does not apply, for this is not so: " + "; ".join(others)] if others else [])]
        )

    def loop(self) -> ClosedLoop:
        """The nonlinear system under the control."""
        return closed_loop(self.design, constraints=self.constraints)

    def rival_loop(self) -> ClosedLoop:
        """The nonlinear system under the control that was designed from linearised constraints."""
        assert self.rival is not None, "a rival is made only when it is asked for"
        return closed_loop(self.rival, constraints=self.constraints)

    @check_arguments
    def run(
        self,
        start: Mapping[str, float] | None = None,
        until: Positive = 20.0,
        *,
        beyond: bool = False,
        keep: str | Sequence[str] = (),
    ) -> dict[str, Trial]:
        """The nonlinear transient from these values of variables, and that of the rival from the same start.

        Each ends where a limit of the model is passed, unless it is to go on ``beyond``. With values to ``keep``, as for
        ``simulate``, the others are moved onto the constraints; redundant coordinates and their velocities may be among them.
        """
        asked = dict(start or {})
        if self.uniform is not None and self.plant.system.unreduced is not self.plant.system:
            from svyaz.control.turning_loop import turning_trial

            return {"regulator": turning_trial(self.uniform, self.design, asked, until, beyond=beyond)}
        moved = (
            {} if self.uniform is None else {name: asked.pop(name) for name in list(asked) if self._is_uniform(name)}
        )
        deviations = {name: value - self.plant.state.get(name, 0.0) for name, value in asked.items()}
        begin = (
            started(self.plant, deviations, named(keep))
            if asked or not moved
            else started(self.plant, {self.plant.variables[0]: 0.0})
        )
        loop = self.loop()
        if moved and self.uniform is not None and self.model is not None:
            p = perturbed_momenta(self.model, self.uniform.choice, begin.state, moved)
            begin = replace(begin, state={**begin.state, **{n: x for n, x in p.items() if n in self.plant.further}})
            free = {name: x for name, x in p.items() if name in self.plant.system.parameters}
            return {"regulator": tried(with_momenta(loop, free), begin, until, beyond=beyond, shifted=bool(free))}
        trials = {"regulator": tried(loop, begin, until, beyond=beyond)}
        if self.rival is not None:
            trials["linearised constraints"] = tried(self.rival_loop(), begin, until, beyond=beyond)
        return trials

    def _is_uniform(self, name: str) -> bool:
        """Is it a speed or a momentum of a cyclic coordinate?"""
        assert self.uniform is not None
        return any(name in (f"{c.name}'", momentum_of(c.name)) for c in self.uniform.choice.cyclic)

    @check_arguments
    def basin(
        self,
        ranges: Mapping[str, Span] | None = None,
        count: Count = 1000,
        until: Positive = 20.0,
        *,
        seed: Natural = 0,
        beyond: bool = False,
        progress: Callable[[int], object] | None = None,
    ) -> Basin:
        """From how many starts within these ranges of values does the control return? The rest is as in equilibrium.

        A motion that passes a limit of the model has not returned, unless it may go on ``beyond``.
        """
        deviations = ranges_about(self.plant, ranges) if ranges else usual_ranges(self.plant)
        return basin(self.loop(), deviations, count, until, seed=seed, beyond=beyond, progress=progress)

    @check_arguments
    def margin(self, name: str, span: Span) -> Margin:
        """Where the rival fails when it is designed anew for each value; without a rival, where the control itself fails."""
        compared = self.rival is not None or self.refused is not None
        control = redesigned_from_linearised(self.design) if compared else kept(self.design)
        return margin(self.system, self.chosen.equilibrium, self.chosen.fixed, name, span, control)

    def to_control(self) -> StateSpace:
        """The first approximation of the plant as a ``control.StateSpace`` of the package python-control."""
        return plant_space(self.design, self.plant)

    def loop_to_control(self) -> StateSpace:
        """The closed loop, to first order, as a ``control.StateSpace``."""
        return loop_space(self.design, self.plant)
