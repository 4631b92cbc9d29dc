// RUN: attn-opt %s -split-input-file -attn-schedule-sweep -remarks-filter=attn-schedule-sweep -remarks-filter-missed=attn-schedule-sweep -remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s

!Kb = !attn.buf<tensor<128x16xbf16>, 32>
!Kr = !attn.ring<2, !Kb>
!Q = tensor<64x16xbf16, #attn.frag<4, 1>>
!S = tensor<64x128xf32, #attn.frag<4, 1>>
!P = tensor<64x128xbf16, #attn.frag<4, 1>>
!O = tensor<64x16xf32, #attn.frag<4, 1>>
!z = tensor<64x4xf32, #attn.frag<4, 1, quads>>

// P has no entry, so only what the sum of every step needs is computed early: the exponentials travel in f32, twice
// the registers of P.
// CHECK: remark: [Passed] {{.*}}"scheduled: ", carried=3, lag=1, order="S, PV@1, await S, await PV", registers=74
// CHECK: remark: [Missed] {{.*}}"a value without an entry in the order travels to a later step: ", op=math.exp2, registers=64
// CHECK-NOT: Missed
module attributes {attn.target = #attn.target<chip = "toy", family = wgmma>} {
  attn.kernel @exponentials_travel attributes {schedule = #attn.schedule<tile = [64, 128], warps = [4, 1], order = ["S", "PV@1", "await S", "await PV"]>} {
  ^bb0(%n: i32, %hi: i32):
    %c0 = arith.constant 0 : i32
    %K = attn.alloc as "K" readers 4 : !Kr
    %V = attn.alloc as "V" readers 4 : !Kr
    attn.role "compute" warps 0 + 4 groups 1 {
    ^bb0(%g: i32):
      %q = arith.constant dense<1.0> : !Q
      %o0 = arith.constant dense<0.0> : !O
      %l0 = arith.constant dense<0.0> : !z
      %r:2 = attn.sweep descending %c0 to %hi plain %c0 to %hi init(%o0, %l0 : !O, !z) -> !O, !z {
      ^bb0(%t: i32, %j: i32, %o: !O, %l: !z):
        %k = attn.wait %K[%t] : !Kr -> !Kb
        %s = attn.dot as "S" %q, %k trans_b : (!Q, !Kb) -> !S
        attn.release %K[%t] : !Kr
        %p = math.exp2 %s : !S
        %ps = attn.reduce sum %p : !S -> !z
        %l1 = arith.addf %l, %ps : !z
        %pb = attn.pack as "P" %p : !S -> !P
        %v = attn.wait %V[%t] : !Kr -> !Kb
        %o1 = attn.dot as "PV" %pb, %v plus %o : (!P, !Kb, !O) -> !O
        attn.release %V[%t] : !Kr
        attn.yield %o1, %l1 : !O, !z
      }
    }
  }
}
