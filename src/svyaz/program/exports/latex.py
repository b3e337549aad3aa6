"""A program as LaTeX: the named intermediates one under the other, in one aligned block."""

from __future__ import annotations

from collections.abc import Iterable

from svyaz.expr import latex_name
from svyaz.program.formulas import ATOM, POWER, PRODUCT, SUM, Assignment, Notation, Rule, Solution, listing
from svyaz.program.tape import Program

_NAMED = {
    "sin": r"\sin", "cos": r"\cos", "tan": r"\tan", "asin": r"\arcsin", "acos": r"\arccos", "atan": r"\arctan",
    "sinh": r"\sinh", "cosh": r"\cosh", "tanh": r"\tanh", "exp": r"\exp", "log": r"\ln",
}  # fmt: skip


def _number(value: float) -> str:
    """As few digits as are exact; powers of ten as such."""
    text = f"{value:.17g}" if float(f"{value:.15g}") != value else f"{value:.15g}"
    mantissa, _, exponent = text.partition("e")
    return rf"{mantissa} \cdot 10^{{{int(exponent)}}}" if exponent else text


LATEX_NOTATION = Notation(
    rules={
        "add": Rule("{0} + {1}", SUM, (SUM, PRODUCT)),
        "sub": Rule("{0} - {1}", SUM, (SUM, PRODUCT)),
        "mul": Rule(r"{0} \, {1}", PRODUCT, (PRODUCT, POWER)),
        "div": Rule(r"\frac{{{0}}}{{{1}}}", POWER, (SUM, SUM)),
        "neg": Rule("-{0}", SUM, (PRODUCT,)),
        "sqrt": Rule(r"\sqrt{{{0}}}", ATOM, (SUM,)),
        "abs": Rule(r"\left| {0} \right|", ATOM, (SUM,)),
        "sign": Rule(r"\operatorname{{sign}}\left( {0} \right)", ATOM, (SUM,)),
        "pow": Rule("{0}^{{{1}}}", POWER, (ATOM, SUM)),
        "atan2": Rule(r"\operatorname{{atan2}}\left( {0}, {1} \right)"),
        "min": Rule(r"\min\left( {0}, {1} \right)"),
        "max": Rule(r"\max\left( {0}, {1} \right)"),
        **{name: Rule(rf"{written}\left( {{0}} \right)", ATOM, (SUM,)) for name, written in _NAMED.items()},
    },
    number=_number,
    name=latex_name,
    group=r"\left( {0} \right)",
    unknown="s_{{{0},{1}}}",
    intermediate="v_{{{0}}}",
    constant="k_{{{0}}}",
    again="{{{0}}}^{{({1})}}",
)


def write(program: Program) -> str:
    """The aligned block: constants, intermediates, linear systems as M s = b, outputs."""
    written = listing(program, LATEX_NOTATION)
    lines = [f"{step.name} &= {step.formula}" for step in written.constants]
    lines += [
        f"{name} &= {formula}" for name, formula in zip(written.kept, written.stored, strict=True) if name != formula
    ]
    for step in written.steps:
        if isinstance(step, Assignment):
            lines.append(f"{step.name} &= {step.formula}")
        else:
            lines += _system(step)
    lines += [
        f"{latex_name(name)} &= {formula}"
        for (name, _), formula in zip(program.outputs, written.results, strict=True)
        if latex_name(name) != formula
    ]
    return "\n".join([r"\begin{aligned}", " \\\\\n".join(lines), r"\end{aligned}", ""])


def _system(step: Solution) -> list[str]:
    """One line a side: the matrix times the column of unknowns is the side."""
    matrix = _bracket(" & ".join(row) for row in step.rows)
    lines = []
    for number, side in enumerate(step.sides):
        unknowns = (LATEX_NOTATION.unknown_name(step.number, number * step.size + i) for i in range(step.size))
        lines.append(f"{matrix} {_bracket(unknowns)} &= {_bracket(side)}")
    return lines


def _bracket(rows: Iterable[str]) -> str:
    return r"\begin{bmatrix} " + r" \\ ".join(rows) + r" \end{bmatrix}"
