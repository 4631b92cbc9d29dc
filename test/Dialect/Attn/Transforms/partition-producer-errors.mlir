// RUN: attn-opt %s -split-input-file -attn-partition-roles -verify-diagnostics

// A group is a warpgroup.
!g = memref<?x?x?x64xf16, strided<[?, ?, ?, 1], offset: ?>>
!A = tensor<64x64xf16>
!S = tensor<64x64xf32>
module attributes {attn.target = #attn.target<chip = "toy", family = wgmma>} {
  // expected-error @below {{expects groups of [4, 1] warps on family wgmma, got [2, 2]}}
  attn.kernel @k attributes {schedule = #attn.schedule<tile = [64, 64], warps = [2, 2]>} {
  ^bb0(%q: !g, %k: !g, %n: i32):
    attn.tiles single(%n, %n, %n) {
    ^bb0(%t_: i32, %i: i32, %h: i32, %b: i32):
      attn.yield
    }
  }
}

// -----

!g = memref<?x?x?x64xf16, strided<[?, ?, ?, 1], offset: ?>>
!A = tensor<64x64xf16>
!S = tensor<64x64xf32>
module attributes {attn.target = #attn.target<chip = "toy", family = wgmma>} {
  // expected-error @below {{has 8 groups; with the warps that copy the block needs 36 warps, it may have 32}}
  attn.kernel @k attributes {schedule = #attn.schedule<tile = [512, 64], warps = [4, 1], groups = 8>} {
  ^bb0(%q: !g, %k: !g, %n: i32):
    attn.tiles single(%n, %n, %n) {
    ^bb0(%t_: i32, %i: i32, %h: i32, %b: i32):
      attn.yield
    }
  }
}

// -----

// What the kernel counts itself would have to be counted by the producer too.
!g = memref<?x?x?x64xf16, strided<[?, ?, ?, 1], offset: ?>>
!A = tensor<64x64xf16>
!S = tensor<64x64xf32>
module attributes {attn.target = #attn.target<chip = "toy", family = wgmma>} {
  attn.kernel @k attributes {schedule = #attn.schedule<tile = [64, 64], warps = [4, 1]>} {
  ^bb0(%q: !g, %k: !g, %n: i32):
    // expected-error @below {{expects a nest that carries nothing, got 1 values}}
    %r = attn.tiles single(%n, %n, %n) init(%n) -> i32 {
    ^bb0(%t_: i32, %i: i32, %h: i32, %b: i32, %c: i32):
      attn.yield %c : i32
    }
  }
}

// -----

!g = memref<?x?x?x64xf16, strided<[?, ?, ?, 1], offset: ?>>
!A = tensor<64x64xf16>
!S = tensor<64x64xf32>
module attributes {attn.target = #attn.target<chip = "toy", family = wgmma>} {
  attn.kernel @k attributes {schedule = #attn.schedule<tile = [64, 64], warps = [4, 1]>} {
  ^bb0(%q: !g, %k: !g, %n: i32):
    attn.tiles single(%n, %n, %n) {
    ^bb0(%t_: i32, %i: i32, %h: i32, %b: i32):
      %x = attn.load as "K" %k[%b, %h, %i] : !g -> !A
      %y = arith.negf %x : !A
      // expected-error @below {{expects its B operand to be loaded from a memref: family wgmma has no way yet to pass a computed tile through shared memory}}
      %s = attn.dot %x, %y : (!A, !A) -> !S
      attn.yield
    }
  }
}

// -----

!g = memref<?x?x?x64xf16, strided<[?, ?, ?, 1], offset: ?>>
!A = tensor<64x64xf16>
!S = tensor<64x64xf32>
module attributes {attn.target = #attn.target<chip = "toy", family = wgmma>} {
  attn.kernel @k attributes {schedule = #attn.schedule<tile = [64, 64], warps = [4, 1]>} {
  ^bb0(%q: !g, %k: !g, %n: i32):
    attn.tiles single(%n, %n, %n) {
    ^bb0(%t_: i32, %i: i32, %h: i32, %b: i32):
      // expected-error @below {{is the A operand of one product and the B operand of another; on family wgmma a group has its rows of an A operand only}}
      %x = attn.load as "K" %k[%b, %h, %i] : !g -> !A
      %s = attn.dot %x, %x : (!A, !A) -> !S
      attn.yield
    }
  }
}

// -----

!g = memref<?x?x?x64xf16, strided<[?, ?, ?, 1], offset: ?>>
!A = tensor<64x64xf16>
!S = tensor<64x64xf32>
module attributes {attn.target = #attn.target<chip = "toy", family = wgmma>} {
  attn.kernel @k attributes {schedule = #attn.schedule<tile = [64, 64], warps = [4, 1]>} {
  ^bb0(%q: !g, %k: !g, %n: i32):
    attn.tiles single(%n, %n, %n) {
    ^bb0(%t_: i32, %i: i32, %h: i32, %b: i32):
      // expected-error @below {{is read by products and by 1 other uses; on family wgmma only products read a tile that TMA brings}}
      %qt = attn.load as "Q" %q[%b, %h, %i] : !g -> !A
      %kt = attn.load as "K" %k[%b, %h, %i] : !g -> !A
      %y = arith.negf %qt : !A
      %s = attn.dot as "S" %qt, %kt trans_b : (!A, !A) -> !S
      attn.yield
    }
  }
}

// -----

!g = memref<?x?x?x64xf16, strided<[?, ?, ?, 1], offset: ?>>
!A = tensor<64x64xf16>
!S = tensor<64x64xf32>
module attributes {attn.target = #attn.target<chip = "toy", family = wgmma>} {
  attn.kernel @k attributes {schedule = #attn.schedule<tile = [64, 64], warps = [4, 1]>} {
  ^bb0(%q: !g, %k: !g, %n: i32):
    attn.tiles single(%n, %n, %n) {
    ^bb0(%t_: i32, %i: i32, %h: i32, %b: i32):
      %qt = attn.load as "Q" %q[%b, %h, %i] : !g -> !A
      %r = attn.sweep descending %n to %n plain %n to %n init(%n : i32) -> i32 {
      ^bb0(%t: i32, %j: i32, %at: i32):
        // expected-error @below {{cannot be fetched by another role: where it is or how often depends on more than the tile's numbers and those of the loops and sweeps around it}}
        %kt = attn.load as "K" %k[%b, %h, %at] : !g -> !A
        %s = attn.dot as "S" %qt, %kt trans_b : (!A, !A) -> !S
        attn.yield %j : i32
      }
      attn.yield
    }
  }
}

// -----

// What a tensor map cannot describe: an operand of another rank, with strided columns, one that is no argument; rows that
// are not whole 128 bytes; a box of more than 256 rows.
!g = memref<?x?x64xf16>
!A = tensor<64x64xf16>
!S = tensor<64x64xf32>
module attributes {attn.target = #attn.target<chip = "toy", family = wgmma>} {
  attn.kernel @k attributes {schedule = #attn.schedule<tile = [64, 64], warps = [4, 1]>} {
  ^bb0(%q: !g, %k: !g, %n: i32):
    attn.tiles single(%n, %n, %n) {
    ^bb0(%t_: i32, %i: i32, %h: i32, %b: i32):
      // expected-error @below {{cannot travel through a tensor map: expects (batch, heads, rows, columns) with a last dimension of stride 1, got 'memref<?x?x64xf16>'}}
      %qt = attn.load as "Q" %q[%b, %i] : !g -> !A
      %kt = attn.load as "K" %k[%b, %i] : !g -> !A
      %s = attn.dot as "S" %qt, %kt trans_b : (!A, !A) -> !S
      attn.yield
    }
  }
}

// -----

!g = memref<?x?x?x64xf16, strided<[?, ?, ?, 2], offset: ?>>
!A = tensor<64x64xf16>
!S = tensor<64x64xf32>
module attributes {attn.target = #attn.target<chip = "toy", family = wgmma>} {
  attn.kernel @k attributes {schedule = #attn.schedule<tile = [64, 64], warps = [4, 1]>} {
  ^bb0(%q: !g, %k: !g, %n: i32):
    attn.tiles single(%n, %n, %n) {
    ^bb0(%t_: i32, %i: i32, %h: i32, %b: i32):
      // expected-error @below {{cannot travel through a tensor map: expects (batch, heads, rows, columns) with a last dimension of stride 1, got 'memref<?x?x?x64xf16, strided<[?, ?, ?, 2], offset: ?>>'}}
      %qt = attn.load as "Q" %q[%b, %h, %i] : !g -> !A
      %kt = attn.load as "K" %k[%b, %h, %i] : !g -> !A
      %s = attn.dot as "S" %qt, %kt trans_b : (!A, !A) -> !S
      attn.yield
    }
  }
}

// -----

!g = memref<?x?x?x64xf16, strided<[?, ?, ?, 1], offset: ?>>
!g2 = memref<?x?x8x64xf16, strided<[?, ?, ?, 1], offset: ?>>
!A = tensor<64x64xf16>
!S = tensor<64x64xf32>
module attributes {attn.target = #attn.target<chip = "toy", family = wgmma>} {
  attn.kernel @k attributes {schedule = #attn.schedule<tile = [64, 64], warps = [4, 1]>} {
  ^bb0(%q: !g, %k: !g, %n: i32):
    %q0 = memref.cast %q : !g to !g2
    attn.tiles single(%n, %n, %n) {
    ^bb0(%t_: i32, %i: i32, %h: i32, %b: i32):
      // expected-error @below {{cannot travel through a tensor map: expects an argument of the kernel, got a value computed in it}}
      %qt = attn.load as "Q" %q0[%b, %h, %i] : !g2 -> !A
      %kt = attn.load as "K" %k[%b, %h, %i] : !g -> !A
      %s = attn.dot as "S" %qt, %kt trans_b : (!A, !A) -> !S
      attn.yield
    }
  }
}

// -----

!g = memref<?x?x?x48xf16, strided<[?, ?, ?, 1], offset: ?>>
!A = tensor<64x48xf16>
!S = tensor<64x64xf32>
module attributes {attn.target = #attn.target<chip = "toy", family = wgmma>} {
  attn.kernel @k attributes {schedule = #attn.schedule<tile = [64, 64], warps = [4, 1]>} {
  ^bb0(%q: !g, %k: !g, %n: i32):
    attn.tiles single(%n, %n, %n) {
    ^bb0(%t_: i32, %i: i32, %h: i32, %b: i32):
      // expected-error @below {{cannot travel through a tensor map: expects rows in multiples of 128 bytes, got 'tensor<64x48xf16>'}}
      %qt = attn.load as "Q" %q[%b, %h, %i] : !g -> !A
      %kt = attn.load as "K" %k[%b, %h, %i] : !g -> !A
      %s = attn.dot as "S" %qt, %kt trans_b : (!A, !A) -> !S
      attn.yield
    }
  }
}

// -----

!g = memref<?x?x?x64xf16, strided<[?, ?, ?, 1], offset: ?>>
!A = tensor<64x64xf16>
!S = tensor<64x64xf32>
module attributes {attn.target = #attn.target<chip = "toy", family = wgmma>} {
  attn.kernel @k attributes {schedule = #attn.schedule<tile = [64, 64], warps = [4, 1]>} {
  ^bb0(%q: !g, %k: !g, %n: i32):
    attn.tiles single(%n, %n, %n) {
    ^bb0(%t_: i32, %i: i32, %h: i32, %b: i32):
      %qt = attn.load as "Q" %q[%b, %h, %i] : !g -> !A
      // expected-error @below {{cannot travel through a tensor map: a box has at most 256 rows, got 320}}
      %kt = attn.load as "K" %k[%b, %h, %i] : !g -> tensor<320x64xf16>
      %s = attn.dot as "S" %qt, %kt trans_b : (!A, tensor<320x64xf16>) -> tensor<64x320xf32>
      attn.yield
    }
  }
}

// -----

// Groups share the rows of a tile; nothing in it has others.
!g = memref<?x?x?x64xf16, strided<[?, ?, ?, 1], offset: ?>>
!A = tensor<64x64xf16>
!S = tensor<64x64xf32>
module attributes {attn.target = #attn.target<chip = "toy", family = wgmma>} {
  attn.kernel @k attributes {schedule = #attn.schedule<tile = [128, 64], warps = [4, 1], groups = 2>} {
  ^bb0(%q: !g, %k: !g, %n: i32):
    attn.tiles single(%n, %n, %n) {
    ^bb0(%t_: i32, %i: i32, %h: i32, %b: i32):
      // expected-error @below {{has 64 rows, 2 groups share tiles of 128}}
      %qt = attn.load as "Q" %q[%b, %h, %i] : !g -> !A
      %kt = attn.load as "K" %k[%b, %h, %i] : !g -> !A
      %s = attn.dot as "S" %qt, %kt trans_b : (!A, !A) -> !S
      attn.yield
    }
  }
}

// -----

!g = memref<?x?x?x64xf16, strided<[?, ?, ?, 1], offset: ?>>
!A = tensor<64x64xf16>
!S = tensor<64x64xf32>
module attributes {attn.target = #attn.target<chip = "toy", family = wgmma>} {
  attn.kernel @k attributes {schedule = #attn.schedule<tile = [128, 64], warps = [4, 1], groups = 2>} {
  ^bb0(%q: !g, %k: !g, %n: i32):
    attn.tiles single(%n, %n, %n) {
    ^bb0(%t_: i32, %i: i32, %h: i32, %b: i32):
      %kt = attn.load as "K" %k[%b, %h, %i] : !g -> !A
      // expected-error @below {{'tensor<64x64xf16>' has 64 rows; 2 groups share tiles of 128}}
      %z = arith.constant dense<0.0> : !A
      %s = attn.dot %z, %kt : (!A, !A) -> !S
      attn.yield
    }
  }
}

// -----

// A vector of the rows is another one in every group, a vector of the columns the same.
!g = memref<?x?x?x64xf16, strided<[?, ?, ?, 1], offset: ?>>
!A = tensor<64x64xf16>
!S = tensor<64x64xf32>
module attributes {attn.target = #attn.target<chip = "toy", family = wgmma>} {
  attn.kernel @k attributes {schedule = #attn.schedule<tile = [64, 64], warps = [4, 1], groups = 2>} {
  ^bb0(%l: memref<?xf32>, %n: i32):
    attn.tiles single(%n, %n, %n) {
    ^bb0(%t_: i32, %i: i32, %h: i32, %b: i32):
      // expected-error @below {{a vector is used along the rows and along the columns of tiles; no fragment holds both}}
      %v = attn.load %l[%i] : memref<?xf32> -> tensor<64xf32>
      %x = attn.spread %v along 0 : tensor<64xf32> -> !S
      %w = arith.negf %v : tensor<64xf32>
      %y = attn.spread %w along 1 : tensor<64xf32> -> !S
      attn.yield
    }
  }
}
