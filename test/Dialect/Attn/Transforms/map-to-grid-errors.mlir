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
  func.func @two_sweeps(%n: index) attributes {attn.schedule = #attn.schedule<tile = [4, 4], warps = [1, 1]>} {
    // expected-error @below {{expects at most one attn.sweep in a tile, got 2}}
    scf.forall (%b, %h, %i) in (%n, %n, %n) {
      %c0 = arith.constant 0 : i32
      attn.sweep ascending %c0 to %c0 plain %c0 to %c0 {
      ^bb0(%t: i32, %j: i32):
        attn.yield
      }
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
  func.func @captures_value(%n: index, %m: memref<4xf32>) attributes {attn.schedule = #attn.schedule<tile = [4, 4], warps = [1, 1]>} {
    // expected-error @below {{is neither an argument nor a size, so a kernel of @captures_value cannot have it}}
    %x = memref.load %m[%n] : memref<4xf32>
    // expected-note @below {{the kernel is made of this nest}}
    scf.forall (%b, %h, %i) in (%n, %n, %n) {
      %e = arith.negf %x : f32
    }
    return
  }
}

// -----

module attributes {attn.target = #attn.target<chip = "toy", family = mma_sync>} {
  func.func @strided_workspace(%n: index) attributes {attn.schedule = #attn.schedule<tile = [4, 4], warps = [1, 1]>} {
    // expected-error @below {{is no workspace: expects a dense memref of rank 1 or more, got 'memref<4xf32, strided<[2]>>'}}
    %x = memref.alloc() : memref<4xf32, strided<[2]>>
    scf.forall (%b, %h, %i) in (%n, %n, %n) {
    }
    return
  }
}

// -----

// What other tiles of the same nest write may not be there yet.
module attributes {attn.target = #attn.target<chip = "toy", family = mma_sync>} {
  func.func @read_before_written(%n: index) attributes {attn.schedule = #attn.schedule<tile = [4, 4], warps = [1, 1]>} {
    // expected-note @below {{the workspace is this}}
    %x = memref.alloc() : memref<4xf32>
    scf.forall (%b, %h, %i) in (%n, %n, %n) {
      %c0 = arith.constant 0 : i32
      %v = arith.constant dense<0.0> : tensor<4xf32>
      attn.store %v, %x[%c0] : tensor<4xf32>, memref<4xf32>
      // expected-error @below {{reads a workspace before any nest in front of this one writes it}}
      %e = attn.load %x[%c0] : memref<4xf32> -> tensor<4xf32>
    }
    return
  }
}

// -----

// What is added needs something to be added to.
module attributes {attn.target = #attn.target<chip = "toy", family = mma_sync>} {
  func.func @added_to_nothing(%n: index) attributes {attn.schedule = #attn.schedule<tile = [4, 4], warps = [1, 1]>} {
    // expected-note @below {{the workspace is this}}
    %x = memref.alloc() : memref<4xf32>
    scf.forall (%b, %h, %i) in (%n, %n, %n) {
      %c0 = arith.constant 0 : i32
      %v = arith.constant dense<0.0> : tensor<4xf32>
      // expected-error @below {{reads a workspace before any nest in front of this one writes it}}
      attn.store add %v, %x[%c0] : tensor<4xf32>, memref<4xf32>
    }
    return
  }
}

// -----

module attributes {attn.target = #attn.target<chip = "toy", family = mma_sync>} {
  func.func @nameless(%n: index) attributes {attn.schedule = #attn.schedule<tile = [4, 4], warps = [1, 1]>} {
    scf.forall (%b, %h, %i) in (%n, %n, %n) {
    } {attn.nest = "pre"}
    // expected-error @below {{is one of several nests of @nameless, so it needs 'attn.nest', which its kernel is named after}}
    scf.forall (%b, %h, %i) in (%n, %n, %n) {
    }
    return
  }
}

// -----

module attributes {attn.target = #attn.target<chip = "toy", family = mma_sync>} {
  // expected-error @below {{needs the name @twice_pre for its kernel}}
  func.func @twice(%n: index) attributes {attn.schedule = #attn.schedule<tile = [4, 4], warps = [1, 1]>} {
    // expected-note @below {{which is taken here}}
    scf.forall (%b, %h, %i) in (%n, %n, %n) {
    } {attn.nest = "pre"}
    scf.forall (%b, %h, %i) in (%n, %n, %n) {
    } {attn.nest = "pre"}
    return
  }
}

// -----

// One nest has a schedule, the other has none, nor has the function.
module attributes {attn.target = #attn.target<chip = "toy", family = mma_sync>} {
  // expected-error @below {{expects 'attn.schedule': its loops were built from a schedule}}
  func.func @half_scheduled(%n: index) {
    scf.forall (%b, %h, %i) in (%n, %n, %n) {
    } {attn.nest = "pre", attn.schedule = #attn.schedule<tile = [4, 4], warps = [1, 1]>}
    scf.forall (%b, %h, %i) in (%n, %n, %n) {
    } {attn.nest = "post"}
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
