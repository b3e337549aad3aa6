"""``svyaz derive MODEL``: the equations of motion, to be read or to be run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Unpack

import click

from svyaz.commands.common import ModelArgument, json_text, write_json, write_text
from svyaz.commands.hints import with_flags
from svyaz.commands.options import STEP, format_option, model_command, option, options
from svyaz.commands.terminal import plain
from svyaz.motion import ExportOptions

if TYPE_CHECKING:
    from svyaz.json_types import Record
    from svyaz.model import System
    from svyaz.motion import Stabilize
    from svyaz.stabilise import Stabilised

PAGES = ("text", "latex", "json")

LISTED = ("Write equations", 11, "Write the equations of motion as text, LaTeX, JSON or code.")


@model_command(
    "svyaz derive pendulum:2",
    "svyaz derive pendulum-xy --format latex",
    "svyaz derive sling --format c --out sling.c",
    "svyaz derive my-model.toml --form multipliers --json equations.json",
    "svyaz derive sleigh --stabilize 10",
    "svyaz derive sleigh --stabilize 10 --program --format c --out sleigh.c",
)
@option("--form")
@format_option()
@option("--parts", "The bias of a tree in parts: centrifugal, Coriolis, gravity, gyroscopic.")
@option("--reactions", "Add the reactions of the constraints that the form has eliminated.")
@option("--jacobian", "Add the derivatives of the rates by the states to code.")
@option("--stabilize")
@option("--program", "Write a whole program, which makes a run and writes it as CSV.", to="complete", is_flag=True)
@options(*STEP)
@option("--out")
@option("--json")
def command(
    model: ModelArgument,
    form: str | None,
    parts: bool,
    stabilize: Stabilize | None,
    output_format: str,
    out: str | None,
    json_file: str | None,
    **given: Unpack[ExportOptions],
) -> None:
    """Write the equations of motion of MODEL.

    They read M q'' + bias = G' lambda (forces on the right), with the constraints differentiated below them; the text
    is collected by accelerations and velocities. Programming languages get the mass matrix, the bias, the accelerations,
    the multipliers and the rates of all states as code with as few operations as were found. Forms without multipliers
    leave the reactions of velocity constraints out; --reactions adds what gives them once the accelerations are known.
    Routh's form comes with the blocks of Lagrange's and Routh's functions: B, a_aa ... a_g, b_aa ... b_g, R0.

    With --stabilize the constraints contain their stabilising terms, with the gains as parameters: kappa, or alpha and beta,
    or with the names of constraints (kappa_NAME); auto chooses kappa as a run would. Without it the gains of [run] are left
    out, and a note says so. With --program (--format python, c, javascript, matlab, julia or maple) the text can be run as
    it stands; it does what [run] says, with the gains of --stabilize or [run].
    """
    _refuse_mixtures(output_format, given, parts=parts, gains=stabilize is not None)
    system = model.load(out, json_file)
    if parts:
        _write_parts(system, output_format, out, json_file)
        return
    from svyaz.motion import gains_left_out, program_text, with_gains

    program, reactions = given["complete"], given["reactions"]
    alone = stabilize is None and not program
    method, step, until = given["method"], given["step"], given["until"]
    found = with_gains(system, form, stabilize="off" if alone else stabilize, method=method, step=step, until=until)
    left = gains_left_out(found.equations) if alone else ()
    for note in left:
        click.echo(plain(f"note: {with_flags(note)}"), err=True)
    if output_format in PAGES:
        text = _page(found, output_format, left, reactions=reactions, gains=stabilize is not None)
    else:
        text = program_text(found, output_format, file=out, **given)
        _tell_of_code(found)
        if program:
            _tell_of_program(found)
    if json_file is not None:
        write_json(_record(found, left, blocks=True, reactions=reactions, gains=stabilize is not None), json_file)
    if json_file != "-":
        write_text(text, out)


def _tell_of_code(found: Stabilised) -> None:
    """Notes on the equations; without gains only on constraints that follow from others: their rows are not in code."""
    from svyaz.motion import runnable

    notes = found.equations.notes
    if not found.terms:
        written = runnable(found.equations)
        notes = written.notes[:1] if written.spare else ()
    for note in notes:
        click.echo(plain(f"note: {note}"), err=True)


def _tell_of_program(found: Stabilised) -> None:
    """Notes on what a run of svyaz looks for and a written program does not."""
    from svyaz.forms import jumps

    if jumps(found.equations):
        click.echo(
            "note: the rates jump: this program steps over the jumps, with errors of the first order in its step and "
            "without holding what comes to rest; 'svyaz simulate' locates them",
            err=True,
        )
    if found.equations.system.limits:
        names = ", ".join(limit.name for limit in found.equations.system.limits)
        click.echo(f"note: this program runs on past the limits of the model ({names})", err=True)


def _refuse_mixtures(output_format: str, given: ExportOptions, *, parts: bool, gains: bool) -> None:
    """Options that would say nothing beside the others."""
    run = {"--program": given["complete"]} | {f"--{name}": given[name] for name in ("method", "step", "until", "every")}
    asked, jacobian = [flag for flag, value in run.items() if value not in (None, False)], given["jacobian"]
    if parts and (asked or gains or jacobian):
        raise click.UsageError("--parts tells of the bias of a tree: it has neither gains, a Jacobian nor a run.")
    if output_format in PAGES and (jacobian or "--program" in asked):
        what = "--jacobian" if jacobian else "--program"
        raise click.UsageError(f"{what} is written in a programming language: choose one by --format.")
    if asked and "--program" not in asked and not gains:
        raise click.UsageError(f"{asked[0]} is of a run: add --program, or --stabilize auto, whose gain it decides.")


def _page(found: Stabilised, output_format: str, left: tuple[str, ...], *, reactions: bool, gains: bool) -> str:
    """The equations to be read."""
    from svyaz.show import block_latex, block_page, equations_page, gain_page, latex_document, reaction_page

    equations = found.equations
    if output_format == "json":
        return json_text(_record(found, left, blocks=False, reactions=reactions, gains=gains))
    if output_format == "latex":
        return latex_document(equations) + block_latex(equations)
    recovered = reaction_page(equations) if reactions else ()
    return equations_page(equations, [*block_page(equations), *recovered, *gain_page(found)])


def _record(found: Stabilised, left: tuple[str, ...], *, blocks: bool, reactions: bool, gains: bool) -> Record:
    """The equations with what was asked for beside them, and notes on what was ``left`` out."""
    from svyaz.show import as_json, block_record, gain_record, reaction_record

    equations = found.equations
    more: Record = block_record(equations) if blocks else {}
    more |= gain_record(found) if gains else {}
    more["notes"] = [*equations.notes, *left]
    return as_json(equations) | more | (reaction_record(equations) if reactions else {})


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
