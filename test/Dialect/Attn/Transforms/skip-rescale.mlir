// RUN: attn-opt %s -split-input-file -attn-skip-rescale | FileCheck %s
// RUN: attn-opt %s -split-input-file -attn-skip-rescale -remarks-filter=attn-skip-rescale -remarks-filter-missed=attn-skip-rescale -remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK

!S = tensor<64x16xf32, #attn.frag<4, 1>>
!P = tensor<64x16xbf16, #attn.frag<4, 1>>
!r = tensor<64xf32, #attn.frag<4, 1, rows>>
!z = tensor<64x4xf32, #attn.frag<4, 1, quads>>
!b = !attn.buf<tensor<16x16xbf16>, 32>

// The maximum stays where it is unless a row of the warp grew by more than 2^8; only then is the accumulator rescaled.
// The row sum keeps its factor, and the plain maximum has no other reader.
// CHECK-LABEL: attn.kernel @softmax
// CHECK: ^bb0(%{{.*}}: i32, %{{.*}}: i32, %[[O:.*]]: tensor<64x16xf32, {{.*}}>, %[[M:.*]]: tensor<64xf32, {{.*}}>, %[[L:.*]]: tensor<64x4xf32
// CHECK: %[[MW:.*]] = arith.maxnumf %[[M]], %{{.*}}
// CHECK: %[[D:.*]] = arith.subf %[[MW]], %[[M]]
// CHECK: %[[S:.*]] = arith.constant dense<8.000000e+00> : tensor<64xf32, #attn.frag<4, 1, rows>>
// CHECK: %[[GT:.*]] = arith.cmpf ogt, %[[D]], %[[S]]
// CHECK: %[[GROW:.*]] = attn.any %[[GT]]
// CHECK: %[[M1:.*]] = arith.select %[[GROW]], %[[MW]], %[[M]]
// CHECK-NOT: %[[MW]]
// CHECK: arith.negf %[[M1]]
// CHECK: %[[DA:.*]] = arith.subf %[[M]], %[[M1]]
// CHECK: %[[AL:.*]] = math.exp2 %[[DA]]
// CHECK: %[[AZ:.*]] = attn.spread %[[AL]]
// CHECK: arith.mulf %[[L]], %[[AZ]]
// CHECK: %[[OS:.*]] = scf.if %[[GROW]] -> (tensor<64x16xf32, {{.*}}>) {
// CHECK: %[[AS:.*]] = attn.spread %[[AL]]
// CHECK: %[[SC:.*]] = arith.mulf %[[O]], %[[AS]]
// CHECK: scf.yield %[[SC]]
// CHECK: } else {
// CHECK: scf.yield %[[O]]
// CHECK: attn.dot {{.*}} plus %[[OS]]
// CHECK: attn.yield %{{.*}}, %[[M1]], %{{.*}}
// REMARK: Function={{.*}}accumulator is rescaled for rows that grow by more powers of two than {{.*}}skip=8
attn.kernel @softmax attributes {schedule = #attn.schedule<tile = [64, 16], warps = [4, 1], skip = 8>} {
^bb0(%n: i32):
  attn.role "compute" warps 0 + 4 groups 1 {
  ^bb0(%g: i32):
    %K = attn.alloc : !b
    %c0 = arith.constant 0 : i32
    %q = arith.constant dense<1.0> : !P
    %cs = arith.constant dense<0.5> : !S
    %cr = arith.constant dense<0.5> : !r
    %o0 = arith.constant dense<0.0> : !S
    %m0 = arith.constant dense<-1.0e+29> : !r
    %l0 = arith.constant dense<0.0> : !z
    %r:3 = attn.sweep descending %c0 to %n plain %c0 to %n init(%o0, %m0, %l0 : !S, !r, !z) -> !S, !r, !z {
    ^bb0(%t: i32, %j: i32, %o: !S, %m: !r, %l: !z):
      %s = attn.dot as "S" %q, %K trans_b : (!P, !b) -> !S
      %mx = attn.reduce as "max" max %s : !S -> !r
      %mc = arith.mulf %mx, %cr : !r
      %m1 = arith.maxnumf %m, %mc : !r
      %nm = arith.negf %m1 : !r
      %da = arith.subf %m, %m1 : !r
      %al = math.exp2 %da : !r
      %nS = attn.spread %nm along 1 : !r -> !S
      %e = math.fma %s, %cs, %nS : !S
      %p = math.exp2 %e : !S
      %ps = attn.reduce sum %p : !S -> !z
      %az = attn.spread %al along 1 : !r -> !z
      %la = arith.mulf %l, %az : !z
      %l1 = arith.addf %la, %ps : !z
      %pb = attn.pack as "P" %p : !S -> !P
      %aO = attn.spread %al along 1 : !r -> !S
      %os = arith.mulf %o, %aO : !S
      %o1 = attn.dot as "PV" %pb, %K plus %os : (!P, !b, !S) -> !S
      attn.yield %o1, %m1, %l1 : !S, !r, !z
    }
  }
}

// -----

!S = tensor<64x16xf32, #attn.frag<4, 1>>
!P = tensor<64x16xbf16, #attn.frag<4, 1>>
!r = tensor<64xf32, #attn.frag<4, 1, rows>>
!b = !attn.buf<tensor<16x16xbf16>, 32>

// Two accumulators that follow one maximum share its vote; it may stand on either side of the product.
// CHECK-LABEL: attn.kernel @two_accumulators
// CHECK: %[[GROW:.*]] = attn.any
// CHECK-NOT: attn.any
// CHECK: scf.if %[[GROW]]
// CHECK: scf.if %[[GROW]]
// CHECK-NOT: attn.any
// CHECK: attn.yield
attn.kernel @two_accumulators attributes {schedule = #attn.schedule<tile = [64, 16], warps = [4, 1], skip = 4>} {
^bb0(%n: i32):
  attn.role "compute" warps 0 + 4 groups 1 {
  ^bb0(%g: i32):
    %K = attn.alloc : !b
    %p = arith.constant dense<1.0> : !P
    %o0 = arith.constant dense<0.0> : !S
    %m0 = arith.constant dense<-1.0e+29> : !r
    %r:3 = attn.sweep ascending %g to %n plain %g to %n init(%o0, %o0, %m0 : !S, !S, !r) -> !S, !S, !r {
    ^bb0(%t: i32, %j: i32, %a: !S, %b: !S, %m: !r):
      %s = attn.dot as "S" %p, %K trans_b : (!P, !b) -> !S
      %mx = attn.reduce max %s : !S -> !r
      %m1 = arith.maxnumf %mx, %m : !r
      %d = arith.subf %m, %m1 : !r
      %al = math.exp2 %d : !r
      %f = attn.spread %al along 1 : !r -> !S
      %as = arith.mulf %a, %f : !S
      %bs = arith.mulf %f, %b : !S
      %a1 = attn.dot %p, %K plus %as : (!P, !b, !S) -> !S
      %b1 = attn.dot %p, %K plus %bs : (!P, !b, !S) -> !S
      attn.yield %a1, %b1, %m1 : !S, !S, !r
    }
  }
}

// -----

!S = tensor<64x16xf32, #attn.frag<4, 1>>
!P = tensor<64x16xbf16, #attn.frag<4, 1>>
!b = !attn.buf<tensor<16x16xbf16>, 32>

// Nothing is rescaled here: the schedule asks for what is not there, and a remark says so.
// CHECK-LABEL: attn.kernel @no_maximum
// CHECK-NOT: attn.any
// REMARK: no accumulator is rescaled by a running maximum
attn.kernel @no_maximum attributes {schedule = #attn.schedule<tile = [64, 16], warps = [4, 1], skip = 4>} {
^bb0(%n: i32):
  attn.role "compute" warps 0 + 4 groups 1 {
  ^bb0(%g: i32):
    %K = attn.alloc : !b
    %p = arith.constant dense<1.0> : !P
    %o0 = arith.constant dense<0.0> : !S
    %r = attn.sweep ascending %g to %n plain %g to %n init(%o0 : !S) -> !S {
    ^bb0(%t: i32, %j: i32, %a: !S):
      %a1 = attn.dot %p, %K plus %a : (!P, !b, !S) -> !S
      attn.yield %a1 : !S
    }
  }
}
