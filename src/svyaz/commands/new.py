"""``svyaz new FILE``: a commented model file to begin with, from a template or from answers."""

from __future__ import annotations

import re
from pathlib import Path

import click

from svyaz.commands.common import examples, write_text

LISTED = ("Library", 50, "Write a commented model file to begin with.")

KINDS = ("energies", "constraint", "bodies", "control", "equations")


@click.command(
    epilog=examples(
        "svyaz new pendulum.toml",
        "svyaz new rod.toml --kind constraint",
        "svyaz new arm.toml --kind bodies",
        "svyaz new mine.toml --ask",
    )
)
@click.argument("file", metavar="[FILE]", required=False, default="model.toml")
@click.option(
    "--kind",
    type=click.Choice(KINDS),
    default=KINDS[0],
    show_default=True,
    help="energies: coordinates and energies; constraint: tied coordinates; bodies: a tree; control: inputs; equations: rates.",
)
@click.option("--ask", is_flag=True, help="Ask for the name, the coordinates, the energies and the values.")
def command(file: str, kind: str, ask: bool) -> None:
    """Write a model file with a word on each part, to be changed into your own; model.toml unless a FILE is named.

    A file that is there already is never overwritten.
    """
    from svyaz import library

    path = Path(file if Path(file).suffix else f"{file}.toml")
    if path.exists():
        raise click.UsageError(f"there is a file '{path}' already; name another one.")
    text = _ask(path.stem) if ask else _template(kind, path.stem)
    library.loads(text, str(path))  # what cannot be read is told, and not written
    write_text(text, str(path))
    click.echo(f"wrote {path}; see it move: svyaz report {path}")


def _template(kind: str, name: str) -> str:
    from svyaz.gallery import template

    return template(kind).replace("NAME", name.replace("\\", "").replace('"', ""), 1)


def _ask(name: str) -> str:
    """A model from answers; each is read at once, and asked for again where it cannot be read."""
    from svyaz.model import to_toml

    words: dict[str, object] = {"name": click.prompt("Name", default=name)}
    coordinates = [part.strip() for part in click.prompt("Coordinates, separated by commas", default="u").split(",")]
    words["coordinates"] = coordinates
    moving = {*coordinates, *(f"{q}'" for q in coordinates), "t"}
    unknown: dict[str, None] = {}
    for key, example in (("kinetic", f"m/2*{coordinates[0]}'^2"), ("potential", "0")):
        found, words[key] = _formula(f"{key.capitalize()} energy", example)
        unknown |= dict.fromkeys(sorted(found - moving))
    parameters = {name: click.prompt(f"Value of {name}", type=float, default=1.0) for name in unknown}
    words["parameters"] = parameters
    words["initial"] = {q: click.prompt(f"{q} at the start", type=float, default=0.1) for q in coordinates}
    words["run"] = {"until": click.prompt("How long, in seconds", type=float, default=10.0)}
    return to_toml({key: value for key, value in words.items() if value != {}})


def _formula(what: str, example: str) -> tuple[set[str], str]:
    """The names in an expression in which every name may stand, and its text."""
    import symengine as se

    from svyaz.expr import RESERVED, ModelError, Scope, names_in, parse, start_of

    while True:
        text = click.prompt(what, default=example)
        words = {word: se.Symbol(word) for word in re.findall(r"[^\W\d]\w*", text) if word not in RESERVED}
        rates = {word: se.Symbol(f"{word}'") for word in words}
        try:
            return names_in(parse(text, Scope(symbols=words, derivatives=rates), start_of(text))), text
        except ModelError as error:
            click.echo(str(error), err=True)
