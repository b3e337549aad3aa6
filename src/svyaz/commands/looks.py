"""How figures are to look: ``--size``, ``--degrees`` and ``--style``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from svyaz.commands.running import Function

if TYPE_CHECKING:
    from svyaz.model import System
    from svyaz.show import Looks


class Size(click.ParamType):
    """``12x6``: width and height in inches."""

    name = "size"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[float, float] | None:
        from svyaz.show import size_of

        try:
            return size_of(str(value))
        except ValueError as error:
            self.fail(f"{error}.", param, ctx)


def looks_options(function: Function) -> Function:
    """The arguments ``size``, ``degrees`` and ``style``."""
    for decorate in (
        click.option(
            "--style", metavar="NAME", help="A style of matplotlib for the plot (grayscale), or a file .mplstyle."
        ),
        click.option("--degrees", is_flag=True, help="Draw angles and their rates in degrees."),
        click.option("--size", type=Size(), metavar="WxH", help="Width and height of the plot in inches: 12x6."),
    ):
        function = decorate(function)
    return function


def looks_asked(
    system: System, plot: str | None, size: tuple[float, float] | None, degrees: bool, style: str | None
) -> Looks:
    """What was asked for, checked before anything is computed."""
    from svyaz.model import angles
    from svyaz.show import Looks, in_style

    if plot is None and (size or degrees or style):
        raise click.UsageError("--size, --degrees and --style say how a plot looks: give --plot FILE too.")
    if degrees and not angles(system):
        raise click.UsageError(
            f"no coordinate of '{system.name}' is known to be an angle: none turns a joint or stands in a sine or cosine."
        )
    looks = Looks(size, degrees, style)
    try:
        with in_style(looks):
            return looks
    except (ValueError, OSError) as error:
        raise click.UsageError(str(error)) from error
