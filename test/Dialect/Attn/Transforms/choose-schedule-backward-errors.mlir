// RUN: attn-opt %s -split-input-file -attn-choose-schedule -verify-diagnostics

!t = tensor<?x?x?x64xf16>
!l = tensor<?x?x?xf32>
module attributes {attn.target = #attn.target<chip = "toy", family = mma_sync, smem = 32768>} {
  func.func @small_machine(%q: !t, %k: !t, %v: !t, %o: !t, %lse: !l, %do: !t) -> (!t, !t, !t) {
    // expected-error @below {{head dim 64 needs 49152 bytes shared memory (tile [64, 64]), toy has 32768}}
    %dq, %dk, %dv = attn.sdpa_grad(%q, %k, %v, %o, %lse, %do) scale 0.125 : (!t, !t, !t, !t, !l, !t) -> (!t, !t, !t)
    return %dq, %dk, %dv : !t, !t, !t
  }
}

// -----

!t = tensor<?x?x?x128xf16>
!l = tensor<?x?x?xf32>
module attributes {attn.target = #attn.target<chip = "toy", family = mma_sync, smem = 232448>} {
  func.func @registers(%q: !t, %k: !t, %v: !t, %o: !t, %lse: !l, %do: !t) -> (!t, !t, !t) {
    // expected-error @below {{schedule of the op does not fit: tile [64, 128] needs about 424 registers a thread, toy has 255 for 128 threads and 1 block an SM}}
    %dq, %dk, %dv = attn.sdpa_grad(%q, %k, %v, %o, %lse, %do) scale 0.125
      schedule [#attn.schedule<tile = [64, 128], warps = [4, 1], grads = ["dK", "dV"]>, #attn.schedule<tile = [64, 64], warps = [4, 1], grads = ["dQ"]>]
      : (!t, !t, !t, !t, !l, !t) -> (!t, !t, !t)
    return %dq, %dk, %dv : !t, !t, !t
  }
}

// -----

// Keys are on rows: their number is what warps share.
!t = tensor<?x?x?x64xf16>
!l = tensor<?x?x?xf32>
module attributes {attn.target = #attn.target<chip = "toy", family = mma_sync, smem = 232448>} {
  func.func @keys_on_rows(%q: !t, %k: !t, %v: !t, %o: !t, %lse: !l, %do: !t) -> (!t, !t, !t) {
    // expected-error @below {{tile [128, 64] is not a multiple of 128 keys (16 for each of 8 warps) and 16 queries}}
    %dq, %dk, %dv = attn.sdpa_grad(%q, %k, %v, %o, %lse, %do) scale 0.125
      schedule [#attn.schedule<tile = [128, 64], warps = [8, 1], grads = ["dK", "dV"]>, #attn.schedule<tile = [64, 64], warps = [4, 1], grads = ["dQ"]>]
      : (!t, !t, !t, !t, !l, !t) -> (!t, !t, !t)
    return %dq, %dk, %dv : !t, !t, !t
  }
}

// -----

!t = tensor<?x?x?x64xf16>
!l = tensor<?x?x?xf32>
module attributes {attn.target = #attn.target<chip = "toy", family = mma_sync, smem = 232448>} {
  func.func @together(%q: !t, %k: !t, %v: !t, %o: !t, %lse: !l, %do: !t) -> (!t, !t, !t) {
    // expected-error @below {{makes all gradients at once, which only wgmma does; dQ has a nest of its own}}
    %dq, %dk, %dv = attn.sdpa_grad(%q, %k, %v, %o, %lse, %do) scale 0.125
      schedule [#attn.schedule<tile = [64, 64], warps = [4, 1], grads = ["dK", "dV", "dQ"]>] : (!t, !t, !t, !t, !l, !t) -> (!t, !t, !t)
    return %dq, %dk, %dv : !t, !t, !t
  }
}

// -----

!t = tensor<?x?x?x64xf16>
!l = tensor<?x?x?xf32>
module attributes {attn.target = #attn.target<chip = "toy", family = wgmma, smem = 232448>} {
  func.func @groups(%q: !t, %k: !t, %v: !t, %o: !t, %lse: !l, %do: !t) -> (!t, !t, !t) {
    // expected-error @below {{tile [128, 64] is not 128 keys (64 for each group) and a multiple of 16 queries up to 256}}
    %dq, %dk, %dv = attn.sdpa_grad(%q, %k, %v, %o, %lse, %do) scale 0.125
      schedule [#attn.schedule<tile = [128, 64], warps = [4, 1], groups = 2, regs = [24, 240], grads = ["dK", "dV"]>,
                #attn.schedule<tile = [128, 64], warps = [4, 1], groups = 2, regs = [24, 240], grads = ["dQ"]>] : (!t, !t, !t, !t, !l, !t) -> (!t, !t, !t)
    return %dq, %dk, %dv : !t, !t, !t
  }
}

// -----

!t = tensor<?x?x?x64xf16>
module attributes {attn.target = #attn.target<chip = "toy", family = mma_sync, smem = 232448>} {
  func.func @forward(%q: !t, %k: !t, %v: !t) -> !t {
    // expected-error @below {{names grads, which a forward does not make}}
    %o, %lse = attn.sdpa(%q, %k, %v) scale 0.125 schedule <tile = [64, 64], warps = [4, 1], grads = ["dQ"]> : (!t, !t, !t) -> (!t, tensor<?x?x?xf32>)
    return %o : !t
  }
}

// -----

// Groups share a product of 64 rows by its columns, of which each takes 64 or more.
!t = tensor<?x?x?x64xf16>
!l = tensor<?x?x?xf32>
module attributes {attn.target = #attn.target<chip = "sm_90a", family = wgmma, smem = 232448>} {
  func.func @shares(%q: !t, %k: !t, %v: !t, %o: !t, %lse: !l, %do: !t) -> (!t, !t, !t) {
    // expected-error @below {{makes all gradients at once, for which at most 2 groups share dQ: expects 64 queries for each group, or 64 and a head dim of 64 columns for each; got 2 groups, 64 queries, 64 columns}}
    %dq, %dk, %dv = attn.sdpa_grad(%q, %k, %v, %o, %lse, %do) scale 0.125
      schedule [#attn.schedule<tile = [64, 128], warps = [4, 1], groups = 2, regs = [24, 240], grads = ["dK", "dV", "dQ"], depth = {q = 2, do = 2, ds = 2}>]
      : (!t, !t, !t, !t, !l, !t) -> (!t, !t, !t)
    return %dq, %dk, %dv : !t, !t, !t
  }
}

// -----

!t = tensor<?x?x?x64xf16>
!l = tensor<?x?x?xf32>
module attributes {attn.target = #attn.target<chip = "toy", family = wgmma, smem = 232448>} {
  func.func @hold_q(%q: !t, %k: !t, %v: !t, %o: !t, %lse: !l, %do: !t) -> (!t, !t, !t) {
    // expected-error @below {{holds q, which passes by where keys are on rows; only v stays}}
    %dq, %dk, %dv = attn.sdpa_grad(%q, %k, %v, %o, %lse, %do) scale 0.125
      schedule [#attn.schedule<tile = [128, 128], warps = [4, 1], groups = 2, regs = [24, 240], grads = ["dK", "dV"], hold = {q = 4}>, #attn.schedule<tile = [128, 64], warps = [4, 1], groups = 2, regs = [24, 240], grads = ["dQ"]>]
      : (!t, !t, !t, !t, !l, !t) -> (!t, !t, !t)
    return %dq, %dk, %dv : !t, !t, !t
  }
}

// -----

!t = tensor<?x?x?x64xf16>
!l = tensor<?x?x?xf32>
module attributes {attn.target = #attn.target<chip = "toy", family = wgmma, smem = 232448>} {
  func.func @hold_v(%q: !t, %k: !t, %v: !t, %o: !t, %lse: !l, %do: !t) -> (!t, !t, !t) {
    // expected-error @below {{holds v, which is a first operand that stays only where dK is made}}
    %dq, %dk, %dv = attn.sdpa_grad(%q, %k, %v, %o, %lse, %do) scale 0.125
      schedule [#attn.schedule<tile = [128, 128], warps = [4, 1], groups = 2, regs = [24, 240], grads = ["dK", "dV"]>, #attn.schedule<tile = [128, 64], warps = [4, 1], groups = 2, regs = [24, 240], grads = ["dQ"], hold = {v = 4}>]
      : (!t, !t, !t, !t, !l, !t) -> (!t, !t, !t)
    return %dq, %dk, %dv : !t, !t, !t
  }
}

// -----

!t = tensor<?x?x?x64xf16>
!l = tensor<?x?x?xf32>
module attributes {attn.target = #attn.target<chip = "toy", family = wgmma, smem = 232448>} {
  func.func @skip(%q: !t, %k: !t, %v: !t, %o: !t, %lse: !l, %do: !t) -> (!t, !t, !t) {
    // expected-error @below {{comes with skip; a backward has no running maximum}}
    %dq, %dk, %dv = attn.sdpa_grad(%q, %k, %v, %o, %lse, %do) scale 0.125
      schedule [#attn.schedule<tile = [128, 128], warps = [4, 1], groups = 2, regs = [24, 240], grads = ["dK", "dV"], skip = 8>, #attn.schedule<tile = [128, 64], warps = [4, 1], groups = 2, regs = [24, 240], grads = ["dQ"]>]
      : (!t, !t, !t, !t, !l, !t) -> (!t, !t, !t)
    return %dq, %dk, %dv : !t, !t, !t
  }
}

// -----

!t = tensor<?x?x?x64xf16>
!l = tensor<?x?x?xf32>
module attributes {attn.target = #attn.target<chip = "toy", family = wgmma, smem = 232448>} {
  func.func @seam(%q: !t, %k: !t, %v: !t, %o: !t, %lse: !l, %do: !t) -> (!t, !t, !t) {
    // expected-error @below {{overlaps tiles (seam = overlap), which a backward does not}}
    %dq, %dk, %dv = attn.sdpa_grad(%q, %k, %v, %o, %lse, %do) scale 0.125
      schedule [#attn.schedule<tile = [128, 128], warps = [4, 1], groups = 2, regs = [24, 240], grads = ["dK", "dV"], seam = overlap>, #attn.schedule<tile = [128, 64], warps = [4, 1], groups = 2, regs = [24, 240], grads = ["dQ"]>]
      : (!t, !t, !t, !t, !l, !t) -> (!t, !t, !t)
    return %dq, %dk, %dv : !t, !t, !t
  }
}

// -----

!t = tensor<?x?x?x64xf16>
!l = tensor<?x?x?xf32>
module attributes {attn.target = #attn.target<chip = "toy", family = wgmma, smem = 232448>} {
  func.func @one_slot(%q: !t, %k: !t, %v: !t, %o: !t, %lse: !l, %do: !t) -> (!t, !t, !t) {
    // expected-error @below {{has one slot for dS (depth = {ds = 1}), which 2 groups fill for each other}}
    %dq, %dk, %dv = attn.sdpa_grad(%q, %k, %v, %o, %lse, %do) scale 0.125
      schedule [#attn.schedule<tile = [128, 128], warps = [4, 1], groups = 2, regs = [24, 240], grads = ["dK", "dV", "dQ"]>]
      : (!t, !t, !t, !t, !l, !t) -> (!t, !t, !t)
    return %dq, %dk, %dv : !t, !t, !t
  }
}
