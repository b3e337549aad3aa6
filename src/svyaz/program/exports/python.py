"""A program as a module of plain Python: ``constants(parameters)`` and ``step(inputs, constants)``."""

from __future__ import annotations

import keyword
from collections.abc import Sequence

from svyaz.program.code import Code, helpers, tables
from svyaz.program.fixed_run import FixedRun, escaped, filled, heading, listed, words_of, written_outputs
from svyaz.program.formulas import ARITHMETIC_RULES, Notation, Solution, first_rate, functions, listing, reserved_words
from svyaz.program.tape import Program

_OWN = "smaller larger sign solve constants step rates parameters inputs outputs math abs t_"

NOTATION = Notation(
    rules=ARITHMETIC_RULES | functions("math.{0}", abs="abs", sign="sign", min="smaller", max="larger"),
    number=repr,
    reserved=reserved_words(*keyword.kwlist, *keyword.softkwlist, _OWN),
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


_RATES = '''

def rates(t, state, constants):
    """The rates of the states at the time t."""
    return step([t, *state], constants)[{start}:]
'''


def write(program: Program) -> str:
    """The text of the module; it needs nothing but the standard library."""
    written = listing(program, NOTATION)
    lines = [
        "",
        "def constants(parameters):",
        '    """What depends on the parameters alone."""',
        *CODE.constants(written),
    ]
    lines += ["", "", "def step(inputs, constants):"]
    lines += ['    """The outputs; ArithmeticError for a singular linear system, as `math` raises outside a domain."""']
    body = "\n".join([*lines, *CODE.step(written), ""])
    start = first_rate(program)
    body += "" if start is None else _RATES.format(start=start)
    return "\n".join([_head(program), *helpers(_HELPERS, body), body])


_RUN = '''

START = [<start>]
STEP, UNTIL, STEPS, EVERY = <step>, <until>, <steps>, <every>
NODES = [<nodes>]
SHARES = [
<shares>
]
WEIGHTS = [<weights>]


def advance(t, state, h, c):
    """One step of <method>."""
    slopes = []
    for node, shares in zip(NODES, SHARES):
        moved = [value + h * sum(a * k[i] for a, k in zip(shares, slopes)) for i, value in enumerate(state)]
        slopes.append(rates(t + node * h, moved, c))
    return [value + h * sum(b * k[i] for b, k in zip(WEIGHTS, slopes)) for i, value in enumerate(state)]


def main():
    """Write the motion as CSV."""
    print(<heading>)
    c, state = constants(<defaults>), START
    for k in range(STEPS + 1):
        t = UNTIL if k == STEPS else k * STEP
        if k % EVERY == 0 or k == STEPS:
            out = step([t, *state], c)
            print(",".join(map(repr, [t, *state, *(out[place] for place in <places>)])))
        if k < STEPS:
            state = advance(t, state, min(STEP, UNTIL - t), c)
            if not all(map(math.isfinite, state)):
                raise SystemExit(f"the motion diverged: after t = {t:.9g} the state is no longer finite")


if __name__ == "__main__":
    main()
'''


def complete(program: Program, run: FixedRun, _file: str = "") -> str:
    """The module with a run; it is run by itself."""
    own = {"heading": escaped(heading(program)), "places": written_outputs(program)}
    own["defaults"] = "DEFAULTS" if program.parameters else "[]"
    return write(program) + filled(_RUN, **words_of(program, run, repr, "    [{0}],"), **own)


def _head(program: Program) -> str:
    names = "".join(f"{title.upper()} = {entries!r}\n" for title, _, entries in tables(program))
    names += f"DEFAULTS = [{listed(program.defaults)}]\n" if program.defaults else ""
    told = "constants(parameters) once, then step(inputs, constants) -> list of outputs, all in the order below."
    return f'"""{told}"""\n\nimport math\n\n{names}'


def _solve(step: Solution) -> list[str]:
    return [
        f"    solution{step.number} = solve({step.size}, [",
        *(f"        {', '.join(row)}," for row in step.rows),
        "    ], [",
        *(f"        {', '.join(side)}," for side in step.sides),
        "    ])",
    ]


def _returned(_name: str, formulas: Sequence[str]) -> list[str]:
    return ["    return [", *(f"        {formula}," for formula in formulas), "    ]"]


CODE = Code(NOTATION, "    {0} = {1}", _returned, _solve, lists=("parameters", "inputs", "constants", "outputs"))
