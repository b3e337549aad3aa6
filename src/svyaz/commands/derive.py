"""``svyaz derive MODEL``: the equations of motion, to be read or to be run."""

from __future__ import annotations

import click

from svyaz.commands.common import (
    examples,
    json_option,
    load_model,
    model_options,
    warn,
    writable_outputs,
    write_json,
    write_text,
)

FORMATS = ("text", "latex", "json", "python", "c", "matlab", "julia", "maple")


@click.command(
    epilog=examples(
        "svyaz derive pendulum:2",
        "svyaz derive pendulum-xy --format latex",
        "svyaz derive sling --format c --out sling.c",
        "svyaz derive my-model.toml --form multipliers --json equations.json",
    )
)
@model_options
@click.option("--form", metavar="NAME", help="The form of the equations; the model's own unless given.")
@click.option(
    "output_format", "--format", type=click.Choice(FORMATS), default="text", show_default=True, help="What to write."
)
@click.option("--out", metavar="FILE", help="Write to FILE instead of the terminal.")
@json_option
def command(
    model: str,
    settings: tuple[tuple[str, str], ...],
    choices: tuple[tuple[str, str], ...],
    form: str | None,
    output_format: str,
    out: str | None,
    json_file: str | None,
) -> None:
    """Write the equations of motion of MODEL.

    They read M q'' + bias = G' lambda (forces on the right), with the constraints differentiated below them; the text
    is collected by accelerations and velocities. Programming languages get the mass matrix, the bias, the accelerations,
    the multipliers and the rates of all states as code with as few operations as were found.
    """
    import json

    from svyaz.forms.writing import as_json, latex_document

    system = load_model(model, settings, choices)
    warn(system)
    writable_outputs(out, json_file)
    equations = system.derive(form)
    if output_format == "text":
        text = _page(equations)
    elif output_format == "latex":
        text = latex_document(equations)
    elif output_format == "json":
        text = json.dumps(as_json(equations), indent=2, ensure_ascii=False) + "\n"
    else:
        text = _code(equations, output_format)
    if json_file is not None:
        write_json(as_json(equations), json_file)
    if json_file != "-":
        write_text(text, out)


def _page(equations: object) -> str:
    """Name, equations, the meaning of the multipliers, and the number of operations."""
    from svyaz.forms.equations import Equations
    from svyaz.forms.programs import terms_program
    from svyaz.forms.writing import multiplier_signs, text_lines
    from svyaz.program.counts import operations

    assert isinstance(equations, Equations)
    lines = [f"{equations.system.name}, form {equations.form}", ""]
    lines += [f"  {line}" for line in text_lines(equations)]
    if equations.deviations:
        lines += ["", "multipliers (the constraint forces are +G' lambda):"]
        signs = multiplier_signs(equations)
        lines += [f"  {s}: {d.name}, {d.constraint.text}" for s, d in zip(signs, equations.deviations, strict=True)]
    lines += ["", *equations.notes] if equations.notes else []
    counts = operations(terms_program(equations))
    told = ", ".join(f"{count} {kind}" for kind, count in counts.items() if count)
    lines += ["", f"operations of the step part: {told or 'none'}"]
    return "\n".join(lines) + "\n"


def _code(equations: object, language: str) -> str:
    from svyaz.forms.equations import Equations
    from svyaz.forms.programs import export_program
    from svyaz.program import export

    assert isinstance(equations, Equations)
    text: str = export(export_program(equations), language)
    return text
