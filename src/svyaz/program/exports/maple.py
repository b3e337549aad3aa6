"""A program as Maple procedures ``constants`` and ``step``, which take numbers and symbols alike."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import isfinite

from svyaz.program.code import Code, tables
from svyaz.program.fixed_run import FixedRun, filled, heading, listed, words_of, written_outputs
from svyaz.program.formulas import (
    ARITHMETIC_RULES,
    ATOM,
    ELEMENTARY,
    POWER,
    Assignment,
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
    "and assuming break by catch coclass description do done elif else end error export fi finally for from global if "
    "implies in intersect local minus mod module next not od option options or proc quit read return save static stop "
    "subset then to try union until use uses while xor true false FAIL NULL infinity undefined Float"
)
_OWN = (
    "parameter_names input_names output_names default_values constants step rates solve_system p c x D I O Pi gamma "
    "Catalan Digits arctan piecewise min max op nops seq convert list Matrix Vector LinearAlgebra ln log signum Re Im"
)


def _number(value: float) -> str:
    """Whole numbers as such, so that symbols stay exact; others with all their digits."""
    if isfinite(value) and value == int(value) and abs(value) < 1e15:
        return str(int(value))
    return shown_number(value, "undefined", "infinity")


def _name(name: str) -> str:
    """An identifier; Maple keeps names that begin with an underscore for itself."""
    plain = identifier(name)
    return plain if plain[0].isalpha() else f"n{plain}"


NOTATION = Notation(
    rules=ARITHMETIC_RULES
    | functions(asin="arcsin", acos="arccos", atan="arctan", log="ln", atan2="arctan")
    | {
        "sign": Rule("piecewise({0} > 0, 1, {0} < 0, -1, 0)"),
        "pow": Rule("{0}^{1}", POWER, (ATOM, ATOM)),
    },
    number=_number,
    name=_name,
    first=1,
    reserved=reserved_words(_KEYWORDS, *ELEMENTARY, "abs arcsin arccos", _OWN),
)

_SOLVE = """
# unknowns of a*found = b for each side b, one after the other
solve_system := proc(a, b)
    local found, i, j;
    found := LinearAlgebra:-LinearSolve(Matrix(a), Matrix(nops(a), nops(b), (i, j) -> b[j][i]));
    return [seq(seq(found[i, j], i = 1 .. nops(a)), j = 1 .. nops(b))];
end proc:
"""


_RUN = """
# one step of <method>
advance := proc(t, h, state, c)
    local nodes, weights, shares, slopes, i, r, s;
    nodes := [<nodes>];
    weights := [<weights>];
    shares := [
<shares>
    ];
    slopes := [];
    for s from 1 to <stages> do
        slopes := [op(slopes), evalf(rates(t + nodes[s]*h,
            [seq(state[i] + h*add(shares[s][r]*slopes[r][i], r = 1 .. s - 1), i = 1 .. <states>)], c))];
    end do;
    return [seq(state[i] + h*add(weights[s]*slopes[s][i], s = 1 .. <stages>), i = 1 .. <states>)];
end proc:

# the motion as CSV
run_motion := proc()
    local c, state, k, t, out, i, value;
    c := constants(<defaults>);
    state := [<start>];
    printf("%s\\n", <heading>);
    for k from 0 to <steps> do
        t := evalf(min(k*<step>, <until>));
        if irem(k, <every>) = 0 or k = <steps> then
            out := evalf(step([t, op(state)], c));
            printf("%.17g", t);
            for value in [op(state), seq(out[i], i in [<places>])] do
                printf(",%.17g", value);
            end do;
            printf("\\n");
        end if;
        if k < <steps> then
            state := advance(t, evalf(min(<step>, <until> - t)), state, c);
            if ormap(type, state, {undefined, infinity}) then
                error "the motion diverged: after t = %1 the state is no longer finite", t;
            end if;
        end if;
    end do;
end proc:

run_motion():
"""


def complete(program: Program, run: FixedRun, _file: str = "") -> str:
    """The file with a run: it writes the motion when it is read."""
    own = {
        "heading": _quoted(heading(program)),
        "defaults": "default_values" if program.parameters else "[]",
        "places": ", ".join(str(place + 1) for place in written_outputs(program)),
    }
    words = words_of(program, run, _number, "        [{0}],")
    words["shares"] = str(words["shares"]).removesuffix(",")
    return write(program) + filled(_RUN, **words, **own)


def write(program: Program) -> str:
    """The text of the file, to be read by ``read``."""
    written = listing(program, NOTATION)
    once = [*(name for _, name in written.parameters), *(step.name for step in written.constants)]
    then = [*(name for _, name in written.inputs), *written.kept]
    for step in written.steps:
        then += [step.name] if isinstance(step, Assignment) else [f"matrix{step.number}", f"solution{step.number}"]
    parts = [
        _head(program),
        _SOLVE if program.systems else "",
        _procedure("constants", "p", once, CODE.constants(written)),
        _procedure("step", "x, c", then, CODE.step(written)),
    ]
    start = first_rate(program)
    if start is not None:
        lines = [f"    return step([t, op(state)], c)[{start + 1} .. {len(program.outputs)}];"]
        parts.append(_procedure("rates", "t, state, c", [], lines))
    return "".join(parts)


def _head(program: Program) -> str:
    lines = [
        "# c := constants(p): once, then step(x, c) gives the outputs, all in the order below; p and x are lists of",
        "# numbers or symbols. Decimal fractions are computed to at least 17 digits.",
        "Digits := max(Digits, 17):",
    ]
    for title, _, names in tables(program):
        lines.append(f"{title[:-1]}_names := [{', '.join(_quoted(name) for name in names)}]:")
    if program.defaults:
        lines.append(f"default_values := [{listed(program.defaults, _number)}]:")
    return "\n".join([*lines, ""])


def _quoted(name: str) -> str:
    escaped = printable(name).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _procedure(name: str, arguments: str, local: list[str], lines: list[str]) -> str:
    declared = [f"    local {', '.join(local)};"] if local else []
    return "\n".join(["", f"{name} := proc({arguments})", *declared, *lines, "end proc:", ""])


def _solve(step: Solution) -> list[str]:
    matrix = _list(f"    matrix{step.number} := [", (f"[{', '.join(row)}]" for row in step.rows), "    ];")
    opening = f"    solution{step.number} := solve_system(matrix{step.number}, ["
    return [*matrix, *_list(opening, (f"[{', '.join(side)}]" for side in step.sides), "    ]);")]


def _list(opening: str, entries: Iterable[str], closing: str) -> list[str]:
    return [opening, ",\n".join(f"        {entry}" for entry in entries), closing]


def _returned(_name: str, formulas: Sequence[str]) -> list[str]:
    return _list("    return [", formulas, "    ];")


CODE = Code(NOTATION, "    {0} := {1};", _returned, _solve)
