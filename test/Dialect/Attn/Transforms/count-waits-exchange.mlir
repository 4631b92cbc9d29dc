// The groups of a role fill a ring for each other: every step meets once, at the wait (Analysis/RingProtocol.h).

// RUN: attn-opt %s -attn-count-waits -o /dev/null

// With one slot a group fills it while the other may still read what was in it.
// RUN: sed 's/ring<2/ring<1/' %s | not attn-opt -attn-count-waits 2>&1 | FileCheck %s --check-prefix=SLOT
// SLOT: 'attn.acquire' op fills the slot of item 0 of ring "dS", which another group may still read: of no item in between all groups wait for have all filled their part since their release

// What is waited for before all have filled it never comes.
// RUN: sed '/ commit$/d' %s | not attn-opt -attn-count-waits 2>&1 | FileCheck %s --check-prefix=NEVER
// NEVER: 'attn.wait' op waits for item 0 of ring "dS", which no role fills
// RUN: sed '/ commit$/d; s/ wait$/\nattn.commit %%x[%%t] : !X/' %s | not attn-opt -attn-count-waits 2>&1 | FileCheck %s --check-prefix=LATE
// LATE: 'attn.wait' op waits forever for item 0 of ring "dS": roles wait for each other in a circle

// Filled twice; read by nobody.
// RUN: sed '/ commit$/p; / commit$/s/commit$/again/' %s | not attn-opt -attn-count-waits 2>&1 | FileCheck %s --check-prefix=TWICE
// TWICE: 'attn.commit' op fills item 0 of ring "dS" again, or before it is acquired

!B = !attn.buf<tensor<64x64xbf16>, 128>
!r = !attn.ring<1, !attn.buf<tensor<1xi32>, 0>>
!X = !attn.ring<2, !B>
module attributes {attn.target = #attn.target<chip = "toy", family = wgmma, smem = 65536>} {
  attn.kernel @exchange attributes {schedule = #attn.schedule<tile = [64, 128], warps = [4, 1], groups = 2>} {
  ^bb0(%k: memref<?x?x?x64xbf16>):
    %c0 = arith.constant 0 : i32   %c1 = arith.constant 1 : i32   %c4 = arith.constant 4 : i32
    %x = attn.alloc as "dS" readers 8 : !X
    %w = attn.alloc as "word" readers 8 : !r
    attn.role "producer" warps 0 + 4 groups 1 elect {
    ^bb0(%g: i32):
      %s = attn.acquire %w[%c0] : !r -> !attn.buf<tensor<1xi32>, 0>
      attn.put %c4, %s : !attn.buf<tensor<1xi32>, 0>
      attn.commit %w[%c0] : !r
      attn.yield
    }
    attn.role "compute" warps 4 + 8 groups 2 {
    ^bb0(%g: i32):
      %s = attn.wait %w[%c0] : !r -> !attn.buf<tensor<1xi32>, 0>
      attn.release %w[%c0] : !r
      scf.for %t = %c0 to %c4 step %c1 : i32 {
        %mine = attn.acquire %x[%t] : !X -> !B
        attn.commit %x[%t] : !X // commit
        %all = attn.wait %x[%t] : !X -> !B // wait
        attn.release %x[%t] : !X
      }
      attn.yield
    }
  }
}
