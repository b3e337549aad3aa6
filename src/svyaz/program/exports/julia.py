"""A program as a Julia module with the functions ``constants`` and ``step``; it needs the standard library alone."""

from __future__ import annotations

from collections.abc import Sequence

from svyaz.program.code import Code, tables
from svyaz.program.fixed_run import FixedRun, filled, heading, listed, words_of, written_outputs
from svyaz.program.formulas import (
    ARITHMETIC_RULES,
    ATOM,
    ELEMENTARY,
    POWER,
    PRODUCT,
    SUM,
    Notation,
    Rule,
    Solution,
    first_rate,
    functions,
    identifier,
    listing,
    printable,
    reserved_words,
    shown_number,
)
from svyaz.program.tape import Program

_KEYWORDS = (
    "abstract baremodule begin break catch const continue do else elseif end export false finally for function global "
    "if import in isa let local macro module mutable outer primitive public quote return struct true try type using "
    "var where while as ccall"
)
_OWN = (
    "Model PARAMETERS INPUTS OUTPUTS constants step rates solve_system p c x pi im Inf NaN nothing missing reshape "
    "Float64 String"
)


def _name(name: str) -> str:
    """An identifier; names of underscores alone can be written to and never read."""
    plain = identifier(name)
    return plain if plain.strip("_") else f"n{plain}"


NOTATION = Notation(
    rules=ARITHMETIC_RULES
    | functions(atan2="atan")
    | {
        "mul": Rule("{0} * {1}", PRODUCT, (PRODUCT, POWER)),
        "div": Rule("{0} / {1}", PRODUCT, (PRODUCT, POWER)),
        # always in parentheses: Julia reads -(a)^b in a way of its own
        "pow": Rule("{0}^{1}", SUM, (ATOM, ATOM)),
    },
    number=lambda value: shown_number(value, "NaN", "Inf"),
    name=_name,
    first=1,
    reserved=reserved_words(_KEYWORDS, *ELEMENTARY, "abs sign min max", _OWN),
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

_RATES = '''
"""The rates of the states at the time t."""
function rates(t, state, c)
    return step([t; state], c)[{start}:end]
end
'''


_RUN = '''

const NODES = Float64[<nodes>]
const WEIGHTS = Float64[<weights>]
const SHARES = [
<shares>
]

"""One step of <method>."""
function advance(t, h, state, c)
    slopes = Vector{Float64}[]
    for s in 1:<stages>
        moved = state
        for r in 1:(s - 1)
            moved = moved + h * SHARES[s][r] * slopes[r]
        end
        push!(slopes, Model.rates(t + NODES[s] * h, moved, c))
    end
    for s in 1:<stages>
        state = state + h * WEIGHTS[s] * slopes[s]
    end
    return state
end

"""Write the motion as CSV."""
function main()
    println(<heading>)
    c = Model.constants(<defaults>)
    state = Float64[<start>]
    for k in 0:<steps>
        t = min(k * <step>, <until>)
        if k % <every> == 0 || k == <steps>
            out = Model.step([t; state], c)
            println(join([t; state; out[Int[<places>]]], ","))
        end
        if k < <steps>
            state = advance(t, min(<step>, <until> - t), state, c)
            all(isfinite, state) || error("the motion diverged: after t = $t the state is no longer finite")
        end
    end
end

main()
'''


def complete(program: Program, run: FixedRun, _file: str = "") -> str:
    """The module with a run: ``julia FILE``."""
    own = {
        "heading": _quoted(heading(program)),
        "defaults": "Model.DEFAULTS" if program.parameters else "Float64[]",
        "places": ", ".join(str(place + 1) for place in written_outputs(program)),
    }
    return write(program) + filled(_RUN, **words_of(program, run, NOTATION.number, "    [{0}],"), **own)


def write(program: Program) -> str:
    """The text of the module."""
    written = listing(program, NOTATION)
    start = first_rate(program)
    lines = [
        "",
        '"""What depends on the parameters alone."""',
        "function constants(p)",
        *CODE.constants(written),
        "end",
        "",
    ]
    lines += ['"""The outputs."""', "function step(x, c)", *CODE.step(written), "end", ""]
    rates = "" if start is None else _RATES.format(start=start + 1)
    return "".join([_head(program), _SOLVE if program.systems else "", "\n".join(lines), rates, "\nend\n"])


def _head(program: Program) -> str:
    lines = ["# c = Model.constants(p) once, then Model.step(x, c) gives the outputs, all in the order below"]
    if first_rate(program) is not None:
        lines.append("# ODEProblem((state, c, t) -> Model.rates(t, state, c), state0, (0.0, 1.0), c)")
    lines += ["module Model", ""]
    for title, _, names in tables(program):
        lines.append(f"const {title.upper()} = String[{', '.join(_quoted(name) for name in names)}]")
    if program.defaults:
        lines.append(f"const DEFAULTS = Float64[{listed(program.defaults, NOTATION.number)}]")
    return "\n".join([*lines, ""])


def _quoted(name: str) -> str:
    escaped = printable(name).replace("\\", "\\\\").replace('"', '\\"').replace("$", "\\$")
    return f'"{escaped}"'


def _solve(step: Solution) -> list[str]:
    return [
        f"    matrix{step.number} = {_matrix(step.rows)}",
        f"    solution{step.number} = solve_system(matrix{step.number}, {_matrix(step.columns)})",
    ]


def _matrix(rows: list[tuple[str, ...]]) -> str:
    """A matrix from its entries, column by column: blanks inside [a b; c d] would be ambiguous with signs."""
    entries = ", ".join(entry for column in zip(*rows, strict=True) for entry in column)
    return f"reshape([{entries}], {len(rows)}, {len(rows[0])})"


def _returned(_name: str, formulas: Sequence[str]) -> list[str]:
    if not formulas:
        return ["    return Float64[]"]
    return ["    return [", *(f"        {formula}," for formula in formulas), "    ]"]


CODE = Code(NOTATION, "    {0} = {1}", _returned, _solve)
