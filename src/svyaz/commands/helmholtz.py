"""``svyaz helmholtz MODEL``: are these equations of Lagrange with a Rayleigh function?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from svyaz.commands.common import ModelArgument, NegativeAnswer, write_json
from svyaz.commands.options import model_command, option
from svyaz.commands.terminal import Page

if TYPE_CHECKING:
    from svyaz.synthesis import Helmholtz


LISTED = ("Write equations", 15, "Are these the equations of Lagrange and Rayleigh? The seven conditions.")


@model_command(
    "svyaz helmholtz pendulum:2",
    "svyaz helmholtz inverse-cart --with given=field --json conditions.json",
    "svyaz helmholtz my-equations.toml",
)
@option("--json")
def command(model: ModelArgument, json_file: str | None) -> None:
    """Test the second-order equations of MODEL by the seven conditions of Helmholtz, generalised to dissipation.

    Equations given in [equations] are tested as they are written, [accelerations] in explicit form: the conditions may
    hold for M q'' + ... = 0 and not for its solution. Where they hold, a Lagrangian and a Rayleigh function are
    constructed as far as the integrals can be found. Exit code 1 when a condition fails.
    """
    from svyaz.show import as_json
    from svyaz.synthesis import helmholtz

    found = helmholtz(model.load(json_file))
    write_json(as_json(found), json_file)
    if json_file != "-":
        _show(found)
    if not found.holds:
        verb = "does" if len(found.failing) == 1 else "do"
        raise NegativeAnswer(f"not of Lagrange and Rayleigh: {', '.join(found.failing)} {verb} not hold")


def _show(found: Helmholtz) -> None:
    from svyaz.expr import to_text

    page = Page()
    rows = [(c.name, c.says, "yes" if c.holds else "no", "; ".join(c.where[:3])) for c in found.conditions]
    page.table(f"{found.system.name}: {found.tested}", ("condition", "says", "holds", "fails at"), rows)
    if found.construction is not None:
        for sign, function in (("L", found.construction.lagrangian), ("D", found.construction.rayleigh)):
            page.line(f"{sign} = {to_text(function)}")
    for note in found.notes:
        page.say(note)
