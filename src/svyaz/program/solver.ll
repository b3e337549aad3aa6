; Solvers of linear systems, written without stack variables so that they need no passes.
;
; svyaz_solve_pivoted: rows, then columns are scaled by powers of two (exact) to a sum of magnitudes between 1 and 2 or
; near it, which makes the test of singularity independent of units; then elimination with partial pivoting (G. H. Golub,
; C. F. Van Loan, Matrix Computations, 3.4 and 3.5). A pivot below 16 n epsilon of the scaled matrix means singular.
;
; svyaz_solve_symmetric: tries L D L' without exchanges, which is half the work and stable when all pivots come out
; positive, and goes to the other one when they do not. It needs twice the storage.
;
; Both take (storage, room for the factors of columns, n, padded n, row length) and return 0 with the unknowns in place
; of the sides, or 1 when the matrix is singular. What is not a number stays so: it is passed on to the unknowns and not
; called singular.

declare double @llvm.fabs.f64(double)
declare <4 x double> @llvm.fabs.v4f64(<4 x double>)
declare double @llvm.vector.reduce.fadd.v4f64(double, <4 x double>)
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)

define internal void @scale_row(ptr %row, i64 %width, double %factor) alwaysinline nounwind {
entry:
  %one = insertelement <4 x double> poison, double %factor, i64 0
  %all = shufflevector <4 x double> %one, <4 x double> poison, <4 x i32> zeroinitializer
  br label %loop
loop:
  %j = phi i64 [ 0, %entry ], [ %next, %loop ]
  %at = getelementptr double, ptr %row, i64 %j
  %old = load <4 x double>, ptr %at, align 8
  %new = fmul <4 x double> %old, %all
  store <4 x double> %new, ptr %at, align 8
  %next = add i64 %j, 4
  %more = icmp slt i64 %next, %width
  br i1 %more, label %loop, label %done
done:
  ret void
}

; row_i -= factor * row_k from column %from (a multiple of 4) to %width
define internal void @subtract_row(ptr %row, ptr %pivot, i64 %from, i64 %width, double %factor) alwaysinline nounwind {
entry:
  %one = insertelement <4 x double> poison, double %factor, i64 0
  %all = shufflevector <4 x double> %one, <4 x double> poison, <4 x i32> zeroinitializer
  br label %loop
loop:
  %j = phi i64 [ %from, %entry ], [ %next, %loop ]
  %at = getelementptr double, ptr %row, i64 %j
  %source = getelementptr double, ptr %pivot, i64 %j
  %old = load <4 x double>, ptr %at, align 8
  %above = load <4 x double>, ptr %source, align 8
  %product = fmul contract <4 x double> %all, %above
  %new = fsub contract <4 x double> %old, %product
  store <4 x double> %new, ptr %at, align 8
  %next = add i64 %j, 4
  %more = icmp slt i64 %next, %width
  br i1 %more, label %loop, label %done
done:
  ret void
}

define internal void @swap_rows(ptr %first, ptr %second, i64 %width) nounwind {
entry:
  br label %loop
loop:
  %j = phi i64 [ 0, %entry ], [ %next, %loop ]
  %a = getelementptr double, ptr %first, i64 %j
  %b = getelementptr double, ptr %second, i64 %j
  %va = load <4 x double>, ptr %a, align 8
  %vb = load <4 x double>, ptr %b, align 8
  store <4 x double> %vb, ptr %a, align 8
  store <4 x double> %va, ptr %b, align 8
  %next = add i64 %j, 4
  %more = icmp slt i64 %next, %width
  br i1 %more, label %loop, label %done
done:
  ret void
}

; rows to a sum of magnitudes in [1, 2); returns 1 for a row of zeros
define internal i32 @scale_rows(ptr %a, i64 %n, i64 %columns, i64 %width) nounwind {
entry:
  br label %rows
rows:
  %i = phi i64 [ 0, %entry ], [ %i.next, %scaled ]
  %start = mul i64 %i, %width
  %row = getelementptr double, ptr %a, i64 %start
  br label %sums
sums:
  %j = phi i64 [ 0, %rows ], [ %j.next, %sums ]
  %sum = phi <4 x double> [ zeroinitializer, %rows ], [ %sum.next, %sums ]
  %at = getelementptr double, ptr %row, i64 %j
  %v = load <4 x double>, ptr %at, align 8
  %m = call <4 x double> @llvm.fabs.v4f64(<4 x double> %v)
  %sum.next = fadd <4 x double> %sum, %m
  %j.next = add i64 %j, 4
  %j.more = icmp slt i64 %j.next, %columns
  br i1 %j.more, label %sums, label %total
total:
  %all = call double @llvm.vector.reduce.fadd.v4f64(double 0.0, <4 x double> %sum.next)
  %bits = bitcast double %all to i64
  %power.bits = and i64 %bits, 9218868437227405312
  %empty = icmp eq i64 %power.bits, 0
  br i1 %empty, label %singular, label %scaled
scaled:
  %power = bitcast i64 %power.bits to double
  %factor = fdiv double 1.0, %power
  call void @scale_row(ptr %row, i64 %width, double %factor)
  %i.next = add i64 %i, 1
  %i.more = icmp slt i64 %i.next, %n
  br i1 %i.more, label %rows, label %done
singular:
  ret i32 1
done:
  ret i32 0
}

; columns likewise, four at a time; the factors are kept for the unknowns. A column of zeros keeps the factor 1
define internal void @scale_columns(ptr %a, ptr %factors, i64 %n, i64 %columns, i64 %width) nounwind {
entry:
  br label %blocks
blocks:
  %j = phi i64 [ 0, %entry ], [ %j.next, %next.block ]
  %top = getelementptr double, ptr %a, i64 %j
  br label %sums
sums:
  %i = phi i64 [ 0, %blocks ], [ %i.next, %sums ]
  %sum = phi <4 x double> [ zeroinitializer, %blocks ], [ %sum.next, %sums ]
  %start = mul i64 %i, %width
  %at = getelementptr double, ptr %top, i64 %start
  %v = load <4 x double>, ptr %at, align 8
  %m = call <4 x double> @llvm.fabs.v4f64(<4 x double> %v)
  %sum.next = fadd <4 x double> %sum, %m
  %i.next = add i64 %i, 1
  %i.more = icmp slt i64 %i.next, %n
  br i1 %i.more, label %sums, label %total
total:
  %bits = bitcast <4 x double> %sum.next to <4 x i64>
  %power.bits = and <4 x i64> %bits, splat (i64 9218868437227405312)
  %empty = icmp eq <4 x i64> %power.bits, zeroinitializer
  %power = bitcast <4 x i64> %power.bits to <4 x double>
  %divisor = select <4 x i1> %empty, <4 x double> splat (double 1.0), <4 x double> %power
  %factor = fdiv <4 x double> splat (double 1.0), %divisor
  %kept = getelementptr double, ptr %factors, i64 %j
  store <4 x double> %factor, ptr %kept, align 8
  br label %scaling
scaling:
  %r = phi i64 [ 0, %total ], [ %r.next, %scaling ]
  %r.start = mul i64 %r, %width
  %r.at = getelementptr double, ptr %top, i64 %r.start
  %old = load <4 x double>, ptr %r.at, align 8
  %new = fmul <4 x double> %old, %factor
  store <4 x double> %new, ptr %r.at, align 8
  %r.next = add i64 %r, 1
  %r.more = icmp slt i64 %r.next, %n
  br i1 %r.more, label %scaling, label %next.block
next.block:
  %j.next = add i64 %j, 4
  %j.more = icmp slt i64 %j.next, %columns
  br i1 %j.more, label %blocks, label %done
done:
  ret void
}

; elimination below the diagonal with partial pivoting; returns 1 when a pivot is not above %tolerance
define internal i32 @eliminate(ptr %a, i64 %n, i64 %width, double %tolerance) nounwind {
entry:
  br label %columns
columns:
  %k = phi i64 [ 0, %entry ], [ %k.next, %next.column ]
  %k.next = add i64 %k, 1
  %k.start = mul i64 %k, %width
  %k.row = getelementptr double, ptr %a, i64 %k.start
  %k.at = getelementptr double, ptr %k.row, i64 %k
  %own = load double, ptr %k.at, align 8
  %own.size = call double @llvm.fabs.f64(double %own)
  %k.last = icmp eq i64 %k.next, %n
  br i1 %k.last, label %judge, label %search
search:
  %i = phi i64 [ %k.next, %columns ], [ %i.next, %search ]
  %best = phi double [ %own.size, %columns ], [ %best.next, %search ]
  %place = phi i64 [ %k, %columns ], [ %place.next, %search ]
  %i.start = mul i64 %i, %width
  %i.index = add i64 %i.start, %k
  %i.at = getelementptr double, ptr %a, i64 %i.index
  %v = load double, ptr %i.at, align 8
  %size = call double @llvm.fabs.f64(double %v)
  %better = fcmp ogt double %size, %best
  %best.next = select i1 %better, double %size, double %best
  %place.next = select i1 %better, i64 %i, i64 %place
  %i.next = add i64 %i, 1
  %i.more = icmp slt i64 %i.next, %n
  br i1 %i.more, label %search, label %judge
judge:
  %pivot.size = phi double [ %own.size, %columns ], [ %best.next, %search ]
  %pivot.row = phi i64 [ %k, %columns ], [ %place.next, %search ]
  %bad = fcmp ole double %pivot.size, %tolerance
  br i1 %bad, label %singular, label %exchange
exchange:
  %stays = icmp eq i64 %pivot.row, %k
  br i1 %stays, label %reduce, label %swap
swap:
  %p.start = mul i64 %pivot.row, %width
  %p.row = getelementptr double, ptr %a, i64 %p.start
  call void @swap_rows(ptr %k.row, ptr %p.row, i64 %width)
  br label %reduce
reduce:
  br i1 %k.last, label %done, label %first.row
first.row:
  %pivot = load double, ptr %k.at, align 8
  %inverse = fdiv double 1.0, %pivot
  %from = and i64 %k.next, -4
  br label %rows
rows:
  %r = phi i64 [ %k.next, %first.row ], [ %r.next, %next.row ]
  %r.start = mul i64 %r, %width
  %r.row = getelementptr double, ptr %a, i64 %r.start
  %r.at = getelementptr double, ptr %r.row, i64 %k
  %below = load double, ptr %r.at, align 8
  %zero = fcmp oeq double %below, 0.0
  br i1 %zero, label %next.row, label %subtract
subtract:
  %factor = fmul double %below, %inverse
  call void @subtract_row(ptr %r.row, ptr %k.row, i64 %from, i64 %width, double %factor)
  br label %next.row
next.row:
  %r.next = add i64 %r, 1
  %r.more = icmp slt i64 %r.next, %n
  br i1 %r.more, label %rows, label %next.column
next.column:
  br label %columns
singular:
  ret i32 1
done:
  ret i32 0
}

; upper triangle: unknowns from the last to the first, column by column, four sides at a time
define internal void @substitute(ptr %a, i64 %n, i64 %columns, i64 %width) nounwind {
entry:
  br label %blocks
blocks:
  %s = phi i64 [ %columns, %entry ], [ %s.next, %next.block ]
  %last = sub i64 %n, 1
  br label %unknowns
unknowns:
  %k = phi i64 [ %last, %blocks ], [ %k.next, %next.unknown ]
  %k.next = sub i64 %k, 1
  %k.start = mul i64 %k, %width
  %k.row = getelementptr double, ptr %a, i64 %k.start
  %k.at = getelementptr double, ptr %k.row, i64 %k
  %pivot = load double, ptr %k.at, align 8
  %one = insertelement <4 x double> poison, double %pivot, i64 0
  %all = shufflevector <4 x double> %one, <4 x double> poison, <4 x i32> zeroinitializer
  %s.at = getelementptr double, ptr %k.row, i64 %s
  %side = load <4 x double>, ptr %s.at, align 8
  %x = fdiv <4 x double> %side, %all
  store <4 x double> %x, ptr %s.at, align 8
  %first = icmp eq i64 %k, 0
  br i1 %first, label %next.block, label %rows
rows:
  %i = phi i64 [ 0, %unknowns ], [ %i.next, %rows ]
  %i.start = mul i64 %i, %width
  %i.row = getelementptr double, ptr %a, i64 %i.start
  %u.at = getelementptr double, ptr %i.row, i64 %k
  %u = load double, ptr %u.at, align 8
  %u.one = insertelement <4 x double> poison, double %u, i64 0
  %u.all = shufflevector <4 x double> %u.one, <4 x double> poison, <4 x i32> zeroinitializer
  %b.at = getelementptr double, ptr %i.row, i64 %s
  %b = load <4 x double>, ptr %b.at, align 8
  %product = fmul contract <4 x double> %u.all, %x
  %b.new = fsub contract <4 x double> %b, %product
  store <4 x double> %b.new, ptr %b.at, align 8
  %i.next = add i64 %i, 1
  %i.more = icmp slt i64 %i.next, %k
  br i1 %i.more, label %rows, label %next.unknown
next.unknown:
  br label %unknowns
next.block:
  %s.next = add i64 %s, 4
  %s.more = icmp slt i64 %s.next, %width
  br i1 %s.more, label %blocks, label %done
done:
  ret void
}

; %a: the storage; %factors: room for %columns numbers. 0, or 1 when singular
define i32 @svyaz_solve_pivoted(ptr %a, ptr %factors, i64 %n, i64 %columns, i64 %width) nounwind {
entry:
  %empty = call i32 @scale_rows(ptr %a, i64 %n, i64 %columns, i64 %width)
  %no.row = icmp ne i32 %empty, 0
  br i1 %no.row, label %singular, label %scaled
scaled:
  call void @scale_columns(ptr %a, ptr %factors, i64 %n, i64 %columns, i64 %width)
  %size = sitofp i64 %n to double
  %tolerance = fmul double %size, 0x3CF0000000000000
  %bad = call i32 @eliminate(ptr %a, i64 %n, i64 %width, double %tolerance)
  %no.pivot = icmp ne i32 %bad, 0
  br i1 %no.pivot, label %singular, label %solved
solved:
  call void @substitute(ptr %a, i64 %n, i64 %columns, i64 %width)
  %sides = sub i64 %width, %columns
  br label %unscale
unscale:
  %i = phi i64 [ 0, %solved ], [ %i.next, %unscale ]
  %start = mul i64 %i, %width
  %index = add i64 %start, %columns
  %row = getelementptr double, ptr %a, i64 %index
  %factor.at = getelementptr double, ptr %factors, i64 %i
  %factor = load double, ptr %factor.at, align 8
  call void @scale_row(ptr %row, i64 %sides, double %factor)
  %i.next = add i64 %i, 1
  %more = icmp slt i64 %i.next, %n
  br i1 %more, label %unscale, label %done
singular:
  ret i32 1
done:
  ret i32 0
}

; upper triangle of a symmetric matrix without exchanges: row_i -= (a_ki / a_kk) row_k from column i on;
; returns 1 when a pivot is not above 2^-40 of its entry in %original: then the matrix is not safely definite
define internal i32 @eliminate_definite(ptr %a, ptr %original, i64 %n, i64 %width) nounwind {
entry:
  %diagonal = add i64 %width, 1
  br label %columns
columns:
  %k = phi i64 [ 0, %entry ], [ %k.next, %next.column ]
  %k.next = add i64 %k, 1
  %k.place = mul i64 %k, %diagonal
  %k.at = getelementptr double, ptr %a, i64 %k.place
  %k.original = getelementptr double, ptr %original, i64 %k.place
  %pivot = load double, ptr %k.at, align 8
  %before = load double, ptr %k.original, align 8
  %least = fmul double %before, 0x3D70000000000000
  %margin = fsub double %pivot, %least
  %good = fcmp ogt double %margin, 0.0
  br i1 %good, label %reduce, label %indefinite
reduce:
  %last = icmp eq i64 %k.next, %n
  br i1 %last, label %done, label %first.row
first.row:
  %k.start = mul i64 %k, %width
  %k.row = getelementptr double, ptr %a, i64 %k.start
  %inverse = fdiv double 1.0, %pivot
  br label %rows
rows:
  %i = phi i64 [ %k.next, %first.row ], [ %i.next, %next.row ]
  %right.at = getelementptr double, ptr %k.row, i64 %i
  %right = load double, ptr %right.at, align 8
  %zero = fcmp oeq double %right, 0.0
  br i1 %zero, label %next.row, label %subtract
subtract:
  %factor = fmul double %right, %inverse
  %i.start = mul i64 %i, %width
  %i.row = getelementptr double, ptr %a, i64 %i.start
  %from = and i64 %i, -4
  call void @subtract_row(ptr %i.row, ptr %k.row, i64 %from, i64 %width, double %factor)
  br label %next.row
next.row:
  %i.next = add i64 %i, 1
  %more = icmp slt i64 %i.next, %n
  br i1 %more, label %rows, label %next.column
next.column:
  br label %columns
indefinite:
  ret i32 1
done:
  ret i32 0
}

; as the pivoted solver, but tries the elimination of a definite matrix first, in the second half of the storage
define i32 @svyaz_solve_symmetric(ptr %a, ptr %factors, i64 %n, i64 %columns, i64 %width) nounwind {
entry:
  %numbers = mul i64 %n, %width
  %bytes = mul i64 %numbers, 8
  %copy = getelementptr double, ptr %a, i64 %numbers
  call void @llvm.memcpy.p0.p0.i64(ptr align 8 %copy, ptr align 8 %a, i64 %bytes, i1 false)
  %bad = call i32 @eliminate_definite(ptr %copy, ptr %a, i64 %n, i64 %width)
  %indefinite = icmp ne i32 %bad, 0
  br i1 %indefinite, label %pivot, label %definite
definite:
  call void @substitute(ptr %copy, i64 %n, i64 %columns, i64 %width)
  call void @llvm.memcpy.p0.p0.i64(ptr align 8 %a, ptr align 8 %copy, i64 %bytes, i1 false)
  ret i32 0
pivot:
  %status = call i32 @svyaz_solve_pivoted(ptr %a, ptr %factors, i64 %n, i64 %columns, i64 %width)
  ret i32 %status
}
