"""The commands, one module each: ``svyaz NAME`` runs the click command called ``command`` in ``svyaz.commands.NAME``.

The table below is all that ``svyaz --help`` needs, so that asking for help loads no command and no library.
"""

from __future__ import annotations

COMMANDS: dict[str, dict[str, str]] = {
    "Shell": {
        "completion": "Print the script that completes svyaz commands and models in your shell.",
    },
}
"""Heading → command → what it does, in one line; in the order in which ``svyaz --help`` shows them."""

EXAMPLES: tuple[str, ...] = ("svyaz completion bash > ~/.local/share/bash-completion/completions/svyaz",)


def overview() -> str:
    """The text of ``svyaz --help``."""
    width = max(len(name) for table in COMMANDS.values() for name in table)
    lines = [
        "Usage: svyaz COMMAND [ARGUMENTS]",
        "",
        "  Mechanical systems from a written model to native motion.",
        "",
        "  MODEL is a file (TOML) or the name of a gallery model.",
    ]
    for heading, table in COMMANDS.items():
        lines += ["", f"{heading}:"]
        lines += [f"  {name:<{width}}  {line}" for name, line in table.items()]
    lines += ["", "Examples:", *(f"  {example}" for example in EXAMPLES)]
    lines += ["", "svyaz COMMAND --help tells more. Exit code: 0 done, 1 the answer is negative, 2 bad input."]
    return "\n".join(lines)
