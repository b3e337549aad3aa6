"""A program as Maple procedures ``constants`` and ``step``, which take numbers and symbols alike."""

from __future__ import annotations

from math import isfinite, isnan

from svyaz.program.exports.listing import (
    ARITHMETIC_RULES,
    ATOM,
    POWER,
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

_MATH = {
    "sqrt": "sqrt", "sin": "sin", "cos": "cos", "tan": "tan", "asin": "arcsin", "acos": "arccos", "atan": "arctan",
    "sinh": "sinh", "cosh": "cosh", "tanh": "tanh", "exp": "exp", "log": "ln", "abs": "abs",
}  # fmt: skip
_KEYWORDS = (
    "and assuming break by catch coclass description do done elif else end error export fi finally for from global if "
    "implies in intersect local minus mod module next not od option options or proc quit read return save static stop "
    "subset then to try union until use uses while xor true false FAIL NULL infinity undefined Float"
)
_OWN = (
    "parameter_names input_names output_names constants step rates solve_system p c x D I O Pi gamma Catalan Digits "
    "arctan piecewise min max op nops seq convert list Matrix Vector LinearAlgebra ln log signum Re Im"
)


def _number(value: float) -> str:
    """Whole numbers as such, so that symbols stay exact; others with all their digits."""
    if not isfinite(value):
        return "undefined" if isnan(value) else "infinity" if value > 0 else "-infinity"
    if value == int(value) and abs(value) < 1e15:
        return str(int(value))
    return repr(value).replace("e+", "e")


def _name(name: str) -> str:
    """An identifier; Maple keeps names that begin with an underscore for itself."""
    plain = identifier(name)
    return plain if plain[0].isalpha() else f"n{plain}"


STYLE = Style(
    rules=ARITHMETIC_RULES
    | {name: Rule(f"{written}({{0}})") for name, written in _MATH.items()}
    | {
        "sign": Rule("piecewise({0} > 0, 1, {0} < 0, -1, 0)"),
        "min": Rule("min({0}, {1})"),
        "max": Rule("max({0}, {1})"),
        "atan2": Rule("arctan({0}, {1})"),
        "pow": Rule("{0}^{1}", POWER, (ATOM, ATOM)),
    },
    number=_number,
    name=_name,
    first=1,
    reserved=frozenset((*_KEYWORDS.split(), *_MATH, *_MATH.values(), *_OWN.split())),
)

_SOLVE = """
# unknowns of a*found = b for each side b, one after the other
solve_system := proc(a, b)
    local found, i, j;
    found := LinearAlgebra:-LinearSolve(Matrix(a), Matrix(nops(a), nops(b), (i, j) -> b[j][i]));
    return [seq(seq(found[i, j], i = 1 .. nops(a)), j = 1 .. nops(b))];
end proc:
"""


def write(program: Program) -> str:
    """The text of the file, to be read by ``read``."""
    written = listing(program, STYLE)
    parts = [_head(program), _SOLVE if program.systems else "", _constants(written), _step(written), _rates(program)]
    return "".join(parts)


def _head(program: Program) -> str:
    outputs = tuple(name for name, _ in program.outputs)
    lines = [
        "# c := constants(p): once, then step(x, c) gives the outputs, all in the order below; p and x are lists of",
        "# numbers or symbols. Decimal fractions are computed to at least 17 digits.",
        "Digits := max(Digits, 17):",
    ]
    for title, names in (("parameter", program.parameters), ("input", program.inputs), ("output", outputs)):
        lines.append(f"{title}_names := [{', '.join(_quoted(name) for name in names)}]:")
    return "\n".join([*lines, ""])


def _quoted(name: str) -> str:
    escaped = printable(name).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _constants(written: Listing) -> str:
    lines = [f"    {name} := p[{place + 1}];" for place, name in written.parameters]
    lines += [f"    {step.name} := {step.formula};" for step in written.constants]
    local = [*(name for _, name in written.parameters), *(step.name for step in written.constants)]
    return _procedure("constants", "p", local, [*lines, *_returned(written.stored)])


def _step(written: Listing) -> str:
    lines = [f"    {name} := x[{place + 1}];" for place, name in written.inputs]
    lines += [f"    {name} := c[{place + 1}];" for place, name in enumerate(written.kept)]
    local = [*(name for _, name in written.inputs), *written.kept]
    for step in written.steps:
        if isinstance(step, Assignment):
            local.append(step.name)
            lines.append(f"    {step.name} := {step.formula};")
        else:
            local += [f"matrix{step.number}", f"solution{step.number}"]
            lines += _solution(step)
    return _procedure("step", "x, c", local, [*lines, *_returned(written.results)])


def _procedure(name: str, arguments: str, local: list[str], lines: list[str]) -> str:
    declared = [f"    local {', '.join(local)};"] if local else []
    return "\n".join(["", f"{name} := proc({arguments})", *declared, *lines, "end proc:", ""])


def _rates(program: Program) -> str:
    start = first_rate(program)
    if start is None:
        return ""
    lines = [f"    return step([t, op(state)], c)[{start + 1} .. {len(program.outputs)}];"]
    return _procedure("rates", "t, state, c", [], lines)


def _solution(step: Solution) -> list[str]:
    rows = [step.matrix[i : i + step.size] for i in range(0, len(step.matrix), step.size)]
    return [
        f"    matrix{step.number} := [",
        ",\n".join(f"        [{', '.join(row)}]" for row in rows),
        "    ];",
        f"    solution{step.number} := solve_system(matrix{step.number}, [",
        ",\n".join(f"        [{', '.join(side)}]" for side in step.sides),
        "    ]);",
    ]


def _returned(formulas: tuple[str, ...]) -> list[str]:
    return ["    return [", ",\n".join(f"        {formula}" for formula in formulas), "    ];"]
