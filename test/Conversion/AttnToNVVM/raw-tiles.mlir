// Tiles in the order in which threads hold them: 512 bytes a warp and access, 2048 from atom to atom.
// RUN: attn-opt %s --convert-attn-to-nvvm --cse | FileCheck %s

!w = memref<?x?x?x128xf32>
!t = tensor<64x64xf32, #attn.frag<4, 1>>
module attributes {attn.target = #attn.target<chip = "toy", family = wgmma, smem = 65536>} {
  // Column 64 of a block of 64 rows begins 64 x 64 floats on.
  // CHECK-LABEL: llvm.func @add
  // CHECK: %[[FOUR:.*]] = arith.muli %{{.*}}, %c16_i32 : i32
  // CHECK: %[[P:.*]] = llvm.getelementptr
  // CHECK: llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xf32>
  // CHECK-COUNT-7: llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xf32>
  // CHECK: llvm.inline_asm has_side_effects "red.relaxed.gpu.global.add.v4.f32 [$0+0], {$1, $2, $3, $4};", "l,f,f,f,f,~{memory}"
  // CHECK: "red.relaxed.gpu.global.add.v4.f32 [$0+2048], {$1, $2, $3, $4};"
  // CHECK: "red.relaxed.gpu.global.add.v4.f32 [$0+14336], {$1, $2, $3, $4};"
  // CHECK: "st.global.v4.f32 [$0+0], {$1, $2, $3, $4};"
  attn.kernel @add attributes {smem_bytes = 0 : i64, threads = 128 : i64} {
  ^bb0(%w: !w, %row: i32):
    attn.role "compute" warps 0 + 4 groups 1 {
    ^bb0(%g: i32):
      %c0 = arith.constant 0 : i32   %c64 = arith.constant 64 : i32
      %x = attn.load raw %w[%c0, %c0, %row, %c0] : !w -> !t
      attn.store raw add %x, %w[%c0, %c0, %row, %c64] : !t, !w
      attn.store raw %x, %w[%c0, %c0, %row, %c0] : !t, !w
      attn.yield
    }
  }
}
