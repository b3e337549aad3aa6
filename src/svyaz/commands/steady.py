"""``svyaz steady MODEL``: motions in which cyclic coordinates turn uniformly and all others rest, and their stability."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from svyaz.commands.common import (
    NameAndValue,
    NegativeAnswer,
    examples,
    json_option,
    load_model,
    model_options,
    warn,
    writable_outputs,
    write_json,
)
from svyaz.commands.equilibria import show_verdict
from svyaz.commands.hints import with_flags
from svyaz.commands.running import budget_option, search_bar
from svyaz.commands.terminal import Page
from svyaz.commands.values import ranges_of, values_of

if TYPE_CHECKING:
    from svyaz.stability import SteadyMotion, SteadyMotions

LISTED = ("Examine", 33, "Find the steady motions of cyclic coordinates, and decide their stability.")


@click.command(
    epilog=examples(
        'svyaz steady hoop --fix "psi\'=6"',
        "svyaz steady hoop --fix p_psi=2.8 --json steady.json",
        'svyaz steady my-model.toml --fix "psi\'=5" --box x=-1:1',
    )
)
@model_options
@click.option(
    "--fix",
    metavar="NAME=VALUE",
    type=NameAndValue(),
    multiple=True,
    help="Prescribe a cyclic speed (psi'), a momentum (p_psi), a coordinate, an input or a parameter. Repeatable.",
)
@click.option(
    "--box",
    metavar="NAME=LOW:HIGH",
    type=NameAndValue(),
    multiple=True,
    help="Where to look; the model's [box] unless given, and one turn for angles. A parameter, a speed or a momentum "
    "becomes unknown. Repeatable.",
)
@budget_option
@json_option
def command(
    model: str,
    settings: tuple[tuple[str, str], ...],
    choices: tuple[tuple[str, str], ...],
    fix: tuple[tuple[str, str], ...],
    box: tuple[tuple[str, str], ...],
    budget: float,
    json_file: str | None,
) -> None:
    """Find all steady motions of MODEL in a box.

    A cyclic coordinate turns at a constant speed, all others rest. A speed that nothing determines is that of the model's
    initial state unless it or its momentum is prescribed. For each motion: speeds, momenta, the inputs that maintain it,
    the roots, how many of them are zero and why, and what is known of its stability by which theorem. Exit code 1 when
    there are none, when they form a family all the same, or the search was not finished.
    """
    from svyaz.show import as_json
    from svyaz.stability import steady_motions

    system = load_model(model, settings, choices)
    warn(system)
    writable_outputs(json_file)
    prescribed, sides = values_of(fix, system, "--fix"), ranges_of(box, system, "--box")
    with search_bar(system.name) as progress:
        found = steady_motions(system, prescribed, sides, seconds=budget, progress=progress)
    write_json(as_json(found) | {"reason": with_flags(found.reason())}, json_file)
    if json_file != "-":
        _show(found)
    if found.reason():
        raise NegativeAnswer(found.reason())


def _show(found: SteadyMotions) -> None:
    page = Page()
    cyclic = ", ".join(f"{c.name} ({_kind(c.driven, c.forced)})" for c in found.cyclic)
    page.say(f"{found.system.name}: cyclic are {cyclic}")
    page.say(
        f"the steady motions form a manifold of dimension {found.dimension}; prescribe {', '.join(found.prescribable)}"
    )
    for k, motion in enumerate(found.motions):
        word = "undecided" if motion.verdict is None else motion.verdict.word
        _show_one(page, f"steady motion {k + 1}: {word}", motion)
    count, sure = (
        len(found.motions),
        "there are no others in the box" if found.found.complete else "there may be others",
    )
    page.say(f"{count} steady motion{'' if count == 1 else 's'}; {sure}")
    for note in (*found.notes, *found.found.notes):
        page.say(note)


def _kind(driven: tuple[str, ...], forced: bool) -> str:
    if driven:
        return f"driven by {', '.join(driven)}"
    return "a force acts on it" if forced else "its momentum is conserved"


def _show_one(page: Page, title: str, motion: SteadyMotion) -> None:
    values = {**motion.state, **motion.speeds, **motion.momenta, **motion.inputs, **motion.parameters}
    page.table(title, ("name", "value"), [(name, f"{value + 0.0:.9g}") for name, value in values.items()])
    if motion.verdict is not None and motion.at_fixed_momenta is not None:
        show_verdict(page, motion.verdict)
        if motion.at_fixed_momenta.word != motion.verdict.word:
            page.say(f"at unperturbed momenta: {motion.at_fixed_momenta.word}")
    for note in (*motion.notes, *(motion.verdict.notes if motion.verdict else ())):
        page.say(note)
