"""A program as a module of plain Python: ``constants(parameters)`` and ``step(inputs, constants)``."""

from __future__ import annotations

import keyword

from svyaz.program.exports.listing import (
    ARITHMETIC_RULES,
    Assignment,
    Listing,
    Rule,
    Solution,
    Style,
    first_rate,
    listing,
)
from svyaz.program.tape import Program

_MATH = ("sqrt", "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "exp", "log")
_OWN = (
    "smaller",
    "larger",
    "sign",
    "solve",
    "constants",
    "step",
    "rates",
    "parameters",
    "inputs",
    "outputs",
    "math",
    "abs",
    "t_",
)

STYLE = Style(
    rules=ARITHMETIC_RULES
    | {name: Rule(f"math.{name}({{0}})") for name in _MATH}
    | {
        "abs": Rule("abs({0})"),
        "sign": Rule("sign({0})"),
        "pow": Rule("math.pow({0}, {1})"),
        "atan2": Rule("math.atan2({0}, {1})"),
        "min": Rule("smaller({0}, {1})"),
        "max": Rule("larger({0}, {1})"),
    },
    number=repr,
    reserved=frozenset((*keyword.kwlist, *keyword.softkwlist, *_OWN)),
)

_SIGN = '''
def sign(a):
    """1, -1 or 0."""
    return 1.0 if a > 0.0 else -1.0 if a < 0.0 else a
'''

_SMALLER = '''
def smaller(a, b):
    """The smaller of two numbers."""
    return a if a < b else b if b <= a else a + b
'''

_LARGER = '''
def larger(a, b):
    """The larger of two numbers."""
    return a if a > b else b if b >= a else a + b
'''

_SOLVE = '''
def solve(size, matrix, sides):
    """Solve matrix * unknowns = side for each side; rows and columns scaled by powers of two, partial pivoting."""
    count = len(sides) // size
    rows = [matrix[i * size:(i + 1) * size] + [sides[k * size + i] for k in range(count)] for i in range(size)]
    for i, row in enumerate(rows):
        scale = sum(abs(value) for value in row[:size])
        if scale == 0.0:
            raise ArithmeticError("singular linear system")
        rows[i] = [math.ldexp(value, -math.frexp(scale)[1]) for value in row]
    exponents = [math.frexp(sum(abs(row[j]) for row in rows))[1] for j in range(size)]
    for row in rows:
        row[:size] = [math.ldexp(value, -exponent) for value, exponent in zip(row, exponents)]
    for k in range(size):
        best = max(range(k, size), key=lambda i: abs(rows[i][k]))
        if abs(rows[best][k]) <= size * 2.0 ** -49:
            raise ArithmeticError("singular linear system")
        rows[k], rows[best] = rows[best], rows[k]
        for i in range(k + 1, size):
            factor = rows[i][k] / rows[k][k]
            if factor != 0.0:
                for j in range(k, size + count):
                    rows[i][j] -= factor * rows[k][j]
    unknowns = []
    for side in range(size, size + count):
        found = [0.0] * size
        for i in range(size - 1, -1, -1):
            total = rows[i][side] - sum(rows[i][j] * found[j] for j in range(i + 1, size))
            found[i] = total / rows[i][i]
        unknowns += [math.ldexp(value, -exponent) for value, exponent in zip(found, exponents)]
    return unknowns
'''

_HELPERS = {"sign(": _SIGN, "smaller(": _SMALLER, "larger(": _LARGER, "solve(": _SOLVE}


def write(program: Program) -> str:
    """The text of the module; it needs nothing but the standard library."""
    written = listing(program, STYLE)
    body = _constants(written) + "\n" + _step(written) + _rates(program)
    helpers = [text for call, text in _HELPERS.items() if call in body]
    return "\n".join([_head(program), *helpers, body])


def _head(program: Program) -> str:
    outputs = tuple(name for name, _ in program.outputs)
    return (
        '"""constants(parameters) once, then step(inputs, constants) -> list of outputs, all in the order below."""\n\n'
        "import math\n\n"
        f"PARAMETERS = {program.parameters!r}\nINPUTS = {program.inputs!r}\nOUTPUTS = {outputs!r}\n"
    )


def _constants(written: Listing) -> str:
    lines = ["", "def constants(parameters):", '    """What depends on the parameters alone."""']
    lines += [f"    {name} = parameters[{place}]" for place, name in written.parameters]
    lines += [f"    {step.name} = {step.formula}" for step in written.constants]
    return "\n".join([*lines, *_returned(written.stored), ""])


def _step(written: Listing) -> str:
    lines = [
        "",
        "def step(inputs, constants):",
        '    """The outputs; ArithmeticError for a singular linear system, as `math` raises outside a domain."""',
    ]
    lines += [f"    {name} = inputs[{place}]" for place, name in written.inputs]
    lines += [f"    {name} = constants[{place}]" for place, name in enumerate(written.kept)]
    for step in written.steps:
        lines += [f"    {step.name} = {step.formula}"] if isinstance(step, Assignment) else _solution(step)
    return "\n".join([*lines, *_returned(written.results), ""])


def _rates(program: Program) -> str:
    """The rates of the states as integrators want them, where the program gives them."""
    start = first_rate(program)
    if start is None:
        return ""
    return f'''

def rates(t, state, constants):
    """The rates of the states at the time t."""
    return step([t, *state], constants)[{start}:]
'''


def _solution(step: Solution) -> list[str]:
    rows = [step.matrix[i : i + step.size] for i in range(0, len(step.matrix), step.size)]
    return [
        f"    solution{step.number} = solve({step.size}, [",
        *(f"        {', '.join(row)}," for row in rows),
        "    ], [",
        *(f"        {', '.join(side)}," for side in step.sides),
        "    ])",
    ]


def _returned(formulas: tuple[str, ...]) -> list[str]:
    return ["    return [", *(f"        {formula}," for formula in formulas), "    ]"]
