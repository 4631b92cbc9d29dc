// A kernel written by hand at the nvvm stage: what the back end is asked for, and what must be in its text.
// RUN: rm -rf %t && attn-compile %s -o %t && FileCheck %s --input-file %t/scale_fwd.ptx
// RUN: FileCheck %s --check-prefix MANIFEST --input-file %t/manifest.json

!q = memref<?x?x?x128xf32, strided<[?, ?, ?, 1], offset: ?>>
!l = memref<?x?x?xf32, strided<[?, ?, ?], offset: ?>>
module attributes {attn.target = #attn.target<chip = "sm_80", family = mma_sync, smem = 166912, smem_sm = 167936, sms = 108>} {
  func.func @scale(%q: !q {attn.name = "q", attn.role = "in"}, %k: !q {attn.name = "k", attn.role = "in"},
                   %v: !q {attn.name = "v", attn.role = "in"}, %o: !q {attn.name = "o", attn.role = "out"},
                   %lse: !l {attn.name = "lse", attn.role = "out"})
      attributes {attn.meaning = {op = "sdpa", operands = {q = "q", k = "k", v = "v", o = "o", lse = "lse"}, scale = 1.0 : f32, masks = []}} {
    %x1 = arith.constant 1 : index
    %H = memref.dim %q, %x1 : !q
    attn.launch @scale_fwd tiles(%H, %H, %x1) args(%q : !q)
    return
  }

  // CHECK: .version 7.4
  // CHECK: .target sm_80
  // Dynamic shared memory is external, and its addresses are 32 bits wide.
  // CHECK: .extern .shared .align 128 .b8 smem[];
  llvm.mlir.global external @smem() {addr_space = 3 : i32, alignment = 128 : i64} : !llvm.array<0 x i8>

  // MANIFEST: "name": "scale_fwd",
  // MANIFEST-NEXT: "ptx": "scale_fwd.ptx",
  // MANIFEST-NEXT: "smem_bytes": 4096,
  // MANIFEST-NEXT: "threads": 64,
  // CHECK: .visible .entry scale_fwd(
  // CHECK: .reqntid 64
  llvm.func @scale_fwd(%q: !llvm.ptr<1>) attributes {nvvm.kernel, nvvm.reqntid = array<i32: 64, 1, 1>, attn.smem_bytes = 4096 : i64} {
    %s = llvm.mlir.addressof @smem : !llvm.ptr<3>
    %t = nvvm.read.ptx.sreg.tid.x : i32
    %g = llvm.getelementptr %q[%t] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
    // The data layout was there before the translation: 8 bytes are one access.
    // CHECK: ld.global.b64
    %x = llvm.load %g : !llvm.ptr<1> -> i64
    // CHECK: st.shared.b64 [smem],
    llvm.store %x, %s : i64, !llvm.ptr<3>
    // CHECK: ex2.approx
    %f = llvm.load %q : !llvm.ptr<1> -> f32
    %e = llvm.intr.exp2(%f) : (f32) -> f32
    llvm.store %e, %g : f32, !llvm.ptr<1>
    llvm.return
  }
}
