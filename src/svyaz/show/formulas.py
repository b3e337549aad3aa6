"""Formulas on a page: broken at sums to its width, long parts under names of their own, and as many as can be read."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from html import escape
from itertools import count
from typing import NamedTuple

import symengine as se

from svyaz.expr import Expression, latex_name, to_latex
from svyaz.forms import written_size
from svyaz.show import katex

MOST_FORMULAS = 40
LONGEST_FORMULA = 6_000  # characters of LaTeX; beyond this nobody reads, and the page grows by a hundred times as much
FORMULAS_TOGETHER = 40_000
LONG_PART = 20
"""A sum of more names, numbers and operations than this, inside a term, gets a name."""
MOST_PARTS = 60

Line = tuple[Expression, Expression]
"""Left and right side of an equation."""


class EquationsInParts(NamedTuple):
    """Equations in which long parts are named, and what the names stand for, in order."""

    lines: list[Line]
    parts: list[Line]


def in_parts(lines: Sequence[Line], taken: Collection[str]) -> EquationsInParts:
    """The equations with every long sum inside a term under a name of its own, s1, s2, …; equal sums have one name.

    A page breaks a formula between the terms of its outermost sum; what stands inside a fraction, a power or a product is
    never broken, so it has to be short.
    """
    sides = [side for line in lines for side in line]
    parts: list[Line] = []
    while len(parts) < MOST_PARTS and (found := _longest_inner([*sides, *(e for _, e in parts)])) is not None:
        put = {found: se.Symbol(f"part {len(parts)}")}
        sides = [side.xreplace(put) for side in sides]
        parts = [(own, e.xreplace(put)) for own, e in parts] + [(put[found], found)]
    ordered: list[Line] = []
    while parts:  # what a part needs comes before it
        waiting = {name for name, _ in parts}
        ready = [part for part in parts if not waiting & part[1].free_symbols]
        ordered += ready
        parts = [part for part in parts if part not in ready]
    free = (name for name in (f"s{k}" for k in count(1)) if name not in taken)
    called = {name: se.Symbol(next(free)) for name, _ in ordered}
    sides = [side.xreplace(called) for side in sides]
    return EquationsInParts(
        [(sides[2 * k], sides[2 * k + 1]) for k in range(len(lines))],
        [(called[name], e.xreplace(called)) for name, e in ordered],
    )


def _longest_inner(expressions: Iterable[Expression]) -> Expression | None:
    """The smallest of the long sums that stand inside a term; None when there is none."""
    sizes: dict[Expression, int] = {}
    found: dict[Expression, int] = {}
    for whole in expressions:
        written_size(whole, sizes)
        stack = list(whole.args)
        seen: set[Expression] = set()
        while stack:
            e = stack.pop()
            if e in seen:
                continue
            seen.add(e)
            if e.is_Add and sizes[e] > LONG_PART:
                found[e] = sizes[e]
            stack += e.args
    return min(found, key=lambda e: (found[e], str(e)), default=None)


_SPLIT = re.compile(r"\\left[(|]|\\right[)|]|[{}]|\\,|\\[a-zA-Z]+|.", re.DOTALL)


def breakable(latex: str) -> str:
    """The formula with places between its outermost factors where a line may end; KaTeX breaks at sums by itself."""
    depth, parts = 0, []
    for token in _SPLIT.findall(latex):
        depth += token == "{" or token.startswith(r"\left")
        depth -= token == "}" or token.startswith(r"\right")
        parts.append(token)
        if depth == 0 and (token == r"\," or token.startswith(r"\right")):
            parts.append(r"\allowbreak ")
    return "".join(parts)


def typeset(latex: str) -> str:
    """A formula set by KaTeX; what KaTeX cannot set stands as it was written, for a report must not fail for it."""
    try:
        return katex.render(breakable(latex))
    except katex.LatexError:
        return f"<code>{escape(latex)}</code>"


def name_in_text(name: str) -> str:
    """The name of a variable in a line of text."""
    return katex.render(latex_name(name), False)


def formula_boxes(formulas: Sequence[str], label: str = "Equation") -> tuple[str, int]:
    """The formulas in a card, as many as can be read, and how many were left out."""
    boxes: list[str] = []
    together = 0
    for latex in formulas[:MOST_FORMULAS]:
        if len(latex) <= LONGEST_FORMULA and together + len(latex) <= FORMULAS_TOGETHER:
            together += len(latex)
            box = f'<div class="formula" tabindex="0" role="group" aria-label="{escape(label)}">{typeset(latex)}</div>'
            boxes.append(box + "\n")
    return (f'<div class="card">\n{"".join(boxes)}</div>\n' if boxes else ""), len(formulas) - len(boxes)


def latex_line(left: Expression, right: Expression, order: Sequence[str]) -> str:
    """An equation in LaTeX."""
    return f"{to_latex(left, order)} = {to_latex(right, order)}"
