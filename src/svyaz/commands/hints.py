"""What the library advises, said with the flags of the command line."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from svyaz.expr import Problem

FLAGS = {
    "atol": "{0}; --atol {1} would do",
    "beyond": "{0}; --beyond runs on and tells it",
    "box": "give --box {0}=LOW:HIGH, a [box] in the model, or --fix {0}=VALUE",
    "budget": "not decided: {0}; allow more seconds by --budget, or give a smaller box",
    "damping": "the damping of joints is left out, --damping puts it in: {0}",
    "equilibria": "'svyaz equilibria' finds positions of rest",
    "family": "the equilibria form a family of dimension {0}: prescribe {1} by --fix ({2}){3}",
    "fix": "prescribe it by --fix {0}=VALUE",
    "free base": "--free-base lets it float",
    "invert": "'svyaz invert' finds a system that has the wanted motion, and writes it with --format model",
    "left out gains": "{0}; add --stabilize {1} to write its terms",
    "other study": "--out writes elsewhere",
    "jump": "{0}; --method dop853 --rtol 1e-10 would tell",
    "project": "{0}; --project would move it onto the constraints",
    "repetition": "leave out those that repeat others; 'svyaz check' names them",
    "shorter step": "give a shorter --step",
    "start": "{0}; --project moves it onto the constraints, --force runs in spite of it",
    "step": "give --step, or step in [run]",
    "unfinished study": "--resume continues it, --out writes elsewhere",
    "varied step": "a varied step and --rtol do not go together: a run has one or the other",
    "written gains": "give gains, as --stabilize 10 or --stabilize '{{alpha = 20, beta = 100}}'",
    "vary": "a sweep varies something: give at least one --vary",
}
"""By the keys of ``Advice``; its parts go into the braces."""


def with_flags(text: str) -> str:
    """The text itself, or an advice in terms of flags."""
    from svyaz.expr import Advice

    return FLAGS[text.key].format(*text.parts) if isinstance(text, Advice) and text.key in FLAGS else text


def problems_with_flags(problems: Iterable[Problem]) -> str:
    """Problems as they are shown, a message and a hint each."""
    told = (
        replace(p, message=with_flags(p.message), hint=None if p.hint is None else with_flags(p.hint)) for p in problems
    )
    return "\n".join(map(str, told))
