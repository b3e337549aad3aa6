"""Trial runs before a run: with which gains, and how far they leave the constraints and the motion.

Variable gains depend on the deviation: κ = (κ₀ + κ₁ s)/(1 + s), s = (y/ε)² or (ẏ/ε)², for each constraint by itself. At the
constraint κ is κ₀, far from it κ₁: a remainder that drives a deviation, or its rate, beyond ε meets the other gain
(Kaspirovich, end of 2.1). Where κ varies with the rate, only the damping 2ζκ does: ḧ + 2ζκ(ḣ) ḣ + κ₀² h = 0.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import takewhile
from math import inf, isnan, nan

import numpy as np
import symengine as se

from svyaz.arrays import Array
from svyaz.expr import ZERO, Expression, ModelError
from svyaz.forms import Equations
from svyaz.integrate import LEAST_RTOL, Budget, Path, Status, evaluation_work
from svyaz.model import deviation_rate_symbol, deviation_symbol
from svyaz.stabilise.advancing import Advancing, advance
from svyaz.stabilise.deviation import Deviations, StateScale, deviations, state_scale
from svyaz.stabilise.laws import ACTING, correction_of, general_law, own_laws, positions_of
from svyaz.stabilise.observed_columns import observed
from svyaz.stabilise.options import Options
from svyaz.stabilise.perturbations import Perturbation, damped, perturbation, rescale
from svyaz.stabilise.pilot import seconds_left
from svyaz.stabilise.request import Stabilisation, baumgarte, one_gain
from svyaz.stabilise.search_table import TABLE
from svyaz.stabilise.segment import Segment, integrated, integrated_each, prepare


@dataclass(frozen=True)
class TrialGains:
    """Gains that are tried: ḧ + 2ζκ ḣ + κ² h = 0 and ḟ = -κ f with ζ = ``damping``.

    With ``strong`` κ varies from ``kappa`` at a constraint to ``strong`` far from it, half-way at a deviation of the part
    ``at`` of its own scale; ``by_rate``: at a rate of that part of the scale of rates, for constraints on positions.
    """

    kappa: float
    damping: float = 1.0
    strong: float = 0.0
    at: float = 0.0
    by_rate: bool = False


@dataclass(frozen=True)
class TrialRun:
    """The result of a trial run: the largest residual in the constraints' own scales, the residuals by constraint, the
    trajectory error (nan where there is no accurate motion), and its steps.
    """

    setting: TrialGains
    residual: float
    residuals: tuple[float, ...]
    error: float
    finished: bool
    steps: int

    @property
    def kappa(self) -> float:
        return self.setting.kappa

    @cached_property
    def product(self) -> float:
        """The logarithm of residual times error, as far as they are more than rounding; the residual's alone without one."""
        error = 0.0 if isnan(self.error) else np.log(max(self.error, TABLE.noise))
        return float(np.log(max(self.residual, TABLE.noise)) + error)


LOW, HIGH, DAMPING = "gain law low", "gain law high", "gain law damping"
"""Names of κ₀, κ₁ and ζ among the gains of a law."""

Trials = Mapping[TrialGains, TrialRun]


@dataclass(frozen=True)
class TrialRuns:
    """What makes trial runs: the code of the run, κ = 1, with gains as constants, the accurate motion to compare with, and the
    way a run is advanced.
    """

    segment: Segment
    options: Options
    state: Array
    span: tuple[float, float]
    grid: Array | None = None
    accurate: Path | None = None
    way: Advancing = field(default=advance)

    @property
    def reference(self) -> Path:
        """The accurate motion."""
        assert self.accurate is not None, "trial runs are compared with an accurate motion"
        return self.accurate

    @cached_property
    def measured(self) -> Deviations:
        return deviations(self.segment.equations)

    @cached_property
    def scale(self) -> StateScale:
        """The scale of the states along the accurate motion."""
        return state_scale(self.segment.equations, self.reference.times, self.reference.states)

    def path(self, setting: TrialGains) -> Path:
        """One trial run."""
        segment = self._code(setting).regained(self._law(setting))
        return self.way(segment, self.state, self.span, self.options, self.grid, None, 2 * TABLE.longest_trial)

    def _paths(self, settings: Sequence[TrialGains], seconds: float) -> list[Path]:
        """Trial runs of the first settings: of those that share code, one at least, as many as these seconds of work allow."""
        code = self._code(settings[0])
        if self.way is not integrated or not code.gains_in_rates_alone:
            return [self.path(settings[0])]
        gains = [self._law(one).gains for one in takewhile(lambda one: self._code(one) is code, settings)]
        return integrated_each(
            code, gains, self.state, self.span, self.options, self.grid, 2 * TABLE.longest_trial, seconds
        )

    def compare(self, settings: Sequence[TrialGains], paths: Sequence[Path]) -> dict[TrialGains, TrialRun]:
        """The results of trial runs with the first settings."""
        ended = [path for path in paths if path.status is Status.FINISHED]
        extents = iter(self.measured.extents([(path.times, path.states) for path in ended]))
        known, reported = self.reference.status is Status.FINISHED, self.measured.reported
        found = {}
        for setting, path in zip(settings, paths, strict=False):
            if path.status is not Status.FINISHED:
                found[setting] = TrialRun(setting, inf, (inf,) * len(reported), inf, False, path.steps)
                continue
            extent = next(extents)
            largest, scales = extent.largest[reported], extent.scales[reported]
            residual = float(np.max(largest / np.where(scales > 0, scales, 1.0), initial=0.0))
            error = trajectory_error(path, self.reference, self.scale) if known else nan
            found[setting] = TrialRun(setting, residual, tuple(map(float, largest)), error, True, path.steps)
        return found

    def extend(self, trials: Trials, settings: Iterable[TrialGains], budget: Budget) -> dict[TrialGains, TrialRun]:
        """The trials, with those of further settings while the budget allows them."""
        found = dict(trials)
        wanted = [setting for setting in dict.fromkeys(settings) if setting not in found]
        while wanted and (left := seconds_left(budget)) > 0.0:
            paths = self._paths(wanted, left)
            found |= self.compare(wanted, paths)
            wanted = wanted[len(paths) :]
        return found

    def energy_change(self, setting: TrialGains) -> float:
        """(E(T) - E(0)) / max(|E(0)|, max T) along a trial run; nan where the energy is no first integral."""
        segment, path = self._code(setting).regained(self._law(setting)), self.path(setting)
        rows = np.unique(np.linspace(0, len(path.times) - 1, TABLE.compared).astype(int))
        columns = observed(segment, path.times[rows], path.states[rows])
        energy, kinetic = columns["integrals"].get("energy"), columns["energies"].get("kinetic", np.zeros(1))
        if energy is None:
            return nan
        scale = max(abs(float(energy[0])), float(np.nanmax(kinetic, initial=0.0)))
        return float(energy[-1] - energy[0]) / (scale or 1.0)

    def gains(self, setting: TrialGains) -> Stabilisation:
        """A setting as gains that may be asked for."""
        kappa = setting.kappa
        if setting.strong:
            return Stabilisation("law", law=_texts(self.segment.equations, setting, self._scales(setting.by_rate)))
        if setting.damping != 1.0:
            return baumgarte(alpha=2 * setting.damping * kappa, beta=kappa**2, kappa=kappa)
        return one_gain(kappa)

    def may_be_given(self, setting: TrialGains) -> bool:
        """Can the gains be asked for? A law that varies within rounding of a deviation cannot be judged."""
        try:
            perturbation(self.segment.equations, self.gains(setting))
        except ModelError:
            return False
        return True

    def _code(self, setting: TrialGains) -> Segment:
        """The code of a setting: that of the run, or one for variable gains."""
        if not setting.strong:
            return self.segment
        if setting.by_rate not in self._codes:
            equations = self.segment.equations
            law = _variable_law(equations, setting, self._scales(setting.by_rate))
            self._codes[setting.by_rate] = prepare(
                equations, law, self.segment.held, self.options, self.span[0], self.state
            )
        return self._codes[setting.by_rate]

    def _law(self, setting: TrialGains) -> Perturbation:
        """The perturbation equation of a setting, whose gains are constants of the code."""
        if not setting.strong:
            return rescale(damped(self.segment.perturbation, setting.damping), setting.kappa)
        gains = _variable_gains(self.segment.equations, setting, self._scales(setting.by_rate))
        return replace(self._code(setting).perturbation, gains=gains)

    @cached_property
    def _codes(self) -> dict[bool, Segment]:
        return {}

    @cached_property
    def _all_scales(self) -> Array:
        return self.measured.scales(self.reference.times, self.reference.states)

    def _scales(self, by_rate: bool) -> dict[str, float]:
        """The scales of the constraints, or of the rates of those on positions, along the accurate motion."""
        p = self.measured.positions
        entries = [*range(p, 2 * p), *range(2 * p, self.measured.count)] if by_rate else self.measured.reported
        sizes = self._all_scales[entries]
        return {name: float(size) or 1.0 for name, size in zip(self.measured.names, sizes, strict=True)}


def _variable_law(equations: Equations, setting: TrialGains, scales: Mapping[str, float]) -> Perturbation:
    """The perturbation equation with κ₀, κ₁, ζ and 1/ε by constraint as gains: with all of them at zero nothing acts."""
    laws = own_laws(equations)
    low, high, damping = (se.Symbol(name) for name in (LOW, HIGH, DAMPING))
    for k, d in enumerate(equations.deviations):
        if k in laws:
            continue
        y, rate = deviation_symbol(d.name), deviation_rate_symbol(d.name)
        s = ((rate if setting.by_rate and d.position is not None else y) * se.Symbol(_closeness(k))) ** 2
        kappa: Expression = (low + high * s) / (1 + s)
        spring = (low if setting.by_rate else kappa) ** 2
        laws[k] = -kappa * y if d.position is None else -2 * damping * kappa * rate - spring * y
    gains = _variable_gains(equations, setting, scales)
    general = general_law(equations, laws, [ZERO] * len(laws), gains)
    correction, positions = correction_of(equations, general.rows), len(positions_of(equations))
    return Perturbation("law", correction, gains, positions=positions, described="law", general=general)


def _variable_gains(equations: Equations, setting: TrialGains, scales: Mapping[str, float]) -> dict[str, float]:
    """The values of the gains of that law, with ε by the scales of the constraints; laws of the model have none."""
    numbers = [k for k, d in enumerate(equations.deviations) if d.constraint.law is None]
    close = {_closeness(k): 1.0 / (setting.at * scales[equations.deviations[k].name]) for k in numbers}
    return {ACTING: 1.0, LOW: setting.kappa, HIGH: setting.strong, DAMPING: setting.damping, **close}


def _closeness(number: int) -> str:
    """The name of 1/ε of a constraint among the gains of a law."""
    return f"gain law {number + 1} 0"


def _texts(equations: Equations, setting: TrialGains, scales: Mapping[str, float]) -> dict[str, str]:
    """The same as laws by constraint, as they may be written."""
    found = {}
    for d in equations.deviations:
        if d.constraint.law is not None:
            continue
        prime = "'" if setting.by_rate and d.position is not None else ""
        s = f"(deviation{prime}/{setting.at * scales[d.name]!r})^2"
        kappa = f"(({setting.kappa!r} + {setting.strong!r}*{s})/(1 + {s}))"
        spring = f"{setting.kappa!r}" if setting.by_rate else kappa
        place = f"-{2 * setting.damping!r}*{kappa}*deviation' - {spring}^2*deviation"
        found[d.name] = f"-{kappa}*deviation" if d.position is None else place
    return found


def accurate_motion(segment: Segment, options: Options, state: Array, span: tuple[float, float], most: int) -> Path:
    """An accurate motion at nodes of the run: dop853 at a strict tolerance, with gains slow compared with the motion."""
    rtol = (
        TABLE.reference_rtol if options.rtol is None else max(LEAST_RTOL, min(TABLE.reference_rtol, options.rtol / 10))
    )
    strict = replace(options, method="dop853", step=None, rtol=rtol, atol=None)
    gentle = segment.regained(rescale(segment.perturbation, 1.0 / (span[1] - span[0])))
    return advance(gentle, state, span, strict, nodes_of(options, span), None, most)


def nodes_of(options: Options, span: tuple[float, float]) -> Array:
    """At most ``compared`` moments that are nodes of every trial run with a fixed step."""
    if options.step is None:
        return np.linspace(*span, TABLE.compared)
    count = int((span[1] - span[0]) / options.step * (1 + 1e-12))
    stride = max(1, -(-count // TABLE.compared))
    nodes = span[0] + options.step * np.arange(0, count + 1, stride)
    return np.asarray(np.minimum(nodes, span[1]), dtype=float)  # rounding may lead beyond the end


def trial_span(options: Options, span: tuple[float, float]) -> tuple[float, float]:
    """The part of a run that is tried: its first steps, with the step of the run; or all of it."""
    return span[0], span[1] if options.step is None else min(span[1], span[0] + TABLE.trial_steps * options.step)


def affordable(budget: Budget, path: Path) -> int:
    """So many steps of the accurate motion, of twelve evaluations each, are in the budget."""
    each = evaluation_work(path.states.shape[1])
    return int(np.clip(seconds_left(budget) / (12 * each), 1000, TABLE.longest_trial))


def trajectory_error(path: Path, reference: Path, scale: StateScale) -> float:
    """max over common moments and states of |x - x_ref| over the scale of the state."""
    rows = np.clip(np.searchsorted(path.times, reference.times), 0, len(path.times) - 1)
    before = np.clip(rows - 1, 0, None)
    nearer = np.abs(path.times[before] - reference.times) < np.abs(path.times[rows] - reference.times)
    rows = np.where(nearer, before, rows)
    common = np.abs(path.times[rows] - reference.times) <= 1e-9 * max(1e-300, abs(reference.times[-1]))
    return scale.difference(path.states[rows][common], reference.states[common])
