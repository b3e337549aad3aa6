"""A program as a function file for MATLAB and GNU Octave, which hands out handles to ``constants`` and ``step``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePath

from svyaz.program.code import Code, tables
from svyaz.program.fixed_run import FixedRun, filled, heading, listed, words_of, written_outputs
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
    "model constants step rates run_motion advance solve_system p c x out pi Inf NaN inf nan eps ans all any error "
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


_RUN = """
function run_motion(c)
% the motion as CSV, by <method>
    state = [<start>]';
    step_size = <step>; last_time = <until>; steps = <steps>; every = <every>;
    places = [<places>];
    fprintf('%s\\n', <heading>);
    for k = 0:steps
        t = k*step_size;
        if k == steps
            t = last_time;
        end
        if mod(k, every) == 0 || k == steps
            out = step([t; state], c);
            row = [t; state; reshape(out(places), [], 1)];
            fprintf('%.17g,', row(1:end - 1));
            fprintf('%.17g\\n', row(end));
        end
        if k < steps
            state = advance(t, min(step_size, last_time - t), state, c);
            if any(~isfinite(state))
                error('the motion diverged: after t = %.9g the state is no longer finite', t);
            end
        end
    end
end

function state = advance(t, h, state, c)
% one step
    nodes = [<nodes>];
    weights = [<weights>];
    shares = [
<shares>
    ];
    slopes = zeros(numel(state), numel(nodes));
    for s = 1:numel(nodes)
        slopes(:, s) = rates(t + nodes(s)*h, state + h*(slopes*shares(s, :)'), c);
    end
    state = state + h*(slopes*weights');
end
"""


def complete(program: Program, run: FixedRun, file: str = "") -> str:
    """The file with a run: called without asking for a result, or given to Octave, it writes the motion."""
    places = ", ".join(str(place + 1) for place in written_outputs(program))
    words = words_of(program, run, repr, "        {0};")
    called = ["if nargout == 0", f"    run_motion(constants([{listed(program.defaults)}]));", "    return", "end"]
    text = _written(program, _function_name(file), called)
    return text + filled(_RUN, **words, places=places, heading=_quoted(heading(program)))


def write(program: Program) -> str:
    """The text of the file ``model.m``; MATLAB calls a function by the name of its file."""
    return _written(program, "model")


def write_for(program: Program, file: str) -> str:
    """The text of this file, whose function has the name of the file if that is a name for MATLAB."""
    return _written(program, _function_name(file))


def _function_name(file: str) -> str:
    stem, ending = PurePath(file).stem, PurePath(file).suffix
    fits = ending == ".m" and _name(stem) == stem and stem not in (*NOTATION.reserved, "m")
    return stem if fits else "model"


def _written(program: Program, name: str, first: Sequence[str] = ()) -> str:
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
    return "".join([_head(program, name, first), "\n".join(lines), rates, _SOLVE if program.systems else ""])


def _head(program: Program, name: str, first: Sequence[str]) -> str:
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
    lines += first
    lines += [f"m.{title} = {{{', '.join(_quoted(name) for name in names)}}};" for title, _, names in tables(program)]
    lines += [f"m.defaults = [{listed(program.defaults)}];"] if program.defaults else []
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
