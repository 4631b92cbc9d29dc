// What family wgmma cannot lower: one error a kernel, at the operation, before anything is rewritten.
// RUN: attn-opt %s --convert-attn-to-nvvm --split-input-file --verify-diagnostics

#t = #attn.target<chip = "toy", family = wgmma, smem = 65536>
module attributes {attn.target = #t} {
  attn.kernel @order attributes {smem_bytes = 0 : i64, threads = 256 : i64} {
    attn.role "a" warps 4 + 4 groups 1 {
    ^bb0(%g: i32):
      attn.yield
    }
    // expected-error @below {{must start where the role before it ends, at warp 8, got 0}}
    attn.role "b" warps 0 + 4 groups 1 {
    ^bb0(%g: i32):
      attn.yield
    }
  }
}

// -----

#t = #attn.target<chip = "toy", family = wgmma, smem = 65536>
module attributes {attn.target = #t} {
  attn.kernel @behind attributes {smem_bytes = 0 : i64, threads = 128 : i64} {
    attn.role "a" warps 0 + 4 groups 1 {
    ^bb0(%g: i32):
      attn.yield
    }
    // expected-error @below {{stands behind a role; only roles may}}
    %c = arith.constant 0 : i32
  }
}

// -----

#t = #attn.target<chip = "toy", family = wgmma, smem = 65536>
module attributes {attn.target = #t} {
  attn.kernel @registers attributes {smem_bytes = 0 : i64, threads = 192 : i64} {
    // expected-error @below {{asks for registers, which four warps do together; got warps 0 + 6}}
    attn.role "a" warps 0 + 6 groups 1 regs 240 {
    ^bb0(%g: i32):
      attn.yield
    }
  }
}

// -----

// On the machine this kernel would hang.
#t = #attn.target<chip = "toy", family = wgmma, smem = 65536>
module attributes {attn.target = #t} {
  // expected-error @below {{has roles that ask for 92160 registers together; a launch allots 64512, 168 for each of 384 threads, and the last to ask would wait forever}}
  attn.kernel @register_pool attributes {smem_bytes = 0 : i64, threads = 384 : i64} {
    attn.role "a" warps 0 + 4 groups 1 regs 240 elect {
    ^bb0(%g: i32):
      attn.yield
    }
    attn.role "b" warps 4 + 8 groups 2 regs 240 {
    ^bb0(%g: i32):
      attn.yield
    }
  }
}

// -----

// A role that does not ask keeps what it has: 4 x 168 + 8 x 176 is more than 12 x 168.
#t = #attn.target<chip = "toy", family = wgmma, smem = 65536>
module attributes {attn.target = #t} {
  // expected-error @below {{has roles that ask for 66560 registers together; a launch allots 64512}}
  attn.kernel @register_pool_kept attributes {smem_bytes = 0 : i64, threads = 384 : i64} {
    attn.role "a" warps 0 + 4 groups 1 elect {
    ^bb0(%g: i32):
      attn.yield
    }
    attn.role "b" warps 4 + 8 groups 2 regs 176 {
    ^bb0(%g: i32):
      attn.yield
    }
  }
}

// -----

#t = #attn.target<chip = "toy", family = wgmma, smem = 65536>
module attributes {attn.target = #t} {
  attn.kernel @three_warps attributes {smem_bytes = 0 : i64, threads = 192 : i64} {
    // expected-error @below {{expects groups of a power of two of warps, got 3}}
    attn.role "a" warps 0 + 6 groups 2 {
    ^bb0(%g: i32):
      attn.yield
    }
  }
}

// -----

#t = #attn.target<chip = "toy", family = wgmma, smem = 65536>
module attributes {attn.target = #t} {
  attn.kernel @named_barriers attributes {smem_bytes = 0 : i64, threads = 256 : i64} {
    // expected-error @below {{needs the named barriers up to 17, a block has 16}}
    attn.role "a" warps 0 + 8 groups 8 {
    ^bb0(%g: i32):
      attn.yield
    }
  }
}

// -----

#t = #attn.target<chip = "toy", family = wgmma, smem = 65536>
module attributes {attn.target = #t} {
  attn.kernel @block_and_elect attributes {smem_bytes = 0 : i64, threads = 256 : i64} {
    attn.role "p" warps 0 + 4 groups 1 elect {
    ^bb0(%g: i32):
      attn.yield
    }
    attn.role "a" warps 4 + 4 groups 1 {
    ^bb0(%g: i32):
      // expected-error @below {{waits for the whole block, but role "p" is one thread}}
      attn.sync block
      attn.yield
    }
  }
}

// -----

#t = #attn.target<chip = "toy", family = wgmma, smem = 65536>
module attributes {attn.target = #t} {
  attn.kernel @turn_of_one attributes {smem_bytes = 0 : i64, threads = 128 : i64} {
    attn.role "p" warps 0 + 4 groups 1 elect {
    ^bb0(%g: i32):
      // expected-error @below {{is for groups of warps, not for one thread}}
      attn.turn take
      attn.yield
    }
  }
}

// -----

!R = !attn.ring<1, !attn.buf<tensor<64x64xbf16>, 128>>
#t = #attn.target<chip = "toy", family = wgmma, smem = 65536>
module attributes {attn.target = #t} {
  attn.kernel @no_offset attributes {smem_bytes = 0 : i64, threads = 128 : i64} {
    // expected-error @below {{has no offset; run attn-plan-memory first}}
    %r = attn.alloc readers 4 : !R
  }
}

// -----

!R = !attn.ring<1, !attn.buf<tensor<64x64xbf16>, 128>>
#t = #attn.target<chip = "toy", family = wgmma, smem = 65536>
module attributes {attn.target = #t} {
  attn.kernel @no_barriers attributes {smem_bytes = 0 : i64, threads = 128 : i64} {
    // expected-error @below {{has no barriers; run attn-plan-memory first}}
    %r = attn.alloc readers 4 at 0 : !R
  }
}

// -----

!R = !attn.ring<1, !attn.buf<tensor<64x64xbf16>, 128>>
#t = #attn.target<chip = "toy", family = wgmma, smem = 65536>
module attributes {attn.target = #t} {
  attn.kernel @no_readers attributes {smem_bytes = 0 : i64, threads = 128 : i64} {
    // expected-error @below {{does not say how many warps release an item}}
    %r = attn.alloc at 0 barriers 8192 : !R
  }
}

// -----

!R = !attn.ring<1, !attn.buf<tensor<64x64xbf16>, 128>>
#t = #attn.target<chip = "toy", family = wgmma, smem = 65536>
module attributes {attn.target = #t} {
  attn.kernel @ring_of_a_role attributes {smem_bytes = 0 : i64, threads = 128 : i64} {
    attn.role "a" warps 0 + 4 groups 1 {
    ^bb0(%g: i32):
      // expected-error @below {{stands in a role; a ring on this family is the block's}}
      %r = attn.alloc readers 4 at 0 barriers 8192 : !R
      attn.yield
    }
  }
}

// -----

!R = !attn.ring<1, !attn.buf<tensor<1xi32>, 0>>
#t = #attn.target<chip = "toy", family = wgmma, smem = 65536>
module attributes {attn.target = #t} {
  attn.kernel @commit_of_many attributes {smem_bytes = 0 : i64, threads = 128 : i64} {
    %c0 = arith.constant 0 : i32
    %r = attn.alloc readers 4 at 0 barriers 128 : !R
    attn.role "a" warps 0 + 4 groups 1 {
    ^bb0(%g: i32):
      // expected-error @below {{expects a role of one thread ('elect'), or a ring that the same role reads: an item is filled by one arrival}}
      attn.commit %r[%c0] : !R
      attn.yield
    }
  }
}

// -----

#t = #attn.target<chip = "toy", family = wgmma, smem = 65536>
module attributes {attn.target = #t} {
  attn.kernel @fetch_of_many attributes {smem_bytes = 0 : i64, threads = 128 : i64} {
  ^bb0(%c: memref<1xi32>, %last: i32):
    attn.role "a" warps 0 + 4 groups 1 {
    ^bb0(%g: i32):
      // expected-error @below {{is done once: expects a role of one thread ('elect')}}
      %n = attn.fetch %c upto %last : memref<1xi32>
      attn.yield
    }
  }
}

// -----

!B = !attn.buf<tensor<64x64xbf16>, 128>
!R = !attn.ring<1, !B>
!g = memref<?x64xbf16, strided<[?, 1], offset: ?>>
#t = #attn.target<chip = "toy", family = wgmma, smem = 65536>
module attributes {attn.target = #t} {
  attn.kernel @not_tma attributes {smem_bytes = 8320 : i64, threads = 128 : i64} {
  ^bb0(%k: !g, %row: i32):
    %c0 = arith.constant 0 : i32
    %r = attn.alloc readers 4 at 0 barriers 8192 : !R
    attn.role "a" warps 0 + 4 groups 1 {
    ^bb0(%g: i32):
      %s = attn.acquire %r[%c0] : !R -> !B
      // expected-error @below {{on this family goes via tma or bulk, got cp_async}}
      attn.copy %k[%row] to %s fills %r[%c0] via cp_async : !g, !B, !R
      attn.yield
    }
  }
}

// -----

!B = !attn.buf<tensor<64x64xbf16>, 128>
!M = !attn.map<tensor<64x64xbf16>, 128>
!R = !attn.ring<1, !B, !B>
#t = #attn.target<chip = "toy", family = wgmma, smem = 65536>
module attributes {attn.target = #t} {
  attn.kernel @two_bufs attributes {smem_bytes = 16512 : i64, threads = 128 : i64} {
  ^bb0(%m: !M):
    %c0 = arith.constant 0 : i32
    %r = attn.alloc readers 4 at 0 barriers 16384 : !R
    attn.role "a" warps 0 + 4 groups 1 {
    ^bb0(%g: i32):
      %s, %u = attn.acquire %r[%c0] : !R -> !B, !B
      // expected-error @below {{expects a slot with one tile, which announces its bytes, got 2}}
      attn.copy %m[%c0, %c0, %c0] to %s fills %r[%c0] via tma : !M, !B, !R
      attn.yield
    }
  }
}

// -----

!B = !attn.buf<tensor<64x64xbf16>, 128>
!M = !attn.map<tensor<64x64xbf16>, 128>
!R = !attn.ring<1, !B>
#t = #attn.target<chip = "toy", family = wgmma, smem = 65536>
module attributes {attn.target = #t} {
  attn.kernel @condition attributes {smem_bytes = 8320 : i64, threads = 128 : i64} {
  ^bb0(%m: !M, %more: i1):
    %c0 = arith.constant 0 : i32
    %r = attn.alloc readers 4 at 0 barriers 8192 : !R
    attn.role "a" warps 0 + 4 groups 1 {
    ^bb0(%g: i32):
      %s = attn.acquire %r[%c0] : !R -> !B
      // expected-error @below {{via tma has no condition}}
      attn.copy %m[%c0, %c0, %c0] to %s fills %r[%c0] if %more via tma : !M, !B, !R
      attn.yield
    }
  }
}

// -----

!A = !attn.buf<tensor<64x64xbf16>, 128>
#t = #attn.target<chip = "toy", family = wgmma, smem = 65536>
module attributes {attn.target = #t} {
  attn.kernel @eight_warps attributes {smem_bytes = 16384 : i64, threads = 256 : i64} {
    attn.role "a" warps 0 + 8 groups 1 {
    ^bb0(%g: i32):
      %a = attn.alloc at 0 : !A
      // expected-error @below {{expects a group of 4 warps, one above the other (warps [4, 1]), got a group of 8 and warps [4, 1]}}
      %c = attn.dot %a, %a trans_b : (!A, !A) -> tensor<64x64xf32, #attn.frag<4, 1>>
      attn.yield
    }
  }
}

// -----

!A = !attn.buf<tensor<128x64xbf16>, 128>
#t = #attn.target<chip = "toy", family = wgmma, smem = 65536>
module attributes {attn.target = #t} {
  attn.kernel @rows attributes {smem_bytes = 16384 : i64, threads = 128 : i64} {
    attn.role "a" warps 0 + 4 groups 1 {
    ^bb0(%g: i32):
      %a = attn.alloc at 0 : !A
      // expected-error @below {{has no wgmma shape: expects 64 rows, columns in multiples of 8 up to 256, depth of 16, got 128x128x64}}
      %c = attn.dot %a, %a trans_b : (!A, !A) -> tensor<128x128xf32, #attn.frag<4, 1>>
      attn.yield
    }
  }
}

// -----

!A = !attn.buf<tensor<64x64xbf16>, 128>
!B = !attn.buf<tensor<64x64xbf16>, 64>
#t = #attn.target<chip = "toy", family = wgmma, smem = 65536>
module attributes {attn.target = #t} {
  attn.kernel @swizzle attributes {smem_bytes = 16384 : i64, threads = 128 : i64} {
    attn.role "a" warps 0 + 4 groups 1 {
    ^bb0(%g: i32):
      %a = attn.alloc at 0 : !A
      %b = attn.alloc at 8192 : !B
      // expected-error @below {{expects B in rows swizzled over 128 bytes, eight or a multiple, got '!attn.buf<tensor<64x64xbf16>, 64>'}}
      %c = attn.dot %a, %b trans_b : (!A, !B) -> tensor<64x64xf32, #attn.frag<4, 1>>
      attn.yield
    }
  }
}

// -----

!A = !attn.buf<tensor<64x64xf32>, 128>
#t = #attn.target<chip = "toy", family = wgmma, smem = 65536>
module attributes {attn.target = #t} {
  attn.kernel @elements attributes {smem_bytes = 16384 : i64, threads = 128 : i64} {
    attn.role "a" warps 0 + 4 groups 1 {
    ^bb0(%g: i32):
      %a = attn.alloc at 0 : !A
      // expected-error @below {{expects operands of f16 or of bf16 for wgmma, got 'f32' and 'f32'}}
      %c = attn.dot %a, %a trans_b : (!A, !A) -> tensor<64x64xf32, #attn.frag<4, 1>>
      attn.yield
    }
  }
}

// -----

#t = #attn.target<chip = "toy", family = wgmma, smem = 65536>
module attributes {attn.target = #t} {
  attn.kernel @pin_of_numbers attributes {smem_bytes = 0 : i64, threads = 128 : i64} {
  ^bb0(%x: i32):
    attn.role "a" warps 0 + 4 groups 1 {
    ^bb0(%g: i32):
      %v = tensor.splat %x : tensor<64xi32, #attn.frag<4, 1, rows>>
      // expected-error @below {{expects values of f32, got 'tensor<64xi32, #attn.frag<4, 1, rows>>'}}
      attn.pin %v : tensor<64xi32, #attn.frag<4, 1, rows>>
      attn.yield
    }
  }
}

// -----

!s = tensor<64x8xf32, #attn.frag<4, 1>>
!A = !attn.buf<tensor<64x64xbf16>, 128>
!K = !attn.buf<tensor<8x64xbf16>, 128>
#t = #attn.target<chip = "toy", family = wgmma, smem = 65536>
module attributes {attn.target = #t} {
  attn.kernel @keeps_wide attributes {smem_bytes = 9216 : i64, threads = 128 : i64} {
  ^bb0(%x: f32):
    attn.role "a" warps 0 + 4 groups 1 {
    ^bb0(%g: i32):
      %a = attn.alloc at 0 : !A
      %b = attn.alloc at 8192 : !K
      %v = tensor.splat %x : !s
      %c = attn.dot async %a, %b trans_b : (!A, !K) -> !attn.pending<!s>
      // expected-error @below {{keeps operands of products, which have 16 bits, got 'tensor<64x8xf32, #attn.frag<4, 1>>'}}
      %s = attn.await %c keep(%v : !s) leaves 0 : !attn.pending<!s> -> !s
      attn.yield
    }
  }
}

// -----

!B = !attn.buf<tensor<64x8xbf16>, 0>
!b = tensor<64x8xbf16, #attn.frag<4, 1>>
#t = #attn.target<chip = "toy", family = wgmma, smem = 65536>
module attributes {attn.target = #t} {
  attn.kernel @eight_columns attributes {smem_bytes = 1024 : i64, threads = 128 : i64} {
  ^bb0(%x: bf16):
    attn.role "a" warps 0 + 4 groups 1 {
    ^bb0(%g: i32):
      %o = attn.alloc at 0 : !B
      %v = tensor.splat %x : !b
      // expected-error @below {{to shared memory expects whole rows a warp (warps [m, 1]), of 16 columns or a multiple, got 'tensor<64x8xbf16, #attn.frag<4, 1>>'}}
      attn.store %v, %o : !b, !B
      attn.yield
    }
  }
}
