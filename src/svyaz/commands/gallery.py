"""``svyaz gallery``: the models that come with svyaz."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from svyaz.commands.common import examples, unknown_model, write_text
from svyaz.commands.options import MODEL_NAME, Pairs, option
from svyaz.commands.terminal import Page

if TYPE_CHECKING:
    from svyaz.gallery import Variants

LISTED = ("Library", 51, "List the models of the literature, or print one to start from.")


@click.command(
    epilog=examples(
        "svyaz gallery",
        "svyaz gallery sling",
        "svyaz gallery pendulum:4 --out chain.toml",
        "svyaz gallery random-tree:8 --with seed=3 --with branching=2",
        "svyaz gallery puma-560 --sequence",
    )
)
@click.argument("name", type=MODEL_NAME, required=False)
@option("--with", "Choose a variant.")
@option("--sequence", "The shortest sequence found for the inertia matrix, of trees.")
@option("--out", "Write the model file instead of printing it.")
def command(name: str | None, choices: Pairs, sequence: bool, out: str | None) -> None:
    """List the models of the literature, or print the model file of one of them, to start from."""
    from svyaz.gallery import find
    from svyaz.gallery import sequence as kept_sequence

    if name is None:
        _list()
        return
    text = find(name, dict(choices))
    if text is None:
        raise unknown_model(name)
    if sequence:
        text = kept_sequence(name)
        if text is None:
            raise click.UsageError(f"no sequence is kept for '{name}'; 'svyaz inertia' writes one for any tree.")
    write_text(text, out)
    if not out and not sequence:
        _tell_variants(name)


def _list() -> None:
    from svyaz.gallery import gallery

    rows = [(name, title, ", ".join(_choices(name))) for name, title in gallery().items()]
    page = Page()
    page.table("", ("name", "what it is", "to be chosen"), rows)
    page.line("'svyaz gallery NAME' prints a model and tells what can be chosen; 'svyaz report NAME' shows it moving.")


def _choices(name: str) -> Variants:
    from svyaz.gallery import open_choices_of, variants_of

    return variants_of(name) or open_choices_of(name)


def _tell_variants(name: str) -> None:
    """What can be chosen, beside the text and not in it."""
    for what, choices in _choices(name).items():
        click.echo(f"--with {what}={'|'.join(choices)}", err=True)
