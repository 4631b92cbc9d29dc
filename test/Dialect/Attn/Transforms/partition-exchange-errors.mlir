// RUN: attn-opt %s -split-input-file -attn-partition-roles -verify-diagnostics

!g = memref<?x?x?x64xf16, strided<[?, ?, ?, 1], offset: ?>>
!A = tensor<64x64xf16>
!P = tensor<64x64xf16>
!T = tensor<64x64xf32>
!S = tensor<64x64xf32>
module attributes {attn.target = #attn.target<chip = "toy", family = wgmma>} {
  attn.kernel @k attributes {schedule = #attn.schedule<tile = [64, 64], warps = [4, 1], groups = 1, grads = ["dK", "dQ"]>} {
  ^bb0(%k: !g, %a: memref<?x?x?x64xf32>, %n: i32):
    attn.tiles single(%n, %n, %n) {
    ^bb0(%t_: i32, %i: i32, %h: i32, %b: i32):
      %kt = attn.load as "K" %k[%b, %h, %i] : !g -> !A
      %z = arith.constant dense<0.0> : !T
      %p = attn.pack as "dS" %z : !T -> !P
      // expected-error @below {{expects, to read A transposed, a tile that the same step of a sweep computes, no accumulator and at most two groups}}
      %s = attn.dot as "dQ" %p trans_a, %kt : (!P, !A) -> !S
      attn.store raw add %s, %a[%b, %h, %i] : !S, memref<?x?x?x64xf32>
    }
  }
}

// -----

!g = memref<?x?x?x64xf16, strided<[?, ?, ?, 1], offset: ?>>
!A = tensor<128x64xf16>
!P = tensor<128x64xf16>
!T = tensor<128x64xf32>
!S = tensor<64x64xf32>
module attributes {attn.target = #attn.target<chip = "toy", family = wgmma>} {
  attn.kernel @k attributes {schedule = #attn.schedule<tile = [64, 128], warps = [4, 1], groups = 2, grads = ["dK", "dQ"]>} {
  ^bb0(%k: !g, %a: memref<?x?x?x64xf32>, %n: i32):
    attn.tiles single(%n, %n, %n) {
    ^bb0(%t_: i32, %i: i32, %h: i32, %b: i32):
      %kt = attn.load as "K" %k[%b, %h, %i] : !g -> !A
      attn.sweep ascending %n to %n plain %n to %n {
      ^bb0(%t: i32, %j: i32):
        %z = arith.constant dense<0.0> : !T
        %p = attn.pack as "dS" %z : !T -> !P
        // expected-error @below {{cannot be shared by 2 groups: expects 128 rows, or 64 and columns in multiples of 128; got 'tensor<64x64xf32>'}}
        %s = attn.dot as "dQ" %p trans_a, %kt : (!P, !A) -> !S
        attn.store raw add %s, %a[%b, %h, %i] : !S, memref<?x?x?x64xf32>
        attn.yield
      }
    }
  }
}

// -----

!g = memref<?x?x?x128xf16, strided<[?, ?, ?, 1], offset: ?>>
!A = tensor<128x128xf16>
!P = tensor<128x64xf16>
!T = tensor<128x64xf32>
!S = tensor<64x128xf32>
module attributes {attn.target = #attn.target<chip = "toy", family = wgmma>} {
  attn.kernel @k attributes {schedule = #attn.schedule<tile = [64, 128], warps = [4, 1], groups = 2, grads = ["dK", "dQ"]>} {
  ^bb0(%k: !g, %a: memref<?x?x?x128xf32>, %n: i32):
    attn.tiles single(%n, %n, %n) {
    ^bb0(%t_: i32, %i: i32, %h: i32, %b: i32):
      %kt = attn.load as "K" %k[%b, %h, %i] : !g -> !A
      attn.sweep ascending %n to %n plain %n to %n {
      ^bb0(%t: i32, %j: i32):
        %z = arith.constant dense<0.0> : !T
        %p = attn.pack as "dS" %z : !T -> !P
        // expected-error @below {{reads A transposed; expects a result that is stored and nothing else}}
        %s = attn.dot as "dQ" %p trans_a, %kt : (!P, !A) -> !S
        %u = arith.negf %s : !S
        attn.yield
      }
    }
  }
}
