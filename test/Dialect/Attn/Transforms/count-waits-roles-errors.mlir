// Roles that share rings, and every rule of theirs broken once by an edit of the kernel below, which is right
// (count-waits-roles.mlir): Analysis/RoleTrace.h, Analysis/RingProtocol.h.

// RUN: attn-opt %s -attn-count-waits -o /dev/null

// A group keeps an item, or gives it back twice.
// RUN: sed '/ release-k$/d' %s | not attn-opt -attn-count-waits 2>&1 | FileCheck %s --check-prefix=KEPT
// KEPT: 'attn.wait' op waits for item 0 of ring "K", which is never released
// RUN: sed '/ release-k$/p' %s | not attn-opt -attn-count-waits 2>&1 | FileCheck %s --check-prefix=TWICE
// TWICE: 'attn.release' op releases item 0 of ring "K", which is not waited for, or released before

// It reads what it gave back, itself or through a product under way.
// RUN: sed '/ take$/s/.*/attn.release %%K[%%nu] : !r/' %s | not attn-opt -attn-count-waits 2>&1 | FileCheck %s --check-prefix=READ
// READ: 'attn.dot' op reads item 0 of ring "K" after its release
// RUN: sed '/ await-t$/d; / release-k$/s/$/\n%%s2 = attn.await %%tp leaves 0 : !Sp -> !S/' %s | not attn-opt -attn-count-waits 2>&1 | FileCheck %s --check-prefix=UNDER
// UNDER: 'attn.release' op releases item 0 of ring "K", which product "T" may still read: no await in between

// A ring that two roles fill; a slot that is filled twice.
// RUN: sed '/ take$/s/$/\n%%no = attn.acquire %%K[%%nu] : !r -> !b/' %s | not attn-opt -attn-count-waits 2>&1 | FileCheck %s --check-prefix=TWO
// TWO: 'attn.acquire' op fills ring "K", which role "producer" fills too
// RUN: sed '/ fill-k$/p' %s | not attn-opt -attn-count-waits 2>&1 | FileCheck %s --check-prefix=AGAIN
// AGAIN: 'attn.copy' op fills item 0 of ring "K" again, or before it is acquired

// The producer leaves out a block, or forgets the tiles before; a group reads another's item.
// RUN: sed '/ steps$/s/%%c0/%%c1/' %s | not attn-opt -attn-count-waits 2>&1 | FileCheck %s --check-prefix=NOBODY
// NOBODY: 'attn.wait' op waits for item 0 of ring "K", which no role fills
// RUN: sed 's/addi %%n, %%hi/addi %%c0, %%hi/' %s | not attn-opt -attn-count-waits 2>&1 | FileCheck %s --check-prefix=NUMBER
// NUMBER: 'attn.copy' op fills item 2 of ring "K" a second time
// RUN: sed 's/addi %%q0, %%g/addi %%q0, %%c0/' %s | not attn-opt -attn-count-waits 2>&1 | FileCheck %s --check-prefix=OTHERS
// OTHERS-DAG: 'attn.release' op item 0 of ring "Q" is released by 8 warps, its ring expects 4 readers
// OTHERS-DAG: 'attn.copy' op fills item 1 of ring "Q", which nobody reads
// RUN: sed 's/addi %%q0, %%g/subi %%q0, %%g/' %s | not attn-opt -attn-count-waits 2>&1 | FileCheck %s --check-prefix=NEGATIVE
// NEGATIVE: 'attn.wait' op names item -1 of ring "Q"; items count from 0

// A barrier that expects more warps than there are; everybody waits for the other.
// RUN: sed 's/readers 8/readers 12/' %s | not attn-opt -attn-count-waits 2>&1 | FileCheck %s --check-prefix=READERS
// READERS: 'attn.release' op item 0 of ring "K" is released by 8 warps, its ring expects 12 readers
// RUN: sed 's/readers 8/readers 12/; s/ceildivui %%nk, %%c64/addi %%nk, %%c2/' %s | not attn-opt -attn-count-waits 2>&1 | FileCheck %s --check-prefix=SLOT
// SLOT: 'attn.acquire' op needs the slot of item 0 of ring "K", which 8 of its 12 readers release
// RUN: sed '/ take$/p' %s | not attn-opt -attn-count-waits 2>&1 | FileCheck %s --check-prefix=CIRCLE
// CIRCLE: 'attn.turn' op waits forever for its turn: roles wait for each other in a circle
// RUN: sed '/ give$/p' %s | not attn-opt -attn-count-waits 2>&1 | FileCheck %s --check-prefix=TURN
// TURN: 'attn.turn' op gives a turn to a group that has not taken the one before
// RUN: sed '/ give$/p' %s | not attn-opt -attn-count-waits 2>&1 | grep error: | count 1

// A result on its way out: the copy of the tile before may still read the buf, and only the thread that drains knows
// that it does not; what is not published is not there for a copy; whose bytes lie under it waits too.
// RUN: sed '/ drained$/d' %s | not attn-opt -attn-count-waits 2>&1 | FileCheck %s --check-prefix=STORE
// STORE: 'attn.store' op stores into bytes that a copy may still read: no drain in between
// RUN: sed '/ told$/d' %s | not attn-opt -attn-count-waits 2>&1 | FileCheck %s --check-prefix=TOLD
// TOLD: 'attn.store' op stores into bytes that a copy may still read, for all other warps know: no sync behind the drain
// RUN: sed '/ publish$/s/publish//' %s | not attn-opt -attn-count-waits 2>&1 | FileCheck %s --check-prefix=PUBLISH
// PUBLISH: 'attn.copy' op copies what is not stored and published: no sync publish in between
// A second piece through the same bytes is no other case.
// RUN: sed '/ out$/s/$/\nattn.store %%z, %%O : tensor<64x64xf16, #attn.frag<4, 1>>, !b/' %s | not attn-opt -attn-count-waits 2>&1 | FileCheck %s --check-prefix=STORE
// RUN: sed '/ drain-last$/d' %s | not attn-opt -attn-count-waits 2>&1 | FileCheck %s --check-prefix=LAST
// LAST: 'attn.alloc' op has a copy that is still open at the end of its role: no drain
// RUN: sed '/ release-q$/d; s/as "O"/& over "Q"/; / out$/s/$/\nattn.release %%Q[%%qi] : !r/' %s | not attn-opt -attn-count-waits 2>&1 | FileCheck %s --check-prefix=OVER
// OVER: 'attn.release' op releases item 0 of ring "Q", whose bytes a copy out of buf "O" may still read: no drain and sync in between

!m = memref<?x?x?x64xf16>
!map = !attn.map<tensor<64x64xf16>, 128>
!b = !attn.buf<tensor<64x64xf16>, 128>
!r = !attn.ring<2, !b>
!S = tensor<64x64xf32, #attn.frag<4, 1>>
!Sp = !attn.pending<tensor<64x64xf32, #attn.frag<4, 1>>>
attn.kernel @agree {
^bb0(%q: !m, %k: !m, %km: !map, %om: !map):
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %c64 = arith.constant 64 : i32
  %x2 = arith.constant 2 : index
  %rows = memref.dim %q, %x2 : !m
  %keys = memref.dim %k, %x2 : !m
  %nq = arith.index_cast %rows : index to i32
  %nk = arith.index_cast %keys : index to i32
  %hi = arith.ceildivui %nk, %c64 : i32
  %tiles = arith.ceildivui %nq, %c64 : i32
  %K = attn.alloc as "K" readers 8 : !r
  %Q = attn.alloc as "Q" readers 4 : !r
  attn.role "producer" warps 0 + 4 groups 1 elect {
  ^bb0(%g: i32):
    %end = scf.for %t = %c0 to %tiles step %c1 iter_args(%n = %c0) -> i32 : i32 {
      %q0 = arith.muli %t, %c2 : i32
      %q1 = arith.addi %q0, %c1 : i32
      %qs0 = attn.acquire %Q[%q0] : !r -> !b
      attn.copy %km[%c0, %c0, %q0] to %qs0 fills %Q[%q0] via tma : !map, !b, !r
      %qs1 = attn.acquire %Q[%q1] : !r -> !b
      attn.copy %km[%c0, %c0, %q1] to %qs1 fills %Q[%q1] via tma : !map, !b, !r
      scf.for %u = %c0 to %hi step %c1 : i32 { // steps
        %nu = arith.addi %n, %u : i32
        %ks = attn.acquire %K[%nu] : !r -> !b
        attn.copy %km[%c0, %c0, %u] to %ks fills %K[%nu] via tma : !map, !b, !r // fill-k
      }
      %n1 = arith.addi %n, %hi : i32
      scf.yield %n1 : i32
    }
    attn.yield
  }
  attn.role "compute" warps 4 + 8 groups 2 {
  ^bb0(%g: i32):
    %O = attn.alloc as "O" : !b
    %z = arith.constant dense<0.0> : tensor<64x64xf16, #attn.frag<4, 1>>
    %end = scf.for %t = %c0 to %tiles step %c1 iter_args(%n = %c0) -> i32 : i32 {
      %q0 = arith.muli %t, %c2 : i32
      %qi = arith.addi %q0, %g : i32
      %qb = attn.wait %Q[%qi] : !r -> !b
      scf.for %u = %c0 to %hi step %c1 : i32 {
        %nu = arith.addi %n, %u : i32
        %kb = attn.wait %K[%nu] : !r -> !b
        attn.turn take // take
        %sp = attn.dot as "S" async %qb, %kb trans_b : (!b, !b) -> !Sp
        %tp = attn.dot as "T" async %qb, %kb trans_b : (!b, !b) -> !Sp // second
        attn.turn give // give
        %s = attn.await %sp leaves 1 : !Sp -> !S // await-s
        %s2 = attn.await %tp leaves 0 : !Sp -> !S // await-t
        attn.release %K[%nu] : !r // release-k
      }
      attn.release %Q[%qi] : !r // release-q
      attn.drain 0 read // drained
      attn.sync group // told
      attn.store %z, %O : tensor<64x64xf16, #attn.frag<4, 1>>, !b
      attn.sync group publish // publish
      attn.copy %O to %om[%c0, %c0, %t] via tma : !b, !map // out
      %n1 = arith.addi %n, %hi : i32
      scf.yield %n1 : i32
    }
    attn.drain 0 // drain-last
    attn.yield
  }
}
