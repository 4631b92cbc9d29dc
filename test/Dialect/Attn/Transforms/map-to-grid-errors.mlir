// RUN: attn-opt %s -attn-map-to-grid -split-input-file -verify-diagnostics

module attributes {attn.target = #attn.target<chip = "toy", family = mma_sync>} {
  // expected-error @below {{expects 'attn.schedule': its loops were built from a schedule}}
  func.func @no_schedule(%n: index) {
    scf.forall (%b, %h, %i) in (%n, %n, %n) {
    }
    return
  }
}

// -----

// expected-error @below {{needs attn.target on the module; run attn-set-target first}}
func.func @no_target(%n: index) attributes {attn.schedule = #attn.schedule<tile = [4, 4], warps = [1, 1]>} {
  scf.forall (%b, %h, %i) in (%n, %n, %n) {
  }
  return
}

// -----

module attributes {attn.target = #attn.target<chip = "toy", family = mma_sync>} {
  func.func @wrong_rank(%n: index) attributes {attn.schedule = #attn.schedule<tile = [4, 4], warps = [1, 1]>} {
    // expected-error @below {{expects a nest over (batch, heads, row tiles) from 0 by 1, without results}}
    scf.forall (%b, %h) in (%n, %n) {
    }
    return
  }
}

// -----

module attributes {attn.target = #attn.target<chip = "toy", family = mma_sync>} {
  func.func @no_sweep(%n: index) attributes {attn.schedule = #attn.schedule<tile = [4, 4], warps = [1, 1]>} {
    // expected-error @below {{expects one attn.sweep in a tile, got 0}}
    scf.forall (%b, %h, %i) in (%n, %n, %n) {
    }
    return
  }
}

// -----

module attributes {attn.target = #attn.target<chip = "toy", family = mma_sync>} {
  func.func @captures_buffer(%n: index) attributes {attn.schedule = #attn.schedule<tile = [4, 4], warps = [1, 1]>} {
    // expected-error @below {{is neither an argument nor a size, so a kernel of @captures_buffer cannot have it}}
    %x = memref.alloc() : memref<4xf32>
    // expected-note @below {{the kernel is made of this nest}}
    scf.forall (%b, %h, %i) in (%n, %n, %n) {
      %e = memref.load %x[%b] : memref<4xf32>
      %c0 = arith.constant 0 : i32
      attn.sweep ascending %c0 to %c0 plain %c0 to %c0 {
      ^bb0(%t: i32, %j: i32):
        attn.yield
      }
    }
    return
  }
}

// -----

module attributes {attn.target = #attn.target<chip = "toy", family = mma_sync>} {
  // expected-error @below {{needs the name @taken_fwd for its kernel}}
  func.func @taken(%n: index) attributes {attn.schedule = #attn.schedule<tile = [4, 4], warps = [1, 1]>} {
    scf.forall (%b, %h, %i) in (%n, %n, %n) {
      %c0 = arith.constant 0 : i32
      attn.sweep ascending %c0 to %c0 plain %c0 to %c0 {
      ^bb0(%t: i32, %j: i32):
        attn.yield
      }
    }
    return
  }
  // expected-note @below {{which is taken here}}
  func.func @taken_fwd() {
    return
  }
}

// -----

module attributes {attn.target = #attn.target<chip = "toy", family = mma_sync>} {
  // expected-error @below {{has a schedule with tiles = dynamic, but a block of family mma_sync takes one tile; it must say tiles = single}}
  func.func @walks(%n: index) attributes {attn.schedule = #attn.schedule<tile = [4, 4], warps = [1, 1], tiles = dynamic>} {
    scf.forall (%b, %h, %i) in (%n, %n, %n) {
    }
    return
  }
}
