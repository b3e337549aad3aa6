"""``svyaz balance TREE``: conditions on the mass distribution that make the inertia matrix constant."""

from __future__ import annotations

import click

from svyaz.commands.common import ModelArgument, NegativeAnswer, json_text, write_json, write_text
from svyaz.commands.options import model_command, option

LISTED = ("Write equations", 13, "Find the mass distributions that make its inertia matrix constant.")


@model_command(
    "svyaz balance two-armed-spatial",
    "svyaz balance three-link-arm --out balanced-arm.toml",
    "svyaz balance scara --format latex",
    "svyaz balance my-robot.toml --json conditions.json",
)
@option(
    "--format",
    "What to print.",
    to="output_format",
    type=click.Choice(["text", "latex", "json"]),
    default="text",
    show_default=True,
)
@option("--out", "Write the model with balanced masses to FILE.")
@option("--json")
def command(model: ModelArgument, output_format: str, out: str | None, json_file: str | None) -> None:
    """Find the mass distributions for which the inertia matrix of a tree does not depend on the position.

    The conditions are linear in masses, first moments and inertias, named by body, none of them superfluous, and proved on
    numbers both ways. Lengths with names stand for any lengths other than zero. Exit code 1 when no bodies can satisfy them.
    """
    from svyaz.model import to_toml
    from svyaz.show import as_json, balance_latex, balance_text
    from svyaz.synthesis import Infeasible, balance_tree

    found = balance_tree(model.load(out, json_file))
    if json_file is not None:
        write_json(as_json(found), json_file)
    if json_file != "-":
        written = {
            "text": lambda: balance_text(found),
            "latex": lambda: balance_latex(found),
            "json": lambda: json_text(as_json(found)),
        }
        write_text(written[output_format](), None)
    if not found.proof.holds:
        raise NegativeAnswer("the numbers do not confirm the conditions: the lengths differ too much in size")
    if isinstance(found.masses, Infeasible):
        raise NegativeAnswer(found.masses.reason)
    if out is not None:
        write_text(to_toml(found.balanced_words()), out)
