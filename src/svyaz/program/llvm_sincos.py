"""Sines and cosines of several angles at once, in LLVM text; what is done to an angle stands in ``sincos.ll``.

An angle gives the same bits alone, beside any others, and in vectors of any width.
"""

from __future__ import annotations

from importlib.resources import files


def sincos_declarations(width: int) -> str:
    """What a function of that width calls."""
    kind = f"<{width} x double>"
    return (
        f"declare {kind} @llvm.fma.v{width}f64({kind}, {kind}, {kind})\n"
        f"declare i1 @llvm.vector.reduce.and.v{width}i1(<{width} x i1>)\n"
    )


def sincos_body(width: int) -> str:
    """From the angles ``%x`` to the vectors ``%sines`` and ``%cosines``, blocks included, the first one begun."""
    kind = f"<{width} x double>"
    body = files("svyaz.program").joinpath("sincos.ll").read_text(encoding="utf-8")
    near = body.replace("<4 x ", f"<{width} x ").replace(".v4f64", f".v{width}f64")
    lines = [
        f"  %size = call {kind} @llvm.fabs.v{width}f64({kind} %x)",
        f"  %within = fcmp ole {kind} %size, splat (double 0x4150000000000000)",
        f"  %all.within = call i1 @llvm.vector.reduce.and.v{width}i1(<{width} x i1> %within)",
        "  br label %near",
        "near:",
        near,
        "  br i1 %all.within, label %done, label %far",
        "far:",
    ]
    for name in ("sin", "cos"):
        for lane in range(width):
            before = "poison" if lane == 0 else f"%{name}.{lane - 1}"
            lines += [
                f"  %{name}.x.{lane} = extractelement {kind} %x, i64 {lane}",
                f"  %{name}.y.{lane} = call double @{name}(double %{name}.x.{lane})",
                f"  %{name}.{lane} = insertelement {kind} {before}, double %{name}.y.{lane}, i64 {lane}",
            ]
        value = {"sin": "%s.value", "cos": "%c.value"}[name]
        lines.append(f"  %{name}.both = select <{width} x i1> %within, {kind} {value}, {kind} %{name}.{width - 1}")
    lines += [
        "  br label %done",
        "done:",
        f"  %sines = phi {kind} [ %s.value, %near ], [ %sin.both, %far ]",
        f"  %cosines = phi {kind} [ %c.value, %near ], [ %cos.both, %far ]",
        f"  %one = insertvalue {{ {kind}, {kind} }} poison, {kind} %sines, 0",
        f"  %both = insertvalue {{ {kind}, {kind} }} %one, {kind} %cosines, 1",
        f"  ret {{ {kind}, {kind} }} %both",
    ]
    return "\n".join(lines)


def sincos_of_four(name: str) -> str:
    """The function of four numbers that programs for one state call."""
    entries = ["%a", "%b", "%c", "%d"]
    packing = "".join(
        f"  %x{'' if k == 3 else k} = insertelement <4 x double> {'poison' if k == 0 else f'%x{k - 1}'}, double {e}, i64 {k}\n"
        for k, e in enumerate(entries)
    )
    return (
        "declare double @sin(double) nounwind memory(none)\ndeclare double @cos(double) nounwind memory(none)\n"
        f"{sincos_declarations(4)}\n"
        f"define {{ <4 x double>, <4 x double> }} @{name}(double %a, double %b, double %c, double %d) nounwind {{\n"
        f"entry:\n{packing}{sincos_body(4)}\n}}\n"
    )


def sincos_of_lanes(width: int, name: str) -> str:
    """The function of a vector that programs for several states call; sin and cos are declared elsewhere."""
    kind = f"<{width} x double>"
    return (
        f"{sincos_declarations(width)}\n"
        f"define internal {{ {kind}, {kind} }} @{name}({kind} %x) nounwind noinline {{\nentry:\n{sincos_body(width)}\n}}\n"
    )
