"""``svyaz gallery``: the models that come with svyaz."""

from __future__ import annotations

import click

from svyaz.commands.common import ModelName, NameAndValue, examples, write_text
from svyaz.commands.terminal import Page

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
@click.argument("name", type=ModelName(), required=False)
@click.option("choices", "--with", metavar="NAME=CHOICE", type=NameAndValue(), multiple=True, help="Choose a variant.")
@click.option("--sequence", is_flag=True, help="The shortest sequence found for the inertia matrix, of trees.")
@click.option("--out", metavar="FILE", help="Write the model file instead of printing it.")
def command(name: str | None, choices: tuple[tuple[str, str], ...], sequence: bool, out: str | None) -> None:
    """List the models of the literature, or print the model file of one of them, to start from."""
    from svyaz import gallery

    if name is None:
        _list()
        return
    text = gallery.find(name, dict(choices))
    if text is not None and sequence:
        text = gallery.sequence(name)
        if text is None:
            raise click.UsageError(f"no sequence is kept for '{name}'; 'svyaz inertia' writes one for any tree.")
    if text is None:
        from svyaz.commands.common import unknown_model

        raise unknown_model(name, is_path=False)
    write_text(text, out)


def _list() -> None:
    from svyaz import gallery
    from svyaz.model import read_text

    rows = []
    for name in gallery.names():
        example = name.replace(":N", ":3")
        system = read_text(gallery.find(example) or "", example)
        offered = gallery.variants_of(name) or gallery.open_choices_of(name)
        variants = "; ".join(f"{what}={'|'.join(choices)}" for what, choices in offered.items())
        notes = str(system.words.get("notes", "")).replace("\n", " ")
        rows.append((name, notes or system.name, variants))
    Page().table("", ("name", "what it is", "variants"), rows)
