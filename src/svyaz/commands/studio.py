"""``svyaz studio``: the same work in a browser, on this machine."""

from __future__ import annotations

from pathlib import Path

import click

from svyaz.commands.common import examples

LISTED = ("Look", 43, "Open the studio: models, motions, stability and control in a browser.")

PORT = 8737


@click.command(
    epilog=examples("svyaz studio", "svyaz studio --port 9000", "svyaz studio --host 192.168.1.5 --token long-secret")
)
@click.option(
    "--port", type=click.IntRange(0, 65535), default=PORT, show_default=True, help="Port; 0 takes a free one."
)
@click.option("--host", metavar="ADDRESS", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option(
    "--token", metavar="T", default="", help="A secret that the address must carry; needed beyond this machine."
)
@click.option("--no-browser", is_flag=True, help="Do not open a browser; only print the address.")
def command(port: int, host: str, token: str, no_browser: bool) -> None:
    """Open the studio in a browser: it does on pages what the other commands do in a terminal.

    It listens on this machine alone, unless another address and a token are given. Models and states are read and written
    in the folder in which it is started, and nowhere else. Ctrl-C ends it and all work that it has begun.
    """
    from svyaz.extras import extra

    with extra("studio"):
        from svyaz.studio import StudioSettings, is_loopback, run_studio
    if not is_loopback(host) and len(token) < 8:
        raise click.UsageError("beyond this machine the studio wants a secret: --token with at least 8 characters.")
    if not all(c.isascii() and (c.isalnum() or c in "-_.~") for c in token):
        raise click.UsageError("--token: letters, digits and - _ . ~ only, for it stands in an address.")

    def started(address: str) -> None:
        click.echo(f"The studio is open at {address}")
        click.echo("Ctrl-C ends it.")
        if not no_browser:
            import webbrowser

            webbrowser.open(address)

    try:
        run_studio(StudioSettings(host, port, token, Path.cwd()), started)
    except OSError as error:
        raise click.UsageError(
            f"the studio cannot listen on {host}, port {port}: {error.strerror or error}."
        ) from error
