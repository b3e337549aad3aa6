"""``svyaz invert MODEL``: from a velocity field to a Lagrange–Rayleigh system in which it attracts."""

from __future__ import annotations

from typing import Any

import click

from svyaz.commands.common import (
    NegativeAnswer,
    examples,
    json_option,
    load_model,
    model_options,
    warn,
    writable_outputs,
    write_json,
    write_text,
)
from svyaz.commands.derive import FORMATS

WRITTEN = (*FORMATS, "model")


@click.command(
    epilog=examples(
        "svyaz invert inverse-cart --with given=field",
        "svyaz invert inverse-cart --with given=field --format python --out cart.py",
        "svyaz invert inverse-cart --with given=field --method euler --step 0.001 --set gain=100",
        "svyaz invert my-field.toml --json inverse.json",
    )
)
@model_options
@click.option("--method", metavar="NAME", help="Method of integration whose bound on the step is wanted.")
@click.option("--step", type=float, help="Its step.")
@click.option("--until", type=float, help="How far the wanted motion is looked at.")
@click.option(
    "output_format", "--format", type=click.Choice(WRITTEN), default="text", show_default=True, help="What to write."
)
@click.option("--out", metavar="FILE", help="Write to FILE instead of the terminal.")
@json_option
def command(
    model: str,
    settings: tuple[tuple[str, str], ...],
    choices: tuple[tuple[str, str], ...],
    method: str | None,
    step: float | None,
    until: float | None,
    output_format: str,
    out: str | None,
    json_file: str | None,
) -> None:
    """Build a mechanical system for which the velocity field of MODEL attracts.

    MODEL has a [field] and a symmetric matrix `rayleigh`, or constraints and free functions in [free]; without [free] the
    family of fields that the constraints allow is shown. The code of --format python, c and others gives accelerations,
    deviations h = q' - v and gains K; --format model writes a model file of the system. Exit code 1 when the field is not
    shown to attract, or when the method makes it repelling with the given step.
    """
    from svyaz.synthesis import family, invert, is_family

    system = load_model(model, settings, choices)
    warn(system)
    writable_outputs(out, json_file)
    if is_family(system):
        _show_family(family(system), output_format, out, json_file)
        return
    found = invert(system, method=method, step=step, until=until)
    text = _written(found, output_format, out)
    if json_file is not None:
        write_json(found.as_json(), json_file)
    if json_file != "-":
        write_text(text, out)
    if found.reasons:
        raise NegativeAnswer("\n".join(found.reasons))


def _written(found: Any, output_format: str, out: str | None) -> str:
    from svyaz.program import export
    from svyaz.synthesis import inverse_latex, inverse_model, inverse_program

    if output_format == "text":
        return _page(found)
    if output_format == "json":
        return _json(found)
    if output_format == "latex":
        return inverse_latex(found)
    if output_format == "model":
        return inverse_model(found)
    text: str = export(inverse_program(found), output_format, out)
    return text


def _json(found: Any) -> str:
    import json

    return json.dumps(found.as_json(), indent=2, ensure_ascii=False) + "\n"


def _show_family(found: Any, output_format: str, out: str | None, json_file: str | None) -> None:
    """The fields that the constraints leave; code and formulas need the free functions."""
    if output_format not in ("text", "json"):
        needed = ", ".join(found.names)
        message = f"--format {output_format} needs one field: give {needed} in [free] as functions of the coordinates"
        raise click.UsageError(message)
    result = found.as_json()
    lines = [f"{result['model']}: all fields that satisfy the constraints", ""]
    lines += [f"  {q}' = {v}" for q, v in result["field"].items()]
    lines += ["", f"  L = {result['lagrangian']}", f"  D = {result['rayleigh']}", ""]
    lines += [f"free functions of the coordinates: {', '.join(found.names)}; give them in [free] to choose a field"]
    if json_file is not None:
        write_json(result, json_file)
    if json_file != "-":
        write_text("\n".join(lines) + "\n" if output_format == "text" else _json(found), out)


def _page(found: Any) -> str:
    result = found.as_json()
    lines = [result["model"], ""]
    lines += [f"  {q}' = {v}" for q, v in result["field"].items()]
    lines += ["", f"  L = {result['lagrangian']}", f"  D = {result['rayleigh']}", ""]
    lines += [f"  {q}'' = {a}" for q, a in result["accelerations"].items()]
    lines += ["", "  gains K of h = q' - v:"]
    lines += ["    " + ",  ".join(row) for row in result["gains"]]
    low, high = result["roots"]
    lines += ["", f"  along the wanted motion the roots of K have real parts from {low:.6g} to {high:.6g}"]
    if found.repels:
        lines.append(f"  h' = K h: the deviation grows {found.repels} the wanted motion")
    if found.positive_definite:
        lines.append(
            f"  d + sym dv/dq is positive definite: the deviation decays at least as exp(-{found.decay_rate:.6g} t)"
        )
    if found.step is not None and found.stable:
        lines.append(f"  {found.method} keeps it attractive up to the step {found.step_limit:.4g}")
    if found.euler_limit > 0.0 and (found.method != "euler" or found.step is None):
        lines.append(f"  Euler's method would keep it attractive up to the step {found.euler_limit:.4g}")
    return "\n".join(lines) + "\n"
