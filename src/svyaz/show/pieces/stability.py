"""Equilibria and steady motions in notebooks."""

from __future__ import annotations

from html import escape

from svyaz.show.branch_diagram import branch_diagram
from svyaz.show.notebooks import heading, matrix_table, picture
from svyaz.show.positions import MOST_PANELS, Position, positions_figure
from svyaz.show.records.stability import sure_text
from svyaz.show.results import html_of, line_of
from svyaz.show.tables import notebook_table
from svyaz.show.verdict_words import HELD, drift_lines, roots_text
from svyaz.stability import (
    UNDECIDED,
    Equilibria,
    Equilibrium,
    FirstApproximation,
    SteadyBranches,
    SteadyMotion,
    SteadyMotions,
)


@html_of.register(SteadyMotions)
def _(found: SteadyMotions) -> str:
    """A row for each steady motion."""
    named = [{**m.state, **m.speeds, **m.momenta, **m.inputs, **m.parameters} for m in found.motions]
    verdicts = [UNDECIDED if m.verdict is None else m.verdict.word for m in found.motions]
    rows = [[*x.values(), verdict] for x, verdict in zip(named, verdicts, strict=True)]
    heads = list(named[0]) if named else []
    told = line_of(found).partition(": ")[2]
    return heading(found.system.name, told) + (notebook_table([*heads, "verdict"], rows) if rows else "")


@html_of.register(Equilibria)
def _(found: Equilibria) -> str:
    """A row for each equilibrium."""
    title = f"<p><b>{escape(found.system.name)}</b>: "
    if found.family:
        heads = list(found.members[0]) if found.members else []
        rows = [
            [k + 1, *{**e.state, **e.inputs, **e.parameters}.values(), e.word]
            for k, family in enumerate(found.families)
            for e in family.members
        ]
        return f"{title}{escape(found.reason())}</p>" + notebook_table(["family", *heads, "verdict"], rows)
    named = [{**e.state, **e.inputs, **e.parameters} for e in found.equilibria]
    heads = list(named[0]) if named else []
    verdicts = [
        [UNDECIDED, ""] if e.verdict is None else [e.verdict.word, e.verdict.zero_roots] for e in found.equilibria
    ]
    sure = sure_text(found)
    lines = [[*x.values(), *verdict] for x, verdict in zip(named, verdicts, strict=True)]
    table = notebook_table([*heads, "verdict", "zero roots"], lines)
    return f"{title}{len(lines)} equilibria; {sure}</p>{table}{_positions(found)}"


def _positions(found: Equilibria) -> str:
    """The mechanism in its equilibria, where it can be drawn and they are not too many."""
    if not found.system.drawings or not 0 < len(found.equilibria) <= MOST_PANELS:
        return ""
    parts = [Position(f"{k + 1}: {e.word}", found.system, e.state) for k, e in enumerate(found.equilibria)]
    return picture(positions_figure(parts), f"{found.system.name} in its equilibria")


@line_of.register(Equilibria)
def _(found: Equilibria) -> str:
    told = found.reason() if found.family else f"{len(found.equilibria)}; {sure_text(found)}"
    return f"of '{found.system.name}': {told}"


@line_of.register(SteadyMotions)
def _(found: SteadyMotions) -> str:
    count = len(found.motions)
    return f"of '{found.system.name}': {found.reason() or f'{count} steady motion' + 's' * (count != 1)}"


@line_of.register(Equilibrium)
@line_of.register(SteadyMotion)
def _(found: Equilibrium | SteadyMotion) -> str:
    verdict = UNDECIDED if found.verdict is None else found.verdict.word
    return f"{', '.join(f'{name} = {value:.6g}' for name, value in _by_name(found).items())}: {verdict}"


def _by_name(found: Equilibrium | SteadyMotion) -> dict[str, float]:
    speeds = {} if isinstance(found, Equilibrium) else {**found.speeds, **found.momenta}
    return {**found.state, **speeds, **found.inputs, **found.parameters}


@html_of.register(Equilibrium)
@html_of.register(SteadyMotion)
def _(found: Equilibrium | SteadyMotion) -> str:
    """Its values, the roots and why it is stable or not."""
    values = _by_name(found)
    verdict = found.verdict
    table = notebook_table(list(values), [list(values.values())])
    if verdict is None:
        return heading(UNDECIDED, *found.notes) + table
    held = notebook_table(["hypothesis", "holds"], [[h.text, HELD[h.holds]] for h in verdict.hypotheses])
    told = f"<p>roots {roots_text(verdict.roots, 5)}</p>{held if verdict.hypotheses else ''}"
    return heading(verdict.word, verdict.theorem, *drift_lines(found), *found.notes) + table + told


@html_of.register(FirstApproximation)
def _(found: FirstApproximation) -> str:
    """A and B with the names of their rows and columns."""
    names, inputs = found.variables, found.input_names
    matrices = matrix_table("A", names, names, found.A)
    matrices += matrix_table("B", names, inputs, found.B) if inputs else ""
    return heading(found.system.name, "ξ' = A ξ + B u", *found.notes) + matrices


@line_of.register(FirstApproximation)
def _(found: FirstApproximation) -> str:
    return f"of '{found.system.name}': {', '.join(found.variables)}"


@html_of.register(SteadyBranches)
def _(found: SteadyBranches) -> str:
    """The diagram of the branches."""
    shown = picture(branch_diagram(found), f"steady motions of {found.system.name}") if found.members else ""
    return heading(found.system.name, line_of(found).partition(": ")[2]) + shown


@line_of.register(SteadyBranches)
def _(found: SteadyBranches) -> str:
    count = len({m.number for m in found.members})
    low, high = found.span
    sure = "" if not found.incomplete else "; there may be others"
    return f"of '{found.system.name}': {count} branches along {found.along} = {low:g} … {high:g}{sure}"
