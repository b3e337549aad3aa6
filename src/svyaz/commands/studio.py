"""``svyaz studio``: the same work in a browser, on this machine."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import click

from svyaz.commands.common import examples

LISTED = ("Look", 43, "Open the studio: models, motions, stability and control in a browser.")

PORT = 8737
TOKEN = "SVYAZ_STUDIO_TOKEN"


@click.command(
    epilog=examples(
        "svyaz studio",
        "svyaz studio --port 9000 --log studio.log",
        "svyaz studio --host 192.168.1.5 --token long-secret",
    )
)
@click.option(
    "--port", type=click.IntRange(0, 65535), default=PORT, show_default=True, help="Port; 0 takes a free one."
)
@click.option("--host", metavar="ADDRESS", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option(
    "--token",
    metavar="T",
    envvar=TOKEN,
    help=f"The token that the address must carry, in place of a random one; needed beyond this machine. Also {TOKEN}.",
)
@click.option("--no-token", is_flag=True, help="Let everybody who has an account on this machine in.")
@click.option("--log", type=click.Path(dir_okay=False), metavar="FILE", help="Append an access log to a file.")
@click.option("--no-browser", is_flag=True, help="Do not open a browser; only print the address.")
def command(port: int, host: str, token: str | None, no_token: bool, log: str | None, no_browser: bool) -> None:
    """Open the studio in a browser: it does on pages what the other commands do in a terminal.

    It listens on this machine alone, unless another address and a token are given. Every start makes a new token, which the
    address carries; without it no request is answered. Models and states are read and written in the folder in which it is
    started, and nowhere else. Ctrl-C ends it and all work that it has begun.
    """
    from svyaz.extras import extra

    with extra("studio"):
        from svyaz.studio import StudioSettings, is_loopback, random_token, run_studio
    _check_token(token, no_token, is_loopback(host))

    def announce(address: str) -> None:
        click.echo(f"The studio is open at {address}")
        click.echo("Ctrl-C ends it.")
        if not no_browser:
            _open_browser(address, Path(folder, "open.html"))

    secret = "" if no_token else token or random_token()
    settings = StudioSettings(host, port, secret, Path.cwd(), log=None if log is None else Path(log))
    try:
        with TemporaryDirectory(prefix="svyaz-studio-") as folder:
            run_studio(settings, announce)
    except OSError as error:
        what = f"write {error.filename}" if error.filename else f"listen on {host}, port {port}"
        raise click.UsageError(f"the studio cannot {what}: {error.strerror or error}.") from error


def _check_token(token: str | None, no_token: bool, loopback: bool) -> None:
    if no_token and (token is not None or not loopback):
        raise click.UsageError("--no-token goes neither with --token nor beyond this machine.")
    if token is not None and not all(c.isascii() and (c.isalnum() or c in "-_.~") for c in token or "?"):
        raise click.UsageError("--token: letters, digits and - _ . ~ only, for it stands in an address.")
    if not loopback and len(token or "") < 8:
        raise click.UsageError("beyond this machine the studio wants a secret: --token with at least 8 characters.")


def _open_browser(address: str, file: Path) -> None:
    """By a file that only its owner can read: the command line of a browser is seen by everybody on the machine."""
    import webbrowser

    file.write_text(f'<!doctype html><meta http-equiv="refresh" content="0; url={address}">\n', encoding="utf-8")
    webbrowser.open(file.as_uri())
