// RUN: attn-opt %s -split-input-file -attn-count-waits -verify-diagnostics

// Every rule of the rings, broken once (Analysis/InFlight.h).

!g = memref<?x16xf16>
!b = !attn.buf<tensor<16x16xf16>, 32>
!r1 = !attn.ring<1, !b>
!r2 = !attn.ring<2, !b>
!t = tensor<16x16xf16>
attn.kernel @no_barrier_with_one_slot {
^bb0(%m: !g, %n: i32):
  %K = attn.alloc as "K" : !r2
  %Q = attn.alloc as "Q" : !r1
  attn.role "compute" warps 0 + 2 groups 1 {
  ^bb0(%g: i32):
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %q0 = attn.acquire %Q[%c0] : !r1 -> !b
    attn.copy %m[%c0, %c0] to %q0 fills %Q[%c0] via cp_async : !g, !b, !r1
    attn.sweep descending %c0 to %n plain %c0 to %n {
    ^bb0(%t: i32, %j: i32):
      %t1 = arith.addi %t, %c1 : i32
      %w = attn.wait %Q[%t] : !r1 -> !b
      %s = attn.dot %w, %w trans_b : (!b, !b) -> tensor<16x16xf32>
      attn.release %Q[%t] : !r1
      %q = attn.acquire %Q[%t1] : !r1 -> !b
      // expected-error @below {{overwrites an item of ring "Q" that other warps may still read: no sync since its release}}
      attn.copy %m[%c0, %c0] to %q fills %Q[%t1] via cp_async : !g, !b, !r1
      attn.yield
    }
    attn.yield
  }
}

// -----

// Two slots, but the copy stands in front of the barrier: another warp may still read R[t - 1].
!g = memref<?x16xf16>
!b = !attn.buf<tensor<16x16xf16>, 32>
!r1 = !attn.ring<1, !b>
!r2 = !attn.ring<2, !b>
!t = tensor<16x16xf16>
attn.kernel @copy_in_front_of_the_wait {
^bb0(%m: !g, %n: i32):
  %K = attn.alloc as "K" : !r2
  %Q = attn.alloc as "Q" : !r1
  attn.role "compute" warps 0 + 2 groups 1 {
  ^bb0(%g: i32):
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %k0 = attn.acquire %K[%c0] : !r2 -> !b
    attn.copy %m[%c0, %c0] to %k0 fills %K[%c0] via cp_async : !g, !b, !r2
    attn.sweep descending %c0 to %n plain %c0 to %n {
    ^bb0(%t: i32, %j: i32):
      %t1 = arith.addi %t, %c1 : i32
      %k = attn.acquire %K[%t1] : !r2 -> !b
      // expected-error @below {{overwrites an item of ring "K" that other warps may still read: no sync since its release}}
      attn.copy %m[%c0, %c0] to %k fills %K[%t1] via cp_async : !g, !b, !r2
      %w = attn.wait %K[%t] : !r2 -> !b
      attn.release %K[%t] : !r2
      attn.yield
    }
    attn.yield
  }
}

// -----

!g = memref<?x16xf16>
!b = !attn.buf<tensor<16x16xf16>, 32>
!r1 = !attn.ring<1, !b>
!r2 = !attn.ring<2, !b>
!t = tensor<16x16xf16>
attn.kernel @one_item_too_far_ahead {
^bb0(%m: !g, %n: i32):
  %K = attn.alloc as "K" : !r2
  %Q = attn.alloc as "Q" : !r1
  attn.role "compute" warps 0 + 2 groups 1 {
  ^bb0(%g: i32):
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %k0 = attn.acquire %K[%c0] : !r2 -> !b
    attn.copy %m[%c0, %c0] to %k0 fills %K[%c0] via cp_async : !g, !b, !r2
    %k1 = attn.acquire %K[%c1] : !r2 -> !b
    attn.copy %m[%c0, %c0] to %k1 fills %K[%c1] via cp_async : !g, !b, !r2
    attn.sweep descending %c0 to %n plain %c0 to %n {
    ^bb0(%t: i32, %j: i32):
      %t1 = arith.addi %t, %c1 : i32
      %t2 = arith.addi %t1, %c1 : i32
      %w = attn.wait %K[%t] : !r2 -> !b
      %k = attn.acquire %K[%t2] : !r2 -> !b
      // expected-error @below {{overwrites an item of ring "K" that is not released yet}}
      attn.copy %m[%c0, %c0] to %k fills %K[%t2] via cp_async : !g, !b, !r2
      attn.release %K[%t] : !r2
      attn.yield
    }
    attn.yield
  }
}

// -----

!g = memref<?x16xf16>
!b = !attn.buf<tensor<16x16xf16>, 32>
!r1 = !attn.ring<1, !b>
!r2 = !attn.ring<2, !b>
!t = tensor<16x16xf16>
attn.kernel @nobody_fills {
^bb0(%m: !g, %n: i32):
  %K = attn.alloc as "K" : !r2
  %Q = attn.alloc as "Q" : !r1
  attn.role "compute" warps 0 + 2 groups 1 {
  ^bb0(%g: i32):
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    // expected-error @below {{waits for an item of ring "K" that no copy fills before}}
    %w = attn.wait %K[%c0] : !r2 -> !b
    attn.yield
  }
}

// -----

!g = memref<?x16xf16>
!b = !attn.buf<tensor<16x16xf16>, 32>
!r1 = !attn.ring<1, !b>
!r2 = !attn.ring<2, !b>
!t = tensor<16x16xf16>
attn.kernel @released_twice {
^bb0(%m: !g, %n: i32):
  %K = attn.alloc as "K" : !r2
  %Q = attn.alloc as "Q" : !r1
  attn.role "compute" warps 0 + 2 groups 1 {
  ^bb0(%g: i32):
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %k0 = attn.acquire %K[%c0] : !r2 -> !b
    attn.copy %m[%c0, %c0] to %k0 fills %K[%c0] via cp_async : !g, !b, !r2
    %w = attn.wait %K[%c0] : !r2 -> !b
    attn.release %K[%c0] : !r2
    // expected-error @below {{releases an item of ring "K" that is not waited for, or released before}}
    attn.release %K[%c0] : !r2
    attn.yield
  }
}

// -----

!g = memref<?x16xf16>
!b = !attn.buf<tensor<16x16xf16>, 32>
!r1 = !attn.ring<1, !b>
!r2 = !attn.ring<2, !b>
!t = tensor<16x16xf16>
attn.kernel @read_after_release {
^bb0(%m: !g, %n: i32):
  %K = attn.alloc as "K" : !r2
  %Q = attn.alloc as "Q" : !r1
  attn.role "compute" warps 0 + 2 groups 1 {
  ^bb0(%g: i32):
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %k0 = attn.acquire %K[%c0] : !r2 -> !b
    attn.copy %m[%c0, %c0] to %k0 fills %K[%c0] via cp_async : !g, !b, !r2
    %w = attn.wait %K[%c0] : !r2 -> !b
    attn.release %K[%c0] : !r2
    // expected-error @below {{reads an item of ring "K" after its release}}
    %s = attn.dot %w, %w trans_b : (!b, !b) -> tensor<16x16xf32>
    attn.yield
  }
}

// -----

!g = memref<?x16xf16>
!b = !attn.buf<tensor<16x16xf16>, 32>
!r1 = !attn.ring<1, !b>
!r2 = !attn.ring<2, !b>
!t = tensor<16x16xf16>
attn.kernel @never_released {
^bb0(%m: !g, %n: i32):
  // expected-error @below {{has an item that is waited for and never released}}
  %K = attn.alloc as "K" : !r2
  attn.role "compute" warps 0 + 2 groups 1 {
  ^bb0(%g: i32):
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %k0 = attn.acquire %K[%c0] : !r2 -> !b
    attn.copy %m[%c0, %c0] to %k0 fills %K[%c0] via cp_async : !g, !b, !r2
    %w = attn.wait %K[%c0] : !r2 -> !b
    attn.yield
  }
}

// -----

!g = memref<?x16xf16>
!b = !attn.buf<tensor<16x16xf16>, 32>
!r1 = !attn.ring<1, !b>
!r2 = !attn.ring<2, !b>
!t = tensor<16x16xf16>
attn.kernel @store_over_what_is_read {
^bb0(%m: !g, %n: i32):
  %x = arith.constant dense<0.0> : !t
  %K = attn.alloc as "K" : !r2
  %O = attn.alloc as "O" over "K" : !b
  attn.role "compute" warps 0 + 2 groups 1 {
  ^bb0(%g: i32):
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %k0 = attn.acquire %K[%c0] : !r2 -> !b
    attn.copy %m[%c0, %c0] to %k0 fills %K[%c0] via cp_async : !g, !b, !r2
    %w = attn.wait %K[%c0] : !r2 -> !b
    attn.release %K[%c0] : !r2
    // expected-error @below {{stores over an item of ring "K" that other warps may still read: no sync since its release}}
    attn.store %x, %O : !t, !b
    attn.yield
  }
}

// -----

!g = memref<?x16xf16>
!b = !attn.buf<tensor<16x16xf16>, 32>
!r1 = !attn.ring<1, !b>
!r2 = !attn.ring<2, !b>
!t = tensor<16x16xf16>
attn.kernel @store_over_what_is_kept {
^bb0(%m: !g, %n: i32):
  %x = arith.constant dense<0.0> : !t
  %K = attn.alloc as "K" : !r2
  %O = attn.alloc as "O" over "K" : !b
  attn.role "compute" warps 0 + 2 groups 1 {
  ^bb0(%g: i32):
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %k0 = attn.acquire %K[%c0] : !r2 -> !b
    attn.copy %m[%c0, %c0] to %k0 fills %K[%c0] via cp_async : !g, !b, !r2
    %w = attn.wait %K[%c0] : !r2 -> !b
    // expected-error @below {{stores over an item of ring "K" that is not released yet}}
    attn.store %x, %O : !t, !b
    attn.release %K[%c0] : !r2
    attn.yield
  }
}

// -----

!g = memref<?x16xf16>
!b = !attn.buf<tensor<16x16xf16>, 32>
!r1 = !attn.ring<1, !b>
!r2 = !attn.ring<2, !b>
!t = tensor<16x16xf16>
attn.kernel @read_before_all_have_stored {
^bb0(%m: !g, %n: i32):
  %x = arith.constant dense<0.0> : !t
  %O = attn.alloc as "O" : !b
  %P = attn.alloc as "P" over "O" : !b
  attn.role "compute" warps 0 + 2 groups 1 {
  ^bb0(%g: i32):
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    attn.store %x, %O : !t, !b
    // expected-error @below {{reads what other warps may not have stored yet: no sync in between}}
    attn.copy %O to %m[%c0, %c0] via vector : !b, !g
    attn.yield
  }
}

// -----

!g = memref<?x16xf16>
!b = !attn.buf<tensor<16x16xf16>, 32>
!r1 = !attn.ring<1, !b>
!r2 = !attn.ring<2, !b>
!t = tensor<16x16xf16>
attn.kernel @store_before_all_have_read {
^bb0(%m: !g, %n: i32):
  %x = arith.constant dense<0.0> : !t
  %O = attn.alloc as "O" : !b
  %P = attn.alloc as "P" over "O" : !b
  attn.role "compute" warps 0 + 2 groups 1 {
  ^bb0(%g: i32):
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    attn.store %x, %O : !t, !b
    attn.sync group
    attn.copy %O to %m[%c0, %c0] via vector : !b, !g
    // expected-error @below {{stores into bytes that other warps may still read: no sync in between}}
    attn.store %x, %P : !t, !b
    attn.yield
  }
}

// -----

// A sweep that runs again: an item fetched beyond its end without asking is in the slot of the next run's first.
!g = memref<?x16xf16>
!b = !attn.buf<tensor<16x16xf16>, 32>
!r2 = !attn.ring<2, !b>
attn.kernel @fetched_beyond_the_end {
^bb0(%m: !g, %n: i32):
  %K = attn.alloc as "K" : !r2
  attn.role "compute" warps 0 + 2 groups 1 {
  ^bb0(%g: i32):
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    scf.for %h = %c0 to %n step %c1 : i32 {
      attn.sync group
      %ks0 = attn.acquire %K[%c0] : !r2 -> !b
      // expected-error @below {{overwrites an item of ring "K" that is not released yet}}
      attn.copy %m[%c0, %c0] to %ks0 fills %K[%c0] via cp_async : !g, !b, !r2
      attn.sweep ascending %c0 to %n plain %c0 to %n {
      ^bb0(%t: i32, %j: i32):
        %t1 = arith.addi %t, %c1 : i32
        %kb = attn.wait %K[%t] : !r2 -> !b
        %ks = attn.acquire %K[%t1] : !r2 -> !b
        // expected-error @below {{overwrites an item of ring "K" that is not released yet}}
        attn.copy %m[%c0, %c0] to %ks fills %K[%t1] via cp_async : !g, !b, !r2
        attn.release %K[%t] : !r2
        attn.yield
      }
    }
    attn.yield
  }
}

// -----

// .. and without a barrier in front of its first copy another warp may still read the last item of the run before.
!g = memref<?x16xf16>
!b = !attn.buf<tensor<16x16xf16>, 32>
!r2 = !attn.ring<2, !b>
attn.kernel @no_barrier_between_runs {
^bb0(%m: !g, %n: i32):
  %K = attn.alloc as "K" : !r2
  attn.role "compute" warps 0 + 2 groups 1 {
  ^bb0(%g: i32):
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    scf.for %h = %c0 to %n step %c1 : i32 {
      %ks0 = attn.acquire %K[%c0] : !r2 -> !b
      // expected-error @below {{overwrites an item of ring "K" that other warps may still read: no sync since its release}}
      attn.copy %m[%c0, %c0] to %ks0 fills %K[%c0] via cp_async : !g, !b, !r2
      attn.sweep ascending %c0 to %n plain %c0 to %n {
      ^bb0(%t: i32, %j: i32):
        %t1 = arith.addi %t, %c1 : i32
        %more = arith.cmpi slt, %t1, %n : i32
        %kb = attn.wait %K[%t] : !r2 -> !b
        %ks = attn.acquire %K[%t1] : !r2 -> !b
        attn.copy %m[%c0, %c0] to %ks fills %K[%t1] if %more via cp_async : !g, !b, !r2
        attn.release %K[%t] : !r2
        attn.yield
      }
    }
    attn.yield
  }
}
