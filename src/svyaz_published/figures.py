"""The figures of 003 (Ilyina 2019): positions of rest (3.2), transients of the ball and beam (4.1, 4.2, B.1 – B.24), anew.

The initial perturbations are not printed; x₁ = 0.03 m (0.02 m with an observer) is taken, and α = 0.02 under a torque, with θ
from the equation of the rod. The motor is the one with which the printed gains were computed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import numpy as np

from svyaz.arrays import Array
from svyaz.control import Regulation, Transient, regulate
from svyaz.stability import consistent_start
from svyaz_published.numbers import gallery_model, write_table


@dataclass(frozen=True)
class Setup:
    """A closed loop and its start: the variant of the model, the radius d, what is measured, from which model the gains are."""

    control: str
    equilibrium: str
    dependent: str = "theta"
    d: float = 0.06
    observer: bool = False
    lagrange: bool = False

    @property
    def start(self) -> Mapping[str, float]:
        if self.control == "torque":
            return {"r": 0.03, "alpha": 0.02}
        return {"r": 0.02 if self.observer else 0.03}

    @property
    def until(self) -> float:
        if self.control == "torque":
            return 8.0
        return 60.0 if self.d > 0.06 else 40.0


@dataclass(frozen=True)
class Figure:
    """A figure of the appendix: which variable of which loop it shows, and whether it is said to return."""

    name: str
    what: str
    variable: str
    setup: Setup = field(repr=False)
    returns: bool = True

    @property
    def title(self) -> str:
        what = self.what.replace("theta", "θ").replace("alpha", "α")
        return f"003, figure {self.name}: {what}"

    @property
    def note(self) -> str:
        """What had to be chosen."""
        start = ", ".join(f"{name} = {value:g}" for name, value in self.setup.start.items())
        return f"The deviation at the start is chosen: {start.replace('alpha', 'α')}."


UNITS = {"r": "m", "alpha": "rad", "theta": "rad", "r'": "m/s", "I": "A", "e": "V"}

POSITIONS = {"zero": "zero equilibrium", "nonzero": "non-zero equilibrium"}


def _figures() -> list[Figure]:
    found: list[Figure] = []

    def add(what: str, variable: str, setup: Setup, returns: bool = True) -> None:
        found.append(Figure(f"B.{len(found) + 1}", what, variable, setup, returns))

    for variable in ("r", "alpha", "theta"):
        for where, told in POSITIONS.items():
            add(f"torque, {told}", variable, Setup("torque", where))
    for where, told in POSITIONS.items():
        add(f"voltage, theta dependent, {told}", "r", Setup("voltage", where))
    add("voltage, alpha dependent, zero equilibrium", "r", Setup("voltage", "zero", "alpha"))
    for dependent in ("theta", "alpha"):
        for where, told in POSITIONS.items():
            add(f"control, {dependent} dependent, {told}", "e", Setup("voltage", where, dependent))
    for variable, where in [("r", "zero"), ("r", "nonzero"), ("alpha", "zero"), ("r'", "nonzero"), ("I", "nonzero")]:
        add(f"observer, {POSITIONS[where]}", variable, Setup("voltage", where, "alpha", observer=True))
    for d in (0.09, 0.093, 0.0935):
        add(f"linearised rod, d = {d} m", "r", Setup("voltage", "nonzero", "alpha", d, lagrange=True), d < 0.0935)
    for d in (0.09, 0.093, 0.095):
        add(f"true rod, d = {d} m", "r", Setup("voltage", "nonzero", "alpha", d))
    return found


FIGURES: tuple[Figure, ...] = tuple(_figures())

WINDOWS = tuple(
    Figure(
        name,
        f"observer, {rod} rod, d = 0.08 m",
        "r",
        Setup("voltage", "nonzero", "alpha", 0.08, True, wrong),
        not wrong,
    )
    for name, rod, wrong in (("4.1", "true", False), ("4.2", "linearised", True))
)
"""The windows of the author's program, whose d is not legible."""


@cache
def regulation(setup: Setup) -> Regulation:
    """The design of a setup."""
    choices = {"control": setup.control, "equilibrium": setup.equilibrium, "dependent": setup.dependent}
    if setup.control == "voltage":
        choices["motor"] = "numbers"
    system = gallery_model("ball-and-beam", choices, {"d": setup.d})
    return regulate(system, measure=["r"] if setup.observer else [], against_linearised=setup.lagrange)


@cache
def transient(setup: Setup) -> Transient:
    """The run of a setup on the full nonlinear system."""
    found = regulation(setup)
    start = consistent_start(found.system, found.plant.state, found.plant.dependent, setup.start)
    loop = found.rival_loop() if setup.lagrange else found.loop()
    return loop.run(start.state, setup.until, rows=1200)


def curves(figure: Figure) -> tuple[Array, Array, Array | None]:
    """Times, the deviation that the figure shows, and that of the first approximation, where it is drawn."""
    run = transient(figure.setup)
    name, model = figure.variable, run.design.model
    count = len(run.times)  # a run that failed is shorter than the linear motion
    if name in run.deviations:
        return run.times, run.deviations[name], run.linear[name][:count]
    if name in run.inputs:
        return run.times, run.inputs[name] - model.inputs[name], None
    row = model.slope[model.dependent.index(name)]
    linear = np.column_stack([run.linear[q] for q in model.independent]) @ row
    return run.times, run.motion.column(name) - model.state[name], np.asarray(linear[:count])


def claims() -> tuple[float, ...]:
    """1 for each figure whose motion returns, in order."""
    return tuple(float(transient(figure.setup).returned) for figure in FIGURES)


def coincidence() -> tuple[float, ...]:
    """Largest differences of x₁ and of u between both choices of the dependent angle, relative, at both positions."""
    gaps = []
    for where in ("zero", "nonzero"):
        first, second = (transient(Setup("voltage", where, dependent)) for dependent in ("theta", "alpha"))
        held = first.design.model.inputs["e"]
        for a, b in (
            (first.deviations["r"], second.deviations["r"]),
            (first.inputs["e"] - held, second.inputs["e"] - held),
        ):
            gaps.append(float(np.abs(a - b).max() / np.abs(a).max()))
    return tuple(gaps)


def windows() -> tuple[float, ...]:
    """Figures 4.1 and 4.2: does the nonlinear motion return?"""
    return tuple(float(transient(figure.setup).returned) for figure in WINDOWS)


def write_figures(folder: Path) -> list[Path]:
    """Figures 3.2, 4.1, 4.2 and B.1 – B.24 as pictures in the folder, with their curves in tables beside them."""
    from svyaz.show import Caption, Position, add_caption, curve_figure, positions_figure, save

    plants = {words: regulation(Setup("torque", where)).plant for where, words in POSITIONS.items()}
    positions = [Position(words, plant.system, plant.state) for words, plant in plants.items()]
    rest = positions_figure(positions)
    add_caption(rest, Caption("003, figure 3.2: positions of rest"))
    written = [save(rest, folder / "003-3.2.png")]
    for figure in (*WINDOWS, *FIGURES):
        times, values, linear = curves(figure)
        name, unit = figure.variable, UNITS[figure.variable]
        drawn = curve_figure(figure.title, name, times, values, linear, unit)
        add_caption(drawn, Caption(note=figure.note))
        written.append(save(drawn, folder / f"003-{figure.name}.png"))
        columns = {"t": times, f"deviation of {name}": values} | ({} if linear is None else {"linear": linear})
        written.append(write_table(folder / f"003-{figure.name}.csv", columns))
    return written
