// What the manifest has no words for is refused, and no file is written.
// RUN: split-file %s %t
// RUN: not attn-compile %t/names.mlir -o %t/out 2>&1 | FileCheck %s --check-prefix NAMES
// RUN: not attn-compile %t/path.mlir -o %t/out 2>&1 | FileCheck %s --check-prefix PATH
// RUN: not attn-compile %t/kernel.mlir -o %t/out 2>&1 | FileCheck %s --check-prefix KERNEL
// RUN: not attn-compile %t/meaning.mlir -o %t/out 2>&1 | FileCheck %s --check-prefix MEANING
// RUN: not attn-compile %t/parts.mlir -o %t/out 2>&1 | FileCheck %s --check-prefix PARTS
// RUN: not attn-compile %t/op.mlir -o %t/out 2>&1 | FileCheck %s --check-prefix OP
// RUN: not attn-compile %t/grad.mlir -o %t/out 2>&1 | FileCheck %s --check-prefix GRAD
// RUN: not attn-compile %t/role.mlir -o %t/out 2>&1 | FileCheck %s --check-prefix ROLE
// RUN: not attn-compile %t/form.mlir -o %t/out 2>&1 | FileCheck %s --check-prefix FORM
// RUN: not attn-compile %t/two.mlir -o %t/out 2>&1 | FileCheck %s --check-prefix TWO
// RUN: not ls %t/out

//--- names.mlir
module attributes {attn.target = #attn.target<chip = "sm_80", family = mma_sync>} {
  // NAMES: names.mlir:3:3: error: 'func.func' op argument 0 needs attn.name and attn.role
  func.func @host(%x: i32, %n: index) { attn.launch @k tiles(%n, %n, %n) args(%x : i32) return }
  llvm.func @k() attributes {nvvm.kernel} { llvm.return }
}

//--- meaning.mlir
!m = memref<?x?x?x64xf16>
!l = memref<?x?x?xf32>
module attributes {attn.target = #attn.target<chip = "sm_80", family = mma_sync>} {
  // MEANING: meaning.mlir:5:3: error: 'func.func' op needs attn.meaning
  func.func @host(%q: !m {attn.name = "q", attn.role = "in"}, %k: !m {attn.name = "k", attn.role = "in"},
                  %v: !m {attn.name = "v", attn.role = "in"}, %o: !m {attn.name = "o", attn.role = "out"},
                  %lse: !l {attn.name = "lse", attn.role = "out"}) {
    %n = arith.constant 1 : index
    attn.launch @k tiles(%n, %n, %n) args(%q : !m)
    return
  }
  llvm.func @k() attributes {nvvm.kernel} { llvm.return }
}

//--- parts.mlir
!m = memref<?x?x?x64xf16>
module attributes {attn.target = #attn.target<chip = "sm_80", family = mma_sync>} {
  // PARTS: parts.mlir:4:3: error: 'func.func' op needs attn.meaning to say in 'operands' which argument is k
  func.func @host(%q: !m {attn.name = "q", attn.role = "in"}) attributes {attn.meaning = {op = "sdpa", operands = {q = "q"}}} {
    %n = arith.constant 1 : index
    attn.launch @k tiles(%n, %n, %n) args(%q : !m)
    return
  }
  llvm.func @k() attributes {nvvm.kernel} { llvm.return }
}

//--- op.mlir
!m = memref<?x?x?x64xf16>
module attributes {attn.target = #attn.target<chip = "sm_80", family = mma_sync>} {
  // OP: op.mlir:4:3: error: 'func.func' op needs attn.meaning to say in 'op' what is computed; the manifest knows sdpa and sdpa_grad
  func.func @host(%q: !m {attn.name = "q", attn.role = "in"}) attributes {attn.meaning = {op = "gemm", operands = {q = "q"}}} {
    %n = arith.constant 1 : index
    attn.launch @k tiles(%n, %n, %n) args(%q : !m)
    return
  }
  llvm.func @k() attributes {nvvm.kernel} { llvm.return }
}

//--- grad.mlir
!m = memref<?x?x?x64xf16>
module attributes {attn.target = #attn.target<chip = "sm_80", family = mma_sync>} {
  // GRAD: grad.mlir:4:3: error: 'func.func' op needs attn.meaning to say in 'operands' which argument is lse
  func.func @host(%q: !m {attn.name = "q", attn.role = "in"}, %k: !m {attn.name = "k", attn.role = "in"},
                  %v: !m {attn.name = "v", attn.role = "in"}, %o: !m {attn.name = "o", attn.role = "in"})
      attributes {attn.meaning = {op = "sdpa_grad", operands = {q = "q", k = "k", v = "v", o = "o"}}} {
    %n = arith.constant 1 : index
    attn.launch @k tiles(%n, %n, %n) args(%q : !m)
    return
  }
  llvm.func @k() attributes {nvvm.kernel} { llvm.return }
}

//--- role.mlir
!m = memref<?x?x?x64xf16>
module attributes {attn.target = #attn.target<chip = "sm_80", family = mma_sync>} {
  // ROLE: role.mlir:4:3: error: 'func.func' op argument 'o' is o and must be a memref of rank 4 and role in
  func.func @host(%q: !m {attn.name = "q", attn.role = "in"}, %k: !m {attn.name = "k", attn.role = "in"},
                  %v: !m {attn.name = "v", attn.role = "in"}, %o: !m {attn.name = "o", attn.role = "out"})
      attributes {attn.meaning = {op = "sdpa_grad", operands = {q = "q", k = "k", v = "v", o = "o"}}} {
    %n = arith.constant 1 : index
    attn.launch @k tiles(%n, %n, %n) args(%q : !m)
    return
  }
  llvm.func @k() attributes {nvvm.kernel} { llvm.return }
}

//--- form.mlir
!m = memref<?x?x?x64xf16>
!l = memref<?x?x?xf32>
module attributes {attn.target = #attn.target<chip = "sm_80", family = mma_sync>} {
  func.func @host(%q: !m {attn.name = "q", attn.role = "in"}, %k: !m {attn.name = "k", attn.role = "in"},
                  %v: !m {attn.name = "v", attn.role = "in"}, %o: !m {attn.name = "o", attn.role = "out"},
                  %lse: !l {attn.name = "lse", attn.role = "out"}) attributes {attn.meaning = {op = "sdpa", operands = {q = "q", k = "k", v = "v", o = "o", lse = "lse"}}} {
    %x1 = arith.constant 1 : index
    %H = memref.dim %q, %x1 : !m
    // FORM: form.mlir:10:10: error: the manifest has no form for this size
    %n = arith.subi %H, %x1 : index
    attn.launch @k tiles(%n, %n, %n) args(%q : !m)
    return
  }
  llvm.func @k() attributes {nvvm.kernel} { llvm.return }
}

//--- two.mlir
module attributes {attn.target = #attn.target<chip = "sm_80", family = mma_sync>} {
  func.func @a(%x: i32, %n: index) { attn.launch @k tiles(%n, %n, %n) args(%x : i32) return }
  // TWO: two.mlir:4:3: error: 'func.func' op is the second one that launches kernels
  func.func @b(%x: i32, %n: index) { attn.launch @k tiles(%n, %n, %n) args(%x : i32) return }
  llvm.func @k() attributes {nvvm.kernel} { llvm.return }
}

//--- path.mlir
module attributes {attn.target = #attn.target<chip = "sm_80", family = mma_sync>} {
  // PATH: path.mlir:3:3: error: 'func.func' op argument 0 has attn.name '../q', which is not an identifier
  func.func @host(%x: i32 {attn.name = "../q", attn.role = "in"}, %n: index) { attn.launch @k tiles(%n, %n, %n) args(%x : i32) return }
  llvm.func @k() attributes {nvvm.kernel} { llvm.return }
}

//--- kernel.mlir
// KERNEL: kernel.mlir:4:3: error: kernel name '../k' is not an identifier; files and symbols are named after it
module attributes {attn.target = #attn.target<chip = "sm_80", family = mma_sync>} {
  func.func @host(%x: i32, %n: index) { attn.launch @"../k" tiles(%n, %n, %n) args(%x : i32) return }
  llvm.func @"../k"() attributes {nvvm.kernel} { llvm.return }
}
