// RUN: attn-opt %s -split-input-file -attn-partition-roles -verify-diagnostics

module attributes {attn.target = #attn.target<chip = "toy", family = cpu>} {
  // expected-error @below {{cannot be partitioned for family cpu (chip toy); roles exist for mma_sync and wgmma}}
  attn.kernel @other_family attributes {schedule = #attn.schedule<tile = [16, 16], warps = [1, 1]>} {
  ^bb0(%n: i32):
    attn.tiles single(%n, %n, %n) {
    ^bb0(%t: i32, %i: i32, %h: i32, %b: i32):
      attn.yield
    }
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

module attributes {attn.target = #attn.target<chip = "toy", family = mma_sync>} {
  // expected-error @below {{needs a schedule, got none; run attn-choose-schedule first}}
  attn.kernel @no_schedule {
  ^bb0(%n: i32):
  }
}

// -----

module attributes {attn.target = #attn.target<chip = "toy", family = mma_sync>} {
  // expected-error @below {{expects one nest of tiles to partition, got 0}}
  attn.kernel @no_tiles attributes {schedule = #attn.schedule<tile = [16, 16], warps = [1, 1]>} {
  ^bb0(%n: i32):
  }
}

// -----

!g = memref<?x16xf16, strided<[?, 1], offset: ?>>
!A = tensor<16x16xf16>
module attributes {attn.target = #attn.target<chip = "toy", family = mma_sync>} {
  attn.kernel @computed_b attributes {schedule = #attn.schedule<tile = [16, 16], warps = [1, 1]>} {
  ^bb0(%k: !g, %n: i32):
    attn.tiles single(%n, %n, %n) {
    ^bb0(%t: i32, %i: i32, %h: i32, %b: i32):
      %x = attn.load as "K" %k[%i, %n] : !g -> !A
      %y = arith.negf %x : !A
      // expected-error @below {{expects its B operand to be loaded from a memref: family mma_sync has no way yet to pass a computed tile through shared memory}}
      %s = attn.dot %x, %y : (!A, !A) -> tensor<16x16xf32>
      attn.yield
    }
  }
}

// -----

!g = memref<?x16xf16, strided<[?, ?], offset: ?>>
!A = tensor<16x16xf16>
module attributes {attn.target = #attn.target<chip = "toy", family = mma_sync>} {
  attn.kernel @last_stride attributes {schedule = #attn.schedule<tile = [16, 16], warps = [1, 1]>} {
  ^bb0(%k: !g, %n: i32):
    attn.tiles single(%n, %n, %n) {
    ^bb0(%t: i32, %i: i32, %h: i32, %b: i32):
      // expected-error @below {{cannot travel through cp_async: expects a last dimension of stride 1, got 'memref<?x16xf16, strided<[?, ?], offset: ?>>'}}
      %x = attn.load as "K" %k[%i, %n] : !g -> !A
      %s = attn.dot %x, %x : (!A, !A) -> tensor<16x16xf32>
      attn.yield
    }
  }
}

// -----

!g = memref<?x16xf16, strided<[?, 1], offset: ?>>
!A = tensor<16x16xf16>
!S = tensor<16x16xf32>
module attributes {attn.target = #attn.target<chip = "toy", family = mma_sync>} {
  attn.kernel @carried_coordinate attributes {schedule = #attn.schedule<tile = [16, 16], warps = [1, 1]>} {
  ^bb0(%k: !g, %n: i32):
    attn.tiles single(%n, %n, %n) {
    ^bb0(%t_: i32, %i: i32, %h: i32, %b: i32):
      %q = attn.load as "Q" %k[%i, %n] : !g -> !A
      %r = attn.sweep descending %n to %n plain %n to %n init(%n : i32) -> i32 {
      ^bb0(%t: i32, %j: i32, %at: i32):
        // expected-error @below {{cannot be fetched ahead: its coordinates depend on more than the sweep's t and j}}
        %x = attn.load as "K" %k[%at, %n] : !g -> !A
        %s = attn.dot %q, %x : (!A, !A) -> !S
        attn.yield %j : i32
      }
      attn.yield
    }
  }
}

// -----

!g = memref<?x16xf16, strided<[?, 1], offset: ?>>
!A = tensor<16x16xf16>
!S = tensor<16x16xf32>
module attributes {attn.target = #attn.target<chip = "toy", family = mma_sync>} {
  attn.kernel @sweep_in_a_loop attributes {schedule = #attn.schedule<tile = [16, 16], warps = [1, 1]>} {
  ^bb0(%k: !g, %n: i32):
    attn.tiles single(%n, %n, %n) {
    ^bb0(%t_: i32, %i: i32, %h: i32, %b: i32):
      scf.for %u = %n to %n step %n : i32 {
        // expected-error @below {{feeds a product from inside a loop; its ring can be filled per tile or per step of a sweep only}}
        %x = attn.load as "K" %k[%u, %n] : !g -> !A
        %s = attn.dot %x, %x : (!A, !A) -> !S
      }
      attn.yield
    }
  }
}
