// What is the same for a thread moves out of the comparisons of its elements.
// RUN: attn-opt %s --convert-attn-to-nvvm --cse | FileCheck %s

!i = tensor<64x16xi32, #attn.frag<4, 1>>
!m = tensor<64x16xi1, #attn.frag<4, 1>>
!S = tensor<64x16xf32, #attn.frag<4, 1>>
!r = tensor<64xf32, #attn.frag<4, 1, rows>>
module attributes {attn.target = #attn.target<chip = "toy", family = wgmma, smem = 65536>} {
  // CHECK-LABEL: llvm.func @causal_and_length(
  // CHECK-SAME: %[[KEY:[^:]*]]: i32, %[[ROW:[^:]*]]: i32, %[[SK:[^:]*]]: i32
  // CHECK: %[[K:.*]] = arith.addi %[[KEY]], %{{.*}} : i32
  // CHECK: %[[COLS:.*]] = arith.constant dense<[0, 1, 0, 1, 8, 9, 8, 9]> : vector<8xi32>
  // CHECK: %[[Q:.*]] = arith.addi %[[ROW]], %{{.*}} : i32
  // CHECK: %[[ROWS:.*]] = arith.constant dense<[0, 0, 8, 8, 0, 0, 8, 8]> : vector<8xi32>
  // CHECK: %[[QMIN:.*]] = arith.minsi %[[Q]], %c1073741824_i32 : i32
  // CHECK: %[[QMAX:.*]] = arith.maxsi %[[QMIN]], %c-1073741824_i32 : i32
  // CHECK: %[[D:.*]] = arith.subi %[[QMAX]], %[[K]] : i32
  // CHECK: %[[DV:.*]] = vector.broadcast %[[D]]
  // CHECK: %[[X:.*]] = arith.addi %[[DV]], %[[ROWS]] : vector<8xi32>
  // CHECK: arith.cmpi sle, %[[COLS]], %[[X]] : vector<8xi32>
  // CHECK: %[[SMIN:.*]] = arith.minsi %[[SK]], %c1073741824_i32 : i32
  // CHECK: %[[SMAX:.*]] = arith.maxsi %[[SMIN]], %c-1073741824_i32 : i32
  // CHECK: %[[L:.*]] = arith.subi %[[SMAX]], %[[K]] : i32
  // CHECK: %[[LV:.*]] = vector.broadcast %[[L]]
  // CHECK: arith.cmpi slt, %[[COLS]], %[[LV]] : vector<8xi32>
  attn.kernel @causal_and_length attributes {smem_bytes = 0 : i64, threads = 128 : i64} {
  ^bb0(%key: i32, %row: i32, %sk: i32, %x: f32, %out: memref<?xf32>):
    %c0 = arith.constant 0 : i32
    attn.role "compute" warps 0 + 4 groups 1 {
    ^bb0(%g: i32):
      %kk = attn.coord %key along 1 : !i
      %qq = attn.coord %row along 0 : !i
      %n = tensor.splat %sk : !i
      %a = arith.cmpi sle, %kk, %qq : !i
      %b = arith.cmpi slt, %kk, %n : !i
      %v = arith.andi %a, %b : !m
      %s = tensor.splat %x : !S
      %h = attn.mask %s where %v : !S, !m
      %mx = attn.reduce max %h : !S -> !r
      attn.store %mx, %out[%c0] : !r, memref<?xf32>
      attn.yield
    }
  }

  // In a loop over tiles: what is the same for all of them starts from a number that LLVM does not know, what is not stays.
  // CHECK-LABEL: llvm.func @tiles(
  // CHECK: scf.while
  // CHECK: %[[SAME:.*]] = llvm.inline_asm has_side_effects "mov.b32 $0, $1;", "=r,r" %{{.*}} : (i32) -> i32
  // CHECK: arith.subi %{{.*}}, %[[SAME]] : i32
  // CHECK: arith.cmpi slt
  // CHECK-NOT: mov.b32
  // CHECK: arith.cmpi slt
  attn.kernel @tiles attributes {smem_bytes = 0 : i64, threads = 128 : i64} {
  ^bb0(%key: i32, %sk: i32, %x: f32, %out: memref<?xf32>):
    %c0 = arith.constant 0 : i32
    attn.role "compute" warps 0 + 4 groups 1 {
    ^bb0(%g: i32):
      %r = scf.while (%id = %key) : (i32) -> i32 {
        %n = tensor.splat %sk : !i
        %kk = attn.coord %key along 1 : !i
        %a = arith.cmpi slt, %kk, %n : !i
        %ii = attn.coord %id along 1 : !i
        %b = arith.cmpi slt, %ii, %n : !i
        %v = arith.andi %a, %b : !m
        %s = tensor.splat %x : !S
        %h = attn.mask %s where %v : !S, !m
        %mx = attn.reduce max %h : !S -> !r
        attn.store %mx, %out[%c0] : !r, memref<?xf32>
        %next = arith.addi %id, %sk : i32
        %more = arith.cmpi slt, %next, %sk : i32
        scf.condition(%more) %next : i32
      } do {
      ^bb0(%id: i32):
        scf.yield %id : i32
      }
      attn.yield
    }
  }

  // A limit from below.
  // CHECK-LABEL: llvm.func @window(
  // CHECK: %[[UP:.*]] = arith.cmpi sle, %[[COLS:.*]], %{{.*}} : vector<8xi32>
  // CHECK: %[[LOW:.*]] = arith.cmpi sge, %[[COLS]], %{{.*}} : vector<8xi32>
  // CHECK: arith.andi %[[UP]], %[[LOW]]
  attn.kernel @window attributes {smem_bytes = 0 : i64, threads = 128 : i64} {
  ^bb0(%key: i32, %row: i32, %low: i32, %x: f32, %out: memref<?xf32>):
    %c0 = arith.constant 0 : i32
    attn.role "compute" warps 0 + 4 groups 1 {
    ^bb0(%g: i32):
      %kk = attn.coord %key along 1 : !i
      %qq = attn.coord %row along 0 : !i
      %ll = attn.coord %low along 0 : !i
      %a = arith.cmpi sle, %kk, %qq : !i
      %b = arith.cmpi sge, %kk, %ll : !i
      %v = arith.andi %a, %b : !m
      %s = tensor.splat %x : !S
      %h = attn.mask %s where %v : !S, !m
      %mx = attn.reduce max %h : !S -> !r
      attn.store %mx, %out[%c0] : !r, memref<?xf32>
      attn.yield
    }
  }

  // A column's coordinate copied down a tile, against any value of the rows: the difference is one of the rows too.
  // CHECK-LABEL: llvm.func @spread(
  // CHECK: %[[K:.*]] = arith.addi %{{.*}}, %{{.*}} : i32
  // CHECK: %[[R:.*]] = arith.maxsi %{{.*}}, %{{.*}} : vector<2xi32>
  // CHECK: %[[KV:.*]] = vector.broadcast %[[K]] : i32 to vector<2xi32>
  // CHECK: %[[D:.*]] = arith.subi %[[R]], %[[KV]] : vector<2xi32>
  // CHECK: %[[L:.*]] = vector.shuffle %[[D]], %[[D]] [0, 0, 1, 1, 0, 0, 1, 1]
  // CHECK: %[[COLS:.*]] = arith.constant dense<[0, 1, 0, 1, 8, 9, 8, 9]> : vector<8xi32>
  // CHECK: arith.cmpi sle, %[[COLS]], %[[L]] : vector<8xi32>
  attn.kernel @spread attributes {smem_bytes = 0 : i64, threads = 128 : i64} {
  ^bb0(%key: i32, %row: i32, %sk: i32, %x: f32, %out: memref<?xf32>):
    %c0 = arith.constant 0 : i32
    attn.role "compute" warps 0 + 4 groups 1 {
    ^bb0(%g: i32):
      %kk = attn.coord %key along 1 : tensor<16xi32, #attn.frag<4, 1, cols>>
      %qq = attn.coord %row along 0 : tensor<64xi32, #attn.frag<4, 1, rows>>
      %n = tensor.splat %sk : tensor<64xi32, #attn.frag<4, 1, rows>>
      %l = arith.minsi %qq, %n : tensor<64xi32, #attn.frag<4, 1, rows>>
      %ks = attn.spread %kk along 0 : tensor<16xi32, #attn.frag<4, 1, cols>> -> !i
      %ls = attn.spread %l along 1 : tensor<64xi32, #attn.frag<4, 1, rows>> -> !i
      %v = arith.cmpi sle, %ks, %ls : !i
      %s = tensor.splat %x : !S
      %h = attn.mask %s where %v : !S, !m
      %mx = attn.reduce max %h : !S -> !r
      attn.store %mx, %out[%c0] : !r, memref<?xf32>
      attn.yield
    }
  }

  // A sum of a region's own may wrap: it stays as it is. A constant is bounded or not.
  // CHECK-LABEL: llvm.func @sums(
  // CHECK: %[[K:.*]] = arith.addi %{{.*}}, %{{.*}} : vector<8xi32>
  // CHECK: %[[S:.*]] = arith.addi %{{.*}}, %{{.*}} : vector<8xi32>
  // CHECK: arith.cmpi sle, %[[K]], %[[S]] : vector<8xi32>
  // CHECK: %[[MAX:.*]] = arith.constant dense<2147483647> : vector<8xi32>
  // CHECK: arith.cmpi slt, %[[K]], %[[MAX]] : vector<8xi32>
  // CHECK: arith.cmpi slt, %cst{{.*}}, %{{.*}} : vector<8xi32>
  attn.kernel @sums attributes {smem_bytes = 0 : i64, threads = 128 : i64} {
  ^bb0(%key: i32, %cap: i32, %x: f32, %out: memref<?xf32>):
    %c0 = arith.constant 0 : i32
    attn.role "compute" warps 0 + 4 groups 1 {
    ^bb0(%g: i32):
      %kk = attn.coord %key along 1 : !i
      %five = arith.constant dense<5> : !i
      %n = tensor.splat %cap : !i
      %sum = arith.addi %n, %five : !i
      %a = arith.cmpi sle, %kk, %sum : !i
      %most = arith.constant dense<2147483647> : !i
      %b = arith.cmpi slt, %kk, %most : !i
      %c = arith.cmpi slt, %kk, %five : !i
      %ab = arith.andi %a, %b : !m
      %v = arith.andi %ab, %c : !m
      %s = tensor.splat %x : !S
      %h = attn.mask %s where %v : !S, !m
      %mx = attn.reduce max %h : !S -> !r
      attn.store %mx, %out[%c0] : !r, memref<?xf32>
      attn.yield
    }
  }
}
