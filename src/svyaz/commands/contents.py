"""The commands, one module each: ``svyaz NAME`` runs the click command called ``command`` in ``svyaz.commands.NAME``.

The table below is all that ``svyaz --help`` needs, so that asking for help loads no command and no library.
"""

from __future__ import annotations

COMMANDS: dict[str, dict[str, str]] = {
    "Write equations": {
        "derive": "Write the equations of motion as text, LaTeX, JSON or code.",
        "inertia": "Write out the inertia matrix of a tree of bodies in few operations.",
        "balance": "Find the mass distributions that make its inertia matrix constant.",
        "invert": "From a velocity field to a mechanical system in which it attracts.",
        "helmholtz": "Are these the equations of Lagrange and Rayleigh? The seven conditions.",
    },
    "Move": {
        "check": "Say what the constraints are and whether a run would hold them.",
        "simulate": "Integrate the motion; constraints, integrals and multipliers are reported.",
        "sweep": "Run many variations at once: parameters, initial values, gains, steps.",
    },
    "Examine": {
        "equilibria": "Find all equilibria in a box, the inputs that hold them, their stability.",
        "regulate": "Design a regulator and an observer about an equilibrium; run the closed loop.",
    },
    "Look": {
        "report": "Derive, simulate and show: a self-contained page, pictures and tables.",
    },
    "Library": {
        "gallery": "List the models of the literature, or print one to start from.",
        "reproduce": "Compute again what was published about them, with a verdict for each row.",
        "bench": "Measure speed against SymPy, NumPy and SciPy, as ratios on this machine.",
    },
    "Shell": {
        "completion": "Print the script that completes svyaz commands and models in your shell.",
    },
}
"""Heading → command → what it does, in one line; in the order in which ``svyaz --help`` shows them."""

EXAMPLES: tuple[str, ...] = (
    "svyaz gallery",
    "svyaz derive pendulum:2",
    "svyaz simulate sling --plot sling.png",
    "svyaz report my-model.toml",
)


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
