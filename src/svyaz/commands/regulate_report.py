"""What ``svyaz regulate`` prints: gains, roots, the theorem with its hypotheses, and how the trials ended."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from svyaz.commands.terminal import Page
from svyaz.show import HELD, roots_text

if TYPE_CHECKING:
    from svyaz.control import Basin, Margin, Regulation, Trial


def show(found: Regulation, margin: Margin | None, attraction: Basin | None, runs: Mapping[str, Trial]) -> None:
    """Print the whole answer."""
    page = Page()
    _show_gains(page, found)
    _show_roots(page, found)
    page.say(found.theorem)
    for h in found.hypotheses:
        page.say(f"  {HELD[h.holds]:9}  {h.text}", hang=13)
    for q, by in found.drift.items():
        told = " + ".join(f"{x:.4g}*{name}" for name, x in by.items() if x).replace("+ -", "- ") or "0"
        page.say(
            f"{q} is not held: to first order it ends ahead of its uniform motion by {told} (deviations at the start)"
        )
    for note in found.notes:
        page.say(note)
    if margin is not None:
        page.say(_margin_text(found, margin))
    for name, trial in runs.items():
        run = trial.transient
        when = f" at t = {run.times[-1]:g}" if run.status == "finished" else ""
        told = f"{name}: {trial.answer}{when}, residual {run.largest_residual:.2g}"
        page.say(told)
        for note in trial.notes:
            page.say(f"{name}: {note}")
    if attraction is not None:
        page.say(_basin_text(attraction))


def _basin_text(found: Basin) -> str:
    """How many starts returned; where some did not, how far from the equilibrium all did."""
    count, returned = len(found.returned), int(found.returned.sum())
    told = f"all {count} starts returned" if count else "there was no start that the mechanism reaches"
    if returned < count:
        told = f"{returned} of {count} starts returned"
        if returned and found.radius > 0 and found.nearest < found.radius:
            told += f"; every start within {100 * found.radius:.2g} % of the ranges returned"
    left = f"; {found.left.sum()} passed a limit" if found.left.any() else ""
    return f"basin: {told}{left}; {found.outside} out of reach; {found.seconds:.3g} s"


def _margin_text(found: Regulation, margin: Margin) -> str:
    compared = found.rival is not None or found.refused
    whose = "the design from linearised constraints" if compared else "the control, kept as it is,"
    if margin.first is not None:
        return f"{whose} fails at {margin.name} = {margin.first:.6g}"
    low, high = margin.values[0], margin.values[-1]
    return f"{whose} does not begin to fail for {margin.name} between {low:g} and {high:g}"


def _show_gains(page: Page, found: Regulation) -> None:
    """A row for each variable, a column for each input and for each measurement of the observer."""
    plant, design = found.plant, found.design
    turning = (
        {} if found.uniform is None else {**found.uniform.choice.motion.speeds, **found.uniform.choice.motion.momenta}
    )
    rest = ", ".join(f"{n} = {x:.6g}" for n, x in {**found.state, **turning, **plant.inputs}.items())
    page.say(f"{found.system.name}: {rest}")
    if plant.dependent:
        page.say(f"redundant: {', '.join(plant.dependent)}")
    columns: dict[str, list[str]] = {}
    for name, row in zip(design.inputs, found.shown_gain, strict=True):
        columns[name] = [f"{k:.6g}" for k in row]
    if found.rival is not None:
        for name, row in zip(design.inputs, found.rival.regulator.gain, strict=True):
            columns[f"{name}, linearised"] = [f"{k:.6g}" for k in row]
    watcher = found.shown_watcher
    if watcher is not None and design.measurement is not None:
        for text, column in zip(design.measurement.texts, watcher.T, strict=True):
            columns[f"observer, {text}"] = [f"{k:.6g}" for k in column]
    rows = zip(found.shown.variables, *columns.values(), strict=True)
    page.table("u = u0 - K x", ("gain", *columns), rows)


def _show_roots(page: Page, found: Regulation) -> None:
    from svyaz.stability import roots

    plant, design = found.plant, found.design
    page.say("open roots   " + roots_text(roots(plant.A)))
    page.say("closed roots " + roots_text(design.closed_roots(plant)))
    if found.rival is not None:
        true = roots_text(found.rival.closed_roots(plant))
        verdict = "stabilises" if found.rival.stabilises(plant) else "does NOT stabilise"
        page.say(f"linearised constraints: {verdict} the true plant; roots {true}")
    pair = design.controllable
    page.say(
        f"controllability: distance {pair.distance:.2g}, Gramian {pair.gramian:.2g}, "
        f"least number of inputs {pair.minimal}"
    )
    defect = f"constraint-linearisation defect {plant.linearisation_defect:.4g}" if plant.dependent else ""
    accuracy = ""
    if design.regulator.residual is not None and design.regulator.gain_error is not None:
        accuracy = f"Riccati residual {design.regulator.residual:.2g}, K to {design.regulator.gain_error:.2g}"
    page.say(", ".join(part for part in (defect, accuracy) if part))
