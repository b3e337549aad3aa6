; The interpreter of long programs; what it does is told in llvm_interpreter.py, which puts the loops of operations in.

declare double @llvm.sqrt.f64(double)
declare <4 x double> @llvm.sqrt.v4f64(<4 x double>)
declare ptr @malloc(i64)
declare void @free(ptr)
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)

define internal i64 @code_number(ptr %code, i64 %place) alwaysinline nounwind {
  %at = getelementptr inbounds i32, ptr %code, i64 %place
  %narrow = load i32, ptr %at, align 4
  %wide = zext i32 %narrow to i64
  ret i64 %wide
}

; the value of a row at the place that the code tells; rows that are worked on together stand %stride apart
define internal double @row_number(ptr %code, i64 %place, ptr %row, i64 %stride) alwaysinline nounwind {
  %number = call i64 @code_number(ptr %code, i64 %place)
  %far = mul i64 %number, %stride
  %at = getelementptr inbounds double, ptr %row, i64 %far
  %value = load double, ptr %at, align 8
  ret double %value
}

; a system is solved by pivoting: first unknown, size, first side, width, sides, symmetric, entries, (from, to) …
define internal i32 @interpret_solve(ptr %code, ptr %row, i64 %stride) nounwind {
entry:
  %start = call i64 @code_number(ptr %code, i64 0)
  %size = call i64 @code_number(ptr %code, i64 1)
  %side = call i64 @code_number(ptr %code, i64 2)
  %width = call i64 @code_number(ptr %code, i64 3)
  %sides = call i64 @code_number(ptr %code, i64 4)
  %symmetric = call i64 @code_number(ptr %code, i64 5)
  %entries = call i64 @code_number(ptr %code, i64 6)
  %numbers = mul i64 %size, %width
  %twice = mul i64 %numbers, 2
  %all = add i64 %twice, %side
  %bytes = mul i64 %all, 8
  %work = call ptr @malloc(i64 %bytes)
  %clear = mul i64 %numbers, 8
  call void @llvm.memset.p0.i64(ptr %work, i8 0, i64 %clear, i1 false)
  %factors = getelementptr double, ptr %work, i64 %twice
  br label %fill
fill:
  %i = phi i64 [ 0, %entry ], [ %i.next, %fill ]
  %pair = mul i64 %i, 2
  %from.at = add i64 %pair, 7
  %to.at = add i64 %pair, 8
  %value = call double @row_number(ptr %code, i64 %from.at, ptr %row, i64 %stride)
  %place = call i64 @code_number(ptr %code, i64 %to.at)
  %to = getelementptr inbounds double, ptr %work, i64 %place
  store double %value, ptr %to, align 8
  %i.next = add i64 %i, 1
  %i.more = icmp slt i64 %i.next, %entries
  br i1 %i.more, label %fill, label %filled
filled:
  %definite = icmp ne i64 %symmetric, 0
  br i1 %definite, label %try, label %pivot
try:
  %status.try = call i32 @svyaz_solve_symmetric(ptr %work, ptr %factors, i64 %size, i64 %side, i64 %width)
  br label %solved
pivot:
  %status.pivot = call i32 @svyaz_solve_pivoted(ptr %work, ptr %factors, i64 %size, i64 %side, i64 %width)
  br label %solved
solved:
  %status = phi i32 [ %status.try, %try ], [ %status.pivot, %pivot ]
  %unknowns = mul i64 %size, %sides
  br label %take
take:
  %k = phi i64 [ 0, %solved ], [ %k.next, %take ]
  %which = udiv i64 %k, %size
  %line = urem i64 %k, %size
  %line.at = mul i64 %line, %width
  %column = add i64 %side, %which
  %cell = add i64 %line.at, %column
  %cell.at = getelementptr inbounds double, ptr %work, i64 %cell
  %unknown = load double, ptr %cell.at, align 8
  %k.to = add i64 %start, %k
  %k.far = mul i64 %k.to, %stride
  %k.at = getelementptr inbounds double, ptr %row, i64 %k.far
  store double %unknown, ptr %k.at, align 8
  %k.next = add i64 %k, 1
  %k.more = icmp slt i64 %k.next, %unknowns
  br i1 %k.more, label %take, label %done
done:
  call void @free(ptr %work)
  ret i32 %status
}

; is an elimination good: margins of its pivots and of its residuals
define internal i1 @is_good(ptr %code, ptr %row, i64 %stride) alwaysinline nounwind {
  %margin = call double @row_number(ptr %code, i64 0, ptr %row, i64 %stride)
  %residual = call double @row_number(ptr %code, i64 1, ptr %row, i64 %stride)
  %pivots = fcmp ogt double %margin, 0.0
  %exact = fcmp oge double %residual, 0.0
  %good = and i1 %pivots, %exact
  ret i1 %good
}

; numbers into a row, or out of one into places %stride apart
define internal void @spread(ptr %from, ptr %to, i64 %count, i64 %stride) nounwind {
entry:
  %any = icmp sgt i64 %count, 0
  br i1 %any, label %loop, label %done
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %at = getelementptr inbounds double, ptr %from, i64 %i
  %value = load double, ptr %at, align 8
  %far = mul i64 %i, %stride
  %there = getelementptr inbounds double, ptr %to, i64 %far
  store double %value, ptr %there, align 8
  %next = add i64 %i, 1
  %more = icmp slt i64 %next, %count
  br i1 %more, label %loop, label %done
done:
  ret void
}

define internal void @give(ptr %code, ptr %row, ptr %out, i64 %count, i64 %stride) nounwind {
entry:
  %any = icmp sgt i64 %count, 0
  br i1 %any, label %loop, label %done
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %value = call double @row_number(ptr %code, i64 %i, ptr %row, i64 %stride)
  %to = getelementptr inbounds double, ptr %out, i64 %i
  store double %value, ptr %to, align 8
  %next = add i64 %i, 1
  %more = icmp slt i64 %next, %count
  br i1 %more, label %loop, label %done
done:
  ret void
}

define i32 @svyaz_interpret(ptr %code, ptr %literals, ptr %x, ptr %c, ptr %out) nounwind {
entry:
  %here = alloca ptr, align 8
  %places = call i64 @code_number(ptr %code, i64 0)
  %inputs = call i64 @code_number(ptr %code, i64 1)
  %constants = call i64 @code_number(ptr %code, i64 2)
  %numbers = call i64 @code_number(ptr %code, i64 3)
  %outputs = call i64 @code_number(ptr %code, i64 4)
  %bytes = mul i64 %places, 8
  %row = call ptr @malloc(i64 %bytes)
  call void @spread(ptr %x, ptr %row, i64 %inputs, i64 1)
  %c.to = getelementptr double, ptr %row, i64 %inputs
  call void @spread(ptr %c, ptr %c.to, i64 %constants, i64 1)
  %l.to = getelementptr double, ptr %c.to, i64 %constants
  call void @spread(ptr %literals, ptr %l.to, i64 %numbers, i64 1)
  %wanted = getelementptr i32, ptr %code, i64 <begin>
  %begin = getelementptr i32, ptr %wanted, i64 %outputs
  store ptr %begin, ptr %here, align 8
  br label %next
next:
  %now = load ptr, ptr %here, align 8
  %operation = load i32, ptr %now, align 4
  %count = call i64 @code_number(ptr %now, i64 1)
  %first.place = call i64 @code_number(ptr %now, i64 2)
  %first = getelementptr inbounds double, ptr %row, i64 %first.place
  %operands = getelementptr inbounds i32, ptr %now, i64 3
  switch i32 %operation, label %finish [
<cases>
  ]
finish:
  br label %leave
solve:
  %solve.status = call i32 @interpret_solve(ptr %operands, ptr %row, i64 1)
  %solve.after = getelementptr inbounds i32, ptr %operands, i64 %count
  store ptr %solve.after, ptr %here, align 8
  %solve.bad = icmp ne i32 %solve.status, 0
  br i1 %solve.bad, label %singular, label %next
singular:
  %which = trunc i64 %first.place to i32
  br label %leave
leave:
  %status = phi i32 [ 0, %finish ], [ %which, %singular ]
  call void @give(ptr %wanted, ptr %row, ptr %out, i64 %outputs, i64 1)
  call void @free(ptr %row)
  ret i32 %status
; count unknowns from the first place on; margin, margin of residuals, length of the instruction behind, unknowns …
guard:
  %good = call i1 @is_good(ptr %operands, ptr %row, i64 1)
  %skip = call i64 @code_number(ptr %operands, i64 2)
  %guard.unknowns = getelementptr inbounds i32, ptr %operands, i64 3
  %guard.after = getelementptr inbounds i32, ptr %guard.unknowns, i64 %count
  store ptr %guard.after, ptr %here, align 8
  br i1 %good, label %accept, label %next
accept:
  call void @give(ptr %guard.unknowns, ptr %row, ptr %first, i64 %count, i64 1)
  %behind = getelementptr inbounds i32, ptr %guard.after, i64 %skip
  store ptr %behind, ptr %here, align 8
  br label %next
<loops>
}

; four rows side by side: inputs and outputs row by row, constants %c.stride apart; %status has four numbers that are zero.
; %need has a bit for each row whose system is not solved yet
define internal void @interpret_lanes(ptr %code, ptr %literals, ptr %x, ptr %c, i64 %c.stride, ptr %out, ptr %status, ptr %row) nounwind {
entry:
  %here = alloca ptr, align 8
  %need = alloca i64, align 8
  store i64 15, ptr %need, align 8
  %inputs = call i64 @code_number(ptr %code, i64 1)
  %constants = call i64 @code_number(ptr %code, i64 2)
  %numbers = call i64 @code_number(ptr %code, i64 3)
  %outputs = call i64 @code_number(ptr %code, i64 4)
  %wanted = getelementptr i32, ptr %code, i64 <begin>
  br label %take
take:
  %lane = phi i64 [ 0, %entry ], [ %lane.next, %take ]
  %x.far = mul i64 %lane, %inputs
  %x.at = getelementptr double, ptr %x, i64 %x.far
  %lane.row = getelementptr double, ptr %row, i64 %lane
  call void @spread(ptr %x.at, ptr %lane.row, i64 %inputs, i64 4)
  %c.far = mul i64 %lane, %c.stride
  %c.at = getelementptr double, ptr %c, i64 %c.far
  %c.to = getelementptr <4 x double>, ptr %lane.row, i64 %inputs
  call void @spread(ptr %c.at, ptr %c.to, i64 %constants, i64 4)
  %l.to = getelementptr <4 x double>, ptr %c.to, i64 %constants
  call void @spread(ptr %literals, ptr %l.to, i64 %numbers, i64 4)
  %lane.next = add i64 %lane, 1
  %lane.more = icmp slt i64 %lane.next, 4
  br i1 %lane.more, label %take, label %taken
taken:
  %begin = getelementptr i32, ptr %wanted, i64 %outputs
  store ptr %begin, ptr %here, align 8
  br label %next
next:
  %now = load ptr, ptr %here, align 8
  %operation = load i32, ptr %now, align 4
  %count = call i64 @code_number(ptr %now, i64 1)
  %first.place = call i64 @code_number(ptr %now, i64 2)
  %first = getelementptr inbounds <4 x double>, ptr %row, i64 %first.place
  %operands = getelementptr inbounds i32, ptr %now, i64 3
  switch i32 %operation, label %finish [
<cases>
  ]
finish:
  %g = phi i64 [ 0, %next ], [ %g.next, %finish ]
  %g.row = getelementptr double, ptr %row, i64 %g
  %g.far = mul i64 %g, %outputs
  %g.out = getelementptr double, ptr %out, i64 %g.far
  call void @give(ptr %wanted, ptr %g.row, ptr %g.out, i64 %outputs, i64 4)
  %g.next = add i64 %g, 1
  %g.more = icmp slt i64 %g.next, 4
  br i1 %g.more, label %finish, label %end
end:
  ret void
; those rows whose elimination was not good, or all where there was none
solve:
  %s = phi i64 [ 0, %next ], [ %s.next, %solve.next ]
  %s.mask = load i64, ptr %need, align 8
  %s.bit = lshr i64 %s.mask, %s
  %s.needed = trunc i64 %s.bit to i1
  br i1 %s.needed, label %solve.this, label %solve.next
solve.this:
  %s.row = getelementptr double, ptr %row, i64 %s
  %s.status = getelementptr i32, ptr %status, i64 %s
  call void @solve_lane(ptr %operands, ptr %s.row, ptr %s.status, i64 %first.place)
  br label %solve.next
solve.next:
  %s.next = add i64 %s, 1
  %s.more = icmp slt i64 %s.next, 4
  br i1 %s.more, label %solve, label %solve.done
solve.done:
  store i64 15, ptr %need, align 8
  %solve.after = getelementptr inbounds i32, ptr %operands, i64 %count
  store ptr %solve.after, ptr %here, align 8
  br label %next
guard:
  %skip = call i64 @code_number(ptr %operands, i64 2)
  %guard.unknowns = getelementptr inbounds i32, ptr %operands, i64 3
  %guard.after = getelementptr inbounds i32, ptr %guard.unknowns, i64 %count
  store ptr %guard.after, ptr %here, align 8
  br label %judge
judge:
  %j = phi i64 [ 0, %guard ], [ %j.next, %judged ]
  %j.mask = load i64, ptr %need, align 8
  %j.bit = lshr i64 %j.mask, %j
  %j.needed = trunc i64 %j.bit to i1
  br i1 %j.needed, label %judge.this, label %judged
judge.this:
  %j.row = getelementptr double, ptr %row, i64 %j
  %j.to = getelementptr double, ptr %first, i64 %j
  call void @give_lane(ptr %guard.unknowns, ptr %j.row, ptr %j.to, i64 %count)
  %j.good = call i1 @is_good(ptr %operands, ptr %j.row, i64 4)
  %j.one = zext i1 %j.good to i64
  %j.off = shl i64 %j.one, %j
  %j.left = xor i64 %j.mask, %j.off
  store i64 %j.left, ptr %need, align 8
  br label %judged
judged:
  %j.next = add i64 %j, 1
  %j.more = icmp slt i64 %j.next, 4
  br i1 %j.more, label %judge, label %guarded
guarded:
  %still = load i64, ptr %need, align 8
  %all.good = icmp eq i64 %still, 0
  br i1 %all.good, label %leave.out, label %next
leave.out:
  store i64 15, ptr %need, align 8
  %behind = getelementptr inbounds i32, ptr %guard.after, i64 %skip
  store ptr %behind, ptr %here, align 8
  br label %next
<loops of lanes>
}

; numbers of one of the rows that are worked on together, to places side by side
define internal void @give_lane(ptr %code, ptr %row, ptr %to, i64 %count) nounwind {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %value = call double @row_number(ptr %code, i64 %i, ptr %row, i64 4)
  %far = mul i64 %i, 4
  %there = getelementptr inbounds double, ptr %to, i64 %far
  store double %value, ptr %there, align 8
  %next = add i64 %i, 1
  %more = icmp slt i64 %next, %count
  br i1 %more, label %loop, label %done
done:
  ret void
}

; one of the rows that are worked on together, unless it has met a singular system before
define internal void @solve_lane(ptr %code, ptr %row, ptr %status, i64 %system) nounwind {
entry:
  %before = load i32, ptr %status, align 4
  %well = icmp eq i32 %before, 0
  br i1 %well, label %solve, label %done
solve:
  %failed = call i32 @interpret_solve(ptr %code, ptr %row, i64 4)
  %bad = icmp ne i32 %failed, 0
  br i1 %bad, label %singular, label %done
singular:
  %which = trunc i64 %system to i32
  store i32 %which, ptr %status, align 4
  br label %done
done:
  ret void
}

define void @svyaz_interpret_batch(ptr %code, ptr %literals, i64 %n, ptr %x, ptr %c, i64 %c.stride, ptr %out, ptr %status) nounwind {
entry:
  %places = call i64 @code_number(ptr %code, i64 0)
  %inputs = call i64 @code_number(ptr %code, i64 1)
  %outputs = call i64 @code_number(ptr %code, i64 4)
  %bytes = mul i64 %places, 32
  %row = call ptr @malloc(i64 %bytes)
  %whole = and i64 %n, -4
  br label %fours
fours:
  %i = phi i64 [ 0, %entry ], [ %i.next, %four ]
  %i.more = icmp slt i64 %i, %whole
  %x.far = mul i64 %i, %inputs
  %x.at = getelementptr double, ptr %x, i64 %x.far
  %c.far = mul i64 %i, %c.stride
  %c.at = getelementptr double, ptr %c, i64 %c.far
  %out.far = mul i64 %i, %outputs
  %out.at = getelementptr double, ptr %out, i64 %out.far
  %status.at = getelementptr i32, ptr %status, i64 %i
  br i1 %i.more, label %four, label %ones
four:
  store <4 x i32> zeroinitializer, ptr %status.at, align 4
  call void @interpret_lanes(ptr %code, ptr %literals, ptr %x.at, ptr %c.at, i64 %c.stride, ptr %out.at, ptr %status.at, ptr %row)
  %i.next = add i64 %i, 4
  br label %fours
ones:
  %k = phi i64 [ %whole, %fours ], [ %k.next, %one ]
  %k.more = icmp slt i64 %k, %n
  br i1 %k.more, label %one, label %done
one:
  %k.x.far = mul i64 %k, %inputs
  %k.x = getelementptr double, ptr %x, i64 %k.x.far
  %k.c.far = mul i64 %k, %c.stride
  %k.c = getelementptr double, ptr %c, i64 %k.c.far
  %k.out.far = mul i64 %k, %outputs
  %k.out = getelementptr double, ptr %out, i64 %k.out.far
  %k.status = getelementptr i32, ptr %status, i64 %k
  %code.of.k = call i32 @svyaz_interpret(ptr %code, ptr %literals, ptr %k.x, ptr %k.c, ptr %k.out)
  store i32 %code.of.k, ptr %k.status, align 4
  %k.next = add i64 %k, 1
  br label %ones
done:
  call void @free(ptr %row)
  ret void
}
