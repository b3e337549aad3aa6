"""Regulators, linear models and basins in notebooks."""

from __future__ import annotations

from html import escape

from svyaz.control import Basin, ClosedLoop, LinearModel, Regulation, Trial
from svyaz.show.notebooks import heading, matrix_table
from svyaz.show.results import html_of, line_of
from svyaz.show.tables import notebook_table
from svyaz.show.verdict_words import HELD, roots_text


@html_of.register(Regulation)
def _(found: Regulation) -> str:
    """Gains, roots and hypotheses."""
    design, plant = found.design, found.plant
    rest = ", ".join(f"{n} = {x:.6g}" for n, x in {**found.state, **plant.inputs}.items())
    gains = notebook_table(
        ["u = u0 - K x", *plant.variables],
        [[n, *map(float, row)] for n, row in zip(design.inputs, design.regulator.gain, strict=True)],
    )
    closed = roots_text(design.closed_roots(plant), 5)
    lines = notebook_table([found.theorem, "holds"], [[h.text, HELD[h.holds]] for h in found.hypotheses])
    return f"<p><b>{escape(found.system.name)}</b>: {escape(rest)}</p>{gains}<p>closed roots {closed}</p>{lines}"


@line_of.register(Regulation)
def _(found: Regulation) -> str:
    slowest = max(float(z.real) for z in found.design.closed_roots(found.plant))
    return f"of '{found.system.name}' by {', '.join(found.design.inputs)}: closed roots up to {slowest:.4g}"


@html_of.register(ClosedLoop)
def _(found: ClosedLoop) -> str:
    """Its states, what drives it, and where it rests."""
    rest = [[name, float(x)] for name, x in zip(found.states, found.at_rest, strict=True)]
    return heading("closed loop", line_of(found)) + notebook_table(["state", "at rest"], rest)


@line_of.register(ClosedLoop)
def _(found: ClosedLoop) -> str:
    name, inputs = found.equations.system.name, ", ".join(found.design.inputs)
    return f"of '{name}' under {inputs}: {len(found.states)} states"


@html_of.register(LinearModel)
def _(found: LinearModel) -> str:
    """Its four matrices with the names of their rows and columns, without those that are empty."""
    x, u, y = found.states, found.inputs, found.outputs
    parts = (("A", x, x, found.A), ("B", x, u, found.B), ("C", y, x, found.C), ("D", y, u, found.D))
    return "".join(matrix_table(*part) for part in parts if len(part[1]) and len(part[2]))


@line_of.register(LinearModel)
def _(found: LinearModel) -> str:
    return f"of {len(found.states)} states, inputs ({', '.join(found.inputs)}), outputs ({', '.join(found.outputs)})"


@html_of.register(Basin)
def _(found: Basin) -> str:
    """How many starts returned, by their distance."""
    rows = [[high, tried, returned] for high, tried, returned in found.shells()]
    heads = ["part of the ranges up to", "starts", "returned"]
    return heading("basin", line_of(found)) + notebook_table(heads, rows)


@line_of.register(Basin)
def _(found: Basin) -> str:
    back, count = int(found.returned.sum()), len(found.returned)
    return f"of {count} starts {back} returned, all within {found.radius:.3g} of the ranges"


@html_of.register(Trial)
def _(found: Trial) -> str:
    """What became of it, and its motion."""
    return heading("transient", line_of(found)) + html_of(found.motion)


@line_of.register(Trial)
def _(found: Trial) -> str:
    return f"to t = {found.motion.times[-1]:g}: {found.answer}"
