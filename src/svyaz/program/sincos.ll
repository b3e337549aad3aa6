; Sine and cosine of several angles at once: what is done to each angle %x. ``llvm_sincos.py`` puts the rest around it.
;
; The angle is reduced to |r| <= pi/4 by the nearest multiple n of pi/2, which is held in three parts: n times the first
; is exact inside a fused multiply-add, and so is its difference from the angle (Cody and Waite); what is lost in the
; difference from the second is kept in a tail. The polynomials are the minimax ones of Ng's fdlibm (k_sin.c, k_cos.c),
; which take the tail as a correction; the error stays below one unit in the last place (0.71 on a hard sample). Each angle
; beyond 2^22, infinite or not a number goes to the C library by itself, whatever the others are.

  %turns = fmul <4 x double> %x, splat (double 0x3FE45F306DC9C883)
  %n = call <4 x double> @llvm.rint.v4f64(<4 x double> %turns)
  %r0 = call <4 x double> @llvm.fma.v4f64(<4 x double> %n, <4 x double> splat (double 0xBFF921FB54442D18), <4 x double> %x)
  %p = fmul <4 x double> %n, splat (double 0xBC91A62633145C07)
  %minus.p = fneg <4 x double> %p
  %p.lost = call <4 x double> @llvm.fma.v4f64(<4 x double> %n, <4 x double> splat (double 0xBC91A62633145C07), <4 x double> %minus.p)
  %r = fadd <4 x double> %r0, %p
  %p.kept = fsub <4 x double> %r, %r0
  %r0.kept = fsub <4 x double> %r, %p.kept
  %r0.rest = fsub <4 x double> %r0, %r0.kept
  %p.rest = fsub <4 x double> %p, %p.kept
  %r.lost = fadd <4 x double> %r0.rest, %p.rest
  %both.lost = fadd <4 x double> %r.lost, %p.lost
  %tail = call <4 x double> @llvm.fma.v4f64(<4 x double> %n, <4 x double> splat (double 0x391F1976B7ED8FBC), <4 x double> %both.lost)
  ; sine of r + tail
  %z = fmul <4 x double> %r, %r
  %z.r = fmul <4 x double> %z, %r
  %s5 = call <4 x double> @llvm.fma.v4f64(<4 x double> %z, <4 x double> splat (double 0x3DE5D93A5ACFD57C), <4 x double> splat (double 0xBE5AE5E68A2B9CEB))
  %s4 = call <4 x double> @llvm.fma.v4f64(<4 x double> %z, <4 x double> %s5, <4 x double> splat (double 0x3EC71DE357B1FE7D))
  %s3 = call <4 x double> @llvm.fma.v4f64(<4 x double> %z, <4 x double> %s4, <4 x double> splat (double 0xBF2A01A019C161D5))
  %s2 = call <4 x double> @llvm.fma.v4f64(<4 x double> %z, <4 x double> %s3, <4 x double> splat (double 0x3F8111111110F8A6))
  %half.tail = fmul <4 x double> %tail, splat (double 0.5)
  %zr.s2 = fmul <4 x double> %z.r, %s2
  %s.inner = fsub <4 x double> %half.tail, %zr.s2
  %minus.tail = fsub <4 x double> splat (double -0.0), %tail
  %s.a = call <4 x double> @llvm.fma.v4f64(<4 x double> %z, <4 x double> %s.inner, <4 x double> %minus.tail)
  %zr.s1 = fmul <4 x double> %z.r, splat (double 0xBFC5555555555549)
  %s.b = fsub <4 x double> %s.a, %zr.s1
  %sine = fsub <4 x double> %r, %s.b
  ; cosine of r + tail
  %c5 = call <4 x double> @llvm.fma.v4f64(<4 x double> %z, <4 x double> splat (double 0xBDA8FAE9BE8838D4), <4 x double> splat (double 0x3E21EE9EBDB4B1C4))
  %c4 = call <4 x double> @llvm.fma.v4f64(<4 x double> %z, <4 x double> %c5, <4 x double> splat (double 0xBE927E4F809C52AD))
  %c3 = call <4 x double> @llvm.fma.v4f64(<4 x double> %z, <4 x double> %c4, <4 x double> splat (double 0x3EFA01A019CB1590))
  %c2 = call <4 x double> @llvm.fma.v4f64(<4 x double> %z, <4 x double> %c3, <4 x double> splat (double 0xBF56C16C16C15177))
  %c1 = call <4 x double> @llvm.fma.v4f64(<4 x double> %z, <4 x double> %c2, <4 x double> splat (double 0x3FA555555555554C))
  %half.z = fmul <4 x double> %z, splat (double 0.5)
  %w = fsub <4 x double> splat (double 1.0), %half.z
  %one.w = fsub <4 x double> splat (double 1.0), %w
  %w.lost = fsub <4 x double> %one.w, %half.z
  %z.z = fmul <4 x double> %z, %z
  %r.tail = fmul <4 x double> %r, %tail
  %w.fine = fsub <4 x double> %w.lost, %r.tail
  %c.b = call <4 x double> @llvm.fma.v4f64(<4 x double> %z.z, <4 x double> %c1, <4 x double> %w.fine)
  %cosine = fadd <4 x double> %w, %c.b
  ; quadrants
  %q = fptosi <4 x double> %n to <4 x i32>
  %odd = and <4 x i32> %q, splat (i32 1)
  %swap = icmp ne <4 x i32> %odd, zeroinitializer
  %second = and <4 x i32> %q, splat (i32 2)
  %q.next = add <4 x i32> %q, splat (i32 1)
  %third = and <4 x i32> %q.next, splat (i32 2)
  %s.minus = icmp ne <4 x i32> %second, zeroinitializer
  %c.minus = icmp ne <4 x i32> %third, zeroinitializer
  %s.size = select <4 x i1> %swap, <4 x double> %cosine, <4 x double> %sine
  %c.size = select <4 x i1> %swap, <4 x double> %sine, <4 x double> %cosine
  %s.negative = fneg <4 x double> %s.size
  %c.negative = fneg <4 x double> %c.size
  %s.value = select <4 x i1> %s.minus, <4 x double> %s.negative, <4 x double> %s.size
  %c.value = select <4 x i1> %c.minus, <4 x double> %c.negative, <4 x double> %c.size
