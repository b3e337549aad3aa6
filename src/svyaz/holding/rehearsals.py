"""Rehearsals of a run: with which gains, and how far they leave the constraints and the motion."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import takewhile
from math import inf, isnan, nan

import numpy as np

from svyaz.arrays import Array
from svyaz.forms import Equations
from svyaz.holding.advancing import Advancing, advance
from svyaz.holding.deviation import Deviations, Extent
from svyaz.holding.observed_columns import observed
from svyaz.holding.options import Baumgarte, Gains, OneGain, Options, WrittenLaw
from svyaz.holding.perturbations import Perturbation, damped, rescaled
from svyaz.holding.segment import Segment, integrated, integrated_each, prepare
from svyaz.holding.sizes import StateScale, state_scale
from svyaz.holding.varying import sized, varying_gains, varying_law, varying_texts
from svyaz.integrate import LEAST_RTOL, Budget, Path, Status, evaluation_work

NOISE = 1e-12
"""Residuals and errors below this are rounding: they do not tell gains apart, and the weakest gain is taken."""

REFERENCE_RTOL = 1e-13
COMPARED = 401
"""The trajectory error is taken over about so many moments."""

REHEARSED_STEPS = 100_000
"""Of a run with more equal steps than this, the first so many are rehearsed."""

LONGEST_REHEARSAL = 400_000
"""A rehearsal that chooses its steps is given up after about so many."""


@dataclass(frozen=True)
class Setting:
    """Gains that are rehearsed: ḧ + 2ζκ ḣ + κ² h = 0 and ḟ = -κ f with ζ = ``damping``.

    With ``strong`` κ varies from ``kappa`` at a constraint to ``strong`` far from it, half-way at a deviation of the part
    ``at`` of its own scale; ``by_rate``: at a rate of that part of the scale of rates, for constraints on positions.
    """

    kappa: float
    damping: float = 1.0
    strong: float = 0.0
    at: float = 0.0
    by_rate: bool = False


@dataclass(frozen=True)
class Rehearsal:
    """One rehearsed setting: residual in the own scale of the constraints, by constraint, and trajectory error."""

    setting: Setting
    residual: float
    residuals: tuple[float, ...]
    error: float
    finished: bool

    @property
    def kappa(self) -> float:
        return self.setting.kappa

    @property
    def product(self) -> float:
        """The logarithm of residual times error, as far as they are more than rounding; the residual's alone without one."""
        error = 0.0 if isnan(self.error) else np.log(max(self.error, NOISE))
        return float(np.log(max(self.residual, NOISE)) + error)


@dataclass(frozen=True)
class Witness:
    """What was seen of a rehearsal: how far the deviations that are reported reach (None: it did not finish), their own
    scales along it, the trajectory error, and its steps.
    """

    largest: Array | None
    scales: Array
    error: float
    steps: int


Seen = Mapping[Setting, Witness]


@dataclass(frozen=True)
class Theatre:
    """Where one run is rehearsed: its code, κ = 1, with gains as constants, the accurate motion to compare with, and the way it
    is advanced.
    """

    segment: Segment
    options: Options
    state: Array
    span: tuple[float, float]
    look: Viewpoint | None = None
    grid: Array | None = None
    way: Advancing = field(default=advance)

    @property
    def reference(self) -> Path:
        """The accurate motion."""
        assert self.look is not None, "rehearsals are compared with an accurate motion"
        return self.look.reference

    def seen(self, paths: Sequence[Path]) -> list[Witness]:
        """What is seen of rehearsals."""
        assert self.look is not None, "rehearsals are compared with an accurate motion"
        return self.look.at(paths)

    def trials(self, seen: Seen) -> tuple[Rehearsal, ...]:
        """Rehearsals with residuals in the own scales of the constraints."""
        assert self.look is not None, "rehearsals are compared with an accurate motion"
        return self.look.compared(seen)

    def run(self, setting: Setting) -> Path:
        """One rehearsal."""
        segment = self._code(setting).regained(self._law(setting))
        return self.way(segment, self.state, self.span, self.options, self.grid, None, 2 * LONGEST_REHEARSAL)

    def runs(self, settings: Sequence[Setting], seconds: float) -> list[Path]:
        """Rehearsals of the first settings: of those that share code, one at least, as many as these seconds of work allow."""
        code = self._code(settings[0])
        if self.way is not integrated or not code.gains_in_rates_alone:
            return [self.run(settings[0])]
        gains = [self._law(one).gains for one in takewhile(lambda one: self._code(one) is code, settings)]
        longest = 2 * LONGEST_REHEARSAL
        return integrated_each(code, gains, self.state, self.span, self.options, self.grid, longest, seconds)

    def energy_change(self, setting: Setting) -> float:
        """(E(T) - E(0)) / max(|E(0)|, max T) along a rehearsal; nan where the energy is no first integral."""
        segment, path = self._code(setting).regained(self._law(setting)), self.run(setting)
        rows = np.unique(np.linspace(0, len(path.times) - 1, COMPARED).astype(int))
        columns = observed(segment, path.times[rows], path.states[rows])
        energy, kinetic = columns["integrals"].get("energy"), columns["energies"].get("kinetic", np.zeros(1))
        if energy is None:
            return nan
        scale = max(abs(float(energy[0])), float(np.nanmax(kinetic, initial=0.0)))
        return float(energy[-1] - energy[0]) / (scale or 1.0)

    def code_for(self, setting: Setting) -> Segment | None:
        """What gains that vary were rehearsed with, with the law at the beginning; constant gains are others' to put in."""
        law = self._law(setting).begun(self.span[0], self.state)
        return self._code(setting).regained(law) if setting.strong else None

    def _code(self, setting: Setting) -> Segment:
        if not setting.strong:
            return self.segment
        return self._by_rate if setting.by_rate else self._by_deviation

    def _law(self, setting: Setting) -> Perturbation:
        """The perturbation equation of a setting, whose gains are constants of the code."""
        if not setting.strong:
            return rescaled(damped(self.segment.perturbation, setting.damping), setting.kappa)
        sizes = {name: setting.at * size for name, size in self._scales[setting.by_rate].items()}
        return replace(self._code(setting).perturbation, gains=varying_gains(setting, sizes))

    @cached_property
    def _by_deviation(self) -> Segment:
        return self._varying(Setting(1.0, 1.0, 2.0, 1.0))

    @cached_property
    def _by_rate(self) -> Segment:
        return self._varying(Setting(1.0, 1.0, 2.0, 1.0, by_rate=True))

    def _varying(self, setting: Setting) -> Segment:
        law = varying_law(self.segment.equations, setting, self.sizes(setting))
        return prepare(self.segment.equations, law, self.segment.held, self.options, self.span[0], self.state)

    def sizes(self, setting: Setting) -> dict[str, float]:
        """The deviations at which κ is half-way between its two values, by constraint."""
        assert self.look is not None, "rehearsals are compared with an accurate motion"
        return {name: setting.at * size for name, size in self.look.own_scales(by_rate=setting.by_rate).items()}

    @cached_property
    def _scales(self) -> tuple[dict[str, float], dict[str, float]]:
        """The scales of deviations, and of their rates, by the names that sizes have among the gains."""
        assert self.look is not None, "rehearsals are compared with an accurate motion"
        by_deviation, by_rate = (self.look.own_scales(by_rate=which) for which in (False, True))
        return sized(self.segment.equations, by_deviation), sized(self.segment.equations, by_rate)

    def played(self, settings: Iterable[Setting], seen: Seen, budget: Budget) -> dict[Setting, Witness]:
        """What was seen, with rehearsals of further settings while the budget allows them."""
        found = dict(seen)
        wanted = [setting for setting in dict.fromkeys(settings) if setting not in found]
        while wanted and (left := budget.left) > 0.0:
            witnesses = self.seen(self.runs(wanted, left))
            found.update(zip(wanted, witnesses, strict=False))
            wanted = wanted[len(witnesses) :]
        return found

    def gains(self, setting: Setting) -> Gains:
        """A setting as gains that may be asked for."""
        if setting.strong:
            return WrittenLaw(varying_texts(self.segment.equations, setting, self.sizes(setting)))
        if setting.damping != 1.0:
            kappa = setting.kappa
            return Baumgarte({"alpha": 2 * setting.damping * kappa, "beta": kappa**2, "kappa": kappa})
        return OneGain(setting.kappa)


@dataclass(frozen=True)
class Viewpoint:
    """What is looked at in a rehearsal, so that it need not be kept."""

    equations: Equations
    measured: Deviations
    reference: Path

    @cached_property
    def scale(self) -> StateScale:
        return state_scale(self.equations, self.reference.times, self.reference.states)

    def at(self, paths: Sequence[Path]) -> list[Witness]:
        """What is seen of rehearsals."""
        ended = [path for path in paths if path.status is Status.FINISHED]
        looked = iter(self.measured.extents([(path.times, path.states) for path in ended]))
        return [
            Witness(None, np.zeros(0), inf, path.steps)
            if path.status is not Status.FINISHED
            else self._witnessed(path, next(looked))
            for path in paths
        ]

    def _witnessed(self, path: Path, extent: Extent) -> Witness:
        known = self.reference.status is Status.FINISHED
        error = trajectory_error(path, self.reference, self.scale) if known else nan
        reported = self.measured.reported
        return Witness(extent.largest[reported], extent.scales[reported], error, path.steps)

    @cached_property
    def _scales(self) -> Array:
        return self.measured.scales(self.reference.times, self.reference.states)

    def own_scales(self, *, by_rate: bool) -> dict[str, float]:
        """The scales of the constraints, or of the rates of those on positions, along the accurate motion."""
        p = self.measured.positions
        entries = [*range(p, 2 * p), *range(2 * p, self.measured.count)] if by_rate else self.measured.reported
        return {name: float(size) or 1.0 for name, size in zip(self.measured.names, self._scales[entries], strict=True)}

    def compared(self, seen: Seen) -> tuple[Rehearsal, ...]:
        """The trials, with residuals in the own scales of the constraints."""
        count = len(self.measured.names)
        return tuple(
            Rehearsal(setting, inf, (inf,) * count, inf, False)
            if one.largest is None
            else _rehearsed(setting, one.largest, one.scales, one.error)
            for setting, one in seen.items()
        )


def _rehearsed(setting: Setting, largest: Array, scales: Array, error: float) -> Rehearsal:
    relative = largest / np.where(scales > 0, scales, 1.0)
    return Rehearsal(setting, float(np.max(relative, initial=0.0)), tuple(map(float, largest)), error, True)


def accurate_motion(segment: Segment, options: Options, state: Array, span: tuple[float, float], most: int) -> Path:
    """An accurate motion at nodes of the run: dop853 at a strict tolerance, with gains slow compared with the motion."""
    rtol = REFERENCE_RTOL if options.rtol is None else max(LEAST_RTOL, min(REFERENCE_RTOL, options.rtol / 10))
    strict = replace(options, method="dop853", step=None, rtol=rtol, atol=None)
    gentle = segment.regained(rescaled(segment.perturbation, 1.0 / (span[1] - span[0])))
    return advance(gentle, state, span, strict, nodes_of(options, span), None, most)


def nodes_of(options: Options, span: tuple[float, float]) -> Array:
    """At most COMPARED moments that are nodes of every rehearsal with a fixed step."""
    if options.step is None:
        return np.linspace(*span, COMPARED)
    count = int((span[1] - span[0]) / options.step * (1 + 1e-12))
    stride = max(1, -(-count // COMPARED))
    nodes = span[0] + options.step * np.arange(0, count + 1, stride)
    return np.asarray(np.minimum(nodes, span[1]), dtype=float)  # rounding may lead beyond the end


def rehearsed_span(options: Options, span: tuple[float, float]) -> tuple[float, float]:
    """The part of a run that is rehearsed: its first ``REHEARSED_STEPS``, with the step of the run; or all of it."""
    return span[0], span[1] if options.step is None else min(span[1], span[0] + REHEARSED_STEPS * options.step)


def affordable(budget: Budget, path: Path) -> int:
    """So many steps of the accurate motion, of twelve evaluations each, are in the budget."""
    each = evaluation_work(path.states.shape[1])
    return int(np.clip(budget.left / (12 * each), 1000, LONGEST_REHEARSAL))


def trajectory_error(path: Path, reference: Path, scale: StateScale) -> float:
    """max over common moments and states of |x - x_ref| over the scale of the state."""
    rows = np.clip(np.searchsorted(path.times, reference.times), 0, len(path.times) - 1)
    before = np.clip(rows - 1, 0, None)
    nearer = np.abs(path.times[before] - reference.times) < np.abs(path.times[rows] - reference.times)
    rows = np.where(nearer, before, rows)
    common = np.abs(path.times[rows] - reference.times) <= 1e-9 * max(1e-300, abs(reference.times[-1]))
    return scale.difference(path.states[rows][common], reference.states[common])
