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
