"""``svyaz derive MODEL``: the equations of motion, to be read or to be run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click

from svyaz.commands.common import (
    examples,
    form_option,
    format_option,
    json_option,
    load_model,
    model_options,
    warn,
    writable_outputs,
    write_json,
    write_text,
)

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
    """
    import json

    from svyaz.forms import as_json, latex_document

    system = load_model(model, settings, choices)
    warn(system)
    writable_outputs(out, json_file)
    if parts:
        _write_parts(system, output_format, out, json_file)
        return
    equations = system.derive(form)
    recovered = _recovered(equations) if reactions else {}
    if output_format == "text":
        text = _page(equations, recovered)
    elif output_format == "latex":
        text = latex_document(equations)
    elif output_format == "json":
        text = json.dumps(as_json(equations) | recovered, indent=2, ensure_ascii=False) + "\n"
    else:
        text = _code(equations, output_format, out, reactions=reactions)
    if json_file is not None:
        write_json(as_json(equations) | recovered, json_file)
    if json_file != "-":
        write_text(text, out)


def _write_parts(system: Any, output_format: str, out: str | None, json_file: str | None) -> None:
    """The parts of the bias of a tree; code gives all of them as outputs."""
    import json

    from svyaz.forms import bias_parts, parts_json, parts_latex, parts_text
    from svyaz.program import export

    found = bias_parts(system)
    if json_file is not None:
        write_json(parts_json(found), json_file)
    if json_file == "-":
        return
    if output_format == "text":
        text = parts_text(found)
    elif output_format == "latex":
        text = parts_latex(found)
    elif output_format == "json":
        text = json.dumps(parts_json(found), indent=2, ensure_ascii=False) + "\n"
    else:
        text = export(found.program(), output_format, out)
    write_text(text, out)


def _recovered(equations: Any) -> dict[str, Any]:
    """The entry ``reactions``: their names, their signs, and the equations that give them."""
    from svyaz.forms import reaction_signs, reactions_text

    if not equations.eliminated:
        return {"reactions": {}}
    signs = {name: str(sign) for name, sign in reaction_signs(equations).items()}
    return {"reactions": {"signs": signs, "equations": reactions_text(equations)}}


def _page(equations: object, recovered: Mapping[str, Any]) -> str:
    """Name, equations, the meaning of the multipliers, the reactions if asked for, and the number of operations."""
    from svyaz.expr import to_text
    from svyaz.forms import Equations, is_long, multiplier_signs, name_order, terms_program, text_lines
    from svyaz.program import operations

    assert isinstance(equations, Equations)
    lines = [f"{equations.system.name}, form {equations.form}", ""]
    lines += [f"  {line}" for line in text_lines(equations)]
    if equations.gibbs is not None and not is_long(equations):
        lines += ["", "from the Gibbs function (its terms with accelerations):"]
        lines += [f"  S = {to_text(equations.gibbs, name_order(equations))}"]
    if equations.pushing:
        lines += ["", "multipliers (the constraint forces are +G' lambda):"]
        signs = multiplier_signs(equations)
        lines += [f"  {signs[d.name]}: {d.name}, {d.constraint.text}" for d in equations.pushing]
    if recovered.get("reactions"):
        lines += ["", "reactions, once the accelerations are known:"]
        lines += [f"  {line}" for line in recovered["reactions"]["equations"]]
        lines += [f"  {sign}: {name}" for name, sign in recovered["reactions"]["signs"].items()]
    lines += ["", *equations.notes] if equations.notes else []
    counts = operations(terms_program(equations))
    told = ", ".join(f"{count} {kind}" for kind, count in counts.items() if count)
    lines += ["", f"operations of the step part: {told or 'none'}"]
    return "\n".join(lines) + "\n"


def _code(equations: object, language: str, out: str | None, *, reactions: bool) -> str:
    from svyaz.forms import Equations, export_program, export_with_reactions
    from svyaz.program import export

    assert isinstance(equations, Equations)
    program = export_with_reactions(equations) if reactions else export_program(equations)
    text: str = export(program, language, out)
    return text
