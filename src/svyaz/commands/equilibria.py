"""``svyaz equilibria MODEL``: all positions of rest in a box, with the inputs that hold them, and their stability."""

from __future__ import annotations

from typing import TYPE_CHECKING

from svyaz.commands.common import ModelArgument, NegativeAnswer, check_pictures, search_bar, write_json
from svyaz.commands.hints import with_flags
from svyaz.commands.options import Pairs, model_command, option
from svyaz.commands.terminal import Page
from svyaz.commands.values import ranges_of, values_of
from svyaz.show import HELD, drift_lines, roots_text, sure_text

if TYPE_CHECKING:
    from svyaz.stability import Equilibria, Equilibrium, SteadyMotion


LISTED = ("Examine", 31, "Find all equilibria in a box, the inputs that hold them, their stability.")


@model_command(
    "svyaz equilibria pendulum:3",
    "svyaz equilibria ball-and-beam --fix r=0.25 --plot equilibria.png",
    "svyaz equilibria four-bar --box xB=-1.1:1.1 --box yB=-1.1:1.1 --box xC=0:6 --box yC=-3:3",
    "svyaz equilibria my-model.toml --fix u=0 --json equilibria.json",
)
@option(
    "--fix", "Prescribe a coordinate, an input or a parameter; inputs that are not prescribed are unknowns. Repeatable."
)
@option(
    "--box",
    "Where to look; the model's [box] unless given, and one turn for angles. A parameter becomes unknown. Repeatable.",
)
@option("--budget")
@option("--plot", "Draw the mechanism in each equilibrium, side by side (.png, .svg, .pdf).")
@option("--json")
def command(
    model: ModelArgument, fix: Pairs, box: Pairs, budget: float, plot: str | None, json_file: str | None
) -> None:
    """Find all equilibria of MODEL in a box.

    Parts of the box that are discarded are proved to hold none. For each equilibrium: the inputs that hold it, the roots
    of the first approximation, how many of them are zero, and what is known of its stability by which theorem. Exit
    code 1 when the equilibria form a family (its dimension is told, and what may be prescribed), there are none, or the
    search was not finished.
    """
    from svyaz.show import as_json
    from svyaz.stability import equilibria

    check_pictures(plot, None)
    system = model.load(json_file, plot, drawn=plot)
    prescribed, sides = values_of(fix, system, "--fix"), ranges_of(box, system, "--box")
    with search_bar(system.name) as progress:
        found = equilibria(system, prescribed, sides, seconds=budget, progress=progress)
    write_json(as_json(found) | {"reason": with_flags(found.reason())}, json_file)
    if plot is not None and found.equilibria:
        _draw(found, plot)
    if json_file != "-":
        _show(found)
    if found.family or found.left:
        raise NegativeAnswer(found.reason())
    if not found.equilibria:
        raise NegativeAnswer("there is no equilibrium in the box" if found.complete else "; ".join(found.notes))


def _draw(found: Equilibria, plot: str) -> None:
    from svyaz.model import with_settings
    from svyaz.show import Position, plot_positions

    positions = []
    for k, e in enumerate(found.equilibria):
        given = {**e.parameters, **{n: x for n, x in found.fixed.items() if n in found.system.parameters}}
        system = with_settings(found.system, given) if given else found.system
        positions.append(Position(f"{k + 1}: {_word(found, e)}", system, e.state))
    plot_positions(positions, plot)


def _show(found: Equilibria) -> None:
    page = Page()
    sides = ", ".join(
        f"{name} in (-pi, pi]" if name in found.angles else f"{name} in [{low:.5g}, {high:.5g}]"
        for name, (low, high) in found.box.items()
    )
    given = "".join(f", {name} = {value:.6g}" for name, value in found.fixed.items())
    nothing = "no unknown coordinates" if found.complete else "near the initial position"
    page.say(f"{found.system.name}: {sides or nothing}{given}")
    count = 0
    for k, family in enumerate(found.families):
        names = ", ".join(family.free)
        title = f"family {k + 1} of dimension {family.dimension}, along {names}: {family.verdict}"
        for j, e in enumerate(family.members):
            count += 1
            if j == 0:
                _show_one(page, f"{title}; member {count}", e)
            else:
                page.say(f"member {count}: {_values(e)}")
    for k, e in enumerate(found.equilibria):
        _show_one(page, f"equilibrium {k + 1}: {_word(found, e)}", e)
    if not found.family:
        count = len(found.equilibria)
        work = f" ({found.parts} part{'' if found.parts == 1 else 's'})" if found.parts else ""
        page.say(f"{count} equilibri{'um' if count == 1 else 'a'}; {sure_text(found)}{work}")
    for told in (*map(str, found.poles), *found.notes):
        page.say(told)


def _values(e: Equilibrium) -> str:
    return ", ".join(f"{name} = {x + 0.0:.6g}" for name, x in {**e.state, **e.inputs, **e.parameters}.items())


def _word(found: Equilibria, e: Equilibrium) -> str:
    """The verdict in a word; a structure with as many constraints as coordinates stands still whatever its stability."""
    if e.verdict is not None:
        return e.verdict.word
    return "cannot move" if len(found.system.constraints) == len(found.system.coordinates) else "undecided"


def _show_one(page: Page, title: str, e: Equilibrium) -> None:
    values = {**e.state, **e.inputs, **e.parameters}
    page.table(title, ("name", "value"), [(name, f"{value + 0.0:.9g}") for name, value in values.items()])
    if e.outside:
        page.say(f"outside of the limits of {', '.join(e.outside)}")
    show_verdict(page, e)
    for note in (*e.notes, *(e.verdict.notes if e.verdict else ())):
        page.say(note)


def show_verdict(page: Page, found: Equilibrium | SteadyMotion) -> None:
    """What drifts, the roots, the theorem, and each of its hypotheses."""
    verdict = found.verdict
    if verdict is None:
        return
    for line in drift_lines(found):
        page.say(line)
    if len(verdict.roots):
        page.say(f"roots {roots_text(verdict.roots)}")
        page.say(f"zero roots {verdict.zero_roots}, of constraints {verdict.constraint_roots}; {verdict.theorem}")
    else:
        page.say(verdict.theorem)
    for h in verdict.hypotheses:
        page.say(f"  {HELD[h.holds]:9}  {h.text}", hang=13)
