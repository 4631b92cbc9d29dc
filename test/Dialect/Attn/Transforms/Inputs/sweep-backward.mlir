// The sweep of a backward kernel with keys on rows, cut down: everything 64 x 64, one group, no mask. Five products; dS
// goes through shared memory to become an operand, dQ to another role. ORDER is replaced by tests.
!b = !attn.buf<tensor<64x64xbf16>, 128>
!f = !attn.buf<tensor<64x64xf32>, 128>
!r = !attn.ring<2, !b>
!fr = !attn.ring<2, !f>
!T = tensor<64x64xf32, #attn.frag<4, 1>>
!P = tensor<64x64xbf16, #attn.frag<4, 1>>
module attributes {attn.target = #attn.target<chip = "toy", family = wgmma>} {
  attn.kernel @backward attributes {schedule = #attn.schedule<tile = [64, 64], warps = [4, 1], order = [ORDER]>} {
  ^bb0(%n: i32, %hi: i32):
    %c0 = arith.constant 0 : i32
    %Q = attn.alloc as "Q" readers 4 : !r
    %dO = attn.alloc as "dO" readers 4 : !r
    %dS = attn.alloc as "dS" readers 4 : !r
    %dQ = attn.alloc as "dQ" readers 4 : !fr
    %K = attn.alloc as "K" : !b
    %V = attn.alloc as "V" : !b
    attn.role "compute" warps 0 + 4 groups 1 {
    ^bb0(%g: i32):
      %z = arith.constant dense<0.0> : !T
      %cs = arith.constant dense<0.5> : !T
      %dvn, %dkn = attn.sweep ascending %c0 to %hi plain %c0 to %hi init(%z, %z : !T, !T) -> !T, !T {
      ^bb0(%t: i32, %j: i32, %dv: !T, %dk: !T):
        %item = arith.addi %n, %t : i32
        %q = attn.wait %Q[%item] : !r -> !b
        %s = attn.dot as "S" %K, %q trans_b : (!b, !b) -> !T
        %do = attn.wait %dO[%item] : !r -> !b
        %dp = attn.dot as "dP" %V, %do trans_b : (!b, !b) -> !T
        %e = arith.mulf %s, %cs : !T
        %p = math.exp2 %e : !T
        %ds = arith.mulf %p, %dp : !T
        %pb = attn.pack as "P" %p : !T -> !P
        %dsb = attn.pack as "dS" %ds : !T -> !P
        %slot = attn.acquire %dS[%item] : !r -> !b
        attn.store %dsb, %slot : !P, !b
        attn.commit %dS[%item] : !r
        %dv1 = attn.dot as "dV" %pb, %do plus %dv : (!P, !b, !T) -> !T
        attn.release %dO[%item] : !r
        %dk1 = attn.dot as "dK" %dsb, %q plus %dk : (!P, !b, !T) -> !T
        attn.release %Q[%item] : !r
        %dss = attn.wait %dS[%item] : !r -> !b
        %dq = attn.dot as "dQ" %dss, %K : (!b, !b) -> !T
        attn.release %dS[%item] : !r
        %out = attn.acquire %dQ[%item] : !fr -> !f
        attn.store %dq, %out : !T, !f
        attn.commit %dQ[%item] : !fr
        attn.yield %dv1, %dk1 : !T, !T
      }
      attn.pin %dvn : !T
      attn.pin %dkn : !T
    }
  }
}
