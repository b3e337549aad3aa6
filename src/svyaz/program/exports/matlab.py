"""A program as a function file for MATLAB and GNU Octave, which hands out handles to ``constants`` and ``step``."""

from __future__ import annotations

from pathlib import PurePath

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

_MATH = (
    "sqrt", "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "exp", "log", "abs", "sign", "atan2",
    "min", "max",
)  # fmt: skip
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


STYLE = Style(
    rules=ARITHMETIC_RULES
    | {name: Rule(f"{name}({{0}})") for name in _MATH}
    | {name: Rule(f"{name}({{0}}, {{1}})") for name in ("atan2", "min", "max")}
    | {"pow": Rule("{0}^{1}", POWER, (ATOM, ATOM))},
    number=repr,
    name=_name,
    unknown="solution{0}({1})",
    first=1,
    reserved=frozenset((*_KEYWORDS.split(), *_MATH, *_OWN.split())),
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


def write(program: Program) -> str:
    """The text of the file ``model.m``; MATLAB calls a function by the name of its file."""
    return _written(program, "model")


def write_for(program: Program, file: str) -> str:
    """The text of this file, whose function has the name of the file if that is a name for MATLAB."""
    stem, ending = PurePath(file).stem, PurePath(file).suffix
    fits = ending == ".m" and _name(stem) == stem and stem not in (*STYLE.reserved, "m")
    return _written(program, stem if fits else "model")


def _written(program: Program, name: str) -> str:
    written = listing(program, STYLE)
    parts = [_head(program, name), _constants(written), _step(written), _rates(program)]
    return "".join([*parts, _SOLVE if program.systems else ""])


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
    for title, letter, names in _tables(program):
        lines += [f"% {title}:"] + [f"%   {letter}({place + 1}) = {printable(n)}" for place, n in enumerate(names)]
    lines += [f"m.{title} = {{{', '.join(_quoted(name) for name in names)}}};" for title, _, names in _tables(program)]
    lines += ["m.constants = @constants;", "m.step = @step;"]
    lines += ["m.rates = @rates;"] if start is not None else []
    return "\n".join([*lines, "end", ""])


def _tables(program: Program) -> tuple[tuple[str, str, tuple[str, ...]], ...]:
    outputs = tuple(name for name, _ in program.outputs)
    return ("parameters", "p", program.parameters), ("inputs", "x", program.inputs), ("outputs", "out", outputs)


def _quoted(name: str) -> str:
    return "'" + printable(name).replace("'", "''") + "'"


def _constants(written: Listing) -> str:
    lines = ["", "function c = constants(p)", "% what depends on the parameters alone"]
    lines += [f"    {name} = p({place + 1});" for place, name in written.parameters]
    lines += [f"    {step.name} = {step.formula};" for step in written.constants]
    return "\n".join([*lines, *_column("c", written.stored), "end", ""])


def _step(written: Listing) -> str:
    lines = ["", "function out = step(x, c)"]
    lines += [f"    {name} = x({place + 1});" for place, name in written.inputs]
    lines += [f"    {name} = c({place + 1});" for place, name in enumerate(written.kept)]
    for step in written.steps:
        lines += [f"    {step.name} = {step.formula};"] if isinstance(step, Assignment) else _solution(step)
    return "\n".join([*lines, *_column("out", written.results), "end", ""])


def _rates(program: Program) -> str:
    start = first_rate(program)
    if start is None:
        return ""
    return f"""
function rate = rates(t, state, c)
% rates of the states at the time t, as ode45 wants them
    out = step([t; state(:)], c);
    rate = out({start + 1}:end);
end
"""


def _solution(step: Solution) -> list[str]:
    rows = [step.matrix[i : i + step.size] for i in range(0, len(step.matrix), step.size)]
    sides = list(zip(*step.sides, strict=True))
    return [
        f"    matrix{step.number} = [",
        *(f"        {', '.join(row)};" for row in rows),
        "    ];",
        f"    solution{step.number} = solve_system(matrix{step.number}, [",
        *(f"        {', '.join(row)};" for row in sides),
        "    ]);",
    ]


def _column(name: str, formulas: tuple[str, ...]) -> list[str]:
    return [f"    {name} = [", *(f"        {formula};" for formula in formulas), "    ];"]
