"""``svyaz steady MODEL``: motions in which cyclic coordinates turn uniformly and all others rest, and their stability."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

import click

from svyaz.commands.common import ModelArgument, NegativeAnswer, check_pictures, search_bar, write_json
from svyaz.commands.equilibria import show_verdict
from svyaz.commands.hints import with_flags
from svyaz.commands.options import Pairs, model_command, option
from svyaz.commands.terminal import Page
from svyaz.commands.values import ranges_of, values_of
from svyaz.files import text_file
from svyaz.show import sure_text

if TYPE_CHECKING:
    from svyaz.forms import Cyclic
    from svyaz.model import System
    from svyaz.stability import SteadyBranches, SteadyMotion, SteadyMotions

LISTED = ("Examine", 33, "Find the steady motions of cyclic coordinates, and decide their stability.")


@model_command(
    'svyaz steady hoop --fix "psi\'=6"',
    "svyaz steady hoop --fix p_psi=2.8 --json steady.json",
    'svyaz steady hoop --along "psi\'=2:8" --plot branches.png',
    'svyaz steady my-model.toml --fix "psi\'=5" --box x=-1:1',
)
@option(
    "--fix", "Prescribe a cyclic speed (psi'), a momentum (p_psi), a coordinate, an input or a parameter. Repeatable."
)
@option(
    "--box",
    "Where to look; the model's [box] unless given, and one turn for angles. A parameter, a speed or a momentum "
    "becomes unknown. Repeatable.",
)
@option("--along", "Follow all branches while a speed, a momentum, a parameter, an input or a coordinate changes.")
@option("--plot", "With --along: draw the branches, stability by colour (.png, .svg, .pdf).")
@option("--csv", "With --along: write the branches as a table.")
@option("--budget")
@option("--json")
def command(
    model: ModelArgument,
    fix: Pairs,
    box: Pairs,
    along: tuple[str, str] | None,
    plot: str | None,
    csv: str | None,
    budget: float,
    json_file: str | None,
) -> None:
    """Find all steady motions of MODEL in a box.

    A cyclic coordinate turns at a constant speed, all others rest. Prescribe as many values as the steady motions have
    dimensions, and everything else is found; where values are missing, speeds are those of the model's initial state. For
    each motion: speeds, momenta, the inputs that maintain it, the roots, how many of them are zero and why, and what is
    known of the stability of its positions at fixed momenta, by which theorem. Exit code 1 when there are none, when they
    form a family all the same, or the search was not finished.
    """
    from svyaz.show import as_json
    from svyaz.stability import steady_motions

    if along is None and (plot or csv):
        raise click.UsageError("--plot and --csv belong to --along.")
    check_pictures(plot, None)
    system = model.load(json_file, plot, csv)
    prescribed, sides = values_of(fix, system, "--fix"), ranges_of(box, system, "--box")
    if along is not None:
        span = ranges_of([along], system, "--along")[along[0]]
        _follow(system, along[0], span, (prescribed, sides, budget), (plot, csv, json_file))
        return
    with search_bar(system.name) as progress:
        found = steady_motions(system, prescribed, sides, seconds=budget, progress=progress)
    write_json(as_json(found) | {"reason": with_flags(found.reason())}, json_file)
    if json_file != "-":
        _show(found)
    if found.reason():
        raise NegativeAnswer(found.reason())


def _follow(
    system: System,
    along: str,
    span: tuple[float, float],
    asked: tuple[dict[str, float], dict[str, tuple[float, float]], float],
    files: tuple[str | None, str | None, str | None],
) -> None:
    """Follow the branches, and write and show what was found."""
    from svyaz.show import as_json, plot_branches
    from svyaz.stability import steady_branches

    plot, csv, json_file = files
    fix, box, seconds = asked
    found = steady_branches(system, along, span, fix, box, seconds=seconds)
    write_json(as_json(found), json_file)
    if csv is not None:
        _write_table(found, csv)
    if plot is not None:
        plot_branches(found, plot)
    if json_file != "-":
        _show_branches(found)
    if found.incomplete:
        raise NegativeAnswer("a branch could not be followed to its end")


def _write_table(found: SteadyBranches, file: str) -> None:
    import csv

    with text_file(file) as out:
        writer = csv.writer(out, lineterminator="\n")
        for k, m in enumerate(found.members):
            values = {**m.motion.state, **m.motion.speeds, **m.motion.momenta, **m.motion.inputs}
            if k == 0:
                writer.writerow(["branch", "kind", found.along, *values, "verdict"])
            word = "undecided" if m.motion.verdict is None else m.motion.verdict.word
            writer.writerow([m.number, m.kind, repr(m.value), *(repr(float(x)) for x in values.values()), word])


def _show_branches(found: SteadyBranches) -> None:
    page = Page()
    low, high = found.span
    page.say(
        f"{found.system.name}: {found.count} branch{'' if found.count == 1 else 'es'} of {len(found.members)} steady motions, "
        f"{found.along} from {low:.6g} to {high:.6g}"
    )
    for kind in ("branching", "turning"):
        for m in found.special(kind):
            values = {**m.motion.state, **m.motion.speeds}
            told = ", ".join(f"{name} = {x + 0.0:.8g}" for name, x in values.items() if name != found.along)
            page.say(f"{kind} point at {found.along} = {m.value:.10g}: {told}", hang=2)
    rows = []
    for _, branch in groupby(found.members, key=lambda m: m.number):
        members = list(branch)
        for word, run in groupby(
            members, key=lambda m: "undecided" if m.motion.verdict is None else m.motion.verdict.word
        ):
            piece = list(run)
            rows.append(
                (str(members[0].number + 1), f"{piece[0].value:.6g}", f"{piece[-1].value:.6g}", word, str(len(piece)))
            )
    page.table("", ("branch", f"{found.along} from", "to", "verdict", "motions"), rows)


def _show(found: SteadyMotions) -> None:
    page = Page()
    cyclic = ", ".join(f"{c.name} ({_kind(c)})" for c in found.cyclic)
    page.say(f"{found.system.name}: cyclic are {cyclic}")
    page.say(
        f"the steady motions form a manifold of dimension {found.dimension}; prescribe {', '.join(found.prescribable)}"
    )
    for k, motion in enumerate(found.motions):
        word = "undecided" if motion.verdict is None else motion.verdict.word
        _show_one(page, f"steady motion {k + 1}: {word}", motion)
    count = len(found.motions)
    page.say(f"{count} steady motion{'' if count == 1 else 's'}; {sure_text(found)}")
    for note in (*found.notes, *found.found.notes):
        page.say(note)


def _kind(cyclic: Cyclic) -> str:
    if cyclic.driven:
        return f"driven by {', '.join(cyclic.driven)}"
    if cyclic.tied:
        return "tied by constraints"
    return "a force acts on it" if cyclic.forced else "its momentum is conserved"


def _show_one(page: Page, title: str, motion: SteadyMotion) -> None:
    values = {**motion.state, **motion.speeds, **motion.momenta, **motion.inputs, **motion.parameters}
    page.table(title, ("name", "value"), [(name, f"{value + 0.0:.9g}") for name, value in values.items()])
    show_verdict(page, motion)
    for note in (*motion.notes, *(motion.verdict.notes if motion.verdict else ())):
        page.say(note)
