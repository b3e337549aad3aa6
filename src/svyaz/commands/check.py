"""``svyaz check MODEL``: constraints, ranks, the initial state, and the verdict on the gains."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Unpack

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
)
from svyaz.commands.running import RunOptions, of_run, run_options
from svyaz.commands.terminal import Page

if TYPE_CHECKING:
    from svyaz.holding import GainReport
    from svyaz.model import System

LISTED = ("Move", 21, "Say what the constraints are and whether a run would hold them.")


@click.command(
    epilog=examples(
        "svyaz check sleigh",
        "svyaz check sleigh --method euler --step 0.001 --stabilize 2100",
        "svyaz check my-model.toml --tolerance 1e-4 --json check.json",
        "svyaz check pendulum-xy --method euler --step 0.01 --stabilize '{alpha = 20, beta = 100}' --plane plane.png",
    )
)
@model_options
@run_options
@click.option(
    "--plane", metavar="FILE", help="Draw the plane of (alpha, beta) with the stable region and the present gains."
)
@json_option
def command(
    model: str,
    settings: tuple[tuple[str, str], ...],
    choices: tuple[tuple[str, str], ...],
    json_file: str | None,
    plane: str | None,
    **options: Unpack[RunOptions],
) -> None:
    """Say what the constraints of MODEL are and whether a run would hold them.

    Kind (holonomic or not, by Frobenius' test), rank, redundant and contradictory constraints, residuals of the initial
    state, and the verdict on the gains with the deviation they are predicted to allow. Exit code 1 when something is
    wrong.
    """
    system = load_model(model, settings, choices)
    warn(system)
    writable_outputs(json_file, plane)
    from svyaz.motion import check
    from svyaz.show import as_json

    found = check(system, **options)
    record = as_json(found)
    write_json(record, json_file)
    if plane is not None:
        _draw_plane(system, options, found.gains, plane)
    if json_file != "-":
        _show(record)
    if found.wrong:
        raise NegativeAnswer("\n".join(found.wrong))


def _show(result: Mapping[str, Any]) -> None:
    page = Page()
    if not result["constraints"]:
        page.say(f"{result['model']}: no constraints")
    else:
        heads = ("constraint", "kind", "moves with time", "integral", "residual at t = 0")
        rows = []
        for c in result["constraints"]:
            residual = result["initial"].get(c["name"])
            moving = "yes" if c["time_dependent"] else "no"
            told = "–" if residual is None else f"{residual:.3g}"
            rows.append((c["name"], c["kind"], moving, str(c.get("integral") or "–"), told))
        page.table(result["model"], heads, rows)
        page.say(f"rank {result['rank']} of {len(result['initial'])} that act at the start")
    for message in result.get("messages", ()):
        if message not in result["wrong"]:
            page.say(message)
    gains = result.get("gains", {})
    if "verdict" in gains:
        page.say(f"gains ({gains['stabilize']}): {gains['verdict']}; " + "; ".join(gains["reasons"]))
        for line in gains.get("auto", {}).get("log", ()):
            page.say(line)
        for name, bound in gains.get("predicted", {}).items():
            told = "no bound" if bound is None else f"at most {bound:.3g}"
            page.say(f"predicted deviation of '{name}': {told}")
        pilot = gains.get("pilot")
        if pilot:
            page.say(f"pilot: {pilot['steps']} steps, {pilot['seconds']:.2g} s")


def _draw_plane(system: System, options: RunOptions, gains: GainReport | None, file: str) -> None:
    from svyaz.holding import options_for, scheme_of
    from svyaz.show import draw_gain_plane

    chosen = options_for(system, of_run(options))
    if chosen.step is None:
        raise click.UsageError("the plane of the gains belongs to a fixed step: give --step")
    draw_gain_plane(scheme_of(chosen), gains, file)
