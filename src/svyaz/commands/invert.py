"""``svyaz invert MODEL``: from a velocity field to a Lagrange–Rayleigh system in which it attracts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from svyaz.commands.common import ModelArgument, NegativeAnswer, json_text, write_json, write_text
from svyaz.commands.options import format_option, model_command, option

if TYPE_CHECKING:
    from svyaz.synthesis import FieldFamily, Inverse


LISTED = ("Write equations", 14, "From a velocity field to a mechanical system in which it attracts.")


@model_command(
    "svyaz invert inverse-cart --with given=field",
    "svyaz invert inverse-cart --with given=field --format python --out cart.py",
    "svyaz invert inverse-cart --with given=field --method euler --step 0.001 --set gain=100",
    "svyaz invert my-field.toml --json inverse.json",
)
@option("--method", "Method of integration whose bound on the step is wanted.")
@option("--step", "Its step.")
@option("--until", "How far the wanted motion is looked at.", metavar=None)
@format_option("model")
@option("--out")
@option("--json")
def command(
    model: ModelArgument,
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
    from svyaz.show import as_json
    from svyaz.synthesis import family, invert, is_family

    system = model.load(out, json_file)
    if is_family(system):
        _show_family(family(system), output_format, out, json_file)
        return
    found = invert(system, method=method, step=step, until=until)
    text = _text(found, output_format, out)
    if json_file is not None:
        write_json(as_json(found), json_file)
    if json_file != "-":
        write_text(text, out)
    if found.reasons:
        raise NegativeAnswer("\n".join(found.reasons))


def _text(found: Inverse, output_format: str, out: str | None) -> str:
    from svyaz.program import export
    from svyaz.show import inverse_latex
    from svyaz.synthesis import inverse_model, inverse_program

    if output_format == "text":
        return _page(found)
    if output_format == "json":
        return _json(found)
    if output_format == "latex":
        return inverse_latex(found)
    if output_format == "model":
        return inverse_model(found)
    return export(inverse_program(found), output_format, out)


def _json(found: Inverse | FieldFamily) -> str:
    from svyaz.show import as_json

    return json_text(as_json(found))


def _show_family(found: FieldFamily, output_format: str, out: str | None, json_file: str | None) -> None:
    """The fields that the constraints leave; code and formulas need the free functions."""
    from svyaz.expr import to_text
    from svyaz.show import as_json

    if output_format not in ("text", "json"):
        needed = ", ".join(found.names)
        message = f"--format {output_format} needs one field: give {needed} in [free] as functions of the coordinates"
        raise click.UsageError(message)
    lines = [f"{found.system.name}: all fields that satisfy the constraints", ""]
    lines += [f"  {q}' = {to_text(v)}" for q, v in found.fields.items()]
    lines += ["", f"  L = {to_text(found.lagrangian)}"]
    lines += ["" if found.rayleigh is None else f"  D = {to_text(found.rayleigh)}", ""]
    lines += [f"free functions of the coordinates: {', '.join(found.names)}; give them in [free] to choose a field"]
    if json_file is not None:
        write_json(as_json(found), json_file)
    if json_file != "-":
        write_text("\n".join(lines) + "\n" if output_format == "text" else _json(found), out)


def _page(found: Inverse) -> str:
    from svyaz.expr import to_text
    from svyaz.forms import lagrangian

    system = found.system
    lines = [system.name, ""]
    lines += [f"  {q}' = {to_text(v)}" for q, v in found.field.items()]
    lines += ["", f"  L = {to_text(lagrangian(system))}"]
    if found.rayleigh is None:
        lines += [f"  {found.without_rayleigh}:"]
        lines += [f"  Q_{q} = {to_text(force)}" for q, force in system.forces.items()]
    else:
        lines += [f"  D = {to_text(found.rayleigh)}"]
    lines += [""]
    lines += [f"  {q}'' = {to_text(a)}" for q, a in found.accelerations.items()]
    lines += ["", "  gains K of h = q' - v:"]
    lines += ["    " + ",  ".join(map(to_text, row)) for row in found.gains]
    low, high = found.roots.real.min(), found.roots.real.max()
    lines += ["", f"  along the wanted motion the roots of K have real parts from {low:.6g} to {high:.6g}"]
    if found.approach is not None:
        lines.append(f"  {found.approach.text}")
    if found.repels:
        lines.append(f"  h' = K h: the deviation grows {found.repels} the wanted motion")
    if found.positive_definite:
        near = " near the field" if found.nonlinear else ""
        lines.append(
            f"  d + sym dv/dq is positive definite{near}: the deviation decays at least as exp(-{found.decay_rate:.6g} t)"
        )
    if found.step is not None and found.stable:
        lines.append(f"  {found.method} keeps it attractive up to the step {found.step_limit:.4g}")
    if found.euler_limit > 0.0 and (found.method != "euler" or found.step is None):
        lines.append(f"  Euler's method would keep it attractive up to the step {found.euler_limit:.4g}")
    return "\n".join(lines) + "\n"
