"""``svyaz check MODEL``: constraints, ranks, the initial state, and the verdict on the gains."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Unpack

import click

from svyaz.commands.common import ModelArgument, NegativeAnswer, write_json
from svyaz.commands.options import RUN, model_command, option, options
from svyaz.commands.terminal import Page
from svyaz.motion import ModelOptions, run_words

if TYPE_CHECKING:
    from svyaz.model import System
    from svyaz.stabilise import GainReport

LISTED = ("Move", 21, "Say what the constraints are and whether a run would hold them.")


@model_command(
    "svyaz check sleigh",
    "svyaz check sleigh --method euler --step 0.001 --stabilize 2100",
    "svyaz check my-model.toml --tolerance 1e-4 --json check.json",
    "svyaz check pendulum-xy --method rk4 --step 0.01 --stabilize '{alpha = 20, beta = 100}' --plane plane.png",
)
@options(*RUN)
@option("--plane", "Draw the plane of (alpha, beta) with the stable region and the present gains.", metavar="FILE")
@option("--json")
def command(model: ModelArgument, json_file: str | None, plane: str | None, **given: Unpack[ModelOptions]) -> None:
    """Say what the constraints of MODEL are and whether a run would hold them.

    Kind (holonomic or not, by Frobenius' test), rank, redundant and contradictory constraints, residuals of the initial
    state, and the verdict on the gains with the deviation they are predicted to allow. Exit code 1 when something is
    wrong.
    """
    system = model.load(json_file, plane)
    from svyaz.motion import check
    from svyaz.show import as_json

    found = check(system, **given)
    record = as_json(found)
    write_json(record, json_file)
    if plane is not None:
        _draw_plane(system, given, found.gains, plane)
    if json_file != "-":
        _show(record, system)
    if found.wrong:
        raise NegativeAnswer("\n".join(found.wrong))


def _show_symmetries(page: Page, result: Mapping[str, Any], system: System) -> None:
    """What L does not contain, and where steady motions are to be had of it."""
    if not (result["cyclic"] or result["symmetries"]):
        return
    from svyaz.stability import may_be_steady

    steady = may_be_steady(system)
    if result["cyclic"]:
        finds = "; 'svyaz steady' finds the motions in which they turn uniformly" if steady else ""
        page.say(f"cyclic: {', '.join(result['cyclic'])}{finds}")
    along = "; 'svyaz steady' finds the motions along it"
    for symmetry in result["symmetries"]:
        page.say(f"{symmetry['text']}{along if steady else ''}")


def _show(result: Mapping[str, Any], system: System) -> None:
    page = Page()
    if not result["constraints"]:
        page.say(f"{result['model']}: no constraints")
    else:
        heads = ("constraint", "kind", "moves with time", "integral", "residual at t = 0")
        rows = []
        for c in result["constraints"]:
            residual = result["initial"].get(c["name"])
            moving = "yes" if c["time_dependent"] else "no"
            told = "–" if residual is None else f"{residual + 0.0:.3g}"
            rows.append((c["name"], c["kind"], moving, str(c.get("integral") or "–"), told))
        page.table(result["model"], heads, rows)
        for c in result["constraints"]:
            if "direction" in c:
                along = ", ".join(f"{q}: {entry}" for q, entry in c["direction"].items())
                by = f"the input {c['control']}" if "control" in c else "a control"
                page.say(f"'{c['name']}' is kept by {by} along ({along})")
            if "remark" in c:
                page.say(f"'{c['name']}': {c['remark']}")
        page.say(f"rank {result['rank']} of {len(result['initial'])} that act at the start")
    _show_symmetries(page, result, system)
    for message in result.get("messages", ()):
        if message not in result["wrong"]:
            page.say(message)
    gains = result.get("gains", {})
    if "verdict" in gains:
        page.say(f"gains ({gains['stabilize']}): {gains['verdict']}; " + "; ".join(gains["reasons"]))
    for line in gains.get("auto", {}).get("log", ()):
        page.say(line)
    if "verdict" in gains:
        for line in _foreseen(gains):
            page.say(line)
        pilot = gains.get("pilot")
        if pilot:
            whole = ", the last of it the run itself" if pilot["coarseness"] == 1 else ""
            page.say(f"pilot: {pilot['steps']} steps, {pilot['seconds']:.2g} s{whole}")


def _foreseen(gains: Mapping[str, Any]) -> Iterator[str]:
    """What is predicted of each constraint, the range of gains, and the certificates."""
    tolerance, bounds = gains.get("tolerance"), gains.get("predicted", {})
    for name, value in gains.get("expected", {}).items():
        allowed = tolerance.get(name) if isinstance(tolerance, Mapping) else tolerance
        told = "no bound" if value is None else f"{value:.3g}"
        if bounds.get(name) is not None:
            told += f", at most {bounds[name]:.3g} with the safety factor {gains['safety']:g}"
        yield f"predicted deviation of '{name}': {told}" + ("" if allowed is None else f"; allowed {allowed:.3g}")
    yield _range(gains, with_tolerance=tolerance is not None)
    for region in gains.get("lyapunov", ()):
        yield region["reason"]
    for certificate in gains.get("certificates", ()):
        yield f"certificate ({certificate['kind']}): {'holds' if certificate['holds'] else 'none'}; {certificate['reason']}"


def _range(gains: Mapping[str, Any], *, with_tolerance: bool) -> str:
    low, high = gains["range"]
    what = "stable and sure to keep the tolerance, whatever the signs of the remainders" if with_tolerance else "stable"
    if low is None:
        return f"range of one gain κ: none is {what}" if with_tolerance else "range of one gain κ: none was found"
    end = "any size" if high is None else f"{high:.4g}"
    return f"range of one gain κ that is {what}: {low:.4g} to {end}"


def _draw_plane(system: System, options: ModelOptions, gains: GainReport | None, file: str) -> None:
    from svyaz.show import draw_gain_plane
    from svyaz.stabilise import options_for, scheme_of

    chosen = options_for(system, run_words(options))
    if chosen.step is None:
        raise click.UsageError("the plane of the gains belongs to a fixed step: give --step")
    draw_gain_plane(scheme_of(chosen), gains, file)
