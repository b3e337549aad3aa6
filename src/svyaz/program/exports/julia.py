"""A program as a Julia module with the functions ``constants`` and ``step``; it needs the standard library alone."""

from __future__ import annotations

from math import isfinite, isnan

from svyaz.program.exports.listing import (
    ARITHMETIC_RULES,
    ATOM,
    POWER,
    PRODUCT,
    SUM,
    Assignment,
    Listing,
    Rule,
    Solution,
    Style,
    first_rate,
    listing,
    printable,
)
from svyaz.program.exports.names import identifier
from svyaz.program.tape import Program

_MATH = (
    "sqrt", "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "exp", "log", "abs", "sign", "min",
    "max",
)  # fmt: skip
_KEYWORDS = (
    "abstract baremodule begin break catch const continue do else elseif end export false finally for function global "
    "if import in isa let local macro module mutable outer primitive public quote return struct true try type using "
    "var where while as ccall"
)
_OWN = (
    "Model PARAMETERS INPUTS OUTPUTS constants step rates solve_system p c x pi im Inf NaN nothing missing reshape "
    "Float64 String"
)


def _number(value: float) -> str:
    if isfinite(value):
        return repr(value).replace("e+", "e")
    return "NaN" if isnan(value) else "Inf" if value > 0 else "-Inf"


def _name(name: str) -> str:
    """An identifier; names of underscores alone can be written to and never read."""
    plain = identifier(name)
    return plain if plain.strip("_") else f"n{plain}"


STYLE = Style(
    rules=ARITHMETIC_RULES
    | {name: Rule(f"{name}({{0}})") for name in _MATH}
    | {
        "mul": Rule("{0} * {1}", PRODUCT, (PRODUCT, POWER)),
        "div": Rule("{0} / {1}", PRODUCT, (PRODUCT, POWER)),
        "min": Rule("min({0}, {1})"),
        "max": Rule("max({0}, {1})"),
        "atan2": Rule("atan({0}, {1})"),
        # always in parentheses: Julia reads -(a)^b in a way of its own
        "pow": Rule("{0}^{1}", SUM, (ATOM, ATOM)),
    },
    number=_number,
    name=_name,
    first=1,
    reserved=frozenset((*_KEYWORDS.split(), *_MATH, *_OWN.split())),
)

_SOLVE = '''
"""Unknowns of a*found = b, column under column; rows and columns are scaled by powers of two."""
function solve_system(a, b)
    rows = exp2.(-round.(log2.(sum(abs.(a), dims = 2))))
    columns = exp2.(-round.(log2.(sum(abs.(rows .* a), dims = 1))))
    all(isfinite, rows) && all(isfinite, columns) || error("singular linear system")
    found = (rows .* a .* columns) \\ (rows .* b)
    return vec(transpose(columns) .* found)
end
'''


def write(program: Program) -> str:
    """The text of the module."""
    written = listing(program, STYLE)
    parts = [_head(program), _SOLVE if program.systems else "", _constants(written), _step(written), _rates(program)]
    return "".join([*parts, "\nend\n"])


def _head(program: Program) -> str:
    outputs = tuple(name for name, _ in program.outputs)
    lines = ["# c = Model.constants(p) once, then Model.step(x, c) gives the outputs, all in the order below"]
    if first_rate(program) is not None:
        lines.append("# ODEProblem((state, c, t) -> Model.rates(t, state, c), state0, (0.0, 1.0), c)")
    lines += ["module Model", ""]
    for title, names in (("PARAMETERS", program.parameters), ("INPUTS", program.inputs), ("OUTPUTS", outputs)):
        lines.append(f"const {title} = String[{', '.join(_quoted(name) for name in names)}]")
    return "\n".join([*lines, ""])


def _quoted(name: str) -> str:
    escaped = printable(name).replace("\\", "\\\\").replace('"', '\\"').replace("$", "\\$")
    return f'"{escaped}"'


def _constants(written: Listing) -> str:
    lines = ["", '"""What depends on the parameters alone."""', "function constants(p)"]
    lines += [f"    {name} = p[{place + 1}]" for place, name in written.parameters]
    lines += [f"    {step.name} = {step.formula}" for step in written.constants]
    return "\n".join([*lines, *_returned(written.stored), "end", ""])


def _step(written: Listing) -> str:
    lines = ["", '"""The outputs."""', "function step(x, c)"]
    lines += [f"    {name} = x[{place + 1}]" for place, name in written.inputs]
    lines += [f"    {name} = c[{place + 1}]" for place, name in enumerate(written.kept)]
    for step in written.steps:
        lines += [f"    {step.name} = {step.formula}"] if isinstance(step, Assignment) else _solution(step)
    return "\n".join([*lines, *_returned(written.results), "end", ""])


def _rates(program: Program) -> str:
    start = first_rate(program)
    if start is None:
        return ""
    return f'''
"""The rates of the states at the time t."""
function rates(t, state, c)
    return step([t; state], c)[{start + 1}:end]
end
'''


def _solution(step: Solution) -> list[str]:
    rows = [step.matrix[i : i + step.size] for i in range(0, len(step.matrix), step.size)]
    sides = list(zip(*step.sides, strict=True))
    return [
        f"    matrix{step.number} = {_matrix(rows)}",
        f"    solution{step.number} = solve_system(matrix{step.number}, {_matrix(sides)})",
    ]


def _matrix(rows: list[tuple[str, ...]]) -> str:
    """A matrix from its entries, column by column: blanks inside [a b; c d] would be ambiguous with signs."""
    entries = ", ".join(entry for column in zip(*rows, strict=True) for entry in column)
    return f"reshape([{entries}], {len(rows)}, {len(rows[0])})"


def _returned(formulas: tuple[str, ...]) -> list[str]:
    if not formulas:
        return ["    return Float64[]"]
    return ["    return [", *(f"        {formula}," for formula in formulas), "    ]"]
