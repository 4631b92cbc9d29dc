// sweep-forward.mlir in a loop over tiles: the sweep of tile i has i + 1 steps, results leave by a buf of their own.
// ORDER, TILES (fixed, or dynamic with a counter) and DEPTH (slots of Q) are replaced by tests.
!Kb = !attn.buf<tensor<16x16xbf16>, 32>
!Kr = !attn.ring<2, !Kb>
!Qb = !attn.buf<tensor<64x16xbf16>, 32>
!Qr = !attn.ring<DEPTH, !Qb>
!Qm = !attn.map<tensor<64x16xbf16>, 32>
!Km = !attn.map<tensor<16x16xbf16>, 32>
!S = tensor<64x16xf32, #attn.frag<4, 1>>
!P = tensor<64x16xbf16, #attn.frag<4, 1>>
!M = tensor<64x16xi1, #attn.frag<4, 1>>
!i = tensor<64x16xi32, #attn.frag<4, 1>>
!r = tensor<64xf32, #attn.frag<4, 1, rows>>
!z = tensor<64x4xf32, #attn.frag<4, 1, quads>>
module attributes {attn.target = #attn.target<chip = "toy", family = wgmma, smem = 65536>} {
  attn.kernel @forward attributes {schedule = #attn.schedule<tile = [128, 16], warps = [4, 1], groups = 2, order = [ORDER], out = own, seam = overlap, tiles = fixed>} {
  ^bb0(%qm: !Qm, %km: !Km, %vm: !Km, %om: !Qm, %rows: i32, %heads: i32, %batch: i32, %G: i32, %end: i32, %count: memref<1xi32>):
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c2 = arith.constant 2 : i32
    %c64 = arith.constant 64 : i32
    %c128 = arith.constant 128 : i32
    %c16 = arith.constant 16 : i32
    %Q = attn.alloc as "Q" readers 4 : !Qr
    %K = attn.alloc as "K" readers 8 : !Kr
    %V = attn.alloc as "V" readers 8 : !Kr
    attn.role "producer" warps 0 + 4 groups 1 elect {
    ^bb0(%g: i32):
      %all = attn.tiles TILES init(%c0) -> i32 {
      ^bb0(%t: i32, %i: i32, %h: i32, %b: i32, %n: i32):
        %hi = arith.addi %i, %c1 : i32
        %kv = arith.divui %h, %G : i32
        %row = arith.muli %i, %c128 : i32
        %row1 = arith.addi %row, %c64 : i32
        %q0 = arith.muli %t, %c2 : i32
        %q1 = arith.addi %q0, %c1 : i32
        %qs0 = attn.acquire %Q[%q0] : !Qr -> !Qb
        attn.copy %qm[%b, %h, %row] to %qs0 fills %Q[%q0] via tma : !Qm, !Qb, !Qr
        %qs1 = attn.acquire %Q[%q1] : !Qr -> !Qb
        attn.copy %qm[%b, %h, %row1] to %qs1 fills %Q[%q1] via tma : !Qm, !Qb, !Qr
        attn.sweep descending %c0 to %hi plain %c0 to %hi {
        ^bb0(%u: i32, %j: i32):
          %item = arith.addi %n, %u : i32
          %key = arith.muli %j, %c16 : i32
          %ks = attn.acquire %K[%item] : !Kr -> !Kb
          attn.copy %km[%b, %kv, %key] to %ks fills %K[%item] via tma : !Km, !Kb, !Kr
          %vs = attn.acquire %V[%item] : !Kr -> !Kb
          attn.copy %vm[%b, %kv, %key] to %vs fills %V[%item] via tma : !Km, !Kb, !Kr
        }
        %next = arith.addi %n, %hi : i32
        attn.yield %next : i32
      }
    }
    attn.role "compute" warps 4 + 8 groups 2 {
    ^bb0(%g: i32):
      %Os = attn.alloc as "O" : !Qb
      %all = attn.tiles TILES init(%c0) -> i32 {
      ^bb0(%t: i32, %i: i32, %h: i32, %b: i32, %n: i32):
        %hi = arith.addi %i, %c1 : i32
        %row0 = arith.muli %i, %c128 : i32
        %mine = arith.muli %g, %c64 : i32
        %row = arith.addi %row0, %mine : i32
        %q0 = arith.muli %t, %c2 : i32
        %qn = arith.addi %q0, %g : i32
        %cr = arith.constant dense<0.5> : !r
        %cs = arith.constant dense<0.5> : !S
        %o0 = arith.constant dense<0.0> : !S
        %m0 = arith.constant dense<-1.0e+29> : !r
        %l0 = arith.constant dense<0.0> : !z
        %q = attn.wait %Q[%qn] : !Qr -> !Qb
        %on, %mn, %ln = attn.sweep descending %c0 to %hi plain %c0 to %i init(%o0, %m0, %l0 : !S, !r, !z) -> !S, !r, !z {
        ^bb0(%u: i32, %j: i32, %o: !S, %m: !r, %l: !z):
          %item = arith.addi %n, %u : i32
          %k = attn.wait %K[%item] : !Kr -> !Kb
          %s = attn.dot as "S" %q, %k trans_b : (!Qb, !Kb) -> !S
          attn.release %K[%item] : !Kr
          %key = arith.muli %j, %c16 : i32
          %kk = attn.coord %key along 1 : !i
          %ends = tensor.splat %end : !i
          %vis = arith.cmpi slt, %kk, %ends : !i
          %sm = attn.mask %s where %vis : !S, !M
          %mx = attn.reduce as "max" max %sm : !S -> !r
          %mc = arith.mulf %mx, %cr : !r
          %mw = arith.maxnumf %m, %mc : !r
          %dm = arith.subf %mw, %m : !r
          %eight = arith.constant dense<8.0> : !r
          %gt = arith.cmpf ogt, %dm, %eight : !r
          %grow = attn.any %gt : tensor<64xi1, #attn.frag<4, 1, rows>>
          %m1 = arith.select %grow, %mw, %m : !r
          %nm = arith.negf %m1 : !r
          %da = arith.subf %m, %m1 : !r
          %al = math.exp2 %da : !r
          %nS = attn.spread %nm along 1 : !r -> !S
          %e = math.fma %sm, %cs, %nS : !S
          %p = math.exp2 %e : !S
          %ps = attn.reduce sum %p : !S -> !z
          %az = attn.spread %al along 1 : !r -> !z
          %la = arith.mulf %l, %az : !z
          %l1 = arith.addf %la, %ps : !z
          %pb = attn.pack as "P" %p : !S -> !P
          %os = scf.if %grow -> !S {
            %aO = attn.spread %al along 1 : !r -> !S
            %sc = arith.mulf %o, %aO : !S
            scf.yield %sc : !S
          } else {
            scf.yield %o : !S
          }
          %v = attn.wait %V[%item] : !Kr -> !Kb
          %o1 = attn.dot as "PV" %pb, %v plus %os : (!P, !Kb, !S) -> !S
          attn.release %V[%item] : !Kr
          attn.yield %o1, %m1, %l1 : !S, !r, !z
        }
        attn.release %Q[%qn] : !Qr
        %ls = attn.reduce sum %ln : !z -> !r
        %lS = attn.spread %ls along 1 : !r -> !S
        %of = arith.divf %on, %lS : !S
        %ob = arith.truncf %of : !S to !P
        attn.drain 0 read
        attn.sync group
        attn.store %ob, %Os : !P, !Qb
        attn.sync group publish
        attn.copy %Os to %om[%b, %h, %row] via tma : !Qb, !Qm
        %next = arith.addi %n, %hi : i32
        attn.yield %next : i32
      }
      attn.drain 0
    }
  }
}
