// RUN: attn-opt %s -split-input-file -attn-plan-memory | FileCheck %s
// RUN: attn-opt %s -split-input-file -attn-plan-memory -remarks-filter=attn-plan-memory -remarks-filter-missed=attn-plan-memory -remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK

!b = !attn.buf<tensor<16x16xf16>, 32>
!wide = !attn.buf<tensor<16x64xf16>, 128>

// Swizzled bufs start at multiples of 1024, others, behind them, at multiples of 128; a ring takes all its slots; O shares the bytes
// of Q and, being wider, makes them more.
// CHECK-LABEL: attn.kernel @offsets
// CHECK-SAME: smem_bytes = 4224 : i64, threads = 64 : i64
// CHECK: attn.alloc as "Q" at 0 :
// CHECK: attn.alloc as "K" at 2048 :
// CHECK: attn.alloc as "L" at 4096 :
// CHECK: attn.alloc as "V" at 3072 :
// CHECK: attn.alloc as "O" at 0 over "Q" :
// REMARK: plan="0 + 512 "Q": 1 x tensor<16x16xf16>; 0 + 2048 "O": tensor<16x64xf16>; 2048 + 1024 "K": 2 x tensor<16x16xf16>; 3072 + 1024 "V": 2 x tensor<16x16xf16>; 4096 + 128 "L": tensor<16xf32>", smem_bytes=4224, threads=64
module attributes {attn.target = #attn.target<chip = "toy", family = mma_sync, smem = 5120>} {
  attn.kernel @offsets {
  ^bb0(%n: i32):
    %Q = attn.alloc as "Q" : !attn.ring<1, !b>
    %K = attn.alloc as "K" : !attn.ring<2, !b>
    %L = attn.alloc as "L" : !attn.buf<tensor<16xf32>, 0>
    %V = attn.alloc as "V" : !attn.ring<2, !b>
    attn.role "compute" warps 0 + 2 groups 1 {
    ^bb0(%g: i32):
      %O = attn.alloc as "O" over "Q" : !wide
      attn.yield
    }
  }
}

// -----

!b = !attn.buf<tensor<16x16xf16>, 32>

// An alloc inside a role is one per group. Two blocks were hoped for, the SM holds one.
// CHECK-LABEL: attn.kernel @groups
// CHECK-SAME: smem_bytes = 2048 : i64, threads = 96 : i64
// REMARK: [Missed]{{.*}}shared memory of an SM does not hold the blocks of the schedule: {{.*}}blocks=2, need=6144, smem_sm=4096
module attributes {attn.target = #attn.target<chip = "toy", family = mma_sync, smem = 4096, smem_sm = 4096>} {
  attn.kernel @groups attributes {schedule = #attn.schedule<tile = [16, 16], warps = [1, 1], blocks = 2>} {
  ^bb0(%n: i32):
    attn.role "producer" warps 0 + 1 groups 1 {
    ^bb0(%g: i32):
      attn.yield
    }
    attn.role "compute" warps 1 + 2 groups 2 {
    ^bb0(%g: i32):
      %O = attn.alloc as "O" : !attn.ring<2, !b>
      attn.yield
    }
  }
}

// -----

// Rows of 128 bytes without swizzle lie in the same banks: eight passes where one would do.
// CHECK-LABEL: attn.kernel @banks
// REMARK: [Missed]{{.*}}eight rows of the tile collide in the banks: {{.*}}plain{{.*}}, passes=8
// REMARK-NOT: [Missed]
module attributes {attn.target = #attn.target<chip = "toy", family = mma_sync, smem = 8192>} {
  attn.kernel @banks {
  ^bb0(%n: i32):
    %P = attn.alloc as "plain" : !attn.buf<tensor<16x64xf16>, 0>
    %S = attn.alloc as "swizzled" : !attn.buf<tensor<16x64xf16>, 128>
    %T = attn.alloc as "narrow" : !attn.buf<tensor<16x16xf16>, 32>
    attn.role "compute" warps 0 + 1 groups 1 {
    ^bb0(%g: i32):
      attn.yield
    }
  }
}

// -----

!b = !attn.buf<tensor<64x64xf16>, 128>
!word = !attn.buf<tensor<1xi32>, 0>

// Family wgmma: each slot of a kernel's ring has two barriers, behind all data; a word takes four bytes, behind what is
// aligned more strictly. The groups' O lie side by side.
// CHECK-LABEL: attn.kernel @barriers
// CHECK-SAME: smem_bytes = 49280 : i64, threads = 384 : i64
// CHECK: attn.alloc as "K" readers 8 at 0 barriers 49160 : !attn.ring<2,
// CHECK: attn.alloc as "tile" readers 8 at 49152 barriers 49192 : !attn.ring<1,
// CHECK: attn.alloc as "Q" readers 4 at 16384 barriers 49208 : !attn.ring<2,
// CHECK: attn.alloc as "O" at 32768 : !attn.buf
// REMARK: plan="0 + 16384 "K": 2 x tensor<64x64xf16>; 16384 + 16384 "Q": 2 x tensor<64x64xf16>; 32768 + 16384 "O": tensor<64x64xf16>; 49152 + 4 "tile": 1 x tensor<1xi32>; 49160 + 80 barriers", smem_bytes=49280, threads=384
module attributes {attn.target = #attn.target<chip = "toy", family = wgmma, smem = 49280>} {
  attn.kernel @barriers {
  ^bb0(%n: i32):
    %K = attn.alloc as "K" readers 8 : !attn.ring<2, !b>
    %T = attn.alloc as "tile" readers 8 : !attn.ring<1, !word>
    %Q = attn.alloc as "Q" readers 4 : !attn.ring<2, !b>
    attn.role "producer" warps 0 + 4 groups 1 elect {
    ^bb0(%g: i32):
      attn.yield
    }
    attn.role "compute" warps 4 + 8 groups 2 {
    ^bb0(%g: i32):
      %O = attn.alloc as "O" : !b
      attn.yield
    }
  }
}
