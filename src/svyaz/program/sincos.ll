; Sine and cosine of several angles at once: what is done to each angle %x. ``llvm_sincos.py`` puts the rest around it.
;
; The angle is reduced to |r| <= pi/4 by the nearest multiple n of pi/2, which is held in three parts (Cody and Waite): n times
; the first, and its difference from the angle, are exact inside a fused multiply-add; the second has so few bits that what
; r loses of it is exact too; with the third it is kept as a tail, by its opposite, so that the sine of -0 is -0. A number so
; large that its last bit is 1 is added to round to n, whose bits then tell the quadrant. The polynomials are the minimax
; ones of Ng's fdlibm (k_sin.c, k_cos.c); the error stays below one unit in the last place (0.74 on a hard sample). Each angle
; beyond 2^22, infinite or not a number goes to the C library by itself, whatever the others are.

  %m = call <4 x double> @llvm.fma.v4f64(<4 x double> %x, <4 x double> splat (double 0x3FE45F306DC9C883), <4 x double> splat (double 0x4338000000000000))
  %n = fsub <4 x double> %m, splat (double 0x4338000000000000)
  %r0 = call <4 x double> @llvm.fma.v4f64(<4 x double> %n, <4 x double> splat (double 0xBFF921FB54442D18), <4 x double> %x)
  %r = call <4 x double> @llvm.fma.v4f64(<4 x double> %n, <4 x double> splat (double 0xBC91A62633000000), <4 x double> %r0)
  %moved = fsub <4 x double> %r, %r0
  %lost = call <4 x double> @llvm.fma.v4f64(<4 x double> %n, <4 x double> splat (double 0x3C91A62633000000), <4 x double> %moved)
  %minus.tail = call <4 x double> @llvm.fma.v4f64(<4 x double> %n, <4 x double> splat (double 0x3A945C06E0E68948), <4 x double> %lost)
  %z = fmul <4 x double> %r, %r
  %w = call <4 x double> @llvm.fma.v4f64(<4 x double> splat (double -0.5), <4 x double> %z, <4 x double> splat (double 1.0))
  ; sine of r + tail, by the opposite of what is added to r
  %z.r = fmul <4 x double> %z, %r
  %s5 = call <4 x double> @llvm.fma.v4f64(<4 x double> %z, <4 x double> splat (double 0xBDE5D93A5ACFD57C), <4 x double> splat (double 0x3E5AE5E68A2B9CEB))
  %s4 = call <4 x double> @llvm.fma.v4f64(<4 x double> %z, <4 x double> %s5, <4 x double> splat (double 0xBEC71DE357B1FE7D))
  %s3 = call <4 x double> @llvm.fma.v4f64(<4 x double> %z, <4 x double> %s4, <4 x double> splat (double 0x3F2A01A019C161D5))
  %s2 = call <4 x double> @llvm.fma.v4f64(<4 x double> %z, <4 x double> %s3, <4 x double> splat (double 0xBF8111111110F8A6))
  %s1 = call <4 x double> @llvm.fma.v4f64(<4 x double> %z, <4 x double> %s2, <4 x double> splat (double 0x3FC5555555555549))
  %tail.w = fmul <4 x double> %minus.tail, %w
  %s.less = call <4 x double> @llvm.fma.v4f64(<4 x double> %z.r, <4 x double> %s1, <4 x double> %tail.w)
  %sine = fsub <4 x double> %r, %s.less
  ; cosine of r + tail
  %c5 = call <4 x double> @llvm.fma.v4f64(<4 x double> %z, <4 x double> splat (double 0xBDA8FAE9BE8838D4), <4 x double> splat (double 0x3E21EE9EBDB4B1C4))
  %c4 = call <4 x double> @llvm.fma.v4f64(<4 x double> %z, <4 x double> %c5, <4 x double> splat (double 0xBE927E4F809C52AD))
  %c3 = call <4 x double> @llvm.fma.v4f64(<4 x double> %z, <4 x double> %c4, <4 x double> splat (double 0x3EFA01A019CB1590))
  %c2 = call <4 x double> @llvm.fma.v4f64(<4 x double> %z, <4 x double> %c3, <4 x double> splat (double 0xBF56C16C16C15177))
  %c1 = call <4 x double> @llvm.fma.v4f64(<4 x double> %z, <4 x double> %c2, <4 x double> splat (double 0x3FA555555555554C))
  %one.w = fsub <4 x double> splat (double 1.0), %w
  %w.lost = call <4 x double> @llvm.fma.v4f64(<4 x double> splat (double -0.5), <4 x double> %z, <4 x double> %one.w)
  %z.z = fmul <4 x double> %z, %z
  %w.fine = call <4 x double> @llvm.fma.v4f64(<4 x double> %r, <4 x double> %minus.tail, <4 x double> %w.lost)
  %c.b = call <4 x double> @llvm.fma.v4f64(<4 x double> %z.z, <4 x double> %c1, <4 x double> %w.fine)
  %cosine = fadd <4 x double> %w, %c.b
  ; quadrants
  %q = bitcast <4 x double> %m to <4 x i64>
  %odd = and <4 x i64> %q, splat (i64 1)
  %swap = icmp ne <4 x i64> %odd, zeroinitializer
  %s.size = select <4 x i1> %swap, <4 x double> %cosine, <4 x double> %sine
  %c.size = select <4 x i1> %swap, <4 x double> %sine, <4 x double> %cosine
  %s.turned = shl <4 x i64> %q, splat (i64 62)
  %q.next = add <4 x i64> %q, splat (i64 1)
  %c.turned = shl <4 x i64> %q.next, splat (i64 62)
  %s.sign = and <4 x i64> %s.turned, splat (i64 -9223372036854775808)
  %c.sign = and <4 x i64> %c.turned, splat (i64 -9223372036854775808)
  %s.bits = bitcast <4 x double> %s.size to <4 x i64>
  %c.bits = bitcast <4 x double> %c.size to <4 x i64>
  %s.signed = xor <4 x i64> %s.bits, %s.sign
  %c.signed = xor <4 x i64> %c.bits, %c.sign
  %s.value = bitcast <4 x i64> %s.signed to <4 x double>
  %c.value = bitcast <4 x i64> %c.signed to <4 x double>
