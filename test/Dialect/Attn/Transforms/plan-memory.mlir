// RUN: attn-opt %s -split-input-file -attn-plan-memory | FileCheck %s
// RUN: attn-opt %s -split-input-file -attn-plan-memory -remarks-filter=attn-plan-memory -remarks-filter-missed=attn-plan-memory -remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK

!b = !attn.buf<tensor<16x16xf16>, 32>
!wide = !attn.buf<tensor<16x64xf16>, 128>

// Swizzled bufs start at multiples of 1024, others at multiples of 128; a ring takes all its slots; O shares the bytes
// of Q and, being wider, makes them more.
// CHECK-LABEL: attn.kernel @offsets
// CHECK-SAME: smem_bytes = 5120 : i64, threads = 64 : i64
// CHECK: attn.alloc as "Q" at 0 :
// CHECK: attn.alloc as "K" at 2048 :
// CHECK: attn.alloc as "L" at 3072 :
// CHECK: attn.alloc as "V" at 4096 :
// CHECK: attn.alloc as "O" at 0 over "Q" :
// REMARK: plan="0 + 512 "Q": 1 x tensor<16x16xf16>; 0 + 2048 "O": tensor<16x64xf16>; 2048 + 1024 "K": 2 x tensor<16x16xf16>; 3072 + 128 "L": tensor<16xf32>; 4096 + 1024 "V": 2 x tensor<16x16xf16>", smem_bytes=5120, threads=64
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
