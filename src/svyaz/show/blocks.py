"""The blocks of Routh's form as text, LaTeX and JSON."""

from __future__ import annotations

from collections.abc import Callable

from svyaz.expr import Expression, latex_name, to_latex, to_text
from svyaz.forms import Equations, KineticBlocks, kinetic_blocks, written_size
from svyaz.json_types import Record
from svyaz.show.equations import LONGEST, name_order

LETTERS = {"a": "alpha", "b": "beta", "g": "gamma", "s": "s"}
SCALARS = ("R0", "W")


def block_page(equations: Equations) -> list[str]:
    """The blocks, one a line, for ``equations_page``; nothing for other forms."""
    found = _of(equations)
    if found is None:
        return []
    if not found.blocks:
        return ["", "the blocks of Lagrange's and Routh's functions are beyond reading"]
    groups = ", ".join(f"{LETTERS[key]} = ({', '.join(names)})" for key, names in found.groups.items() if names)
    order = name_order(equations)
    lines = [f"  {name} = {_text(found, name, lambda e: to_text(e, order))}" for name in found.blocks]
    return ["", f"blocks of Lagrange's and Routh's functions, {groups}:", *lines]


def block_latex(equations: Equations) -> str:
    """One more aligned display."""
    found = _of(equations)
    if found is None or not found.blocks:
        return ""
    order = name_order(equations)
    rows = []
    for name, block in found.blocks.items():
        entries = [[to_latex(e, order) for e in row] for row in block]
        body = r" \\ ".join(" & ".join(row) for row in entries)
        whole = entries[0][0] if name in SCALARS else rf"\begin{{pmatrix}} {body} \end{{pmatrix}}"
        rows.append(f"  {_latex_sign(name)} &= {whole}")
    return "\\begin{aligned}\n" + " \\\\\n".join(rows) + "\n\\end{aligned}\n"


def block_record(equations: Equations) -> Record:
    """The entries ``groups`` and ``blocks`` of JSON; nothing for other forms."""
    found = _of(equations)
    if found is None:
        return {}
    order = name_order(equations)
    blocks = {name: [[to_text(e, order) for e in row] for row in rows] for name, rows in found.blocks.items()}
    return {"groups": {LETTERS[key]: list(names) for key, names in found.groups.items()}, "blocks": blocks}


def _of(equations: Equations) -> KineticBlocks | None:
    """The blocks of Routh's form, without those that are beyond reading."""
    if equations.form != "routh":
        return None
    found = kinetic_blocks(equations)
    known: dict[Expression, int] = {}
    entries = (e for rows in found.blocks.values() for row in rows for e in row)
    short = sum(written_size(e, known) for e in entries) <= LONGEST
    return found if short else KineticBlocks(found.groups, {})


def _text(found: KineticBlocks, name: str, printed: Callable[[Expression], str]) -> str:
    rows = [[printed(e) for e in row] for row in found.blocks[name]]
    return rows[0][0] if name in SCALARS else "[" + ", ".join(f"[{', '.join(row)}]" for row in rows) + "]"


def _latex_sign(name: str) -> str:
    base, _, letters = name.partition("_")
    if not letters:
        return {"B": r"B_{s\alpha}", "R0": "R_{0}"}.get(base, base)
    return base + "_{" + " ".join(latex_name(LETTERS[letter]) for letter in letters) + "}"
