// One refusal a rule: @<op>_<rule> is the rule of that number in the verifiers.
// RUN: attn-opt %s -split-input-file -verify-diagnostics

func.func @load_l1(%m: memref<?x?x?x64xf16>, %i: i32) {
  // expected-error @below {{'attn.load' op moves tiles of rank 1 or 2, got 'tensor<1x8x64xf16>'}}
  %0 = attn.load %m[%i, %i, %i] : memref<?x?x?x64xf16> -> tensor<1x8x64xf16>
  return
}

// -----

func.func @load_l2(%m: memref<?x?x?x64xf16>, %i: i32) {
  // expected-error @below {{'attn.load' op expects a coordinate for each leading dimension of 'memref<?x?x?x64xf16>' and at most one a dimension, got 1 for a tile of rank 2}}
  %0 = attn.load %m[%i] : memref<?x?x?x64xf16> -> tensor<8x64xf16>
  return
}

// -----

func.func @load_l2_buf(%m: !attn.buf<tensor<8x64xf16>, 0>, %i: i32) {
  // expected-error @below {{'attn.load' op takes no coordinates into a buf, got 1}}
  %0 = attn.load %m[%i] : !attn.buf<tensor<8x64xf16>, 0> -> tensor<8x64xf16>
  return
}

// -----

func.func @load_l3(%m: memref<?x?x?x64xf16>, %i: i32) {
  // expected-error @below {{'attn.load' op expects a tile of 'f16', got 'tensor<8x64xf32>'}}
  %0 = attn.load %m[%i, %i, %i] : memref<?x?x?x64xf16> -> tensor<8x64xf32>
  return
}

// -----

func.func @load_l3_buf(%m: !attn.buf<tensor<8x64xf16>, 0>, %i: i32) {
  // expected-error @below {{'attn.load' op expects the tile the buf holds, 'tensor<8x64xf16>', got 'tensor<8x32xf16>'}}
  %0 = attn.load %m : !attn.buf<tensor<8x64xf16>, 0> -> tensor<8x32xf16>
  return
}

// -----

func.func @load_l4(%m: memref<?x?x?x64xf16>, %i: i32) {
  // expected-error @below {{'attn.load' op takes dimension 3 whole, 64 elements, but the tile has 48}}
  %0 = attn.load %m[%i, %i, %i] : memref<?x?x?x64xf16> -> tensor<8x48xf16>
  return
}

// -----

func.func @store_s1(%m: memref<?x?x?x64xf16>, %i: i32, %t: tensor<1x8x64xf16>) {
  // expected-error @below {{'attn.store' op moves tiles of rank 1 or 2, got 'tensor<1x8x64xf16>'}}
  attn.store %t, %m[%i, %i, %i] : tensor<1x8x64xf16>, memref<?x?x?x64xf16>
  return
}

// -----

func.func @store_s2(%m: memref<?x?x?x64xf16>, %i: i32, %t: tensor<8x64xf16>) {
  // expected-error @below {{'attn.store' op expects a coordinate for each leading dimension of 'memref<?x?x?x64xf16>' and at most one a dimension, got 1 for a tile of rank 2}}
  attn.store %t, %m[%i] : tensor<8x64xf16>, memref<?x?x?x64xf16>
  return
}

// -----

func.func @store_s2_buf(%m: !attn.buf<tensor<8x64xf16>, 0>, %i: i32, %t: tensor<8x64xf16>) {
  // expected-error @below {{'attn.store' op takes no coordinates into a buf, got 1}}
  attn.store %t, %m[%i] : tensor<8x64xf16>, !attn.buf<tensor<8x64xf16>, 0>
  return
}

// -----

func.func @store_s3(%m: memref<?x?x?x64xf16>, %i: i32, %t: tensor<8x64xf32>) {
  // expected-error @below {{'attn.store' op expects a tile of 'f16', got 'tensor<8x64xf32>'}}
  attn.store %t, %m[%i, %i, %i] : tensor<8x64xf32>, memref<?x?x?x64xf16>
  return
}

// -----

func.func @store_s3_buf(%m: !attn.buf<tensor<8x64xf16>, 0>, %i: i32, %t: tensor<8x32xf16>) {
  // expected-error @below {{'attn.store' op expects the tile the buf holds, 'tensor<8x64xf16>', got 'tensor<8x32xf16>'}}
  attn.store %t, %m : tensor<8x32xf16>, !attn.buf<tensor<8x64xf16>, 0>
  return
}

// -----

func.func @store_s4(%m: memref<?x?x?x64xf16>, %i: i32, %t: tensor<8x48xf16>) {
  // expected-error @below {{'attn.store' op takes dimension 3 whole, 64 elements, but the tile has 48}}
  attn.store %t, %m[%i, %i, %i] : tensor<8x48xf16>, memref<?x?x?x64xf16>
  return
}

// -----

func.func @dot_d1(%a: tensor<64x48xf16>, %b: tensor<32x48xf16>) {
  // expected-error @below {{'attn.dot' op multiplies 64x48 by 32x48; the inner sizes differ}}
  %0 = attn.dot %a, %b : (tensor<64x48xf16>, tensor<32x48xf16>) -> tensor<64x48xf32>
  return
}

// -----

func.func @dot_d1_trans(%a: tensor<64x48xf16>, %b: tensor<48x32xf16>) {
  // expected-error @below {{'attn.dot' op multiplies 64x48 by 32x48 (b is stored transposed); the inner sizes differ}}
  %0 = attn.dot %a, %b trans_b : (tensor<64x48xf16>, tensor<48x32xf16>) -> tensor<64x48xf32>
  return
}

// -----

func.func @dot_d1_result(%a: tensor<64x48xf16>, %b: tensor<32x48xf16>) {
  // expected-error @below {{'attn.dot' op expects a result of 64x32, got 'tensor<64x48xf32>'}}
  %0 = attn.dot %a, %b trans_b : (tensor<64x48xf16>, tensor<32x48xf16>) -> tensor<64x48xf32>
  return
}

// -----

func.func @dot_d1_rank(%a: tensor<48xf16>, %b: tensor<32x48xf16>) {
  // expected-error @below {{'attn.dot' op expects tiles of rank 2, got 'tensor<48xf16>'}}
  %0 = attn.dot %a, %b trans_b : (tensor<48xf16>, tensor<32x48xf16>) -> tensor<64x48xf32>
  return
}

// -----

func.func @dot_d4(%a: tensor<64x48xf16>, %b: tensor<48x32xbf16>) {
  // expected-error @below {{'attn.dot' op expects a and b of one element type, got 'f16' and 'bf16'}}
  %0 = attn.dot %a, %b : (tensor<64x48xf16>, tensor<48x32xbf16>) -> tensor<64x32xf32>
  return
}

// -----

func.func @dot_d5(%a: tensor<64x48xf16>, %b: tensor<48x32xf16>) {
  // expected-error @below {{'attn.dot' op accumulates in f32, got a result of 'f16'}}
  %0 = attn.dot %a, %b : (tensor<64x48xf16>, tensor<48x32xf16>) -> tensor<64x32xf16>
  return
}

// -----

func.func @dot_d6(%a: tensor<64x48xf16>, %b: tensor<48x32xf16>, %c: tensor<64x16xf32>) {
  // expected-error @below {{'attn.dot' op expects acc and result of one type, got 'tensor<64x16xf32>' and 'tensor<64x32xf32>'}}
  %0 = attn.dot %a, %b plus %c : (tensor<64x48xf16>, tensor<48x32xf16>, tensor<64x16xf32>) -> tensor<64x32xf32>
  return
}

// -----

func.func @dot_d7(%a: tensor<64x48xf16, #attn.frag<4, 1>>, %b: !attn.buf<tensor<48x32xf16>, 0>) {
  // expected-error @below {{'attn.dot' op expects a and result on the same warps, got 'tensor<64x48xf16, #attn.frag<4, 1>>' and 'tensor<64x32xf32, #attn.frag<2, 1>>'}}
  %0 = attn.dot %a, %b : (tensor<64x48xf16, #attn.frag<4, 1>>, !attn.buf<tensor<48x32xf16>, 0>) -> tensor<64x32xf32, #attn.frag<2, 1>>
  return
}

// -----

func.func @dot_d7_b(%a: !attn.buf<tensor<64x48xf16>, 0>, %b: tensor<48x32xf16>) {
  // expected-error @below {{'attn.dot' op expects b in a buf once the result is a fragment, got 'tensor<48x32xf16>'}}
  %0 = attn.dot %a, %b : (!attn.buf<tensor<64x48xf16>, 0>, tensor<48x32xf16>) -> tensor<64x32xf32, #attn.frag<4, 1>>
  return
}

// -----

func.func @reduce_e1(%x: tensor<64xf32>) {
  // expected-error @below {{'attn.reduce' op reduces the rows of a tile of rank 2, got 'tensor<64xf32>'}}
  %0 = attn.reduce max %x : tensor<64xf32> -> tensor<64xf32>
  return
}

// -----

func.func @reduce_e2(%x: tensor<64x32xf16>) {
  // expected-error @below {{'attn.reduce' op reduces f32 to f32, got 'tensor<64x32xf16>' and 'tensor<64xf16>'}}
  %0 = attn.reduce max %x : tensor<64x32xf16> -> tensor<64xf16>
  return
}

// -----

func.func @reduce_e3(%x: tensor<64x32xf32>) {
  // expected-error @below {{'attn.reduce' op expects a value for each of the 64 rows, got 'tensor<32xf32>'}}
  %0 = attn.reduce max %x : tensor<64x32xf32> -> tensor<32xf32>
  return
}

// -----

func.func @reduce_e4(%x: tensor<64x32xf32>) {
  // expected-error @below {{'attn.reduce' op reduces a tile to rows or quads, and quads to rows; got 'tensor<64x32xf32>' to 'tensor<64x4xf32>'}}
  %0 = attn.reduce max %x : tensor<64x32xf32> -> tensor<64x4xf32>
  return
}

// -----

func.func @reduce_e5(%x: tensor<64x32xf32, #attn.frag<4, 1>>) {
  // expected-error @below {{'attn.reduce' op expects operand and result on the same warps, got 'tensor<64x32xf32, #attn.frag<4, 1>>' and 'tensor<64xf32>'}}
  %0 = attn.reduce max %x : tensor<64x32xf32, #attn.frag<4, 1>> -> tensor<64xf32>
  return
}

// -----

func.func @spread_p1(%x: tensor<64x1xf32>) {
  // expected-error @below {{'attn.spread' op spreads a value of rank 1 over a tile of rank 2, got 'tensor<64x1xf32>' and 'tensor<64x32xf32>'}}
  %0 = attn.spread %x along 1 : tensor<64x1xf32> -> tensor<64x32xf32>
  return
}

// -----

func.func @spread_p2(%x: tensor<64xf32>) {
  // expected-error @below {{'attn.spread' op spreads along 0 or 1, got 2}}
  %0 = attn.spread %x along 2 : tensor<64xf32> -> tensor<64x32xf32>
  return
}

// -----

func.func @spread_p3(%x: tensor<64xf16>) {
  // expected-error @below {{'attn.spread' op expects one element type, got 'tensor<64xf16>' and 'tensor<64x32xf32>'}}
  %0 = attn.spread %x along 1 : tensor<64xf16> -> tensor<64x32xf32>
  return
}

// -----

func.func @spread_p4(%x: tensor<64xf32>) {
  // expected-error @below {{'attn.spread' op spreads 64 values along 0, so the result needs 64 columns; got 'tensor<64x32xf32>'}}
  %0 = attn.spread %x along 0 : tensor<64xf32> -> tensor<64x32xf32>
  return
}

// -----

func.func @spread_p5(%x: tensor<64xf32, #attn.frag<4, 1, rows>>) {
  // expected-error @below {{'attn.spread' op expects operand and result on the same warps}}
  %0 = attn.spread %x along 1 : tensor<64xf32, #attn.frag<4, 1, rows>> -> tensor<64x32xf32>
  return
}

// -----

func.func @spread_p6(%x: tensor<64xf32, #attn.frag<4, 1, cols>>) {
  // expected-error @below {{'attn.spread' op spreads rows along 1, got 'tensor<64xf32, #attn.frag<4, 1, cols>>'}}
  %0 = attn.spread %x along 1 : tensor<64xf32, #attn.frag<4, 1, cols>> -> tensor<64x32xf32, #attn.frag<4, 1>>
  return
}

// -----

func.func @pack_k1(%x: tensor<64x32xf32>) {
  // expected-error @below {{'attn.pack' op packs f32 into f16 or bf16, got 'tensor<64x32xf32>' and 'tensor<64x32xf8E4M3FN>'}}
  %0 = attn.pack %x : tensor<64x32xf32> -> tensor<64x32xf8E4M3FN>
  return
}

// -----

func.func @pack_k2(%x: tensor<64x32xf32>) {
  // expected-error @below {{'attn.pack' op expects one shape and encoding, got 'tensor<64x32xf32>' and 'tensor<32x64xf16>'}}
  %0 = attn.pack %x : tensor<64x32xf32> -> tensor<32x64xf16>
  return
}

// -----

func.func @coord_o1(%i: i32) {
  // expected-error @below {{'attn.coord' op makes a tile of i32 of rank 1 or 2, got 'tensor<8x8xi64>'}}
  %0 = attn.coord %i along 0 : tensor<8x8xi64>
  return
}

// -----

func.func @coord_o2(%i: i32) {
  // expected-error @below {{'attn.coord' op counts along 0 or 1, got -1}}
  %0 = attn.coord %i along -1 : tensor<8x8xi32>
  return
}

// -----

func.func @mask_m1(%x: tensor<8x8xf16>, %v: tensor<8x8xi1>) {
  // expected-error @below {{'attn.mask' op masks f32 scores, got 'tensor<8x8xf16>'}}
  %0 = attn.mask %x where %v : tensor<8x8xf16>, tensor<8x8xi1>
  return
}

// -----

func.func @mask_m2(%x: tensor<8x8xf32>, %v: tensor<8xi1>) {
  // expected-error @below {{'attn.mask' op expects an i1 for every score, got 'tensor<8xi1>' for 'tensor<8x8xf32>'}}
  %0 = attn.mask %x where %v : tensor<8x8xf32>, tensor<8xi1>
  return
}

// -----

func.func @sweep_w1() {
  %four = arith.constant 4 : i32
  %three = arith.constant 3 : i32
  // Of what a rotation leaves of one block only this is a mistake.
  attn.sweep descending %four to %four plain %four to %four {
  ^bb0(%t: i32, %j: i32):
    attn.yield
  }
  // expected-error @below {{'attn.sweep' op expects lo of at most hi, got 4 and 3}}
  attn.sweep descending %four to %three plain %three to %three {
  ^bb0(%t: i32, %j: i32):
    attn.yield
  }
  return
}

// -----

func.func @sweep_w4(%i: i32, %x: tensor<8xf32>) {
  // expected-error @below {{'attn.sweep' op body takes t, j and the carried values, (i32, i32, tensor<8xf32>); got (i32, tensor<8xf32>)}}
  %0 = attn.sweep descending %i to %i plain %i to %i init(%x : tensor<8xf32>) -> tensor<8xf32> {
  ^bb0(%t: i32, %a: tensor<8xf32>):
    attn.yield %a : tensor<8xf32>
  }
  return
}

// -----

func.func @sweep_w5(%i: i32, %x: tensor<8xf32>) {
  // expected-error @below {{'attn.sweep' op results are the carried values, (tensor<8xf32>); got (f32)}}
  %0 = attn.sweep descending %i to %i plain %i to %i init(%x : tensor<8xf32>) -> f32 {
  ^bb0(%t: i32, %j: i32, %a: tensor<8xf32>):
    attn.yield %a : tensor<8xf32>
  }
  return
}

// -----

func.func @sweep_w6(%i: i32, %x: tensor<8xf32>) {
  // expected-note @below {{in this sweep}}
  %0 = attn.sweep descending %i to %i plain %i to %i init(%x : tensor<8xf32>) -> tensor<8xf32> {
  ^bb0(%t: i32, %j: i32, %a: tensor<8xf32>):
    // expected-error @below {{'attn.yield' op carries (tensor<8xf32>) to the next step, got (i32)}}
    attn.yield %j : i32
  }
  return
}

// -----

// expected-error @below {{'attn.kernel' op argument 0 is 'tensor<8xf32>'; expects strided memrefs, tensor maps, integers and floats}}
attn.kernel @kernel_k2 {
^bb0(%a: tensor<8xf32>):
}

// -----

// expected-error @below {{'attn.kernel' op expects threads in whole warps, 32 to 1024; got 100}}
attn.kernel @kernel_k3 attributes {threads = 100 : i64} {
}

// -----

// expected-error @below {{'attn.kernel' op expects smem_bytes of at least 0, got -1}}
attn.kernel @kernel_k4 attributes {smem_bytes = -1 : i64} {
}

// -----

func.func @tiles_t1(%n: i32) {
  // expected-error @below {{'attn.tiles' op expects three extents, row tiles, heads and batch; got 2}}
  attn.tiles single(%n, %n) {
  ^bb0(%t: i32, %i: i32, %h: i32, %b: i32):
  }
  return
}

// -----

func.func @tiles_t2(%n: i32) {
  // expected-error @below {{'attn.tiles' op body takes t, i, h, b and 0 carried values, all i32; got (i32, i32, i32)}}
  attn.tiles single(%n, %n, %n) {
  ^bb0(%t: i32, %i: i32, %h: i32):
  }
  return
}

// -----

func.func @section_x2(%n: index) {
  // expected-error @below {{'attn.section' op expects a positive budget in bytes, got 0}}
  %0 = attn.section of(%n) unit(%n) budget 0
  return
}

// -----

func.func @launch_n1(%n: index) {
  // expected-error @below {{'attn.launch' op finds no kernel 'nowhere'}}
  attn.launch @nowhere tiles(%n, %n, %n) args(%n : index)
  return
}

// -----

// expected-note @below {{it is this memref.global}}
memref.global "private" @not_a_kernel : memref<4xf32>
func.func @launch_n3(%n: index) {
  // expected-error @below {{'attn.launch' op expects 'not_a_kernel' to be a kernel}}
  attn.launch @not_a_kernel tiles(%n, %n, %n) args(%n : index)
  return
}

// -----

// expected-note @below {{the kernel is here}}
attn.kernel @k {
^bb0(%a: memref<?xf32>, %n: i32):
}
func.func @launch_n4(%n: index, %a: memref<?xf32>) {
  // expected-error @below {{'attn.launch' op passes 1 arguments, 'k' takes 2}}
  attn.launch @k tiles(%n, %n, %n) args(%a : memref<?xf32>)
  return
}

// -----

// expected-note @below {{the kernel is here}}
attn.kernel @k {
^bb0(%a: memref<?xf32>, %n: i32):
}
func.func @launch_n4_type(%n: index, %a: memref<?xf32>) {
  // expected-error @below {{'attn.launch' op argument 1 is 'index', 'k' takes 'i32'}}
  attn.launch @k tiles(%n, %n, %n) args(%a, %n : memref<?xf32>, index)
  return
}

// -----

func.func @yield_parent() {
  // expected-error @below {{'attn.yield' op expects parent op to be one of 'attn.sdpa, attn.sdpa_grad, attn.sweep, attn.tiles, attn.role'}}
  attn.yield
}

// -----

// @tiles_t3
attn.kernel @k {
^bb0(%n: i32):
  // expected-error @below {{'attn.tiles' op results are the carried values, (i32); got ()}}
  attn.tiles fixed(%n, %n, %n) init(%n) {
  ^bb0(%t: i32, %i: i32, %h: i32, %b: i32, %c: i32):
    attn.yield %c : i32
  }
}

// -----

// @tiles_t4
attn.kernel @k {
^bb0(%n: i32):
  // expected-error @below {{'attn.tiles' op takes a counter if and only if it is dynamic}}
  attn.tiles dynamic(%n, %n, %n) {
  ^bb0(%t: i32, %i: i32, %h: i32, %b: i32):
  }
}

// -----

// @tiles_t5
attn.kernel @k {
^bb0(%n: i32):
  // expected-note @below {{in this nest}}
  %e = attn.tiles fixed(%n, %n, %n) init(%n) -> i32 {
  ^bb0(%t: i32, %i: i32, %h: i32, %b: i32, %c: i32):
    // expected-error @below {{'attn.yield' op carries (i32) to the next tile, got ()}}
    attn.yield
  }
}

// -----

// @sweep_w3
attn.kernel @k {
^bb0(%n: i32):
  // expected-error @below {{'attn.sweep' op expects 'edge' of at least 0, got -1}}
  attn.sweep descending %n to %n plain %n to %n edge -1 {
  ^bb0(%t: i32, %j: i32):
  }
}

// -----

// @tensor_map_j1
func.func @host(%q: memref<?x?x128xbf16, strided<[?, ?, 1], offset: ?>>) {
  // expected-error @below {{'attn.tensor_map' op describes (batch, heads, rows, columns) of 'bf16' with dense columns, got}}
  %m = attn.tensor_map %q : memref<?x?x128xbf16, strided<[?, ?, 1], offset: ?>> -> !attn.map<tensor<64x128xbf16>, 128>
  return
}

// -----

func.func @load_l5(%m: memref<?x?x64xf32>, %i: i32) {
  // expected-error @below {{'attn.load' op is raw, so it expects 64 rows of f32 or a multiple, at a row of a memref; got 'tensor<32x64xf32>' at 2 coordinates of 'memref<?x?x64xf32>'}}
  %0 = attn.load raw %m[%i, %i] : memref<?x?x64xf32> -> tensor<32x64xf32>
  return
}

// -----

func.func @store_s5(%m: memref<?x64x64xf32>, %i: i32, %t: tensor<64x64xf32>) {
  // expected-error @below {{'attn.store' op is raw, so it expects 64 rows of f32 or a multiple, at a row of a memref; got 'tensor<64x64xf32>' at 1 coordinates of 'memref<?x64x64xf32>'}}
  attn.store raw %t, %m[%i] : tensor<64x64xf32>, memref<?x64x64xf32>
  return
}

// -----

func.func @store_s6(%m: memref<?x8x64xbf16>, %i: i32, %t: tensor<8x64xbf16>) {
  // expected-error @below {{'attn.store' op adds f32 into a memref, got 'tensor<8x64xbf16>' into 'memref<?x8x64xbf16>'}}
  attn.store add %t, %m[%i] : tensor<8x64xbf16>, memref<?x8x64xbf16>
  return
}

// -----

func.func @dot_d1_trans_a(%a: tensor<64x48xf16>, %b: tensor<48x32xf16>) {
  // expected-error @below {{'attn.dot' op multiplies 48x64 (a is stored transposed) by 48x32; the inner sizes differ}}
  %0 = attn.dot %a trans_a, %b : (tensor<64x48xf16>, tensor<48x32xf16>) -> tensor<64x32xf32>
  return
}

// -----

func.func @dot_d1_then(%a: tensor<64x48xf16>, %b: tensor<48x32xf16>, %c: tensor<32x48xf16>) {
  // expected-error @below {{'attn.dot' op expects a result of 32x32, got 'tensor<64x32xf32>'}}
  %0 = attn.dot %a, %b then %c, %b : (tensor<64x48xf16>, tensor<48x32xf16>, tensor<32x48xf16>, tensor<48x32xf16>) -> tensor<64x32xf32>
  return
}

// -----

func.func @dot_d9(%a: tensor<64x64xf16, #attn.frag<4, 1>>, %b: !attn.buf<tensor<64x64xf16>, 128>) {
  // expected-error @below {{'attn.dot' op reads a transposed, which needs it in memory; got 'tensor<64x64xf16, #attn.frag<4, 1>>'}}
  %0 = attn.dot %a trans_a, %b : (tensor<64x64xf16, #attn.frag<4, 1>>, !attn.buf<tensor<64x64xf16>, 128>) -> tensor<64x64xf32, #attn.frag<4, 1>>
  return
}
