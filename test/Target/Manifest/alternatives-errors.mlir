// Alternatives, maps and buffers that the manifest has no words for, or that no call would ever reach.
// RUN: split-file %s %t
// RUN: not attn-compile %t/key.mlir -o %t/out 2>&1 | FileCheck %s --check-prefix KEY
// RUN: not attn-compile %t/operand.mlir -o %t/out 2>&1 | FileCheck %s --check-prefix OPERAND
// RUN: not attn-compile %t/size.mlir -o %t/out 2>&1 | FileCheck %s --check-prefix SIZE
// RUN: not attn-compile %t/bound.mlir -o %t/out 2>&1 | FileCheck %s --check-prefix BOUND
// RUN: not attn-compile %t/last.mlir -o %t/out 2>&1 | FileCheck %s --check-prefix LAST
// RUN: not attn-compile %t/first.mlir -o %t/out 2>&1 | FileCheck %s --check-prefix FIRST
// RUN: not attn-compile %t/hidden.mlir -o %t/out 2>&1 | FileCheck %s --check-prefix HIDDEN
// RUN: not attn-compile %t/whose.mlir -o %t/out 2>&1 | FileCheck %s --check-prefix WHOSE
// RUN: not attn-compile %t/other.mlir -o %t/out 2>&1 | FileCheck %s --check-prefix OTHER
// RUN: not attn-compile %t/map.mlir -o %t/out 2>&1 | FileCheck %s --check-prefix MAP
// RUN: not attn-compile %t/box.mlir -o %t/out 2>&1 | FileCheck %s --check-prefix BOX
// RUN: not attn-compile %t/buffer.mlir -o %t/out 2>&1 | FileCheck %s --check-prefix BUFFER
// RUN: not ls %t/out

//--- key.mlir
!m = memref<?x?x?x64xf16>
#meaning = {op = "sdpa", operands = {q = "q", k = "k", v = "v", o = "o"}}
module attributes {attn.target = #attn.target<chip = "sm_80", family = mma_sync>} {
  // KEY: error: 'func.func' op has an attn.when that says 'sized'; the manifest knows aligned, size, from and below
  func.func @f(%q: !m {attn.name = "q", attn.role = "in"}, %k: !m {attn.name = "k", attn.role = "in"},
                  %v: !m {attn.name = "v", attn.role = "in"}, %o: !m {attn.name = "o", attn.role = "out"})
      attributes {attn.meaning = #meaning, attn.when = {sized = "q_len"}} {
    %n = arith.constant 1 : index
    attn.launch @k tiles(%n, %n, %n) args(%q : !m)
    return
  }
  llvm.func @k() attributes {nvvm.kernel} { llvm.return }
}

//--- operand.mlir
!m = memref<?x?x?x64xf16>
#meaning = {op = "sdpa", operands = {q = "q", k = "k", v = "v", o = "o"}}
module attributes {attn.target = #attn.target<chip = "sm_80", family = mma_sync>} {
  // OPERAND: error: 'func.func' op has an attn.when that wants aligned operands; none of them is "x"
  func.func @f(%q: !m {attn.name = "q", attn.role = "in"}, %k: !m {attn.name = "k", attn.role = "in"},
                  %v: !m {attn.name = "v", attn.role = "in"}, %o: !m {attn.name = "o", attn.role = "out"})
      attributes {attn.meaning = #meaning, attn.when = {aligned = ["q", "x"]}} {
    %n = arith.constant 1 : index
    attn.launch @k tiles(%n, %n, %n) args(%q : !m)
    return
  }
  llvm.func @k() attributes {nvvm.kernel} { llvm.return }
}

//--- size.mlir
!m = memref<?x?x?x64xf16>
#meaning = {op = "sdpa", operands = {q = "q", k = "k", v = "v", o = "o"}}
module attributes {attn.target = #attn.target<chip = "sm_80", family = mma_sync>} {
  // SIZE: error: 'func.func' op has an attn.when that compares a size; no operand gives "width"
  func.func @f(%q: !m {attn.name = "q", attn.role = "in"}, %k: !m {attn.name = "k", attn.role = "in"},
                  %v: !m {attn.name = "v", attn.role = "in"}, %o: !m {attn.name = "o", attn.role = "out"})
      attributes {attn.meaning = #meaning, attn.when = {size = "width"}} {
    %n = arith.constant 1 : index
    attn.launch @k tiles(%n, %n, %n) args(%q : !m)
    return
  }
  llvm.func @k() attributes {nvvm.kernel} { llvm.return }
}

//--- bound.mlir
!m = memref<?x?x?x64xf16>
#meaning = {op = "sdpa", operands = {q = "q", k = "k", v = "v", o = "o"}}
module attributes {attn.target = #attn.target<chip = "sm_80", family = mma_sync>} {
  // BOUND: error: 'func.func' op has an attn.when that has bounds but no 'size'
  func.func @f(%q: !m {attn.name = "q", attn.role = "in"}, %k: !m {attn.name = "k", attn.role = "in"},
                  %v: !m {attn.name = "v", attn.role = "in"}, %o: !m {attn.name = "o", attn.role = "out"})
      attributes {attn.meaning = #meaning, attn.when = {below = 5}} {
    %n = arith.constant 1 : index
    attn.launch @k tiles(%n, %n, %n) args(%q : !m)
    return
  }
  llvm.func @k() attributes {nvvm.kernel} { llvm.return }
}

//--- last.mlir
!m = memref<?x?x?x64xf16>
#meaning = {op = "sdpa", operands = {q = "q", k = "k", v = "v", o = "o"}}
module attributes {attn.target = #attn.target<chip = "sm_80", family = mma_sync>} {
  // LAST: error: 'func.func' op takes every call that no function before it takes, but has attn.when
  func.func @f(%q: !m {attn.name = "q", attn.role = "in"}, %k: !m {attn.name = "k", attn.role = "in"},
                  %v: !m {attn.name = "v", attn.role = "in"}, %o: !m {attn.name = "o", attn.role = "out"})
      attributes {attn.meaning = #meaning, attn.when = {aligned = ["q"]}} {
    %n = arith.constant 1 : index
    attn.launch @k tiles(%n, %n, %n) args(%q : !m)
    return
  }
  llvm.func @k() attributes {nvvm.kernel} { llvm.return }
}

//--- first.mlir
!m = memref<?x?x?x64xf16>
#meaning = {op = "sdpa", operands = {q = "q", k = "k", v = "v", o = "o"}}
module attributes {attn.target = #attn.target<chip = "sm_80", family = mma_sync>} {
  // FIRST: error: 'func.func' op is not the last way of computing this, so it needs attn.when
  func.func @f(%q: !m {attn.name = "q", attn.role = "in"}, %k: !m {attn.name = "k", attn.role = "in"},
                  %v: !m {attn.name = "v", attn.role = "in"}, %o: !m {attn.name = "o", attn.role = "out"})
      attributes {attn.meaning = #meaning} {
    %n = arith.constant 1 : index
    attn.launch @k tiles(%n, %n, %n) args(%q : !m)
    return
  }
  func.func @g(%q: !m {attn.name = "q", attn.role = "in"}, %k: !m {attn.name = "k", attn.role = "in"},
                  %v: !m {attn.name = "v", attn.role = "in"}, %o: !m {attn.name = "o", attn.role = "out"})
      attributes {attn.meaning = #meaning, attn.alternative = @f} {
    %n = arith.constant 1 : index
    attn.launch @k tiles(%n, %n, %n) args(%q : !m)
    return
  }
  llvm.func @k() attributes {nvvm.kernel} { llvm.return }
}

//--- hidden.mlir
!m = memref<?x?x?x64xf16>
#meaning = {op = "sdpa", operands = {q = "q", k = "k", v = "v", o = "o"}}
module attributes {attn.target = #attn.target<chip = "sm_80", family = mma_sync>} {
  // HIDDEN: error: 'func.func' op is never chosen: all its calls go to @f
  func.func @f(%q: !m {attn.name = "q", attn.role = "in"}, %k: !m {attn.name = "k", attn.role = "in"},
                  %v: !m {attn.name = "v", attn.role = "in"}, %o: !m {attn.name = "o", attn.role = "out"})
      attributes {attn.meaning = #meaning, attn.when = {aligned = ["q"]}} {
    %n = arith.constant 1 : index
    attn.launch @k tiles(%n, %n, %n) args(%q : !m)
    return
  }
  func.func @g(%q: !m {attn.name = "q", attn.role = "in"}, %k: !m {attn.name = "k", attn.role = "in"},
                  %v: !m {attn.name = "v", attn.role = "in"}, %o: !m {attn.name = "o", attn.role = "out"})
      attributes {attn.meaning = #meaning, attn.alternative = @f, attn.when = {aligned = ["q"], size = "q_len", below = 9}} {
    %n = arith.constant 1 : index
    attn.launch @k tiles(%n, %n, %n) args(%q : !m)
    return
  }
  func.func @h(%q: !m {attn.name = "q", attn.role = "in"}, %k: !m {attn.name = "k", attn.role = "in"},
                  %v: !m {attn.name = "v", attn.role = "in"}, %o: !m {attn.name = "o", attn.role = "out"})
      attributes {attn.meaning = #meaning, attn.alternative = @f} {
    %n = arith.constant 1 : index
    attn.launch @k tiles(%n, %n, %n) args(%q : !m)
    return
  }
  llvm.func @k() attributes {nvvm.kernel} { llvm.return }
}

//--- whose.mlir
!m = memref<?x?x?x64xf16>
#meaning = {op = "sdpa", operands = {q = "q", k = "k", v = "v", o = "o"}}
module attributes {attn.target = #attn.target<chip = "sm_80", family = mma_sync>} {
  func.func @f(%q: !m {attn.name = "q", attn.role = "in"}, %k: !m {attn.name = "k", attn.role = "in"},
                  %v: !m {attn.name = "v", attn.role = "in"}, %o: !m {attn.name = "o", attn.role = "out"})
      attributes {attn.meaning = #meaning} {
    %n = arith.constant 1 : index
    attn.launch @k tiles(%n, %n, %n) args(%q : !m)
    return
  }
  // WHOSE: error: 'func.func' op is an alternative of @k, which is not the function that launches kernels
  func.func @g(%q: !m {attn.name = "q", attn.role = "in"}, %k: !m {attn.name = "k", attn.role = "in"},
                  %v: !m {attn.name = "v", attn.role = "in"}, %o: !m {attn.name = "o", attn.role = "out"})
      attributes {attn.meaning = #meaning, attn.alternative = @k} {
    %n = arith.constant 1 : index
    attn.launch @k tiles(%n, %n, %n) args(%q : !m)
    return
  }
  llvm.func @k() attributes {nvvm.kernel} { llvm.return }
}

//--- other.mlir
!m = memref<?x?x?x64xf16>
#meaning = {op = "sdpa", operands = {q = "q", k = "k", v = "v", o = "o"}}
module attributes {attn.target = #attn.target<chip = "sm_80", family = mma_sync>} {
  func.func @f(%q: !m {attn.name = "q", attn.role = "in"}, %k: !m {attn.name = "k", attn.role = "in"},
                  %v: !m {attn.name = "v", attn.role = "in"}, %o: !m {attn.name = "o", attn.role = "out"})
      attributes {attn.meaning = #meaning, attn.when = {aligned = ["q"]}} {
    %n = arith.constant 1 : index
    attn.launch @k tiles(%n, %n, %n) args(%q : !m)
    return
  }
  // OTHER: error: 'func.func' op must have the arguments and the attn.meaning of @f, whose alternative it is
  func.func @g(%q: !m {attn.name = "q", attn.role = "in"}, %k: !m {attn.name = "k", attn.role = "in"},
                  %v: !m {attn.name = "v", attn.role = "in"}, %o: !m {attn.name = "o", attn.role = "out"})
      attributes {attn.meaning = {op = "sdpa"}, attn.alternative = @f} {
    %n = arith.constant 1 : index
    attn.launch @k tiles(%n, %n, %n) args(%q : !m)
    return
  }
  llvm.func @k() attributes {nvvm.kernel} { llvm.return }
}

//--- map.mlir
!m = memref<?x?x?x64xf16>
#meaning = {op = "sdpa", operands = {q = "q", k = "k", v = "v", o = "o"}}
module attributes {attn.target = #attn.target<chip = "sm_80", family = mma_sync>} {
  // MAP: error: 'attn.tensor_map' op describes 'k', so attn.when must name it in 'aligned'
  func.func @f(%q: !m {attn.name = "q", attn.role = "in"}, %k: !m {attn.name = "k", attn.role = "in"},
                  %v: !m {attn.name = "v", attn.role = "in"}, %o: !m {attn.name = "o", attn.role = "out"})
      attributes {attn.meaning = #meaning, attn.when = {aligned = ["q"]}} {
    %n = arith.constant 1 : index
    %km = attn.tensor_map %k : !m -> !attn.map<tensor<64x64xf16>, 128>
    attn.launch @k tiles(%n, %n, %n) args(%km : !attn.map<tensor<64x64xf16>, 128>)
    return
  }
  func.func @g(%q: !m {attn.name = "q", attn.role = "in"}, %k: !m {attn.name = "k", attn.role = "in"},
                  %v: !m {attn.name = "v", attn.role = "in"}, %o: !m {attn.name = "o", attn.role = "out"})
      attributes {attn.meaning = #meaning, attn.alternative = @f} {
    %n = arith.constant 1 : index
    attn.launch @k tiles(%n, %n, %n) args(%q : !m)
    return
  }
  llvm.func @k() attributes {nvvm.kernel} { llvm.return }
}

//--- box.mlir
!m = memref<?x?x?x64xf16>
#meaning = {op = "sdpa", operands = {q = "q", k = "k", v = "v", o = "o"}}
module attributes {attn.target = #attn.target<chip = "sm_80", family = mma_sync>} {
  // BOX: error: 'attn.tensor_map' op has no box: expects a swizzle of 32, 64 or 128 and at most 256 rows, got 128 and 512
  func.func @f(%q: !m {attn.name = "q", attn.role = "in"}, %k: !m {attn.name = "k", attn.role = "in"},
                  %v: !m {attn.name = "v", attn.role = "in"}, %o: !m {attn.name = "o", attn.role = "out"})
      attributes {attn.meaning = #meaning} {
    %n = arith.constant 1 : index
    %km = attn.tensor_map %k : !m -> !attn.map<tensor<512x64xf16>, 128>
    attn.launch @k tiles(%n, %n, %n) args(%km : !attn.map<tensor<512x64xf16>, 128>)
    return
  }
  llvm.func @k() attributes {nvvm.kernel} { llvm.return }
}

//--- buffer.mlir
!m = memref<?x?x?x64xf16>
#meaning = {op = "sdpa", operands = {q = "q", k = "k", v = "v", o = "o"}}
module attributes {attn.target = #attn.target<chip = "sm_80", family = mma_sync>} {
  // BUFFER: error: 'memref.alloc' op has no form in a manifest, which knows dense buffers; got 'memref<4xf32, strided<[2]>>'
  func.func @f(%q: !m {attn.name = "q", attn.role = "in"}, %k: !m {attn.name = "k", attn.role = "in"},
                  %v: !m {attn.name = "v", attn.role = "in"}, %o: !m {attn.name = "o", attn.role = "out"})
      attributes {attn.meaning = #meaning} {
    %n = arith.constant 1 : index
    %b = memref.alloc() : memref<4xf32, strided<[2]>>
    attn.launch @k tiles(%n, %n, %n) args(%b : memref<4xf32, strided<[2]>>)
    return
  }
  llvm.func @k() attributes {nvvm.kernel} { llvm.return }
}
