"""The result of an integration: times, states, multipliers, residuals, integrals, and how it went."""

from __future__ import annotations

import csv
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Self, TextIO

import numpy as np
from numpy.typing import ArrayLike

from svyaz.arguments import check_arguments
from svyaz.arrays import Array
from svyaz.expr import NoSuchName
from svyaz.extras import extra
from svyaz.files import text_file
from svyaz.integrate import Status
from svyaz.model import Drawing, System, multiplier_symbol, nearest
from svyaz.motion.balance import EnergyBalance
from svyaz.motion.facts import (
    Distance,
    Drift,
    Event,
    Reach,
    ResidualSize,
    Slide,
    deviation_of,
    last_finite,
    multiplier_of,
    residual_of,
    size_of,
)

if TYPE_CHECKING:
    import pandas
    import xarray

    from svyaz.motion.phases import Chapter
    from svyaz.program import Function, Table
    from svyaz.stabilise import ErrorBound, GainReport, Jump


@dataclass(frozen=True)
class Motion:
    """A motion of a system. Rows are moments of time; a constraint that does not act has NaN in its columns.

    ``residuals`` are h for position constraints and f for velocity constraints, ``hidden`` the velocity level ḣ of
    position constraints. ``integrals`` are those that the system has, the energy first where nothing changes it; otherwise
    ``balance`` says where it went, by the ``account`` of it. ``inputs`` are the values that laws gave to inputs.
    ``again`` runs it once more with rows at other times; ``chapters`` are its phases as they were run, with their code.
    ``moved`` are the initial values that were moved onto the
    constraints, (before, after). ``phases`` tells when constraints began and
    ceased to act; at an event there are two rows, the state before it and the state after it. The multipliers of the
    ``undetermined`` constraints, which say together what some of them say, are NaN while that is so.
    """

    system: System
    form: str
    method: str
    step: float | None
    rtol: float | None
    status: Status
    reason: str
    times: Array
    states: Array
    state_names: tuple[str, ...]
    multipliers: Mapping[str, Array] = field(default_factory=dict)
    residuals: Mapping[str, Array] = field(default_factory=dict)
    hidden: Mapping[str, Array] = field(default_factory=dict)
    integrals: Mapping[str, Array] = field(default_factory=dict)
    quantities: Mapping[str, Array] = field(default_factory=dict)
    inputs: Mapping[str, Array] = field(default_factory=dict)
    gains: GainReport | None = None
    steps: int = 0
    rejected: int = 0
    evaluations: int = 0
    seconds: float = 0.0
    trajectory_error: float | None = None
    error_bound: ErrorBound | None = None
    notes: tuple[str, ...] = ()
    jumps: tuple[Jump, ...] = ()
    phases: tuple[Event, ...] = ()
    limits: Mapping[str, Reach] = field(default_factory=dict)
    slides: tuple[Slide, ...] = ()
    moved: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    undetermined: tuple[str, ...] = ()
    chapters: tuple[Chapter, ...] = field(default=(), repr=False, compare=False)
    account: Callable[[float], Array] | None = field(default=None, repr=False, compare=False)
    again: Callable[[Array], Motion] | None = field(default=None, repr=False, compare=False)

    def __getstate__(self) -> dict[str, object]:
        """What is pickled: all but the native code of its phases, so that a copy cannot be run once more."""
        return {**vars(self), "balance": self.balance, "chapters": (), "account": None, "again": None}

    def column(self, name: str) -> Array:
        """A coordinate, a velocity, an integral or another quantity along the motion; of a constraint its residual.

        ``residual NAME``, ``multiplier NAME`` and ``deviation of NAME`` say which is meant of a constraint or integral.
        """
        if not isinstance(name, str):
            raise TypeError(f"'name' must be the name of a column, not {name!r}")
        if name == "t":
            return self.times
        if name in self.state_names:
            return self.states[:, self.state_names.index(name)]
        told = (
            {multiplier_of(name): column for name, column in self.multipliers.items()},
            {residual_of(name): column for name, column in self.residuals.items()},
            {deviation_of(name): column for name, column in self.deviations.items()},
        )
        for table in (
            self.outputs,
            self.inputs,
            self.quantities,
            self.integrals,
            self.residuals,
            self.multipliers,
            *told,
        ):
            if name in table:
                return table[name]
        hint = nearest(
            name, [*self.state_names, *(own for table in told for own in table), *self.outputs, *self.quantities]
        )
        some = ", ".join(("t", *self.state_names[:8]))
        raise NoSuchName(f"the motion has no column '{name}'; {hint or f'there are {some} …'}")

    def __getitem__(self, name: str) -> Array:
        """A column by its name: ``motion["u"]``, ``motion["u'"]``, ``motion["energy"]``."""
        return self.column(name)

    @check_arguments
    def at(self, time: ArrayLike) -> Array:
        """The state at a time (n,), or at many (k, n), as exact as the motion itself.

        The run is made once more with rows there. At an event it is the state after it.
        """
        times = np.asarray(time, dtype=float)
        wanted = np.unique(times)
        found = self.resampled(wanted)
        return found.states[np.searchsorted(found.times, times, side="right") - 1]

    @check_arguments
    def resampled(self, times: ArrayLike) -> Self:
        """The same motion with rows at these times (and at events), computed once more."""
        if self.again is None:
            raise ValueError("this motion was read from a file, or put together: it cannot be run once more")
        wanted, (first, last) = np.unique(np.asarray(times, dtype=float)), self.times[[0, -1]]
        if not ((wanted >= first) & (wanted <= last)).all():
            message = f"'times' must lie in the motion, which lasts from t = {first:g} to t = {last:g}"
            raise ValueError(f"{message}; they reach from {wanted[0]:g} to {wanted[-1]:g}")
        found = self.again(wanted)
        return self._of_kind(found)

    def _of_kind(self, plain: Motion) -> Self:
        found = object.__new__(type(self))
        found.__dict__.update(plain.__dict__)
        return found

    @property
    def kinetic(self) -> Array | None:
        """The kinetic energy, where the model gives one."""
        return self.quantities.get("kinetic")

    @property
    def potential(self) -> Array | None:
        """The potential energy, where the model gives one."""
        return self.quantities.get("potential")

    @property
    def energy(self) -> Array | None:
        """The whole energy, where the model gives one."""
        return self.quantities.get("energy")

    @cached_property
    def balance(self) -> EnergyBalance | None:
        """Where the energy went; None where it is a first integral, or there is none."""
        if self.account is None or self.energy is None:
            return None
        work, dissipated, impacts = self.account(self.energy_scale).T
        return EnergyBalance(self.energy, work, dissipated, impacts, self.energy_scale)

    @property
    def energy_error(self) -> Array | None:
        """Over ``energy_scale``: the drift of an energy that nothing changes, or the remainder of the balance of another.

        None where there is no energy, or it stands under another name among the integrals.
        """
        off = self.integrals.get("energy")
        if self.balance is not None:
            return np.abs(self.balance.remainder) / self.energy_scale
        return None if off is None else np.abs(off - off[0]) / self.energy_scale

    @property
    def energy_scale(self) -> float:
        """``max(|E₀|, max T)``, or one where both vanish."""
        kinetic, energy = self.kinetic, self.energy
        largest = float(np.nanmax(kinetic, initial=0.0)) if kinetic is not None else 0.0
        return max(largest, abs(float(energy[0])) if energy is not None else 0.0) or 1.0

    @property
    def finished(self) -> bool:
        """Did the motion reach its end?"""
        return self.status is Status.FINISHED

    @cached_property
    def table_names(self) -> tuple[str, ...]:
        """Columns of the table: t, then each coordinate followed by its velocity, then further states."""
        names = ["t"]
        speeds = set(self.system.velocities)
        for name in self.state_names:
            if name in speeds and name.endswith("'"):
                continue
            names.append(name)
            if f"{name}'" in speeds:
                names.append(f"{name}'")
        return tuple(names)

    @property
    def deviations(self) -> dict[str, Array]:
        """g - C along the motion for each integral g to which the model gives a value C."""
        values = {i.name: i.value for i in self.system.integrals if i.value is not None}
        return {name: self.integrals[name] - value for name, value in values.items() if name in self.integrals}

    @cached_property
    def outputs(self) -> dict[str, Array]:
        """The outputs that the model names, along the motion; NaN where they want the multiplier of what does not act."""
        named = self.system.outputs
        if not named:
            return {}
        from svyaz.program import function

        reactions = {str(multiplier_symbol(name)): column for name, column in self.multipliers.items()}
        columns = dict(zip(self.state_names, self.states.T, strict=True)) | {"t": self.times} | reactions
        known = {*columns, *self.system.constants}
        shown = {name: e for name, e in named.items() if {str(s) for s in e.free_symbols} <= known}
        return function(shown, tuple(columns), self.system.constants)(np.column_stack(list(columns.values())))

    @property
    def controls(self) -> dict[str, Array]:
        """The controls that kept servo-constraints, each under the name of its input, or else of its column."""
        kept = [c for c in self.system.constraints if c.servo and c.name in self.multipliers]
        tables = {**self.inputs, **{multiplier_of(name): column for name, column in self.multipliers.items()}}
        return {name: tables[name] for name in (c.control or multiplier_of(c.name) for c in kept)}

    @property
    def csv_names(self) -> tuple[str, ...]:
        """Columns of the CSV: the table, the controls of servo-constraints, the deviations of integrals from the values
        that the model gives them, and the outputs that it names.
        """
        return (*self.table_names, *self.controls, *map(deviation_of, self.deviations), *self.outputs)

    def rows(self) -> Array:
        """The columns of ``csv_names`` as an array."""
        return np.column_stack([self.column(name) for name in self.csv_names])

    @check_arguments
    def to_csv(self, file: str | Path | TextIO) -> None:
        """Write the table as CSV with full precision; a file appears complete or not at all."""
        with text_file(file) as out:
            writer = csv.writer(out, lineterminator="\n")
            writer.writerow(self.csv_names)
            writer.writerows([repr(float(value)) for value in row] for row in self.rows())

    def to_xarray(self) -> xarray.Dataset:
        """All columns along the dimension ``t``."""
        with extra("data"):
            import xarray

        columns: dict[str, tuple[str, Array]] = {name: ("t", self.column(name)) for name in self.table_names[1:]}
        tables = (
            (multiplier_of(""), self.multipliers),
            (residual_of(""), self.residuals),
            ("", self.integrals),
            ("", {} if self.energy is None else {"energy": self.energy}),
            (deviation_of(""), self.deviations),
            ("", self.inputs),
            ("", self.outputs),
        )
        for prefix, table in tables:
            columns.update({prefix + name: ("t", values) for name, values in table.items()})
        attributes = {"model": self.system.name, "method": self.method, "form": self.form, "status": self.status}
        found = xarray.Dataset(columns, coords={"t": self.times}, attrs=attributes)
        for name, unit in self.system.units.items():
            if name in found.variables:
                found[name].attrs["units"] = str(unit) or "1"
        return found

    def to_pandas(self) -> pandas.DataFrame:
        """The columns of ``to_xarray`` as a table with the time as its index; at events there are two rows."""
        with extra("data"):
            import pandas

        data = self.to_xarray()
        columns = {str(name): values.to_numpy() for name, values in data.data_vars.items()}
        return pandas.DataFrame(columns, index=pandas.Index(self.times, name="t"))

    def residual_sizes(self) -> dict[str, ResidualSize]:
        """How far each constraint was from being satisfied, over the time in which it acted."""
        return {name: size_of(self.times, values) for name, values in self.residuals.items()}

    def control_sizes(self) -> dict[str, ResidualSize]:
        """How large each control of a servo-constraint was."""
        return {name: size_of(self.times, values) for name, values in self.controls.items()}

    def drifts(self) -> dict[str, Drift]:
        """How far each integral went: the energy relative to ``max(|E₀|, max T)``, others absolutely."""
        return {name: self._drift(name, values) for name, values in self.integrals.items()}

    def _drift(self, name: str, values: Array) -> Drift:
        change = float(np.max(np.abs(values - values[0])))
        if name == "energy":
            change /= self.energy_scale
        off = self.deviations.get(name)
        distance = None if off is None else Distance(float(off[0]), float(off[-1]), float(np.max(np.abs(off))))
        return Drift(float(values[0]), float(values[-1]), change, distance)

    def last_multipliers(self) -> dict[str, float]:
        """Multipliers of the constraints when these acted last."""
        return {name: last_finite(values) for name, values in self.multipliers.items()}

    def evaluate_drawing(self, drawing: Drawing, rows: Array) -> tuple[Array, Array | None]:
        """Points (k, p, dim) and radius (k,) of one part of the picture along rows [t, states…]."""
        place = self.system.drawings.index(drawing)
        found = self._drawn(rows)
        return found[f"points {place}"], found.get(f"radius {place}")

    @cached_property
    def _drawn(self) -> Function:
        """Points and radii of all drawings at a state."""
        from svyaz.program import function

        tables: dict[str, Table] = {f"points {k}": d.points for k, d in enumerate(self.system.drawings)}
        tables |= {f"radius {k}": d.radius for k, d in enumerate(self.system.drawings) if d.radius is not None}
        return function(tables, ("t", *self.state_names), self.system.constants)


def common_rows(a: Motion, b: Motion) -> tuple[Array, Array]:
    """States of two motions at the same times and in the same phase; rows at events are left out."""
    found = []
    for motion in (a, b):
        events = np.array([e.t for e in motion.phases[1:]])
        left = np.searchsorted(events, motion.times, side="left")
        right = np.searchsorted(events, motion.times, side="right")
        keys = zip(motion.times.tolist(), left.tolist(), strict=True)
        inside = (left == right).tolist()
        found.append({key: k for k, (key, fit) in enumerate(zip(keys, inside, strict=True)) if fit})
    shared = [key for key in found[0] if key in found[1]]
    rows_a, rows_b = ([places[key] for key in shared] for places in found)
    return a.states[rows_a], b.states[rows_b]
