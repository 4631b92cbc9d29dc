// What the back end would abort on is refused with a location, and nothing is written.
// RUN: split-file %s %t
// RUN: not attn-compile %t/exp.mlir -o %t/out 2>&1 | FileCheck %s --check-prefix EXP
// RUN: not attn-compile %t/left.mlir -o %t/out 2>&1 | FileCheck %s --check-prefix LEFT
// RUN: not attn-compile %t/select.mlir -o %t/out 2>&1 | FileCheck %s --check-prefix SELECT
// RUN: not attn-compile %t/chip.mlir -o %t/out 2>&1 | FileCheck %s --check-prefix CHIP
// RUN: not ls %t/out

//--- exp.mlir
module attributes {attn.target = #attn.target<chip = "sm_80", family = mma_sync>} {
  func.func @host(%x: i32, %n: index) { attn.launch @k tiles(%n, %n, %n) args(%x : i32) return }
  llvm.func @k(%x: f32, %p: !llvm.ptr<1>) attributes {nvvm.kernel} {
    // EXP: exp.mlir:5:10: error: 'llvm.intr.exp' op has no PTX instruction
    %e = llvm.intr.exp(%x) : (f32) -> f32
    llvm.store %e, %p : f32, !llvm.ptr<1>
    llvm.return
  }
}

//--- left.mlir
module attributes {attn.target = #attn.target<chip = "sm_80", family = mma_sync>} {
  func.func @host(%x: i32, %n: index) { attn.launch @k tiles(%n, %n, %n) args(%x : i32) return }
  llvm.func @k() attributes {nvvm.kernel} {
    // LEFT: left.mlir:5:10: error: 'arith.constant' op breaks what stage nvvm promises: device code is llvm and nvvm only
    %c = arith.constant 0 : i32
    llvm.return
  }
}

//--- select.mlir
module attributes {attn.target = #attn.target<chip = "sm_80", family = mma_sync>} {
  func.func @host(%x: i32, %n: index) { attn.launch @k tiles(%n, %n, %n) args(%x : i32) return }
  // Nothing selects a 128-bit float division: the back end says so and does not come back.
  // SELECT: select.mlir:5:3: error: 'llvm.func' op cannot be emitted: unsupported library call operation
  llvm.func @k(%x: f128, %p: !llvm.ptr<1>) attributes {nvvm.kernel} {
    %e = llvm.fdiv %x, %x : f128
    llvm.store %e, %p : f128, !llvm.ptr<1>
    llvm.return
  }
}

//--- chip.mlir
// CHIP: chip.mlir:2:1: error: no PTX can be emitted for chip 'toy'
module attributes {attn.target = #attn.target<chip = "toy", family = mma_sync>} {
  func.func @host(%x: i32, %n: index) { attn.launch @k tiles(%n, %n, %n) args(%x : i32) return }
  llvm.func @k() attributes {nvvm.kernel} { llvm.return }
}
