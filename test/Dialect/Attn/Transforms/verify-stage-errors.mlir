// Every promise broken once by hand; the message says which pass should have kept it.
// RUN: split-file %s %t
// RUN: attn-opt %t/spec.mlir -split-input-file -attn-verify-stage=stage=spec -verify-diagnostics
// RUN: attn-opt %t/tiled.mlir -split-input-file -attn-verify-stage=stage=tiled -verify-diagnostics
// RUN: attn-opt %t/mapped.mlir -split-input-file -attn-verify-stage=stage=mapped -verify-diagnostics
// RUN: attn-opt %t/partitioned.mlir -split-input-file -attn-verify-stage=stage=partitioned -verify-diagnostics
// RUN: attn-opt %t/nvvm.mlir -split-input-file -attn-verify-stage=stage=nvvm -verify-diagnostics
// RUN: attn-opt %t/llvm.mlir -split-input-file -attn-verify-stage=stage=llvm -verify-diagnostics

//--- spec.mlir
func.func @tile_op(%m: memref<?x16xf16>, %i: i32) {
  // expected-error @below {{breaks what stage spec promises: no tile, kernel or buffer is there yet; whoever wrote it should have seen to it}}
  %t = attn.load %m[%i, %i] : memref<?x16xf16> -> tensor<16x16xf16>
  return
}

//--- tiled.mlir
// expected-error @below {{breaks what stage tiled promises: the module names its machine in attn.target; attn-set-target should have seen to it}}
module {
}

// -----

module attributes {attn.target = #attn.target<chip = "toy", family = cpu>} {
  func.func @sdpa_left(%q: tensor<?x?x?x16xf16>) {
    // expected-error @below {{breaks what stage tiled promises: no attn.sdpa is left; attn-tile-forward should have seen to it}}
    %o, %l = attn.sdpa(%q, %q, %q) scale 1.0 : (tensor<?x?x?x16xf16>, tensor<?x?x?x16xf16>, tensor<?x?x?x16xf16>) -> (tensor<?x?x?x16xf16>, tensor<?x?x?xf32>)
    return
  }
}

// -----

module attributes {attn.target = #attn.target<chip = "toy", family = cpu>} {
  // expected-error @below {{its loops say which schedule they were built from; attn-choose-schedule should have seen to it}}
  func.func @no_schedule(%n: index) {
    scf.forall (%i) in (%n) {
    }
    return
  }
}

// -----

module attributes {attn.target = #attn.target<chip = "toy", family = cpu>} {
  func.func @fragment(%f: f32) {
    // expected-error @below {{tiles are not spread over registers yet; whoever wrote it should have seen to it}}
    %t = tensor.splat %f : tensor<16x16xf32, #attn.frag<1, 1>>
    return
  }
}

// -----

!g = memref<?x?x?x16xf16, strided<[?, ?, ?, 1], offset: ?>>
module attributes {attn.target = #attn.target<chip = "toy", family = cpu>} {
  // expected-error @below {{breaks what stage tiled promises: some store writes output 'o'; whoever wrote it should have seen to it}}
  func.func @reads_only(%q: !g {attn.name = "q", attn.role = "in"}, %o: !g {attn.name = "o", attn.role = "out"}) {
    %c0 = arith.constant 0 : i32
    %t = attn.load %o[%c0, %c0, %c0] : !g -> tensor<16x16xf16>
    attn.store %t, %q[%c0, %c0, %c0] : tensor<16x16xf16>, !g
    return
  }
}

//--- mapped.mlir
module attributes {attn.target = #attn.target<chip = "toy", family = cpu>} {
  func.func @forall_left(%n: index) {
    // expected-error @below {{breaks what stage mapped promises: no scf.forall is left; attn-map-to-grid should have seen to it}}
    scf.forall (%i) in (%n) {
    }
    return
  }
}

// -----

module attributes {attn.target = #attn.target<chip = "toy", family = cpu>} {
  // expected-error @below {{a kernel keeps its schedule; attn-map-to-grid should have seen to it}}
  // expected-error @below {{a kernel walks a grid of tiles; attn-map-to-grid should have seen to it}}
  attn.kernel @bare {
  ^bb0(%n: i32):
  }
}

// -----

module attributes {attn.target = #attn.target<chip = "toy", family = cpu>} {
  func.func @host(%x: index, %n: i32) {
    // The range of tile ids is added when tiles are lowered, not before.
    // expected-error @below {{a launch passes what its kernel takes; attn-map-to-grid should have seen to it}}
    attn.launch @f tiles(%x, %x, %x) args(%n : i32)
    return
  }
  attn.kernel @f attributes {schedule = #attn.schedule<tile = [16, 16], warps = [1, 1]>} {
  ^bb0(%n: i32, %begin: i64, %end: i64):
    attn.tiles single(%n, %n, %n) {
    ^bb0(%t: i32, %i: i32, %h: i32, %b: i32):
      attn.yield
    }
  }
}

// -----

// Of two kernels one writes; the other output has none.
!g = memref<?x?x?x16xf16, strided<[?, ?, ?, 1], offset: ?>>
module attributes {attn.target = #attn.target<chip = "toy", family = cpu>} {
  // expected-error @below {{breaks what stage mapped promises: some store writes output 'dk'; whoever wrote it should have seen to it}}
  func.func @f(%dk: !g {attn.name = "dk", attn.role = "out"}, %dv: !g {attn.name = "dv", attn.role = "out"}) {
    %c1 = arith.constant 1 : index
    attn.launch @f_dk tiles(%c1, %c1, %c1) args(%dk : !g)
    attn.launch @f_dv tiles(%c1, %c1, %c1) args(%dv : !g)
    return
  }
  attn.kernel @f_dk attributes {schedule = #attn.schedule<tile = [16, 16], warps = [1, 1]>} {
  ^bb0(%dk: !g):
    %c1 = arith.constant 1 : i32
    attn.tiles single(%c1, %c1, %c1) {
    ^bb0(%t: i32, %i: i32, %h: i32, %b: i32):
      %x = attn.load %dk[%b, %h, %i] : !g -> tensor<16x16xf16>
    }
  }
  attn.kernel @f_dv attributes {schedule = #attn.schedule<tile = [16, 16], warps = [1, 1]>} {
  ^bb0(%dv: !g):
    %c1 = arith.constant 1 : i32
    attn.tiles single(%c1, %c1, %c1) {
    ^bb0(%t: i32, %i: i32, %h: i32, %b: i32):
      %x = attn.load %dv[%b, %h, %i] : !g -> tensor<16x16xf16>
      attn.store %x, %dv[%b, %h, %i] : tensor<16x16xf16>, !g
    }
  }
}

//--- partitioned.mlir
module attributes {attn.target = #attn.target<chip = "toy", family = mma_sync>} {
  // expected-error @below {{a kernel has roles; attn-partition-roles should have seen to it}}
  attn.kernel @no_role {
  ^bb0(%n: i32):
    // expected-error @below {{no attn.tiles is left; attn-lower-tiles should have seen to it}}
    attn.tiles single(%n, %n, %n) {
    ^bb0(%t: i32, %i: i32, %h: i32, %b: i32):
      // expected-error @below {{no attn.sweep is left; attn-split-sweeps should have seen to it}}
      attn.sweep descending %n to %n plain %n to %n {
      ^bb0(%tt: i32, %j: i32):
        attn.yield
      }
      attn.yield
    }
  }
}

// -----

module attributes {attn.target = #attn.target<chip = "toy", family = mma_sync>} {
  // expected-error @below {{a kernel says smem_bytes and threads; attn-plan-memory should have seen to it}}
  attn.kernel @no_plan {
  ^bb0(%n: i32):
    attn.role "compute" warps 0 + 1 groups 1 {
    ^bb0(%g: i32):
      attn.yield
    }
  }
}

// -----

module attributes {attn.target = #attn.target<chip = "toy", family = mma_sync, smem = 1024>} {
  // expected-error @below {{a block fits the target's shared memory; attn-plan-memory should have seen to it}}
  attn.kernel @large attributes {smem_bytes = 2048 : i64, threads = 32 : i64} {
  ^bb0(%n: i32):
    attn.role "compute" warps 0 + 1 groups 1 {
    ^bb0(%g: i32):
      attn.yield
    }
  }
}

// -----

!b = !attn.buf<tensor<16x16xf16>, 32>
module attributes {attn.target = #attn.target<chip = "toy", family = mma_sync>} {
  attn.kernel @offsets attributes {smem_bytes = 3072 : i64, threads = 32 : i64} {
  ^bb0(%n: i32):
    // expected-error @below {{every alloc has an offset; attn-plan-memory should have seen to it}}
    %A = attn.alloc as "A" : !b
    // expected-error @below {{its offset is a multiple of 128; attn-plan-memory should have seen to it}}
    %B = attn.alloc as "B" at 16 : !attn.buf<tensor<16x16xf16>, 0>
    %C = attn.alloc as "C" at 1024 : !attn.ring<3, !b>
    // expected-error @below {{only allocs joined by 'over' share bytes; attn-plan-memory should have seen to it}}
    %D = attn.alloc as "D" at 2048 : !b
    %E = attn.alloc as "E" at 1024 over "C" : !b
    // expected-error @below {{every alloc ends within smem_bytes; attn-plan-memory should have seen to it}}
    %F = attn.alloc as "F" at 3072 : !b
    attn.role "compute" warps 0 + 1 groups 1 {
    ^bb0(%g: i32):
      attn.yield
    }
  }
}

// -----

module attributes {attn.target = #attn.target<chip = "toy", family = mma_sync>} {
  // expected-error @below {{every warp of the block has a role; attn-partition-roles should have seen to it}}
  attn.kernel @warps attributes {smem_bytes = 0 : i64, threads = 96 : i64} {
  ^bb0(%n: i32, %f: f32):
    // expected-error @below {{tiles are computed in roles only; attn-partition-roles should have seen to it}}
    %t = tensor.splat %f : tensor<16x16xf32>
    attn.role "a" warps 0 + 1 groups 1 {
    ^bb0(%g: i32):
      // expected-error @below {{every tensor in a role is spread over registers; attn-assign-fragments should have seen to it}}
      %s = tensor.splat %f : tensor<16x16xf32>
      attn.yield
    }
    // expected-error @below {{the block has threads for all warps of its roles; attn-plan-memory should have seen to it}}
    attn.role "c" warps 2 + 2 groups 1 {
    ^bb0(%g: i32):
      attn.yield
    }
  }
}

// -----

!g = memref<?x16xf16>
!b = !attn.buf<tensor<16x16xf16>, 32>
!r = !attn.ring<2, !b>
module attributes {attn.target = #attn.target<chip = "toy", family = mma_sync>} {
  attn.kernel @waits attributes {smem_bytes = 2048 : i64, threads = 32 : i64} {
  ^bb0(%m: !g, %n: i32, %p: i32):
    %K = attn.alloc as "K" at 0 : !r
    %V = attn.alloc as "V" at 1024 : !r
    attn.role "compute" warps 0 + 1 groups 1 {
    ^bb0(%g: i32):
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %k0 = attn.acquire %K[%c0] : !r -> !b
      attn.copy %m[%c0, %c0] to %k0 fills %K[%c0] via cp_async : !g, !b, !r
      %v0 = attn.acquire %V[%c0] : !r -> !b
      attn.copy %m[%c0, %c0] to %v0 fills %V[%c0] via cp_async : !g, !b, !r
      scf.for %t = %c0 to %n step %c1 : i32 {
        %t1 = arith.addi %t, %c1 : i32
        // expected-error @below {{a wait leaves only younger copies open, here 1, got 2; attn-count-waits should have seen to it}}
        %kb = attn.wait %K[%t] leaves 2 : !r -> !b
        %ks = attn.acquire %K[%t1] : !r -> !b
        attn.copy %m[%c0, %c0] to %ks fills %K[%t1] via cp_async : !g, !b, !r
        attn.release %K[%t] : !r
        // expected-error @below {{a wait says how many copies it leaves open; attn-count-waits should have seen to it}}
        %vb = attn.wait %V[%t] : !r -> !b
        %vs = attn.acquire %V[%t1] : !r -> !b
        attn.copy %m[%c0, %c0] to %vs fills %V[%t1] via cp_async : !g, !b, !r
        attn.release %V[%t] : !r
      }
      // Fewer than could be open is slow, not wrong.
      scf.for %t = %n to %p step %c1 : i32 {
        %t1 = arith.addi %t, %c1 : i32
        %kb = attn.wait %K[%t] leaves 0 : !r -> !b
        %ks = attn.acquire %K[%t1] : !r -> !b
        attn.copy %m[%c0, %c0] to %ks fills %K[%t1] via cp_async : !g, !b, !r
        attn.release %K[%t] : !r
        %vb = attn.wait %V[%t] leaves 1 : !r -> !b
        attn.release %V[%t] : !r
        %vs = attn.acquire %V[%t1] : !r -> !b
        attn.copy %m[%c0, %c0] to %vs fills %V[%t1] via cp_async : !g, !b, !r
      }
      attn.yield
    }
  }
}

// -----

!g = memref<?x16xf16>
!b = !attn.buf<tensor<16x16xf16>, 32>
!r = !attn.ring<1, !b>
module attributes {attn.target = #attn.target<chip = "toy", family = mma_sync>} {
  attn.kernel @order attributes {smem_bytes = 512 : i64, threads = 32 : i64} {
  ^bb0(%m: !g, %n: i32):
    %K = attn.alloc as "K" at 0 : !r
    attn.role "compute" warps 0 + 1 groups 1 {
    ^bb0(%g: i32):
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %k0 = attn.acquire %K[%c0] : !r -> !b
      attn.copy %m[%c0, %c0] to %k0 fills %K[%c0] via cp_async : !g, !b, !r
      scf.for %t = %c0 to %n step %c1 : i32 {
        %t1 = arith.addi %t, %c1 : i32
        %kb = attn.wait %K[%t] leaves 0 : !r -> !b
        attn.release %K[%t] : !r
        %ks = attn.acquire %K[%t1] : !r -> !b
        // expected-error @below {{overwrites an item of ring "K" that other warps may still read: no sync since its release; attn-partition-roles should have ordered it}}
        attn.copy %m[%c0, %c0] to %ks fills %K[%t1] via cp_async : !g, !b, !r
      }
      attn.yield
    }
  }
}

// -----

module attributes {attn.target = #attn.target<chip = "toy", family = mma_sync>} {
  attn.kernel @two_roles attributes {smem_bytes = 0 : i64, threads = 96 : i64} {
  ^bb0(%n: i32):
    attn.role "a" warps 0 + 2 groups 1 {
    ^bb0(%g: i32):
      attn.yield
    }
    attn.role "b" warps 2 + 1 groups 1 {
    ^bb0(%g: i32):
      // expected-error @below {{every tensor in a role is spread over registers; attn-assign-fragments should have seen to it}}
      %s = arith.constant dense<0.0> : tensor<16x16xf16>
      // expected-error @below {{every tensor in a role is spread over registers; attn-assign-fragments should have seen to it}}
      // expected-error @below {{a product reads B from shared memory; attn-partition-roles should have seen to it}}
      %d = attn.dot %s, %s : (tensor<16x16xf16>, tensor<16x16xf16>) -> tensor<16x16xf32>
      attn.yield
    }
  }
}

// -----

// Barriers: every ring of the kernel has its own, behind all data. The "V" of this one lie over those of "K".
!b = !attn.buf<tensor<16x16xf16>, 32>
module attributes {attn.target = #attn.target<chip = "toy", family = wgmma, smem = 4096>} {
  attn.kernel @barriers attributes {smem_bytes = 3200 : i64, threads = 128 : i64} {
  ^bb0(%n: i32):
    // expected-error @below {{a ring of the kernel has barriers; attn-plan-memory should have seen to it}}
    %Q = attn.alloc as "Q" readers 4 at 0 : !attn.ring<1, !b>
    %K = attn.alloc as "K" readers 4 at 1024 barriers 3072 : !attn.ring<2, !b>
    // expected-error @below {{barriers lie behind all data and other barriers, within smem_bytes; attn-plan-memory should have seen to it}}
    %V = attn.alloc as "V" readers 4 at 2048 barriers 3088 : !attn.ring<2, !b>
    attn.role "compute" warps 0 + 4 groups 1 {
    ^bb0(%g: i32):
      attn.yield
    }
  }
}

// -----

// V1 and V2: what an await leaves open are the younger products; every product is awaited once.
!b = !attn.buf<tensor<64x64xf16>, 128>
!S = tensor<64x64xf32, #attn.frag<4, 1>>
!Sp = !attn.pending<tensor<64x64xf32, #attn.frag<4, 1>>>
module attributes {attn.target = #attn.target<chip = "toy", family = wgmma, smem = 8192>} {
  attn.kernel @leaves attributes {smem_bytes = 8192 : i64, threads = 256 : i64} {
  ^bb0(%n: i32):
    %B = attn.alloc as "B" at 0 : !b
    attn.role "producer" warps 0 + 4 groups 1 elect {
    ^bb0(%g: i32):
      attn.yield
    }
    attn.role "compute" warps 4 + 4 groups 1 {
    ^bb0(%g: i32):
      %s = attn.dot as "S" async %B, %B trans_b : (!b, !b) -> !Sp
      %t = attn.dot as "T" async %B, %B trans_b : (!b, !b) -> !Sp
      // expected-error @below {{leaves 0 products open, but 1 are issued behind the last it waits for (attn-schedule-sweep)}}
      %x = attn.await %s leaves 0 : !Sp -> !S
      %y = attn.await %t leaves 0 : !Sp -> !S
      attn.yield
    }
  }
  attn.kernel @not_awaited attributes {smem_bytes = 8192 : i64, threads = 256 : i64} {
  ^bb0(%n: i32):
    %B = attn.alloc as "B" at 0 : !b
    attn.role "producer" warps 0 + 4 groups 1 elect {
    ^bb0(%g: i32):
      attn.yield
    }
    attn.role "compute" warps 4 + 4 groups 1 {
    ^bb0(%g: i32):
      // expected-error @below {{is awaited nowhere; attn-schedule-sweep waits once for each product}}
      %s = attn.dot as "S" async %B, %B trans_b : (!b, !b) -> !Sp
      attn.yield
    }
  }
}

// -----

// Rings between roles (every rule: count-waits-roles-errors.mlir).
!b = !attn.buf<tensor<64x64xf16>, 128>
!r = !attn.ring<1, !b>
module attributes {attn.target = #attn.target<chip = "toy", family = wgmma, smem = 16384>} {
  attn.kernel @nobody_fills attributes {smem_bytes = 8320 : i64, threads = 256 : i64} {
  ^bb0(%n: i32):
    %c0 = arith.constant 0 : i32
    %K = attn.alloc as "K" readers 4 at 0 barriers 8192 : !r
    attn.role "producer" warps 0 + 4 groups 1 elect {
    ^bb0(%g: i32):
      attn.yield
    }
    attn.role "compute" warps 4 + 4 groups 1 {
    ^bb0(%g: i32):
      // expected-error @below {{waits for item 0 of ring "K", which no role fills; attn-partition-roles or attn-schedule-sweep should have ordered it}}
      %k = attn.wait %K[%c0] : !r -> !b
      attn.release %K[%c0] : !r
      attn.yield
    }
  }
}

//--- nvvm.mlir
// expected-error @below {{breaks what stage nvvm promises: device code is llvm and nvvm only; convert-attn-to-nvvm should have seen to it}}
memref.global "private" @g : memref<4xf32>
llvm.func @f() {
  // expected-error @below {{device code is llvm and nvvm only; convert-attn-to-nvvm should have seen to it}}
  %c = arith.constant 0 : i32
  llvm.return
}

//--- llvm.mlir
llvm.func @f() {
  // expected-error @below {{breaks what stage llvm promises: device code is llvm only; convert-attn-to-cpu should have seen to it}}
  %t = nvvm.read.ptx.sreg.tid.x : i32
  llvm.return
}
