// Round trip of the tile-level ops in the pretty and in the generic form.
// RUN: attn-opt %s | attn-opt | FileCheck %s
// RUN: attn-opt %s -mlir-print-op-generic | attn-opt | FileCheck %s

!g = memref<?x?x?x40xf16, strided<[?, ?, ?, 1], offset: ?>>
!gl = memref<?x?x?xf32, strided<[?, ?, ?], offset: ?>>
!S = tensor<64x32xf32>
!Sf = tensor<64x32xf32, #attn.frag<4, 1>>
!rf = tensor<64xf32, #attn.frag<4, 1, rows>>
!zf = tensor<64x4xf32, #attn.frag<4, 1, quads>>
!Kb = !attn.buf<tensor<32x48xf16>, 32>

// A head dimension of 40 in a tile of 48; a row of logsumexps; a buf.
// CHECK-LABEL: func.func @memory
// CHECK: attn.load as "K" %{{.*}}[%{{.*}}, %{{.*}}, %{{.*}}] : memref<?x?x?x40xf16, strided<[?, ?, ?, 1], offset: ?>> -> tensor<32x48xf16>
// CHECK: attn.load %{{.*}}[%{{.*}}, %{{.*}}, %{{.*}}] : memref<?x?x?xf32, strided<[?, ?, ?], offset: ?>> -> tensor<64xf32>
// CHECK: attn.load %{{.*}} : !attn.buf<tensor<32x48xf16>, 32> -> tensor<32x48xf16>
// CHECK: attn.store %{{.*}}, %{{.*}}[%{{.*}}, %{{.*}}, %{{.*}}] : tensor<64xf32>, memref<?x?x?xf32, strided<[?, ?, ?], offset: ?>>
// CHECK: attn.store as "O" %{{.*}}, %{{.*}} : tensor<32x48xf16>, !attn.buf<tensor<32x48xf16>, 32>
func.func @memory(%k: !g, %l: !gl, %buf: !Kb, %b: i32, %h: i32, %i: i32) {
  %0 = attn.load as "K" %k[%b, %h, %i] : !g -> tensor<32x48xf16>
  %1 = attn.load %l[%b, %h, %i] : !gl -> tensor<64xf32>
  %2 = attn.load %buf : !Kb -> tensor<32x48xf16>
  attn.store %1, %l[%b, %h, %i] : tensor<64xf32>, !gl
  attn.store as "O" %2, %buf : tensor<32x48xf16>, !Kb
  return
}

// CHECK-LABEL: func.func @dots
// CHECK: attn.dot as "S" %{{.*}}, %{{.*}} trans_b : (tensor<64x48xf16>, tensor<32x48xf16>) -> tensor<64x32xf32>
// CHECK: attn.dot %{{.*}}, %{{.*}} plus %{{.*}} : (tensor<64x32xf16>, tensor<32x48xf16>, tensor<64x48xf32>) -> tensor<64x48xf32>
// CHECK: attn.dot %{{.*}}, %{{.*}} : (tensor<64x32xf16, #attn.frag<4, 1>>, !attn.buf<tensor<32x48xf16>, 32>) -> tensor<64x48xf32, #attn.frag<4, 1>>
func.func @dots(%q: tensor<64x48xf16>, %k: tensor<32x48xf16>, %p: tensor<64x32xf16>, %acc: tensor<64x48xf32>,
                %pf: tensor<64x32xf16, #attn.frag<4, 1>>, %vb: !Kb) {
  %0 = attn.dot as "S" %q, %k trans_b : (tensor<64x48xf16>, tensor<32x48xf16>) -> !S
  %1 = attn.dot %p, %k plus %acc : (tensor<64x32xf16>, tensor<32x48xf16>, tensor<64x48xf32>) -> tensor<64x48xf32>
  %2 = attn.dot %pf, %vb : (tensor<64x32xf16, #attn.frag<4, 1>>, !Kb) -> tensor<64x48xf32, #attn.frag<4, 1>>
  return
}

// CHECK-LABEL: func.func @elementwise
// CHECK: attn.reduce as "max" max %{{.*}} : tensor<64x32xf32> -> tensor<64xf32>
// CHECK: attn.reduce sum %{{.*}} : tensor<64x32xf32, #attn.frag<4, 1>> -> tensor<64x4xf32, #attn.frag<4, 1, quads>>
// CHECK: attn.reduce sum %{{.*}} : tensor<64x4xf32, #attn.frag<4, 1, quads>> -> tensor<64xf32, #attn.frag<4, 1, rows>>
// CHECK: attn.spread %{{.*}} along 1 : tensor<64xf32> -> tensor<64x32xf32>
// CHECK: attn.spread %{{.*}} along 0 : tensor<32xi1> -> tensor<64x32xi1>
// CHECK: attn.coord %{{.*}} along 1 : tensor<64x32xi32>
// CHECK: attn.coord %{{.*}} along 1 : tensor<32xi32, #attn.frag<4, 1, cols>>
// CHECK: attn.mask %{{.*}} where %{{.*}} : tensor<64x32xf32>, tensor<64x32xi1>
// CHECK: attn.pack as "P" %{{.*}} : tensor<64x32xf32> -> tensor<64x32xbf16>
func.func @elementwise(%s: !S, %sf: !Sf, %c: tensor<32xi1>, %j: i32) {
  %0 = attn.reduce as "max" max %s : !S -> tensor<64xf32>
  %1 = attn.reduce sum %sf : !Sf -> !zf
  %2 = attn.reduce sum %1 : !zf -> !rf
  %3 = attn.spread %0 along 1 : tensor<64xf32> -> !S
  %4 = attn.spread %c along 0 : tensor<32xi1> -> tensor<64x32xi1>
  %5 = attn.coord %j along 1 : tensor<64x32xi32>
  %6 = attn.coord %j along 1 : tensor<32xi32, #attn.frag<4, 1, cols>>
  %7 = attn.mask %s where %4 : !S, tensor<64x32xi1>
  %8 = attn.pack as "P" %7 : !S -> tensor<64x32xbf16>
  return
}

// CHECK-LABEL: func.func @sweeps
// CHECK: attn.sweep descending %{{.*}} to %{{.*}} plain %{{.*}} to %{{.*}} init(%{{.*}}, %{{.*}} : tensor<64xf32>, i32) -> tensor<64xf32>, i32 {
// CHECK: attn.yield %{{.*}}, %{{.*}} : tensor<64xf32>, i32
// CHECK: attn.sweep ascending %{{.*}} to %{{.*}} plain %{{.*}} to %{{.*}} {
func.func @sweeps(%lo: i32, %hi: i32, %x: tensor<64xf32>) {
  %0:2 = attn.sweep descending %lo to %hi plain %lo to %hi init(%x, %lo : tensor<64xf32>, i32) -> tensor<64xf32>, i32 {
  ^bb0(%t: i32, %j: i32, %a: tensor<64xf32>, %n: i32):
    attn.yield %a, %j : tensor<64xf32>, i32
  }
  attn.sweep ascending %lo to %hi plain %lo to %lo {
  ^bb0(%t: i32, %j: i32):
  }
  return
}

// CHECK-LABEL: func.func @host
// CHECK: attn.section of(%{{.*}}, %{{.*}}) unit(%{{.*}}) budget 1024
// CHECK: attn.launch @kernel tiles(%{{.*}}, %{{.*}}, %{{.*}}) args(%{{.*}}, %{{.*}} : memref<?xf32>, i32)
func.func @host(%a: memref<?xf32>, %n: index) {
  %s = attn.section of(%n, %n) unit(%n) budget 1024
  attn.launch @kernel tiles(%n, %n, %n) args(%a, %s : memref<?xf32>, i32)
  return
}

// CHECK: attn.kernel @kernel attributes {schedule = #attn.schedule<tile = [64, 32], warps = [4, 1], tiles = single>, smem_bytes = 4096 : i64, threads = 128 : i64} {
// CHECK: attn.tiles single(%{{.*}}, %{{.*}}, %{{.*}}) section(%{{.*}}) heaviest_first {
// CHECK: attn.tiles single(%{{.*}}, %{{.*}}, %{{.*}}) {
attn.kernel @kernel attributes {schedule = #attn.schedule<tile = [64, 32], warps = [4, 1]>, smem_bytes = 4096 : i64, threads = 128 : i64} {
^bb0(%a: memref<?xf32>, %s: i32):
  attn.tiles single(%s, %s, %s) section(%s) heaviest_first {
  ^bb0(%t: i32, %i: i32, %h: i32, %b: i32):
  }
  attn.tiles single(%s, %s, %s) {
  ^bb0(%t: i32, %i: i32, %h: i32, %b: i32):
  }
}

// What the backward needs: products of an operand stored the other way round, of operands in two places, sums in memory.
!P = !attn.buf<tensor<64x128xbf16>, 128>
!H = !attn.buf<tensor<64x64xbf16>, 128>
!F = tensor<64x64xf32, #attn.frag<4, 1>>
// CHECK-LABEL: func.func @backward
// CHECK: attn.slice %{{.*}}[%{{.*}}] : <tensor<64x128xbf16>, 128> -> <tensor<64x64xbf16>, 128>
// CHECK: attn.dot as "dQ" %{{.*}} trans_a, %{{.*}} : (!attn.buf<tensor<64x64xbf16>, 128>, !attn.buf<tensor<64x64xbf16>, 128>) -> tensor<64x64xf32, #attn.frag<4, 1>>
// CHECK: attn.dot %{{.*}}, %{{.*}} trans_b then %{{.*}}, %{{.*}} plus %{{.*}} : (!attn.buf<tensor<64x64xbf16>, 128>, !attn.buf<tensor<64x64xbf16>, 128>, !attn.buf<tensor<64x64xbf16>, 128>, !attn.buf<tensor<64x64xbf16>, 128>, tensor<64x64xf32, #attn.frag<4, 1>>)
// CHECK: attn.store add %{{.*}}, %{{.*}}[%{{.*}}] : tensor<64x64xf32, #attn.frag<4, 1>>, memref<?x64x64xf32>
// CHECK: attn.store as "dQ" raw add %{{.*}}, %{{.*}}[%{{.*}}, %{{.*}}] : tensor<64x64xf32, #attn.frag<4, 1>>, memref<?x?x64xf32>
// CHECK: attn.load raw %{{.*}}[%{{.*}}, %{{.*}}] : memref<?x?x64xf32> -> tensor<64x64xf32, #attn.frag<4, 1>>
// CHECK: attn.mask %{{.*}} where %{{.*}} otherwise 0.000000e+00 : tensor<64x64xf32, #attn.frag<4, 1>>, tensor<64x64xi1, #attn.frag<4, 1>>
func.func @backward(%p: !P, %a: !H, %b: !H, %i: i32, %m: memref<?x64x64xf32>, %r: memref<?x?x64xf32>, %v: tensor<64x64xi1, #attn.frag<4, 1>>) {
  %s = attn.slice %p[%i] : !P -> !H
  %0 = attn.dot as "dQ" %a trans_a, %s : (!H, !H) -> !F
  %1 = attn.dot %a, %b trans_b then %s, %b plus %0 : (!H, !H, !H, !H, !F) -> !F
  attn.store add %1, %m[%i] : !F, memref<?x64x64xf32>
  attn.store as "dQ" raw add %1, %r[%i, %i] : !F, memref<?x?x64xf32>
  %2 = attn.load raw %r[%i, %i] : memref<?x?x64xf32> -> !F
  %3 = attn.mask %2 where %v otherwise 0.0 : !F, tensor<64x64xi1, #attn.frag<4, 1>>
  attn.store %3, %m[%i] : !F, memref<?x64x64xf32>
  return
}
