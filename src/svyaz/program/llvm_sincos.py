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


def sincos_body(width: int, name: str) -> str:
    """From the angles ``%x`` to their sines and cosines, blocks included, the first one begun."""
    kind = f"<{width} x double>"
    both = f"{{ {kind}, {kind} }}"
    body = files("svyaz.program").joinpath("sincos.ll").read_text(encoding="utf-8")
    near = body.replace("<4 x ", f"<{width} x ").replace(".v4f64", f".v{width}f64")
    return f"""\
  %size = call {kind} @llvm.fabs.v{width}f64({kind} %x)
  %within = fcmp ole {kind} %size, splat (double 0x4150000000000000)
  %all.within = call i1 @llvm.vector.reduce.and.v{width}i1(<{width} x i1> %within)
{near}
  %near.one = insertvalue {both} poison, {kind} %s.value, 0
  %near.both = insertvalue {both} %near.one, {kind} %c.value, 1
  br i1 %all.within, label %done, label %far
far:
  %far.both = call {both} @{name}.far({kind} %x, <{width} x i1> %within, {both} %near.both)
  br label %done
done:
  %both = phi {both} [ %near.both, %entry ], [ %far.both, %far ]
  ret {both} %both
"""


def _far(width: int, name: str) -> str:
    """The function that asks the C library for the angles that are not ``%within``."""
    kind = f"<{width} x double>"
    both = f"{{ {kind}, {kind} }}"
    lines = []
    for place, op in enumerate(("sin", "cos")):
        for lane in range(width):
            before = "poison" if lane == 0 else f"%{op}.{lane - 1}"
            lines += [
                f"  %{op}.x.{lane} = extractelement {kind} %x, i64 {lane}",
                f"  %{op}.y.{lane} = call double @{op}(double %{op}.x.{lane})",
                f"  %{op}.{lane} = insertelement {kind} {before}, double %{op}.y.{lane}, i64 {lane}",
            ]
        lines += [
            f"  %{op}.near = extractvalue {both} %near, {place}",
            f"  %{op}.all = select <{width} x i1> %within, {kind} %{op}.near, {kind} %{op}.{width - 1}",
        ]
    lines += [
        f"  %one = insertvalue {both} poison, {kind} %sin.all, 0",
        f"  %all = insertvalue {both} %one, {kind} %cos.all, 1",
        f"  ret {both} %all",
    ]
    head = (
        f"define internal {both} @{name}.far({kind} %x, <{width} x i1> %within, {both} %near) noinline cold nounwind {{"
    )
    return "\n".join([head, *lines, "}\n"])


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
        f"entry:\n{packing}{sincos_body(4, name)}\n}}\n{_far(4, name)}"
    )


def sincos_of_lanes(width: int, name: str) -> str:
    """The function of a vector that is woven into programs for several states; sin and cos are declared elsewhere."""
    kind = f"<{width} x double>"
    head = f"define internal {{ {kind}, {kind} }} @{name}({kind} %x) nounwind alwaysinline {{\nentry:"
    return f"{sincos_declarations(width)}\n{head}\n{sincos_body(width, name)}\n}}\n{_far(width, name)}"
