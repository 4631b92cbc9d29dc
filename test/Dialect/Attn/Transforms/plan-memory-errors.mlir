// RUN: attn-opt %s -split-input-file -attn-plan-memory -verify-diagnostics

!b = !attn.buf<tensor<16x16xf16>, 32>

// The whole plan is in the notes: what to make smaller is the reader's choice.
module attributes {attn.target = #attn.target<chip = "toy", family = mma_sync, smem = 1024>} {
  // expected-error @below {{needs 2048 bytes of shared memory, a block on toy may use 1024}}
  attn.kernel @too_much {
  ^bb0(%n: i32):
    // expected-note @below {{at 0, 512 bytes: "Q": 1 x tensor<16x16xf16>}}
    %Q = attn.alloc as "Q" : !attn.ring<1, !b>
    // expected-note @below {{at 1024, 1024 bytes: "K": 2 x tensor<16x16xf16>}}
    %K = attn.alloc as "K" : !attn.ring<2, !b>
    attn.role "compute" warps 0 + 1 groups 1 {
    ^bb0(%g: i32):
      // expected-note @below {{at 0, 512 bytes: "O": tensor<16x16xf16>}}
      %O = attn.alloc as "O" over "Q" : !b
      attn.yield
    }
  }
}

// -----

!b = !attn.buf<tensor<16x16xf16>, 32>
module attributes {attn.target = #attn.target<chip = "toy", family = mma_sync, smem = 4096>} {
  attn.kernel @over_each_other {
  ^bb0(%n: i32):
    attn.role "compute" warps 0 + 1 groups 1 {
    ^bb0(%g: i32):
      // expected-error @below {{expects 'over' to lead to another alloc of the kernel, got "Q"}}
      %O = attn.alloc as "O" over "Q" : !b
      %Q = attn.alloc as "Q" over "O" : !b
      attn.yield
    }
  }
}

// -----

!b = !attn.buf<tensor<16x16xf16>, 32>
module attributes {attn.target = #attn.target<chip = "toy", family = mma_sync, smem = 4096>} {
  attn.kernel @label_twice {
  ^bb0(%n: i32):
    // expected-note @below {{the first one is here}}
    %Q = attn.alloc as "Q" : !b
    // expected-error @below {{expects a label of its own, got "Q"}}
    %K = attn.alloc as "Q" : !b
    attn.role "compute" warps 0 + 1 groups 1 {
    ^bb0(%g: i32):
      attn.yield
    }
  }
}

// -----

module attributes {attn.target = #attn.target<chip = "toy", family = mma_sync, smem = 4096>} {
  // expected-error @below {{has no roles to plan for; run attn-partition-roles first}}
  attn.kernel @no_roles {
  ^bb0(%n: i32):
  }
}

// -----

module {
  // expected-error @below {{needs attn.target on the module; run attn-set-target first}}
  attn.kernel @no_target {
  ^bb0(%n: i32):
  }
}

// -----

!b = !attn.buf<tensor<64x64xf16>, 128>
module attributes {attn.target = #attn.target<chip = "toy", family = wgmma, smem = 8192>} {
  // expected-error @below {{needs 8320 bytes of shared memory, a block on toy may use 8192}}
  // expected-note @below {{at 8192, 16 bytes: barriers of the rings}}
  attn.kernel @no_room_for_barriers {
  ^bb0(%n: i32):
    // expected-note @below {{at 0, 8192 bytes: "K": 1 x tensor<64x64xf16>}}
    %K = attn.alloc as "K" readers 4 : !attn.ring<1, !b>
    attn.role "compute" warps 0 + 4 groups 1 {
    ^bb0(%g: i32):
      attn.yield
    }
  }
}
