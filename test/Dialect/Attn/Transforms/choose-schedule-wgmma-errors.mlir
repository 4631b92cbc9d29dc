// Overrides that do not fit wgmma, and fields of wgmma on the other families.
// RUN: attn-opt %s -split-input-file -attn-choose-schedule -verify-diagnostics

module attributes {attn.target = #attn.target<chip = "sm_90a", family = wgmma, smem = 232448, smem_sm = 233472, sms = 132>} {
  func.func @made_for_mma_sync(%q: tensor<?x?x?x128xbf16>, %k: tensor<?x?x?x128xbf16>, %v: tensor<?x?x?x128xbf16>) -> (tensor<?x?x?x128xbf16>, tensor<?x?x?xf32>) {
    // expected-error @below {{schedule of the op does not fit: tile [128, 64] names no regs = [copying, computing]; every schedule on wgmma does, such as 'tile = [128, 128], warps = [4, 1], groups = 2, regs = [24, 240], depth = {q = 1, k = 2, v = 2}', or those of attn-compile --list-schedules (with --chip=sm_90 the same machine runs schedules of mma_sync)}}
    %o, %lse = attn.sdpa(%q, %k, %v) scale 0.125 schedule <tile = [128, 64], warps = [4, 1]> : (tensor<?x?x?x128xbf16>, tensor<?x?x?x128xbf16>, tensor<?x?x?x128xbf16>) -> (tensor<?x?x?x128xbf16>, tensor<?x?x?xf32>)
    return %o, %lse : tensor<?x?x?x128xbf16>, tensor<?x?x?xf32>
  }
}

// -----

module attributes {attn.target = #attn.target<chip = "sm_90a", family = wgmma, smem = 232448, smem_sm = 233472, sms = 132>} {
  func.func @warps(%q: tensor<?x?x?x128xbf16>, %k: tensor<?x?x?x128xbf16>, %v: tensor<?x?x?x128xbf16>) -> (tensor<?x?x?x128xbf16>, tensor<?x?x?xf32>) {
    // expected-error @below {{schedule of the op does not fit: tile [128, 64] has warps [8, 1]; a group on wgmma is a warpgroup, [4, 1]}}
    %o, %lse = attn.sdpa(%q, %k, %v) scale 0.125 schedule <tile = [128, 64], warps = [8, 1], regs = [24, 240]> : (tensor<?x?x?x128xbf16>, tensor<?x?x?x128xbf16>, tensor<?x?x?x128xbf16>) -> (tensor<?x?x?x128xbf16>, tensor<?x?x?xf32>)
    return %o, %lse : tensor<?x?x?x128xbf16>, tensor<?x?x?xf32>
  }
}

// -----

module attributes {attn.target = #attn.target<chip = "sm_90a", family = wgmma, smem = 232448, smem_sm = 233472, sms = 132>} {
  func.func @rows(%q: tensor<?x?x?x128xbf16>, %k: tensor<?x?x?x128xbf16>, %v: tensor<?x?x?x128xbf16>) -> (tensor<?x?x?x128xbf16>, tensor<?x?x?xf32>) {
    // expected-error @below {{schedule of the op does not fit: tile [128, 64] is not 64 queries (64 for each group) and a multiple of 16 keys up to 256}}
    %o, %lse = attn.sdpa(%q, %k, %v) scale 0.125 schedule <tile = [128, 64], warps = [4, 1], regs = [24, 256]> : (tensor<?x?x?x128xbf16>, tensor<?x?x?x128xbf16>, tensor<?x?x?x128xbf16>) -> (tensor<?x?x?x128xbf16>, tensor<?x?x?xf32>)
    return %o, %lse : tensor<?x?x?x128xbf16>, tensor<?x?x?xf32>
  }
}

// -----

module attributes {attn.target = #attn.target<chip = "sm_90a", family = wgmma, smem = 232448, smem_sm = 233472, sms = 132>} {
  func.func @keys(%q: tensor<?x?x?x128xbf16>, %k: tensor<?x?x?x128xbf16>, %v: tensor<?x?x?x128xbf16>) -> (tensor<?x?x?x128xbf16>, tensor<?x?x?xf32>) {
    // expected-error @below {{schedule of the op does not fit: tile [128, 72] is not 128 queries (64 for each group) and a multiple of 16 keys up to 256}}
    %o, %lse = attn.sdpa(%q, %k, %v) scale 0.125 schedule <tile = [128, 72], warps = [4, 1], groups = 2, regs = [24, 240]> : (tensor<?x?x?x128xbf16>, tensor<?x?x?x128xbf16>, tensor<?x?x?x128xbf16>) -> (tensor<?x?x?x128xbf16>, tensor<?x?x?xf32>)
    return %o, %lse : tensor<?x?x?x128xbf16>, tensor<?x?x?xf32>
  }
}

// -----

module attributes {attn.target = #attn.target<chip = "sm_90a", family = wgmma, smem = 232448, smem_sm = 233472, sms = 132>} {
  func.func @blocks(%q: tensor<?x?x?x128xbf16>, %k: tensor<?x?x?x128xbf16>, %v: tensor<?x?x?x128xbf16>) -> (tensor<?x?x?x128xbf16>, tensor<?x?x?xf32>) {
    // expected-error @below {{schedule of the op does not fit: tile [128, 64] asks for 2 blocks an SM; on wgmma a block has the registers of all of it}}
    %o, %lse = attn.sdpa(%q, %k, %v) scale 0.125 schedule <tile = [128, 64], warps = [4, 1], groups = 2, regs = [24, 240], blocks = 2> : (tensor<?x?x?x128xbf16>, tensor<?x?x?x128xbf16>, tensor<?x?x?x128xbf16>) -> (tensor<?x?x?x128xbf16>, tensor<?x?x?xf32>)
    return %o, %lse : tensor<?x?x?x128xbf16>, tensor<?x?x?xf32>
  }
}

// -----

module attributes {attn.target = #attn.target<chip = "sm_90a", family = wgmma, smem = 232448, smem_sm = 233472, sms = 132>} {
  func.func @threads(%q: tensor<?x?x?x64xbf16>, %k: tensor<?x?x?x64xbf16>, %v: tensor<?x?x?x64xbf16>) -> (tensor<?x?x?x64xbf16>, tensor<?x?x?xf32>) {
    // expected-error @below {{schedule of the op does not fit: tile [512, 16] needs 1152 threads, a block has at most 1024}}
    %o, %lse = attn.sdpa(%q, %k, %v) scale 0.125 schedule <tile = [512, 16], warps = [4, 1], groups = 8, regs = [24, 56]> : (tensor<?x?x?x64xbf16>, tensor<?x?x?x64xbf16>, tensor<?x?x?x64xbf16>) -> (tensor<?x?x?x64xbf16>, tensor<?x?x?xf32>)
    return %o, %lse : tensor<?x?x?x64xbf16>, tensor<?x?x?xf32>
  }
}

// -----

module attributes {attn.target = #attn.target<chip = "sm_90a", family = wgmma, smem = 232448, smem_sm = 233472, sms = 132>} {
  func.func @shared_memory(%q: tensor<?x?x?x128xbf16>, %k: tensor<?x?x?x128xbf16>, %v: tensor<?x?x?x128xbf16>) -> (tensor<?x?x?x128xbf16>, tensor<?x?x?xf32>) {
    // expected-error @below {{schedule of the op does not fit: tile [128, 128] needs 245888 bytes of shared memory, sm_90a has 232448}}
    %o, %lse = attn.sdpa(%q, %k, %v) scale 0.125 schedule <tile = [128, 128], warps = [4, 1], groups = 2, regs = [24, 240], depth = {k = 3, v = 3}, out = own> : (tensor<?x?x?x128xbf16>, tensor<?x?x?x128xbf16>, tensor<?x?x?x128xbf16>) -> (tensor<?x?x?x128xbf16>, tensor<?x?x?xf32>)
    return %o, %lse : tensor<?x?x?x128xbf16>, tensor<?x?x?xf32>
  }
}

// -----

module attributes {attn.target = #attn.target<chip = "sm_90a", family = wgmma, smem = 232448, smem_sm = 233472, sms = 132>} {
  func.func @pool(%q: tensor<?x?x?x128xbf16>, %k: tensor<?x?x?x128xbf16>, %v: tensor<?x?x?x128xbf16>) -> (tensor<?x?x?x128xbf16>, tensor<?x?x?xf32>) {
    // expected-error @below {{schedule of the op does not fit: tile [192, 80] shares registers as [40, 160]; the 4 warpgroups start with 128 a thread, and 40 + 3 x 160 must not be more than 512}}
    %o, %lse = attn.sdpa(%q, %k, %v) scale 0.125 schedule <tile = [192, 80], warps = [4, 1], groups = 3, regs = [40, 160]> : (tensor<?x?x?x128xbf16>, tensor<?x?x?x128xbf16>, tensor<?x?x?x128xbf16>) -> (tensor<?x?x?x128xbf16>, tensor<?x?x?xf32>)
    return %o, %lse : tensor<?x?x?x128xbf16>, tensor<?x?x?xf32>
  }
}

// -----

module attributes {attn.target = #attn.target<chip = "sm_90a", family = wgmma, smem = 232448, smem_sm = 233472, sms = 132>} {
  func.func @consumer_below_launch(%q: tensor<?x?x?x64xbf16>, %k: tensor<?x?x?x64xbf16>, %v: tensor<?x?x?x64xbf16>) -> (tensor<?x?x?x64xbf16>, tensor<?x?x?xf32>) {
    // expected-error @below {{schedule of the op does not fit: tile [128, 64] shares registers as [24, 160]; the 3 warpgroups start with 168 a thread}}
    %o, %lse = attn.sdpa(%q, %k, %v) scale 0.125 schedule <tile = [128, 64], warps = [4, 1], groups = 2, regs = [24, 160]> : (tensor<?x?x?x64xbf16>, tensor<?x?x?x64xbf16>, tensor<?x?x?x64xbf16>) -> (tensor<?x?x?x64xbf16>, tensor<?x?x?xf32>)
    return %o, %lse : tensor<?x?x?x64xbf16>, tensor<?x?x?xf32>
  }
}

// -----

module attributes {attn.target = #attn.target<chip = "sm_90a", family = wgmma, smem = 232448, smem_sm = 233472, sms = 132>} {
  func.func @registers(%q: tensor<?x?x?x128xbf16>, %k: tensor<?x?x?x128xbf16>, %v: tensor<?x?x?x128xbf16>) -> (tensor<?x?x?x128xbf16>, tensor<?x?x?xf32>) {
    // expected-error @below {{schedule of the op does not fit: tile [192, 96] needs about 164 registers a thread, the schedule gives 160}}
    %o, %lse = attn.sdpa(%q, %k, %v) scale 0.125 schedule <tile = [192, 96], warps = [4, 1], groups = 3, regs = [32, 160]> : (tensor<?x?x?x128xbf16>, tensor<?x?x?x128xbf16>, tensor<?x?x?x128xbf16>) -> (tensor<?x?x?x128xbf16>, tensor<?x?x?xf32>)
    return %o, %lse : tensor<?x?x?x128xbf16>, tensor<?x?x?xf32>
  }
}

// -----

module attributes {attn.target = #attn.target<chip = "sm_90a", family = wgmma, smem = 232448, smem_sm = 233472, sms = 132>} {
  func.func @gathers(%q: tensor<?x?x?x128xbf16>, %k: tensor<?x?x?x128xbf16>, %v: tensor<?x?x?x128xbf16>, %x: tensor<?x?xi1>) -> (tensor<?x?x?x128xbf16>, tensor<?x?x?xf32>) {
    // expected-error @below {{schedule of the op does not fit: tile [192, 80] needs about 192 registers a thread (captured values of every score among them), the schedule gives 160}}
    %o, %lse = attn.sdpa(%q, %k, %v) scale 0.125 captures(%x : tensor<?x?xi1>) visible {
    ^bb0(%b: i32, %h: i32, %qi: i32, %ki: i32):
      %y = attn.gather %x[%qi, %ki] : (tensor<?x?xi1>, i32, i32) -> i1
      attn.yield %y : i1
    } schedule <tile = [192, 80], warps = [4, 1], groups = 3, regs = [32, 160]> : (tensor<?x?x?x128xbf16>, tensor<?x?x?x128xbf16>, tensor<?x?x?x128xbf16>) -> (tensor<?x?x?x128xbf16>, tensor<?x?x?xf32>)
    return %o, %lse : tensor<?x?x?x128xbf16>, tensor<?x?x?xf32>
  }
}

// -----

module attributes {attn.target = #attn.target<chip = "toy", family = mma_sync, smem = 1048576>} {
  func.func @groups_on_mma_sync(%q: tensor<?x?x?x128xbf16>, %k: tensor<?x?x?x128xbf16>, %v: tensor<?x?x?x128xbf16>) -> (tensor<?x?x?x128xbf16>, tensor<?x?x?xf32>) {
    // expected-error @below {{schedule of the op does not fit: tile [128, 64] comes with groups, which family mma_sync does not have; only wgmma does}}
    %o, %lse = attn.sdpa(%q, %k, %v) scale 0.125 schedule <tile = [128, 64], warps = [4, 1], groups = 2> : (tensor<?x?x?x128xbf16>, tensor<?x?x?x128xbf16>, tensor<?x?x?x128xbf16>) -> (tensor<?x?x?x128xbf16>, tensor<?x?x?xf32>)
    return %o, %lse : tensor<?x?x?x128xbf16>, tensor<?x?x?xf32>
  }
}

// -----

module attributes {attn.target = #attn.target<chip = "toy", family = mma_sync, smem = 1048576>} {
  func.func @regs_on_mma_sync(%q: tensor<?x?x?x128xbf16>, %k: tensor<?x?x?x128xbf16>, %v: tensor<?x?x?x128xbf16>) -> (tensor<?x?x?x128xbf16>, tensor<?x?x?xf32>) {
    // expected-error @below {{schedule of the op does not fit: tile [128, 64] comes with regs, which family mma_sync does not have; only wgmma does}}
    %o, %lse = attn.sdpa(%q, %k, %v) scale 0.125 schedule <tile = [128, 64], warps = [4, 1], regs = [24, 240]> : (tensor<?x?x?x128xbf16>, tensor<?x?x?x128xbf16>, tensor<?x?x?x128xbf16>) -> (tensor<?x?x?x128xbf16>, tensor<?x?x?xf32>)
    return %o, %lse : tensor<?x?x?x128xbf16>, tensor<?x?x?xf32>
  }
}

// -----

module attributes {attn.target = #attn.target<chip = "toy", family = mma_sync, smem = 1048576>} {
  func.func @order_on_mma_sync(%q: tensor<?x?x?x128xbf16>, %k: tensor<?x?x?x128xbf16>, %v: tensor<?x?x?x128xbf16>) -> (tensor<?x?x?x128xbf16>, tensor<?x?x?xf32>) {
    // expected-error @below {{schedule of the op does not fit: tile [128, 64] comes with order, which family mma_sync does not have; only wgmma does}}
    %o, %lse = attn.sdpa(%q, %k, %v) scale 0.125 schedule <tile = [128, 64], warps = [4, 1], order = ["S"]> : (tensor<?x?x?x128xbf16>, tensor<?x?x?x128xbf16>, tensor<?x?x?x128xbf16>) -> (tensor<?x?x?x128xbf16>, tensor<?x?x?xf32>)
    return %o, %lse : tensor<?x?x?x128xbf16>, tensor<?x?x?xf32>
  }
}

// -----

module attributes {attn.target = #attn.target<chip = "toy", family = mma_sync, smem = 1048576>} {
  func.func @out_on_mma_sync(%q: tensor<?x?x?x128xbf16>, %k: tensor<?x?x?x128xbf16>, %v: tensor<?x?x?x128xbf16>) -> (tensor<?x?x?x128xbf16>, tensor<?x?x?xf32>) {
    // expected-error @below {{schedule of the op does not fit: tile [128, 64] comes with out = own, which family mma_sync does not have; only wgmma does}}
    %o, %lse = attn.sdpa(%q, %k, %v) scale 0.125 schedule <tile = [128, 64], warps = [4, 1], out = own> : (tensor<?x?x?x128xbf16>, tensor<?x?x?x128xbf16>, tensor<?x?x?x128xbf16>) -> (tensor<?x?x?x128xbf16>, tensor<?x?x?xf32>)
    return %o, %lse : tensor<?x?x?x128xbf16>, tensor<?x?x?xf32>
  }
}

// -----

module attributes {attn.target = #attn.target<chip = "toy", family = cpu, smem = 1048576>} {
  func.func @tiles_on_cpu(%q: tensor<?x?x?x128xbf16>, %k: tensor<?x?x?x128xbf16>, %v: tensor<?x?x?x128xbf16>) -> (tensor<?x?x?x128xbf16>, tensor<?x?x?xf32>) {
    // expected-error @below {{schedule of the op does not fit: tile [64, 64] comes with tiles other than single, which family cpu does not have; only wgmma does}}
    %o, %lse = attn.sdpa(%q, %k, %v) scale 0.125 schedule <tile = [64, 64], warps = [4, 1], tiles = dynamic> : (tensor<?x?x?x128xbf16>, tensor<?x?x?x128xbf16>, tensor<?x?x?x128xbf16>) -> (tensor<?x?x?x128xbf16>, tensor<?x?x?xf32>)
    return %o, %lse : tensor<?x?x?x128xbf16>, tensor<?x?x?xf32>
  }
}

// -----

module attributes {attn.target = #attn.target<chip = "sm_90a", family = wgmma, smem = 232448>} {
  func.func @seam_of_single_tiles(%q: tensor<?x?x?x128xbf16>, %k: tensor<?x?x?x128xbf16>, %v: tensor<?x?x?x128xbf16>) -> (tensor<?x?x?x128xbf16>, tensor<?x?x?xf32>) {
    // expected-error @below {{schedule of the op does not fit: tile [128, 64] overlaps tiles (seam = overlap), which needs tiles = fixed or dynamic}}
    %o, %lse = attn.sdpa(%q, %k, %v) scale 0.125 schedule <tile = [128, 64], warps = [4, 1], groups = 2, regs = [24, 240], depth = {q = 2, k = 2, v = 2}, out = own, seam = overlap, tiles = single> : (tensor<?x?x?x128xbf16>, tensor<?x?x?x128xbf16>, tensor<?x?x?x128xbf16>) -> (tensor<?x?x?x128xbf16>, tensor<?x?x?xf32>)
    return %o, %lse : tensor<?x?x?x128xbf16>, tensor<?x?x?xf32>
  }
}

// -----

module attributes {attn.target = #attn.target<chip = "sm_90a", family = wgmma, smem = 232448>} {
  func.func @seam_with_one_q(%q: tensor<?x?x?x128xbf16>, %k: tensor<?x?x?x128xbf16>, %v: tensor<?x?x?x128xbf16>) -> (tensor<?x?x?x128xbf16>, tensor<?x?x?xf32>) {
    // expected-error @below {{schedule of the op does not fit: tile [128, 64] overlaps tiles (seam = overlap), which needs depth = {q = 2, ..}}}
    %o, %lse = attn.sdpa(%q, %k, %v) scale 0.125 schedule <tile = [128, 64], warps = [4, 1], groups = 2, regs = [24, 240], depth = {q = 1, k = 2, v = 2}, out = own, seam = overlap, tiles = fixed> : (tensor<?x?x?x128xbf16>, tensor<?x?x?x128xbf16>, tensor<?x?x?x128xbf16>) -> (tensor<?x?x?x128xbf16>, tensor<?x?x?xf32>)
    return %o, %lse : tensor<?x?x?x128xbf16>, tensor<?x?x?xf32>
  }
}

// -----

module attributes {attn.target = #attn.target<chip = "sm_90a", family = wgmma, smem = 232448>} {
  func.func @seam_with_o_over_q(%q: tensor<?x?x?x128xbf16>, %k: tensor<?x?x?x128xbf16>, %v: tensor<?x?x?x128xbf16>) -> (tensor<?x?x?x128xbf16>, tensor<?x?x?xf32>) {
    // expected-error @below {{schedule of the op does not fit: tile [128, 64] overlaps tiles (seam = overlap), which needs out = own}}
    %o, %lse = attn.sdpa(%q, %k, %v) scale 0.125 schedule <tile = [128, 64], warps = [4, 1], groups = 2, regs = [24, 240], depth = {q = 2, k = 2, v = 2}, out = alias, seam = overlap, tiles = dynamic> : (tensor<?x?x?x128xbf16>, tensor<?x?x?x128xbf16>, tensor<?x?x?x128xbf16>) -> (tensor<?x?x?x128xbf16>, tensor<?x?x?xf32>)
    return %o, %lse : tensor<?x?x?x128xbf16>, tensor<?x?x?xf32>
  }
}

// -----

module attributes {attn.target = #attn.target<chip = "sm_90a", family = wgmma, smem = 232448>} {
  func.func @seam_of_an_order_without_lag(%q: tensor<?x?x?x128xbf16>, %k: tensor<?x?x?x128xbf16>, %v: tensor<?x?x?x128xbf16>) -> (tensor<?x?x?x128xbf16>, tensor<?x?x?xf32>) {
    // expected-error @below {{schedule of the op does not fit: tile [128, 64] overlaps tiles (seam = overlap), which needs an order with entries '@1'}}
    %o, %lse = attn.sdpa(%q, %k, %v) scale 0.125 schedule <tile = [128, 64], warps = [4, 1], groups = 2, regs = [24, 240], depth = {q = 2, k = 2, v = 2}, order = ["S", "await S", "P", "PV", "await PV"], out = own, seam = overlap, tiles = dynamic> : (tensor<?x?x?x128xbf16>, tensor<?x?x?x128xbf16>, tensor<?x?x?x128xbf16>) -> (tensor<?x?x?x128xbf16>, tensor<?x?x?xf32>)
    return %o, %lse : tensor<?x?x?x128xbf16>, tensor<?x?x?xf32>
  }
}

// -----

module attributes {attn.target = #attn.target<chip = "toy", family = mma_sync, smem = 1048576>} {
  func.func @seam_on_mma_sync(%q: tensor<?x?x?x128xbf16>, %k: tensor<?x?x?x128xbf16>, %v: tensor<?x?x?x128xbf16>) -> (tensor<?x?x?x128xbf16>, tensor<?x?x?xf32>) {
    // expected-error @below {{schedule of the op does not fit: tile [128, 64] comes with seam = overlap, which family mma_sync does not have; only wgmma does}}
    %o, %lse = attn.sdpa(%q, %k, %v) scale 0.125 schedule <tile = [128, 64], warps = [4, 1], seam = overlap> : (tensor<?x?x?x128xbf16>, tensor<?x?x?x128xbf16>, tensor<?x?x?x128xbf16>) -> (tensor<?x?x?x128xbf16>, tensor<?x?x?xf32>)
    return %o, %lse : tensor<?x?x?x128xbf16>, tensor<?x?x?xf32>
  }
}

// -----

module attributes {attn.target = #attn.target<chip = "toy", family = mma_sync, smem = 1048576>} {
  func.func @skip_on_mma_sync(%q: tensor<?x?x?x128xbf16>, %k: tensor<?x?x?x128xbf16>, %v: tensor<?x?x?x128xbf16>) -> (tensor<?x?x?x128xbf16>, tensor<?x?x?xf32>) {
    // expected-error @below {{schedule of the op does not fit: tile [128, 64] comes with skip, which was measured on wgmma only; family mma_sync refuses it}}
    %o, %lse = attn.sdpa(%q, %k, %v) scale 0.125 schedule <tile = [128, 64], warps = [4, 1], skip = 8> : (tensor<?x?x?x128xbf16>, tensor<?x?x?x128xbf16>, tensor<?x?x?x128xbf16>) -> (tensor<?x?x?x128xbf16>, tensor<?x?x?xf32>)
    return %o, %lse : tensor<?x?x?x128xbf16>, tensor<?x?x?xf32>
  }
}
