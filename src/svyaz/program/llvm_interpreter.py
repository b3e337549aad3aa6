"""The interpreter of long programs, in LLVM text: what would take longer to compile than to run is not compiled.

``int32_t svyaz_interpret(const int32_t *code, const double *literals, const double *x, const double *c, double *out)`` works
on one row of numbers: the inputs, the constants, the literals, then what is computed. The code begins with how many of
each there are and where the outputs stand, and goes on with instructions, each of them an operation that is done many
times with independent operands::

    operation  count  first place  (operands …) × count

so that its results stand side by side. A linear system is eliminated by such operations; ``guard`` looks at their margins
and takes the unknowns over, or leaves it to the ``solve`` behind it, which pivots. The answer is that of ``step``.

``svyaz_interpret_batch`` does the same with many rows, four of them at a time side by side; the bits are those of one.
"""

from __future__ import annotations

from importlib.resources import files

from svyaz.program.llvm_function import SOLVER_DECLARATIONS

INTERPRET, INTERPRET_BATCH = "svyaz_interpret", "svyaz_interpret_batch"
LANES = 4
"""Rows that a batch works on at a time; ``interpreter.ll`` knows them too."""
HEADER = 5
"""Numbers at the beginning of the code: places, inputs, constants, literals, outputs."""

_ARITHMETIC = {"add": "fadd", "sub": "fsub", "mul": "fmul", "div": "fdiv"}
_LIBRARY = ("sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "exp", "log")
_LIBRARY_OF_TWO = ("pow", "atan2")

_OF_SYSTEMS = ("smaller", "less", "more", "fewer")
OPERATIONS = (*_ARITHMETIC, *_LIBRARY_OF_TWO, "min", "max", "neg", "sqrt", "abs", *_LIBRARY, "sign", *_OF_SYSTEMS)
"""``less`` is w - u v, which may be fused, ``more`` and ``fewer`` are w ± |u v|, ``smaller`` the smaller of two numbers."""
OPERANDS = dict.fromkeys((*_ARITHMETIC, *_LIBRARY_OF_TWO, "min", "max", "smaller"), 2)
OPERANDS |= dict.fromkeys(("less", "more", "fewer"), 3)
NUMBERS = {name: number for number, name in enumerate(OPERATIONS)}
END, GUARD, SOLVE = range(len(OPERATIONS), len(OPERATIONS) + 3)


def interpreter_text() -> str:
    """The module of the functions."""
    template = files("svyaz.program").joinpath("interpreter.ll").read_text(encoding="utf-8")
    declared = "".join(f"declare double @{name}(double) nounwind memory(none)\n" for name in _LIBRARY)
    declared += "".join(f"declare double @{name}(double, double) nounwind memory(none)\n" for name in _LIBRARY_OF_TWO)
    declared += SOLVER_DECLARATIONS
    declared += "".join(f"declare {_type(lanes)} @llvm.fabs.{_suffix(lanes)}({_type(lanes)})\n" for lanes in (1, LANES))
    cases = "\n".join(f"    i32 {NUMBERS[name]}, label %{name}" for name in OPERATIONS)
    cases += f"\n    i32 {GUARD}, label %guard\n    i32 {SOLVE}, label %solve"
    for place, lanes in (("<loops>", 1), ("<loops of lanes>", LANES)):
        bodies = "\n".join(_loop(name, _body(name, lanes), OPERANDS.get(name, 1), lanes) for name in OPERATIONS)
        template = template.replace(place, bodies)
    return declared + template.replace("<cases>", cases).replace("<begin>", str(HEADER))


def _type(lanes: int) -> str:
    return "double" if lanes == 1 else f"<{lanes} x double>"


def _suffix(lanes: int) -> str:
    return "f64" if lanes == 1 else f"v{lanes}f64"


def _number(value: str, lanes: int) -> str:
    return value if lanes == 1 else f"splat (double {value})"


def _body(name: str, lanes: int) -> list[str]:
    """%NAME.r from %NAME.u, %NAME.v, %NAME.w."""
    kind, truth = _type(lanes), "i1" if lanes == 1 else f"<{lanes} x i1>"
    u, v, r = f"%{name}.u", f"%{name}.v", f"%{name}.r"
    if name in _ARITHMETIC:
        return [f"{r} = {_ARITHMETIC[name]} {kind} {u}, {v}"]
    if name == "neg":
        return [f"{r} = fneg {kind} {u}"]
    if name in ("sqrt", "abs"):
        called = "sqrt" if name == "sqrt" else "fabs"
        return [f"{r} = call {kind} @llvm.{called}.{_suffix(lanes)}({kind} {u})"]
    if name in ("min", "max"):
        return [
            f"%{name}.first = fcmp {'olt' if name == 'min' else 'ogt'} {kind} {u}, {v}",
            f"%{name}.chosen = select {truth} %{name}.first, {kind} {u}, {kind} {v}",
            f"%{name}.unordered = fcmp uno {kind} {u}, {v}",
            f"%{name}.neither = fadd {kind} {u}, {v}",
            f"{r} = select {truth} %{name}.unordered, {kind} %{name}.neither, {kind} %{name}.chosen",
        ]
    if name == "sign":
        return [
            f"%sign.negative = fcmp olt {kind} {u}, {_number('0.0', lanes)}",
            f"%sign.below = select {truth} %sign.negative, {kind} {_number('-1.0', lanes)}, {kind} {u}",
            f"%sign.positive = fcmp ogt {kind} {u}, {_number('0.0', lanes)}",
            f"{r} = select {truth} %sign.positive, {kind} {_number('1.0', lanes)}, {kind} %sign.below",
        ]
    if name == "smaller":
        return [
            f"%smaller.first = fcmp olt {kind} {u}, {v}",
            f"{r} = select {truth} %smaller.first, {kind} {u}, {kind} {v}",
        ]
    if name == "less":
        return [
            f"%less.product = fmul contract {kind} {u}, {v}",
            f"{r} = fsub contract {kind} %less.w, %less.product",
        ]
    if name in ("more", "fewer"):
        return [
            f"%{name}.product = fmul {kind} {u}, {v}",
            f"%{name}.size = call {kind} @llvm.fabs.{_suffix(lanes)}({kind} %{name}.product)",
            f"{r} = {'fadd' if name == 'more' else 'fsub'} {kind} %{name}.w, %{name}.size",
        ]
    return _library(name, lanes)


def _library(name: str, lanes: int) -> list[str]:
    """A function of the C library, row by row."""
    operands = "uv"[: OPERANDS.get(name, 1)]
    if lanes == 1:
        given = ", ".join(f"double %{name}.{value}" for value in operands)
        return [f"%{name}.r = call double @{name}({given})"]
    lines, whole = [], "poison"
    for lane in range(lanes):
        lines += [f"%{name}.{a}{lane} = extractelement {_type(lanes)} %{name}.{a}, i64 {lane}" for a in operands]
        given = ", ".join(f"double %{name}.{value}{lane}" for value in operands)
        lines.append(f"%{name}.r{lane} = call double @{name}({given})")
        result = f"%{name}.r" if lane == lanes - 1 else f"%{name}.s{lane}"
        lines.append(f"{result} = insertelement {_type(lanes)} {whole}, double %{name}.r{lane}, i64 {lane}")
        whole = result
    return lines


def _loop(name: str, body: list[str], operands: int, lanes: int) -> str:
    """One operation over and over."""
    kind = _type(lanes)
    lines = [
        f"{name}:",
        f"  br label %{name}.loop",
        f"{name}.loop:",
        f"  %{name}.i = phi i64 [ 0, %{name} ], [ %{name}.next, %{name}.loop ]",
        f"  %{name}.at = phi ptr [ %operands, %{name} ], [ %{name}.later, %{name}.loop ]",
    ]
    for place, value in enumerate("uvw"[:operands]):
        lines += [
            f"  %{name}.{value}.at = getelementptr inbounds i32, ptr %{name}.at, i64 {place}",
            f"  %{name}.{value}.n = load i32, ptr %{name}.{value}.at, align 4",
            f"  %{name}.{value}.w = zext i32 %{name}.{value}.n to i64",
            f"  %{name}.{value}.p = getelementptr inbounds {kind}, ptr %row, i64 %{name}.{value}.w",
            f"  %{name}.{value} = load {kind}, ptr %{name}.{value}.p, align 8",
        ]
    lines += [f"  {line}" for line in body]
    lines += [
        f"  %{name}.to = getelementptr inbounds {kind}, ptr %first, i64 %{name}.i",
        f"  store {kind} %{name}.r, ptr %{name}.to, align 8",
        f"  %{name}.next = add i64 %{name}.i, 1",
        f"  %{name}.later = getelementptr inbounds i32, ptr %{name}.at, i64 {operands}",
        f"  %{name}.more = icmp slt i64 %{name}.next, %count",
        f"  br i1 %{name}.more, label %{name}.loop, label %{name}.done",
        f"{name}.done:",
        f"  store ptr %{name}.later, ptr %here, align 8",
        "  br label %next",
    ]
    return "\n".join(lines)
