"""``svyaz completion SHELL``: the script that lets a shell complete commands, options and models."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from svyaz.commands.common import examples

LISTED = ("Shell", 61, "Print the script that completes svyaz commands and models in your shell.")


@click.command(
    epilog=examples(
        "svyaz completion bash > ~/.local/share/bash-completion/completions/svyaz",
        'svyaz completion zsh > "${fpath[1]}/_svyaz"',
        "svyaz completion fish > ~/.config/fish/completions/svyaz.fish",
        'eval "$(svyaz completion bash)"      # for this terminal only',
    )
)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def command(shell: str) -> None:
    """Print the script that completes svyaz in SHELL: commands, options, gallery models and files."""
    from svyaz.commands.group import svyaz

    complete = get_completion_class(shell)
    assert complete is not None, "click knows bash, zsh and fish"
    click.echo(complete(svyaz(), {}, "svyaz", "_SVYAZ_COMPLETE").source())
