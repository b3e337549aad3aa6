"""``svyaz inertia TREE``: the inertia matrix of a tree of bodies in few operations."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypedDict, Unpack

import click

from svyaz.commands.common import ModelArgument, json_text, write_json, write_text
from svyaz.commands.options import TextValue, format_option, model_command, option, read_pairs
from svyaz.commands.values import value_of

if TYPE_CHECKING:
    from svyaz.expr import Expression
    from svyaz.forms import Inertia
    from svyaz.json_types import Record
    from svyaz.model import System


LISTED = ("Write equations", 12, "Write out the inertia matrix of a tree of bodies in few operations.")


class InertiaOptions(TypedDict):
    """How the matrix is written."""

    minimise: str
    double_by_sum: bool
    base_parameters: bool
    explicit: bool


@model_command(
    "svyaz inertia three-link-arm",
    "svyaz inertia puma-560 --format c --out puma.c",
    "svyaz inertia planar-3r --at q2=0.5,q3=-0.2 --json -",
    "svyaz inertia stanford --minimise time",
)
@format_option()
@option("--at", "Evaluate there; what is left out is 0.", type=TextValue("position", read_pairs), metavar="q1=0.1,…")
@option(
    "--minimise",
    "Fewest additions and multiplications, sines aside; or the fastest native code (a sine weighs 5, a sum of angles 1).",
    type=click.Choice(["operations", "time"]),
    default="operations",
    show_default=True,
)
@option("--double-by-sum", "Write 2x as x + x.")
@option("--base-parameters", "List the groups into which masses and inertias were put together.")
@option("--explicit", "Write each entry as one formula that shows the physical parameters.")
@option("--out")
@option("--json")
def command(
    model: ModelArgument,
    output_format: str,
    at: dict[str, str] | None,
    out: str | None,
    json_file: str | None,
    **given: Unpack[InertiaOptions],
) -> None:
    """Write out the inertia matrix of a tree of bodies.

    Named constants first, computed once from the parameters; then the sequence for each position, in the order of
    evaluation; the matrix; and how many operations the sequence takes, counted for symbolic parameters.
    """
    from svyaz.program import export
    from svyaz.show import base_parameters_text, explicit_latex, explicit_text, inertia_latex, inertia_text

    system = model.load(out, json_file)
    inertia = _inertia(system, given["minimise"], given["double_by_sum"])
    values = None if at is None else _values(system, inertia, at)
    elements = _explicit(system) if given["explicit"] else None
    if json_file is not None:
        write_json(_result(system, inertia, values, elements), json_file)
    if json_file == "-":
        return
    if output_format == "json":
        text = json_text(_result(system, inertia, values, elements))
    elif output_format == "latex":
        text = inertia_latex(inertia) if elements is None else explicit_latex(elements, system)
    elif output_format == "text":
        text = inertia_text(inertia, system.name) if elements is None else explicit_text(elements, system)
        text += base_parameters_text(inertia) if given["base_parameters"] else ""
        text += "" if values is None else _table(values, at or {})
    else:
        text = export(inertia.program, output_format, out)
    write_text(text, out)


def _inertia(system: System, minimise: str, double_by_sum: bool) -> Inertia:
    from dataclasses import replace

    from svyaz.expr import ModelError, Problem
    from svyaz.forms import write_inertia
    from svyaz.model import constant_tree
    from svyaz.program import doubles_as_sums

    if not system.bodies:
        message = f"'{system.name}' is not a tree of bodies: it has no [[body]] tables"
        raise ModelError([Problem(message, hint="'svyaz derive' writes the equations of any model")])
    inertia = write_inertia(constant_tree(system, "this matrix"), tuple(system.parameters), minimise)
    return replace(inertia, program=doubles_as_sums(inertia.program)) if double_by_sum else inertia


def _values(system: System, inertia: Inertia, at: dict[str, str]) -> list[list[float]]:
    """The matrix at a position; values may be expressions of the parameters."""
    from math import hypot

    from svyaz.expr import ModelError, Problem
    from svyaz.forms import matrix_at
    from svyaz.model import nearest, tree_of

    tree = tree_of(system)
    unknown = [name for name in at if name not in tree.coordinates]
    if unknown:
        message = f"--at: there is no coordinate '{unknown[0]}'"
        raise ModelError([Problem(message, hint=nearest(unknown[0], tree.coordinates))])
    place = {q: value_of(at[q], system, f"--at {q}") if q in at else 0.0 for q in tree.coordinates}
    for body in (b for b in tree.bodies if b.quaternion):
        quaternion = body.quaternion
        if not any(e in at for e in quaternion):
            place[quaternion[0]] = 1.0
        if abs(hypot(*(place[e] for e in quaternion)) - 1.0) > 1e-6:
            message = f"--at: the quaternion {', '.join(quaternion)} of '{body.name}' has not the length 1"
            raise ModelError([Problem(message)])
    return matrix_at(inertia, system.parameters, place)


def _explicit(system: System) -> list[list[Expression]]:
    from svyaz.forms import explicit_inertia
    from svyaz.model import tree_of

    return explicit_inertia(tree_of(system))


def _result(
    system: System, inertia: Inertia, values: list[list[float]] | None, elements: list[list[Expression]] | None
) -> Record:
    from svyaz import __version__
    from svyaz.expr import to_text
    from svyaz.show import as_json

    result = {"svyaz": __version__, "model": system.name, **as_json(inertia)}
    result["parameters"] = dict(system.parameters)
    result["initial"] = dict(zip(system.states, system.initial_state(), strict=True))
    if elements is not None:
        order = [*system.parameters, *system.states]
        result["elements"] = [[to_text(entry, order) for entry in row] for row in elements]
    if values is not None:
        result["value"] = values
    return result


def _table(values: list[list[float]], at: dict[str, str]) -> str:
    where = ", ".join(f"{name} = {value}" for name, value in at.items())
    rows = ["  " + "  ".join(f"{entry:>13.6g}" for entry in row) for row in values]
    return "\n".join(["", f"at {where}, the others 0:", *rows, ""])
