// The launch contract: a memref is its pointer, strides but the last (i64), sizes (i32); read-only ones say so.
// RUN: attn-opt %s --convert-attn-to-nvvm --cse | FileCheck %s

// CHECK: llvm.mlir.global external @attn_smem() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
module attributes {attn.target = #attn.target<chip = "toy", family = mma_sync, smem = 65536>} {
  // CHECK-LABEL: llvm.func @arguments(
  // CHECK-SAME: %{{.*}}: !llvm.ptr<1> {llvm.noalias, llvm.readonly}, %{{[^:]*}}: i64, %{{[^:]*}}: i64,
  // CHECK-SAME: %{{[^:]*}}: i32, %[[N1:[^:]*]]: i32, %{{[^:]*}}: i32, %{{[^:]*}}: !llvm.ptr<1> {llvm.noalias}, %{{[^:]*}}: i32, %{{[^:]*}}: f32)
  // CHECK-SAME: attn.smem_bytes = 512 : i64, denormal_fp_math_f32 = "preserve-sign", nvvm.kernel, nvvm.minctasm = 2 : i32, nvvm.reqntid = array<i32: 64, 1, 1>
  attn.kernel @arguments attributes {smem_bytes = 512 : i64, threads = 64 : i64,
      schedule = #attn.schedule<tile = [32, 16], warps = [2, 1], blocks = 2, tiles = single>} {
  ^bb0(%q: memref<?x?x?xbf16, strided<[?, ?, 1], offset: ?>>, %out: memref<?xf32>, %cap: f32):
    %x1 = arith.constant 1 : index
    // A size is an argument, a block id a register; index is i32, so casts vanish.
    // CHECK: %[[ID:.*]] = nvvm.read.ptx.sreg.ctaid.x : i32
    // CHECK: %[[BLOCKS:.*]] = nvvm.read.ptx.sreg.nctaid.x : i32
    // CHECK: %[[X:.*]] = arith.addi %[[ID]], %[[N1]] : i32
    // CHECK: arith.addi %[[X]], %[[BLOCKS]] : i32
    // CHECK-NOT: index_cast
    %n = memref.dim %q, %x1 : memref<?x?x?xbf16, strided<[?, ?, 1], offset: ?>>
    %ni = arith.index_cast %n : index to i32
    attn.role "compute" warps 0 + 2 groups 1 {
    ^bb0(%g: i32):
      %id = gpu.block_id x
      %i = arith.index_cast %id : index to i32
      %blocks = gpu.grid_dim x
      %n_blocks = arith.index_cast %blocks : index to i32
      %x = arith.addi %i, %ni : i32
      %row = arith.addi %x, %n_blocks : i32
      %v = tensor.splat %cap : tensor<32xf32, #attn.frag<2, 1, rows>>
      attn.store %v, %out[%row] : tensor<32xf32, #attn.frag<2, 1, rows>>, memref<?xf32>
      attn.yield
    }
    // CHECK: llvm.return
  }
}
