"""A program as a function file for MATLAB and GNU Octave, which hands out handles to ``constants`` and ``step``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePath

from svyaz.program.code import Code, tables
from svyaz.program.formulas import (
    ARITHMETIC_RULES,
    ATOM,
    ELEMENTARY,
    POWER,
    Notation,
    Rule,
    Solution,
    first_rate,
    functions,
    identifier,
    listing,
    printable,
    reserved_words,
)
from svyaz.program.tape import Program

_KEYWORDS = (
    "break case catch classdef continue do else elseif end end_try_catch end_unwind_protect endclassdef endfor "
    "endfunction endif endparfor endswitch endwhile for function global if otherwise parfor persistent return spmd "
    "static switch try until unwind_protect unwind_protect_cleanup while arguments enumeration events methods "
    "properties endarguments endenumeration endevents endmethods endproperties import"
)
_OWN = (
    "model constants step rates solve_system p c x out pi Inf NaN inf nan eps ans all any error "
    "isfinite log2 reshape sum varargin varargout nargin nargout ones zeros pow2"
)
LONGEST_NAME = 55
"""Characters of a name, so that it stays distinct within the 63 that MATLAB looks at."""


def _name(name: str) -> str:
    """An identifier; it begins with a letter, as MATLAB wants it."""
    plain = identifier(name)
    return (plain if plain[0].isalpha() else f"n{plain}")[:LONGEST_NAME]


NOTATION = Notation(
    rules=ARITHMETIC_RULES | functions() | {"pow": Rule("{0}^{1}", POWER, (ATOM, ATOM))},
    number=repr,
    name=_name,
    unknown="solution{0}({1})",
    first=1,
    reserved=reserved_words(_KEYWORDS, *ELEMENTARY, "abs sign atan2 min max", _OWN),
)

_SOLVE = """
function found = solve_system(a, b)
% unknowns of a*found = b, column under column; rows and columns are scaled by powers of two
    [~, rows] = log2(sum(abs(a), 2));
    a = pow2(-rows).*a;
    [~, columns] = log2(sum(abs(a), 1));
    a = a.*pow2(-columns);
    found = reshape(pow2(-columns.').*(a\\(pow2(-rows).*b)), [], 1);
    if ~all(isfinite(found))
        error('singular linear system');
    end
end
"""

_RATES = """
function rate = rates(t, state, c)
% rates of the states at the time t, as ode45 wants them
    out = step([t; state(:)], c);
    rate = out({start}:end);
end
"""


def write(program: Program) -> str:
    """The text of the file ``model.m``; MATLAB calls a function by the name of its file."""
    return _written(program, "model")


def write_for(program: Program, file: str) -> str:
    """The text of this file, whose function has the name of the file if that is a name for MATLAB."""
    stem, ending = PurePath(file).stem, PurePath(file).suffix
    fits = ending == ".m" and _name(stem) == stem and stem not in (*NOTATION.reserved, "m")
    return _written(program, stem if fits else "model")


def _written(program: Program, name: str) -> str:
    written = listing(program, NOTATION)
    start = first_rate(program)
    lines = [
        "",
        "function c = constants(p)",
        "% what depends on the parameters alone",
        *CODE.constants(written),
        "end",
        "",
    ]
    lines += ["function out = step(x, c)", *CODE.step(written), "end", ""]
    rates = "" if start is None else _RATES.format(start=start + 1)
    return "".join([_head(program, name), "\n".join(lines), rates, _SOLVE if program.systems else ""])


def _head(program: Program, name: str) -> str:
    start = first_rate(program)
    call = f"m = {name}();"
    lines = [
        f"function m = {name}()",
        f"% {call:<23} (keep this in {name}.m, or call it by the name of its file)",
        "% c = m.constants(p);     once, from the parameters",
        "% out = m.step(x, c);     the outputs",
    ]
    if start is not None:
        lines += ["% ode45(@(t, state) m.rates(t, state, c), [0 1], state0);"]
    for title, letter, names in tables(program):
        lines += [f"% {title}:"] + [f"%   {letter}({place + 1}) = {printable(n)}" for place, n in enumerate(names)]
    lines += [f"m.{title} = {{{', '.join(_quoted(name) for name in names)}}};" for title, _, names in tables(program)]
    lines += ["m.constants = @constants;", "m.step = @step;"]
    lines += ["m.rates = @rates;"] if start is not None else []
    return "\n".join([*lines, "end", ""])


def _quoted(name: str) -> str:
    return "'" + printable(name).replace("'", "''") + "'"


def _solve(step: Solution) -> list[str]:
    return [
        *_matrix(f"    matrix{step.number} = [", step.rows, "    ];"),
        *_matrix(f"    solution{step.number} = solve_system(matrix{step.number}, [", step.columns, "    ]);"),
    ]


def _matrix(opening: str, rows: Sequence[Sequence[str]], closing: str) -> list[str]:
    return [opening, *(f"        {', '.join(row)};" for row in rows), closing]


def _returned(name: str, formulas: Sequence[str]) -> list[str]:
    return _matrix(f"    {name} = [", [(formula,) for formula in formulas], "    ];")


CODE = Code(NOTATION, "    {0} = {1};", _returned, _solve, entry="{0}({1})")
