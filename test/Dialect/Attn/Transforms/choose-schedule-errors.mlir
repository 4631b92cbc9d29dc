// Refusals, on toy machines where a number decides.
// RUN: attn-opt %s -split-input-file -attn-choose-schedule -verify-diagnostics

func.func @no_target(%q: tensor<?x?x?x64xf16>, %k: tensor<?x?x?x64xf16>, %v: tensor<?x?x?x64xf16>) -> (tensor<?x?x?x64xf16>, tensor<?x?x?xf32>) {
  // expected-error @below {{needs attn.target on the module; run attn-set-target first}}
  %o, %lse = attn.sdpa(%q, %k, %v) scale 0.125 : (tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16>) -> (tensor<?x?x?x64xf16>, tensor<?x?x?xf32>)
  return %o, %lse : tensor<?x?x?x64xf16>, tensor<?x?x?xf32>
}

// -----

module attributes {attn.target = #attn.target<chip = "sm_89", family = mma_sync, smem = 101376, smem_sm = 102400>} {
  func.func @f32_on_gpu(%q: tensor<?x?x?x64xf32>, %k: tensor<?x?x?x64xf32>, %v: tensor<?x?x?x64xf32>) -> (tensor<?x?x?x64xf32>, tensor<?x?x?xf32>) {
    // expected-error @below {{f32 attention runs on --chip=cpu; on sm_89 use f16 or bf16}}
    %o, %lse = attn.sdpa(%q, %k, %v) scale 0.125 : (tensor<?x?x?x64xf32>, tensor<?x?x?x64xf32>, tensor<?x?x?x64xf32>) -> (tensor<?x?x?x64xf32>, tensor<?x?x?xf32>)
    return %o, %lse : tensor<?x?x?x64xf32>, tensor<?x?x?xf32>
  }
}

// -----

module attributes {attn.target = #attn.target<chip = "sm_89", family = mma_sync, smem = 101376, smem_sm = 102400>} {
  func.func @head_dim_beyond_smem(%q: tensor<?x?x?x520xf16>, %k: tensor<?x?x?x520xf16>, %v: tensor<?x?x?x520xf16>) -> (tensor<?x?x?x520xf16>, tensor<?x?x?xf32>) {
    // expected-error @below {{head dim 520 needs 202752 bytes shared memory (tile [64, 32]), sm_89 has 101376; max for this op is 256}}
    %o, %lse = attn.sdpa(%q, %k, %v) scale 0.125 : (tensor<?x?x?x520xf16>, tensor<?x?x?x520xf16>, tensor<?x?x?x520xf16>) -> (tensor<?x?x?x520xf16>, tensor<?x?x?xf32>)
    return %o, %lse : tensor<?x?x?x520xf16>, tensor<?x?x?xf32>
  }
}

// -----

module attributes {attn.target = #attn.target<chip = "sm_89", family = mma_sync, smem = 101376, smem_sm = 102400>} {
  func.func @value_head_dim(%q: tensor<?x?x?x64xf16>, %k: tensor<?x?x?x64xf16>, %v: tensor<?x?x?x520xf16>) -> (tensor<?x?x?x520xf16>, tensor<?x?x?xf32>) {
    // expected-error @below {{value head dim 520 needs 143360 bytes shared memory (tile [64, 32])}}
    %o, %lse = attn.sdpa(%q, %k, %v) scale 0.125 : (tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16>, tensor<?x?x?x520xf16>) -> (tensor<?x?x?x520xf16>, tensor<?x?x?xf32>)
    return %o, %lse : tensor<?x?x?x520xf16>, tensor<?x?x?xf32>
  }
}

// -----

module attributes {attn.target = #attn.target<chip = "cpu", family = cpu>} {
  func.func @cpu_head_dim(%q: tensor<?x?x?x520xf16>, %k: tensor<?x?x?x520xf16>, %v: tensor<?x?x?x520xf16>) -> (tensor<?x?x?x520xf16>, tensor<?x?x?xf32>) {
    // expected-error @below {{head dim 520 is not supported on cpu; max for this op is 256}}
    %o, %lse = attn.sdpa(%q, %k, %v) scale 0.125 : (tensor<?x?x?x520xf16>, tensor<?x?x?x520xf16>, tensor<?x?x?x520xf16>) -> (tensor<?x?x?x520xf16>, tensor<?x?x?xf32>)
    return %o, %lse : tensor<?x?x?x520xf16>, tensor<?x?x?xf32>
  }
}

// -----

module attributes {attn.target = #attn.target<chip = "toy", family = mma_sync, smem = 1024>} {
  func.func @nothing_fits(%q: tensor<?x?x?x64xf16>, %k: tensor<?x?x?x64xf16>, %v: tensor<?x?x?x64xf16>) -> (tensor<?x?x?x64xf16>, tensor<?x?x?xf32>) {
    // expected-error @below {{head dim 64 needs 10240 bytes shared memory (tile [16, 16]), toy has 1024}}
    %o, %lse = attn.sdpa(%q, %k, %v) scale 0.125 : (tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16>) -> (tensor<?x?x?x64xf16>, tensor<?x?x?xf32>)
    return %o, %lse : tensor<?x?x?x64xf16>, tensor<?x?x?xf32>
  }
}

// -----

module attributes {attn.target = #attn.target<chip = "toy", family = mma_sync, smem = 4096>} {
  func.func @smaller_head_dim_fits(%q: tensor<?x?x?x64xf16>, %k: tensor<?x?x?x64xf16>, %v: tensor<?x?x?x64xf16>) -> (tensor<?x?x?x64xf16>, tensor<?x?x?xf32>) {
    // expected-error @below {{head dim 64 needs 10240 bytes shared memory (tile [16, 16]), toy has 4096; max for this op is 16}}
    %o, %lse = attn.sdpa(%q, %k, %v) scale 0.125 : (tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16>) -> (tensor<?x?x?x64xf16>, tensor<?x?x?xf32>)
    return %o, %lse : tensor<?x?x?x64xf16>, tensor<?x?x?xf32>
  }
}

// -----

module attributes {attn.target = #attn.target<chip = "toy", family = mma_sync, smem = 16384>} {
  func.func @override_smem(%q: tensor<?x?x?x64xf16>, %k: tensor<?x?x?x64xf16>, %v: tensor<?x?x?x64xf16>) -> (tensor<?x?x?x64xf16>, tensor<?x?x?xf32>) {
    // expected-error @below {{schedule of the op does not fit: tile [128, 64] needs 32768 bytes of shared memory, toy has 16384}}
    %o, %lse = attn.sdpa(%q, %k, %v) scale 0.125 schedule <tile = [128, 64], warps = [4, 1]> : (tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16>) -> (tensor<?x?x?x64xf16>, tensor<?x?x?xf32>)
    return %o, %lse : tensor<?x?x?x64xf16>, tensor<?x?x?xf32>
  }
}

// -----

module attributes {attn.target = #attn.target<chip = "toy", family = mma_sync, smem = 65536, smem_sm = 66560>} {
  func.func @override_blocks(%q: tensor<?x?x?x64xf16>, %k: tensor<?x?x?x64xf16>, %v: tensor<?x?x?x64xf16>) -> (tensor<?x?x?x64xf16>, tensor<?x?x?xf32>) {
    // expected-error @below {{tile [128, 64] needs 67584 bytes of shared memory for 2 blocks an SM, toy has 66560}}
    %o, %lse = attn.sdpa(%q, %k, %v) scale 0.125 schedule <tile = [128, 64], warps = [4, 1], blocks = 2> : (tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16>) -> (tensor<?x?x?x64xf16>, tensor<?x?x?xf32>)
    return %o, %lse : tensor<?x?x?x64xf16>, tensor<?x?x?xf32>
  }
}

// -----

module attributes {attn.target = #attn.target<chip = "toy", family = mma_sync, smem = 1048576>} {
  func.func @override_regs(%q: tensor<?x?x?x256xf16>, %k: tensor<?x?x?x256xf16>, %v: tensor<?x?x?x256xf16>) -> (tensor<?x?x?x256xf16>, tensor<?x?x?xf32>) {
    // expected-error @below {{tile [128, 64] needs about 360 registers a thread, toy has 255 for 128 threads and 1 block an SM}}
    %o, %lse = attn.sdpa(%q, %k, %v) scale 0.125 schedule <tile = [128, 64], warps = [4, 1]> : (tensor<?x?x?x256xf16>, tensor<?x?x?x256xf16>, tensor<?x?x?x256xf16>) -> (tensor<?x?x?x256xf16>, tensor<?x?x?xf32>)
    return %o, %lse : tensor<?x?x?x256xf16>, tensor<?x?x?xf32>
  }
}

// -----

module attributes {attn.target = #attn.target<chip = "toy", family = mma_sync, smem = 1048576>} {
  func.func @override_rows(%q: tensor<?x?x?x64xf16>, %k: tensor<?x?x?x64xf16>, %v: tensor<?x?x?x64xf16>) -> (tensor<?x?x?x64xf16>, tensor<?x?x?xf32>) {
    // expected-error @below {{tile [96, 64] is not a multiple of 64 queries (16 for each of 4 warps) and 16 keys}}
    %o, %lse = attn.sdpa(%q, %k, %v) scale 0.125 schedule <tile = [96, 64], warps = [4, 1]> : (tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16>) -> (tensor<?x?x?x64xf16>, tensor<?x?x?xf32>)
    return %o, %lse : tensor<?x?x?x64xf16>, tensor<?x?x?xf32>
  }
}

// -----

module attributes {attn.target = #attn.target<chip = "toy", family = mma_sync, smem = 1048576>} {
  func.func @override_keys(%q: tensor<?x?x?x64xf16>, %k: tensor<?x?x?x64xf16>, %v: tensor<?x?x?x64xf16>) -> (tensor<?x?x?x64xf16>, tensor<?x?x?xf32>) {
    // expected-error @below {{tile [64, 40] is not a multiple of 64 queries (16 for each of 4 warps) and 16 keys}}
    %o, %lse = attn.sdpa(%q, %k, %v) scale 0.125 schedule <tile = [64, 40], warps = [4, 1]> : (tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16>) -> (tensor<?x?x?x64xf16>, tensor<?x?x?xf32>)
    return %o, %lse : tensor<?x?x?x64xf16>, tensor<?x?x?xf32>
  }
}

// -----

module attributes {attn.target = #attn.target<chip = "toy", family = mma_sync, smem = 1048576>} {
  func.func @override_split_keys(%q: tensor<?x?x?x64xf16>, %k: tensor<?x?x?x64xf16>, %v: tensor<?x?x?x64xf16>) -> (tensor<?x?x?x64xf16>, tensor<?x?x?xf32>) {
    // expected-error @below {{tile [64, 64] has 2 warps along the keys; a warp owns whole rows, so there must be 1}}
    %o, %lse = attn.sdpa(%q, %k, %v) scale 0.125 schedule <tile = [64, 64], warps = [2, 2]> : (tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16>) -> (tensor<?x?x?x64xf16>, tensor<?x?x?xf32>)
    return %o, %lse : tensor<?x?x?x64xf16>, tensor<?x?x?xf32>
  }
}

// -----

module attributes {attn.target = #attn.target<chip = "toy", family = mma_sync, smem = 1048576>} {
  func.func @override_threads(%q: tensor<?x?x?x64xf16>, %k: tensor<?x?x?x64xf16>, %v: tensor<?x?x?x64xf16>) -> (tensor<?x?x?x64xf16>, tensor<?x?x?xf32>) {
    // expected-error @below {{tile [1024, 64] needs 2048 threads, a block has at most 1024}}
    %o, %lse = attn.sdpa(%q, %k, %v) scale 0.125 schedule <tile = [1024, 64], warps = [64, 1]> : (tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16>) -> (tensor<?x?x?x64xf16>, tensor<?x?x?xf32>)
    return %o, %lse : tensor<?x?x?x64xf16>, tensor<?x?x?xf32>
  }
}

// -----

module attributes {attn.target = #attn.target<chip = "cpu", family = cpu>} {
  func.func @cpu_tile(%q: tensor<?x?x?x64xf32>, %k: tensor<?x?x?x64xf32>, %v: tensor<?x?x?x64xf32>) -> (tensor<?x?x?x64xf32>, tensor<?x?x?xf32>) {
    // expected-error @below {{tile [60, 64] is not a multiple of 8 queries and 8 keys}}
    %o, %lse = attn.sdpa(%q, %k, %v) scale 0.125 schedule <tile = [60, 64], warps = [1, 1]> : (tensor<?x?x?x64xf32>, tensor<?x?x?x64xf32>, tensor<?x?x?x64xf32>) -> (tensor<?x?x?x64xf32>, tensor<?x?x?xf32>)
    return %o, %lse : tensor<?x?x?x64xf32>, tensor<?x?x?xf32>
  }
}
