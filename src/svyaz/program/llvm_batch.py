"""Many rows by one step, in LLVM text: whole, or in part, without solving linear systems."""

from __future__ import annotations

from svyaz.program.tape import Program, solved_nodes


def is_parted(program: Program) -> bool:
    """Are there outputs that need no linear system, and are they computed before any is solved?"""
    first = next((index for index, node in enumerate(program.nodes) if node[0] == "unknown"), None)
    if first is None:
        return False
    solved = solved_nodes(program)
    plain = [index for _, index in program.outputs if not solved[index]]
    return bool(plain) and max(plain) < first


PARTED = "".join(
    f"""
define i32 @{name}(ptr %x, ptr %c, ptr %out) nounwind {{
  %status = call i32 @parted(ptr %x, ptr %c, ptr %out, i1 {part})
  ret i32 %status
}}
"""
    for name, part in (("step", "false"), ("step_part", "true"))
)
"""A step whole and in part, by one function: so that both have the same bits."""


def batch_text(program: Program, part: str = "") -> str:
    """``batch``: the step row by row; constants are common to the rows when their stride is 0."""
    return f"""
define void @batch{part}(i64 %n, ptr %x, ptr %c, i64 %c.stride, ptr %out, ptr %status) nounwind {{
entry:
  %some = icmp sgt i64 %n, 0
  br i1 %some, label %loop, label %done
loop:
  %i = phi i64 [ 0, %entry ], [ %i.next, %loop ]
  %x.index = mul i64 %i, {len(program.inputs)}
  %x.row = getelementptr double, ptr %x, i64 %x.index
  %c.index = mul i64 %i, %c.stride
  %c.row = getelementptr double, ptr %c, i64 %c.index
  %out.index = mul i64 %i, {len(program.outputs)}
  %out.row = getelementptr double, ptr %out, i64 %out.index
  %code = call i32 @step{part}(ptr %x.row, ptr %c.row, ptr %out.row)
  %status.at = getelementptr i32, ptr %status, i64 %i
  store i32 %code, ptr %status.at, align 4
  %i.next = add i64 %i, 1
  %more = icmp slt i64 %i.next, %n
  br i1 %more, label %loop, label %done
done:
  ret void
}}
"""
