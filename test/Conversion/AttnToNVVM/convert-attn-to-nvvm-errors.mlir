// One error a kernel, at the operation, before anything is rewritten.
// RUN: attn-opt %s --convert-attn-to-nvvm --split-input-file --verify-diagnostics

// expected-error @below {{needs attn.target on the module; run attn-set-target first}}
module {}

// -----

// expected-error @below {{has no lowering to nvvm for family cpu}}
module attributes {attn.target = #attn.target<chip = "toy", family = cpu>} {}

// -----

module attributes {attn.target = #attn.target<chip = "toy", family = mma_sync, smem = 1024>} {
  // expected-error @below {{has no threads or smem_bytes; run attn-plan-memory first}}
  attn.kernel @not_planned {
    attn.role "compute" warps 0 + 1 groups 1 {
    ^bb0(%g: i32):
      attn.yield
    }
  }
}

// -----

module attributes {attn.target = #attn.target<chip = "toy", family = mma_sync, smem = 1024>} {
  attn.kernel @two_roles attributes {smem_bytes = 0 : i64, threads = 64 : i64} {
    // expected-error @below {{must be one group of all 2 warps of the block on this family, got 1 of warps 0 + 1}}
    attn.role "a" warps 0 + 1 groups 1 {
    ^bb0(%g: i32):
      attn.yield
    }
    attn.role "b" warps 1 + 1 groups 1 {
    ^bb0(%g: i32):
      attn.yield
    }
  }
}

// -----

module attributes {attn.target = #attn.target<chip = "toy", family = mma_sync, smem = 1024>} {
  attn.kernel @no_such_function attributes {smem_bytes = 0 : i64, threads = 32 : i64} {
  ^bb0(%x: f32, %out: memref<?xf32>):
    %c0 = arith.constant 0 : i32
    attn.role "compute" warps 0 + 1 groups 1 {
    ^bb0(%g: i32):
      // expected-error @below {{'math.erf' op has no lowering on a GPU; supported are math.absf, math.ceil}}
      %y = math.erf %x : f32
      %v = tensor.splat %y : tensor<16xf32, #attn.frag<1, 1, rows>>
      attn.store %v, %out[%c0] : tensor<16xf32, #attn.frag<1, 1, rows>>, memref<?xf32>
      attn.yield
    }
  }
}

// -----

module attributes {attn.target = #attn.target<chip = "toy", family = mma_sync, smem = 1024>} {
  attn.kernel @functions_are_f32 attributes {smem_bytes = 0 : i64, threads = 32 : i64} {
  ^bb0(%x: bf16):
    attn.role "compute" warps 0 + 1 groups 1 {
    ^bb0(%g: i32):
      // expected-error @below {{'math.exp2' op is computed in f32 on a GPU, got 'bf16'; extend the operands first}}
      %y = math.exp2 %x : bf16
      attn.yield
    }
  }
}

// -----

module attributes {attn.target = #attn.target<chip = "toy", family = mma_sync, smem = 1024>} {
  attn.kernel @no_fragment attributes {smem_bytes = 0 : i64, threads = 32 : i64} {
  ^bb0(%x: f32):
    attn.role "compute" warps 0 + 1 groups 1 {
    ^bb0(%g: i32):
      // expected-error @below {{works on a tile without a fragment, 'tensor<16xf32>'; run attn-assign-fragments first}}
      %v = tensor.splat %x : tensor<16xf32>
      attn.yield
    }
  }
}

// -----

!f = tensor<32x16xf32, #attn.frag<1, 1>>
!t = tensor<16x16xf32, #attn.frag<1, 1>>
module attributes {attn.target = #attn.target<chip = "toy", family = mma_sync, smem = 1024>} {
  attn.kernel @slice_of_rows attributes {smem_bytes = 0 : i64, threads = 32 : i64} {
  ^bb0(%x: f32):
    attn.role "compute" warps 0 + 1 groups 1 {
    ^bb0(%g: i32):
      %v = tensor.splat %x : !f
      // expected-error @below {{has no lowering: expects whole columns of a matrix, from a multiple of 8 on, and warps [m, 1]; got}}
      %s = tensor.extract_slice %v[16, 0] [16, 16] [1, 1] : !f to !t
      attn.yield
    }
  }
}

// -----

!A = !attn.buf<tensor<16x16xbf16>, 32>
!B = !attn.buf<tensor<8x16xbf16>, 32>
module attributes {attn.target = #attn.target<chip = "toy", family = mma_sync, smem = 1024>} {
  attn.kernel @columns_in_pairs attributes {smem_bytes = 2048 : i64, threads = 32 : i64} {
    attn.role "compute" warps 0 + 1 groups 1 {
    ^bb0(%g: i32):
      %a = attn.alloc at 0 : !A
      %b = attn.alloc at 1024 : !B
      // expected-error @below {{has no mma.sync shape: expects rows in multiples of 16, columns of 16, depth of 16, got 16x8x16}}
      %c = attn.dot %a, %b trans_b : (!A, !B) -> tensor<16x8xf32, #attn.frag<1, 1>>
      attn.yield
    }
  }
}

// -----

!A = !attn.buf<tensor<16x16xbf16>, 32>
!B = !attn.buf<tensor<32x16xbf16>, 32>
module attributes {attn.target = #attn.target<chip = "toy", family = mma_sync, smem = 2048>} {
  attn.kernel @rows_are_not_shared attributes {smem_bytes = 4096 : i64, threads = 64 : i64} {
    attn.role "compute" warps 0 + 2 groups 1 {
    ^bb0(%g: i32):
      %a = attn.alloc at 0 : !A
      %b = attn.alloc at 1024 : !B
      // expected-error @below {{expects every warp to own whole rows (warps [m, 1]), got warps [1, 2]}}
      %c = attn.dot %a, %b trans_b : (!A, !B) -> tensor<16x32xf32, #attn.frag<1, 2>>
      attn.yield
    }
  }
}

// -----

!B = !attn.buf<tensor<64x64xbf16>, 128>
!g = memref<?x64xbf16, strided<[?, 1], offset: ?>>
module attributes {attn.target = #attn.target<chip = "toy", family = mma_sync, smem = 8192>} {
  attn.kernel @few_threads attributes {smem_bytes = 8192 : i64, threads = 32 : i64} {
  ^bb0(%k: !g, %row: i32):
    %c0 = arith.constant 0 : i32
    %r = attn.alloc at 0 : !attn.ring<1, !B>
    attn.role "compute" warps 0 + 1 groups 1 {
    ^bb0(%g: i32):
      %s = attn.acquire %r[%c0] : !attn.ring<1, !B> -> !B
      // expected-error @below {{expects 64 threads or a multiple, for whole swizzle patterns, got 32}}
      attn.copy %k[%row] to %s fills %r[%c0] via cp_async : !g, !B, !attn.ring<1, !B>
      attn.yield
    }
  }
}

// -----

!R = !attn.ring<1, !attn.buf<tensor<16x16xbf16>, 32>>
module attributes {attn.target = #attn.target<chip = "toy", family = mma_sync, smem = 1024>} {
  attn.kernel @not_counted attributes {smem_bytes = 2048 : i64, threads = 32 : i64} {
    %c0 = arith.constant 0 : i32
    %r = attn.alloc at 0 : !R
    attn.role "compute" warps 0 + 1 groups 1 {
    ^bb0(%g: i32):
      // expected-error @below {{does not say how many newer copies it leaves open; run attn-count-waits first}}
      %b = attn.wait %r[%c0] : !R -> !attn.buf<tensor<16x16xbf16>, 32>
      attn.yield
    }
  }
}

// -----

module attributes {attn.target = #attn.target<chip = "toy", family = mma_sync, smem = 65536>} {
  attn.kernel @words_from_shared attributes {smem_bytes = 1024 : i64, threads = 32 : i64} {
    attn.role "compute" warps 0 + 1 groups 1 {
    ^bb0(%g: i32):
      %b = attn.alloc at 0 : !attn.buf<tensor<16x16xf32>, 64>
      // expected-error @below {{from shared memory expects a tile of 16-bit elements, a multiple of 16 columns, and warps [m, 1]; got 'tensor<16x16xf32, #attn.frag<1, 1>>'}}
      %x = attn.load %b : !attn.buf<tensor<16x16xf32>, 64> -> tensor<16x16xf32, #attn.frag<1, 1>>
      attn.yield
    }
  }
}

// -----

module attributes {attn.target = #attn.target<chip = "toy", family = mma_sync, smem = 65536>} {
  attn.kernel @stored_transposed attributes {smem_bytes = 1024 : i64, threads = 32 : i64} {
    attn.role "compute" warps 0 + 1 groups 1 {
    ^bb0(%g: i32):
      %a = attn.alloc at 0 : !attn.buf<tensor<16x16xf16>, 32>
      // expected-error @below {{has no lowering with 'trans_a' or 'then' on family mma_sync}}
      %c = attn.dot %a trans_a, %a : (!attn.buf<tensor<16x16xf16>, 32>, !attn.buf<tensor<16x16xf16>, 32>) -> tensor<16x16xf32, #attn.frag<1, 1>>
      attn.yield
    }
  }
}

// -----

module attributes {attn.target = #attn.target<chip = "sm_80", family = mma_sync, smem = 65536>} {
  attn.kernel @adds attributes {smem_bytes = 0 : i64, threads = 128 : i64} {
  ^bb0(%o: memref<?x64xf32>):
    attn.role "all" warps 0 + 4 groups 1 {
    ^bb0(%g: i32):
      %c0 = arith.constant 0 : i32
      %z = arith.constant dense<0.0> : tensor<64x64xf32, #attn.frag<4, 1>>
      // expected-error @below {{'attn.store' op adds in memory, which is done for raw tiles on family wgmma only}}
      attn.store raw add %z, %o[%c0] : tensor<64x64xf32, #attn.frag<4, 1>>, memref<?x64xf32>
      attn.yield
    }
  }
}
