"""``svyaz reproduce``: what was published about the models of the gallery, against what is computed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from svyaz.commands.common import (
    NegativeAnswer,
    examples,
    progress_bar,
    writable,
    writable_folder,
    write_json,
)
from svyaz.commands.options import option
from svyaz.commands.terminal import Page

if TYPE_CHECKING:
    from collections.abc import Sequence

    from svyaz.json_types import Record
    from svyaz_published import Outcome, Row

COLOURS = {"reproduced": "green", "corrected": "cyan", "not reproducible": "yellow", "differs": "bold red"}


LISTED = ("Library", 52, "Compute again what was published about them, with a verdict for each row.")


@click.command(
    epilog=examples(
        "svyaz reproduce",
        "svyaz reproduce sleigh inverse-cart",
        "svyaz reproduce ball-and-beam --out figures",
        "svyaz reproduce --json reproduced.json",
    )
)
@click.argument("names", metavar="[NAME …]", nargs=-1)
@option("--out", "Also draw the published figures there, where svyaz can draw them.", metavar="FOLDER")
@option("--json")
def command(names: tuple[str, ...], out: str | None, json_file: str | None) -> None:
    """Compute again what was published about the models NAME (all, unless some are named).

    Each row is reproduced, corrected (the printed formula is wrong, the one in use is not; see the errata), or not
    reproducible (what is missing is said). Exit code 1 when a row that should be reproduced is not.
    """
    from svyaz import __version__
    from svyaz_published import draw_figures, drawable, published, reproduce, subjects

    known = subjects()
    for name in names:
        if name not in known:
            raise click.UsageError(f"nothing was published about '{name}'; there are {', '.join(known)}.")
    if out is not None and names and not any(name in drawable() for name in names):
        raise click.UsageError(f"figures are drawn of {', '.join(drawable())} only.")
    if json_file not in (None, "-"):
        writable(json_file)
    folder = None if out is None else writable_folder(out)
    rows = published(names)
    pictures = []
    with progress_bar("count, bar, {task.description}", total=len(rows)) as tell:
        outcomes = []
        for row in rows:
            if tell is not None:
                tell(advance=1, description=f"{row.model}: {row.what}")
            outcomes.append(reproduce(row))
        if folder is not None:
            pictures = draw_figures(names, folder, None if tell is None else lambda name: tell(description=name))
    counts = {verdict: sum(o.verdict == verdict for o in outcomes) for verdict in COLOURS}
    result: Record = {"svyaz": __version__, "counts": counts, "rows": [o.as_json() for o in outcomes]}
    if pictures:
        result["figures"] = [str(path) for path in pictures]
    write_json(result, json_file)
    if json_file != "-":
        _show(outcomes, counts)
        if pictures:
            drawn = sum(path.suffix == ".png" for path in pictures)
            click.echo(f"{drawn} figures in {folder}")
    wrong = [o for o in outcomes if not o.expected]
    if wrong:
        told = "; ".join(f"{o.row.model}: {o.row.what}" for o in wrong)
        raise NegativeAnswer(f"not as published: {told}")


def _show(outcomes: Sequence[Outcome], counts: dict[str, int]) -> None:
    page = Page()
    for model in dict.fromkeys(o.row.model for o in outcomes):
        rows = [
            (o.row.what, o.row.source, _stated_value(o.row), _own_value(o), (_verdict(o), COLOURS[o.verdict]))
            for o in outcomes
            if o.row.model == model
        ]
        page.table(model, ("what", "source", "published", "computed", "verdict"), rows)
    page.say(", ".join(f"{count} {verdict}" for verdict, count in counts.items() if count))


def _stated_value(row: Row) -> str:
    return row.text or ", ".join(_number(x) for x in row.printed)


def _own_value(outcome: Outcome) -> str:
    if outcome.row.check:
        printed, corrected = outcome.computed
        return f"error {_number(printed)} as printed, {_number(corrected)} as corrected"
    return ", ".join(_number(x) for x in outcome.computed)


def _verdict(outcome: Outcome) -> str:
    if outcome.verdict == "corrected":
        return f"{outcome.verdict} ({outcome.row.erratum})"
    if outcome.verdict == "not reproducible":
        return f"{outcome.verdict}: {outcome.row.missing}"
    return outcome.verdict


def _number(value: float | str) -> str:
    return value if isinstance(value, str) else f"{value:.7g}"
