"""``svyaz report MODEL``: equations, motion, pictures and numbers in one folder."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Unpack

import click

from svyaz.commands.common import ModelArgument, NegativeAnswer, time_bar, warn, writable_folder, write_json
from svyaz.commands.options import RUN, model_command, option, options
from svyaz.commands.running import not_finished, tables
from svyaz.commands.terminal import plain
from svyaz.motion import ModelOptions, run_words

if TYPE_CHECKING:
    from pathlib import Path

    from svyaz.motion import Motion

LONGEST_SHOWN = 12
"""Systems with more equations than this show only the first of them on the terminal."""


class ReportOptions(ModelOptions):
    """The options of a run and how it is made."""

    beyond: bool


LISTED = ("Look", 41, "Derive, simulate and show: a self-contained page, pictures and tables.")


@model_command(
    "svyaz report sling",
    "svyaz report pendulum:4 --until 20 --out out/pendulum",
    "svyaz report sleigh --format ipynb --format pdf",
    "svyaz report my-model.toml",
)
@options(*RUN, "--beyond")
@option("--out", "Where to write; out/NAME unless given.", metavar="FOLDER")
@option(
    "--format",
    "Beside the page: a notebook, or a PDF (printed by the Chromium, Chrome or Edge that is installed); repeatable.",
    to="forms",
    type=click.Choice(("html", "ipynb", "pdf")),
    multiple=True,
)
def command(model: ModelArgument, out: str | None, forms: tuple[str, ...], **given: Unpack[ReportOptions]) -> None:
    """Derive, simulate and show MODEL: report.html (self-contained), pictures, CSV and JSON in one folder."""
    from pathlib import Path

    system, laws = model.load_with_laws()
    warn(system)
    folder = writable_folder(out or Path("out") / Path(model.name).stem.replace(":", "-"))
    from svyaz.forms import derive
    from svyaz.show import unicode_lines

    equations = derive(system, given["form"])
    click.echo(plain(f"{system.name}, form {equations.form}:\n"))
    written = unicode_lines(equations)
    for line in written[:LONGEST_SHOWN]:
        click.echo(plain(f"  {line}\n"))
    if len(written) > LONGEST_SHOWN:
        click.echo(f"  … and {len(written) - LONGEST_SHOWN} more\n")
    from svyaz.motion import simulate
    from svyaz.show import as_json
    from svyaz.stabilise import options_for

    until = options_for(system, run_words(given)).until
    with time_bar(system.name, until) as progress:
        motion = simulate(system, inputs=laws or None, progress=progress, **given)
    tables(motion)
    from svyaz.show import write_report

    motion.to_csv(folder / "motion.csv")
    write_json(as_json(motion), str(folder / "result.json"))
    page = write_report(motion, folder)
    _write_forms(motion, page, forms, {**given, **({"inputs": laws} if laws else {})})
    click.echo(f"\nReport: {page}")
    for entry in sorted(folder.iterdir()):
        if entry != page and entry.is_file():
            click.echo(f"        {entry}")
    if not motion.finished:
        raise not_finished(motion)


def _write_forms(motion: Motion, page: Path, forms: tuple[str, ...], options: Mapping[str, object]) -> None:
    """The other forms that were asked for."""
    if "ipynb" in forms:
        from svyaz.show import write_notebook

        write_notebook(motion, page.with_suffix(".ipynb"), options)
    if "pdf" in forms:
        from svyaz.show import NoBrowser, write_pdf

        try:
            write_pdf(page, page.with_suffix(".pdf"))
        except NoBrowser as reason:
            raise NegativeAnswer(f"the page is written, the PDF is not: {reason}") from reason
