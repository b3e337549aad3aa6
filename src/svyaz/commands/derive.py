"""``svyaz derive MODEL``: the equations of motion, to be read or to be run."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from svyaz.commands.common import (
    examples,
    form_option,
    format_option,
    json_option,
    json_text,
    load_model,
    model_options,
    warn,
    writable_outputs,
    write_json,
    write_text,
)

if TYPE_CHECKING:
    from svyaz.forms import Equations
    from svyaz.model import System

LISTED = ("Write equations", 11, "Write the equations of motion as text, LaTeX, JSON or code.")


@click.command(
    epilog=examples(
        "svyaz derive pendulum:2",
        "svyaz derive pendulum-xy --format latex",
        "svyaz derive sling --format c --out sling.c",
        "svyaz derive my-model.toml --form multipliers --json equations.json",
    )
)
@model_options
@form_option
@format_option()
@click.option("--parts", is_flag=True, help="The bias of a tree in parts: centrifugal, Coriolis, gravity, gyroscopic.")
@click.option("--reactions", is_flag=True, help="Add the reactions of the constraints that the form has eliminated.")
@click.option("--out", metavar="FILE", help="Write to FILE instead of the terminal.")
@json_option
def command(
    model: str,
    settings: tuple[tuple[str, str], ...],
    choices: tuple[tuple[str, str], ...],
    form: str | None,
    output_format: str,
    parts: bool,
    reactions: bool,
    out: str | None,
    json_file: str | None,
) -> None:
    """Write the equations of motion of MODEL.

    They read M q'' + bias = G' lambda (forces on the right), with the constraints differentiated below them; the text
    is collected by accelerations and velocities. Programming languages get the mass matrix, the bias, the accelerations,
    the multipliers and the rates of all states as code with as few operations as were found. Forms without multipliers
    leave the reactions of velocity constraints out; --reactions adds what gives them once the accelerations are known.
    Routh's form comes with the blocks of Lagrange's and Routh's functions: B, a_aa ... a_g, b_aa ... b_g, R0.
    """
    from svyaz.forms import derive
    from svyaz.show import (
        as_json,
        block_latex,
        block_page,
        block_record,
        equations_page,
        latex_document,
        reaction_page,
        reaction_record,
    )

    system = load_model(model, settings, choices)
    warn(system)
    writable_outputs(out, json_file)
    if parts:
        _write_parts(system, output_format, out, json_file)
        return
    equations = derive(system, form)
    recovered = reaction_record(equations) if reactions else {}
    if output_format == "text":
        text = equations_page(equations, [*block_page(equations), *(reaction_page(equations) if reactions else ())])
    elif output_format == "latex":
        text = latex_document(equations) + block_latex(equations)
    elif output_format == "json":
        text = json_text(as_json(equations) | recovered)
    else:
        text = _code(equations, output_format, out, reactions=reactions)
    if json_file is not None:
        write_json(as_json(equations) | block_record(equations) | recovered, json_file)
    if json_file != "-":
        write_text(text, out)


def _write_parts(system: System, output_format: str, out: str | None, json_file: str | None) -> None:
    """The parts of the bias of a tree; code gives all of them as outputs."""
    from svyaz.forms import bias_parts
    from svyaz.program import export
    from svyaz.show import as_json, parts_latex, parts_text

    found = bias_parts(system)
    if json_file is not None:
        write_json(as_json(found), json_file)
    if json_file == "-":
        return
    if output_format == "text":
        text = parts_text(found)
    elif output_format == "latex":
        text = parts_latex(found)
    elif output_format == "json":
        text = json_text(as_json(found))
    else:
        text = export(found.program(), output_format, out)
    write_text(text, out)


def _code(equations: Equations, language: str, out: str | None, *, reactions: bool) -> str:
    from svyaz.forms import export_program, export_with_reactions
    from svyaz.program import export

    return export(export_with_reactions(equations) if reactions else export_program(equations), language, out)
