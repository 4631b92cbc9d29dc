// RUN: attn-opt %s -split-input-file -attn-lower-tiles -verify-diagnostics

module {
  // expected-error @below {{needs attn.target on the module; run attn-set-target first}}
  attn.kernel @no_target {
  ^bb0(%n: i32):
    attn.tiles single(%n, %n, %n) {
    ^bb0(%t: i32, %i: i32, %h: i32, %b: i32):
      attn.yield
    }
  }
}

// -----

module attributes {attn.target = #attn.target<chip = "toy", family = wgmma>} {
  attn.kernel @two_kinds {
  ^bb0(%n: i32):
    attn.role "a" warps 0 + 4 groups 1 elect {
    ^bb0(%g: i32):
      // expected-note @below {{which are fixed here}}
      attn.tiles fixed(%n, %n, %n) {
      ^bb0(%t: i32, %i: i32, %h: i32, %b: i32):
        attn.yield
      }
      attn.yield
    }
    attn.role "b" warps 4 + 4 groups 1 {
    ^bb0(%g: i32):
      // expected-error @below {{is single, but all nests of a kernel see the same tiles}}
      attn.tiles single(%n, %n, %n) {
      ^bb0(%t: i32, %i: i32, %h: i32, %b: i32):
        attn.yield
      }
      attn.yield
    }
  }
}

// -----

module attributes {attn.target = #attn.target<chip = "toy", family = wgmma>} {
  attn.kernel @nobody_fetches {
  ^bb0(%n: i32, %c: memref<1xi32>):
    attn.role "a" warps 0 + 4 groups 1 {
    ^bb0(%g: i32):
      // expected-error @below {{is dynamic, which needs a first role of one thread ('elect') that fetches the ids, and another one that reads them}}
      attn.tiles dynamic(%n, %n, %n) counter(%c : memref<1xi32>) {
      ^bb0(%t: i32, %i: i32, %h: i32, %b: i32):
        attn.yield
      }
      attn.yield
    }
  }
}

// -----

module attributes {attn.target = #attn.target<chip = "toy", family = wgmma>} {
  attn.kernel @one_does_not_read {
  ^bb0(%n: i32, %c: memref<1xi32>):
    attn.role "a" warps 0 + 4 groups 1 elect {
    ^bb0(%g: i32):
      attn.tiles dynamic(%n, %n, %n) counter(%c : memref<1xi32>) {
      ^bb0(%t: i32, %i: i32, %h: i32, %b: i32):
        attn.yield
      }
      attn.yield
    }
    // expected-error @below {{expects one nest of tiles: the ids of dynamic tiles are handed to every role once}}
    attn.role "b" warps 4 + 4 groups 1 {
    ^bb0(%g: i32):
      attn.yield
    }
  }
}
