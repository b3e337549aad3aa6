"""What a step of several members at once does beside their rates, in LLVM text: one member a lane of the vector registers.

Numbers stand lane by lane: entry i of lane l at i·width + l; a state is [t, y…]. All functions have the signature of a
program; their answer has a bit for each lane.

    add      (block, h, y)        y = x + h Σ weightₑ k[columnₑ] and t + node·h;  block: column, weight, entries, k, n, x, node
    note     (block, on, totals)  totals of what was seen in the lanes that are on;  block: seen, chosen, columns
    unbound  (y, block, –)        a bit for each lane whose state is not finite or too large;  block[0]: n
    take     (y, block, x)        the same; where there is none, x = y at the time after one more step;  block: n, done, h, t0

Their operations are those of ``svyaz.integrate.stages`` and ``loops``, in the same order.
"""

from __future__ import annotations

import struct
from functools import cache
from threading import Lock

from svyaz.integrate.calls import OVERFLOW
from svyaz.integrate.compiling import MachineCode
from svyaz.program import kept_code, load_code, object_code

NAMES = ("add", "note", "unbound", "take")


_MAKING = Lock()


def lane_functions(width: int) -> dict[str, MachineCode]:
    """The functions for lanes of this number; made once and never let go, for loops in any thread have their addresses."""
    with _MAKING:
        return _made(width)


@cache
def _made(width: int) -> dict[str, MachineCode]:
    text = _text(width)
    engine = load_code(kept_code(("steps of lanes", text), lambda: object_code(text)))
    return {name: MachineCode(int(engine.get_function_address(name)), engine) for name in NAMES}


def _text(width: int) -> str:
    kind = f"<{width} x double>"
    declared = f"""
declare {kind} @llvm.fma.v{width}f64({kind}, {kind}, {kind})
declare {kind} @llvm.fabs.v{width}f64({kind})
"""
    return "\n".join((declared, *(function(kind, width) for function in (_add, _unbound, _take, _note))))


def _add(kind: str, width: int) -> str:
    return f"""\
define i32 @add(ptr noalias %block, ptr noalias %h.at, ptr noalias %y) nounwind {{
entry:
  %column = load ptr, ptr %block, align 8
  %weight.word = getelementptr i64, ptr %block, i64 1
  %weight = load ptr, ptr %weight.word, align 8
  %entries.word = getelementptr i64, ptr %block, i64 2
  %entries = load i64, ptr %entries.word, align 8
  %k.word = getelementptr i64, ptr %block, i64 3
  %k = load ptr, ptr %k.word, align 8
  %n.word = getelementptr i64, ptr %block, i64 4
  %n = load i64, ptr %n.word, align 8
  %x.word = getelementptr i64, ptr %block, i64 5
  %x = load ptr, ptr %x.word, align 8
  %node.word = getelementptr i64, ptr %block, i64 6
  %node.one = load double, ptr %node.word, align 8
  %node.first = insertelement {kind} poison, double %node.one, i64 0
  %node = shufflevector {kind} %node.first, {kind} poison, <{width} x i32> zeroinitializer
  %h = load {kind}, ptr %h.at, align 8
  %t = load {kind}, ptr %x, align 8
  %t.end = call {kind} @llvm.fma.v{width}f64({kind} %node, {kind} %h, {kind} %t)
  store {kind} %t.end, ptr %y, align 8
  br label %state
state:
  %m = phi i64 [ 0, %entry ], [ %m.next, %state.end ]
  br label %term
term:
  %e = phi i64 [ 0, %state ], [ %e.next, %term ]
  %s = phi {kind} [ zeroinitializer, %state ], [ %s.next, %term ]
  %column.at = getelementptr i64, ptr %column, i64 %e
  %c = load i64, ptr %column.at, align 8
  %row = mul i64 %c, %n
  %place = add i64 %row, %m
  %k.at = getelementptr {kind}, ptr %k, i64 %place
  %slope = load {kind}, ptr %k.at, align 8
  %w.at = getelementptr double, ptr %weight, i64 %e
  %w.one = load double, ptr %w.at, align 8
  %w.first = insertelement {kind} poison, double %w.one, i64 0
  %w = shufflevector {kind} %w.first, {kind} poison, <{width} x i32> zeroinitializer
  %is.first = icmp eq i64 %e, 0
  %begun = fmul {kind} %w, %slope
  %more = call {kind} @llvm.fma.v{width}f64({kind} %w, {kind} %slope, {kind} %s)
  %s.next = select i1 %is.first, {kind} %begun, {kind} %more
  %e.next = add i64 %e, 1
  %further = icmp slt i64 %e.next, %entries
  br i1 %further, label %term, label %state.end
state.end:
  %m.next = add i64 %m, 1
  %x.at = getelementptr {kind}, ptr %x, i64 %m.next
  %old = load {kind}, ptr %x.at, align 8
  %new = call {kind} @llvm.fma.v{width}f64({kind} %h, {kind} %s.next, {kind} %old)
  %y.at = getelementptr {kind}, ptr %y, i64 %m.next
  store {kind} %new, ptr %y.at, align 8
  %another = icmp slt i64 %m.next, %n
  br i1 %another, label %state, label %done
done:
  ret i32 0
}}
"""


def _unbound(kind: str, width: int) -> str:
    bound = f"0x{struct.unpack('<Q', struct.pack('<d', OVERFLOW))[0]:016X}"
    return f"""\
define i32 @unbound(ptr noalias %y, ptr noalias %block, ptr %nothing) nounwind {{
entry:
  %n = load i64, ptr %block, align 8
  br label %state
state:
  %m = phi i64 [ 0, %entry ], [ %m.next, %state ]
  %size = phi {kind} [ zeroinitializer, %entry ], [ %size.next, %state ]
  %m.next = add i64 %m, 1
  %y.at = getelementptr {kind}, ptr %y, i64 %m.next
  %value = load {kind}, ptr %y.at, align 8
  %own = call {kind} @llvm.fabs.v{width}f64({kind} %value)
  %size.next = fadd {kind} %size, %own
  %another = icmp slt i64 %m.next, %n
  br i1 %another, label %state, label %done
done:
  %bad = fcmp ugt {kind} %size.next, splat (double {bound})
  %bits = bitcast <{width} x i1> %bad to i{width}
  %answer = zext i{width} %bits to i32
  ret i32 %answer
}}
"""


def _take(kind: str, width: int) -> str:
    return f"""\
define i32 @take(ptr noalias %y, ptr noalias %block, ptr noalias %x) nounwind {{
entry:
  %n = load i64, ptr %block, align 8
  %done.word = getelementptr i64, ptr %block, i64 1
  %done.at = load ptr, ptr %done.word, align 8
  %h.word = getelementptr i64, ptr %block, i64 2
  %h.at = load ptr, ptr %h.word, align 8
  %t0.word = getelementptr i64, ptr %block, i64 3
  %t0.one = load double, ptr %t0.word, align 8
  %bad = call i32 @unbound(ptr %y, ptr %block, ptr %y)
  %fine = icmp eq i32 %bad, 0
  br i1 %fine, label %taken, label %left
left:
  ret i32 %bad
taken:
  %t0.first = insertelement {kind} poison, double %t0.one, i64 0
  %t0 = shufflevector {kind} %t0.first, {kind} poison, <{width} x i32> zeroinitializer
  %before = load {kind}, ptr %done.at, align 8
  %after = fadd {kind} %before, splat (double 1.0)
  store {kind} %after, ptr %done.at, align 8
  %h = load {kind}, ptr %h.at, align 8
  %t = call {kind} @llvm.fma.v{width}f64({kind} %after, {kind} %h, {kind} %t0)
  store {kind} %t, ptr %x, align 8
  br label %state
state:
  %m = phi i64 [ 0, %taken ], [ %m.next, %state ]
  %m.next = add i64 %m, 1
  %y.at = getelementptr {kind}, ptr %y, i64 %m.next
  %value = load {kind}, ptr %y.at, align 8
  %x.at = getelementptr {kind}, ptr %x, i64 %m.next
  store {kind} %value, ptr %x.at, align 8
  %another = icmp slt i64 %m.next, %n
  br i1 %another, label %state, label %done
done:
  ret i32 0
}}
"""


def _note(kind: str, width: int) -> str:
    return f"""\
define i32 @note(ptr noalias %block, ptr noalias %on.at, ptr noalias %totals) nounwind {{
entry:
  %seen = load ptr, ptr %block, align 8
  %chosen.word = getelementptr i64, ptr %block, i64 1
  %chosen = load ptr, ptr %chosen.word, align 8
  %columns.word = getelementptr i64, ptr %block, i64 2
  %columns = load i64, ptr %columns.word, align 8
  %on.numbers = load {kind}, ptr %on.at, align 8
  %on = fcmp one {kind} %on.numbers, zeroinitializer
  %some = icmp sgt i64 %columns, 0
  br i1 %some, label %column, label %done
column:
  %j = phi i64 [ 0, %entry ], [ %j.next, %column ]
  %chosen.at = getelementptr i64, ptr %chosen, i64 %j
  %which = load i64, ptr %chosen.at, align 8
  %value.at = getelementptr {kind}, ptr %seen, i64 %which
  %value = load {kind}, ptr %value.at, align 8
  %first.place = mul i64 %j, 5
  %first.at = getelementptr {kind}, ptr %totals, i64 %first.place
  %size.at = getelementptr {kind}, ptr %first.at, i64 1
  %change.at = getelementptr {kind}, ptr %first.at, i64 2
  %top.at = getelementptr {kind}, ptr %first.at, i64 3
  %last.at = getelementptr {kind}, ptr %first.at, i64 4
  %first = load {kind}, ptr %first.at, align 8
  %size = load {kind}, ptr %size.at, align 8
  %change = load {kind}, ptr %change.at, align 8
  %top = load {kind}, ptr %top.at, align 8
  %last = load {kind}, ptr %last.at, align 8
  %own = call {kind} @llvm.fabs.v{width}f64({kind} %value)
  %finite = fcmp olt {kind} %own, splat (double 0x7FF0000000000000)
  %finite.on = and <{width} x i1> %finite, %on
  %last.new = select <{width} x i1> %finite.on, {kind} %value, {kind} %last
  %larger = fcmp ugt {kind} %own, %size
  %larger.on = and <{width} x i1> %larger, %finite.on
  %size.new = select <{width} x i1> %larger.on, {kind} %own, {kind} %size
  %difference = fsub {kind} %value, %first
  %moved = call {kind} @llvm.fabs.v{width}f64({kind} %difference)
  %further = fcmp ugt {kind} %moved, %change
  %change.known = fcmp ord {kind} %change, %change
  %further.known = and <{width} x i1> %further, %change.known
  %further.on = and <{width} x i1> %further.known, %on
  %change.new = select <{width} x i1> %further.on, {kind} %moved, {kind} %change
  %higher = fcmp ugt {kind} %value, %top
  %top.known = fcmp ord {kind} %top, %top
  %higher.known = and <{width} x i1> %higher, %top.known
  %higher.on = and <{width} x i1> %higher.known, %on
  %top.new = select <{width} x i1> %higher.on, {kind} %value, {kind} %top
  store {kind} %size.new, ptr %size.at, align 8
  store {kind} %change.new, ptr %change.at, align 8
  store {kind} %top.new, ptr %top.at, align 8
  store {kind} %last.new, ptr %last.at, align 8
  %j.next = add i64 %j, 1
  %another = icmp slt i64 %j.next, %columns
  br i1 %another, label %column, label %done
done:
  ret i32 0
}}
"""
