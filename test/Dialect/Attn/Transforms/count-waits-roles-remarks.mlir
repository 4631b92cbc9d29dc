// Roles whose control flow the check cannot follow, or not to the end: it says that it knows nothing about their rings.
// RUN: attn-opt %s -split-input-file -attn-count-waits -remarks-filter-missed=attn-count-waits -remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s

// CHECK: remark: [Missed] rings | Category:attn-count-waits | Function={{.*}} | Reason="role "compute" cannot be followed through scf.for", Remark="rings not checked: "
attn.kernel @steps_from_memory {
^bb0(%x: f32):
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  attn.role "producer" warps 0 + 4 groups 1 elect {
  ^bb0(%g: i32):
    attn.yield
  }
  attn.role "compute" warps 4 + 4 groups 1 {
  ^bb0(%g: i32):
    %n = arith.fptosi %x : f32 to i32
    scf.for %u = %c0 to %n step %c1 : i32 {
      attn.sync group
    }
    attn.yield
  }
}

// -----

// CHECK: Reason="role "compute" goes on for more than 8192 operations", Remark="rings not checked: "
attn.kernel @too_many_steps {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %n = arith.constant 10000 : i32
  attn.role "producer" warps 0 + 4 groups 1 elect {
  ^bb0(%g: i32):
    attn.yield
  }
  attn.role "compute" warps 4 + 4 groups 1 {
  ^bb0(%g: i32):
    scf.for %u = %c0 to %n step %c1 : i32 {
      attn.sync group
    }
    attn.yield
  }
}

// -----

// Ten steps are run to their end, and nothing is said.
// CHECK-NOT: Reason=
attn.kernel @few_steps {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %n = arith.constant 10 : i32
  attn.role "producer" warps 0 + 4 groups 1 elect {
  ^bb0(%g: i32):
    attn.yield
  }
  attn.role "compute" warps 4 + 4 groups 1 {
  ^bb0(%g: i32):
    scf.for %u = %c0 to %n step %c1 : i32 {
      attn.sync group
    }
    attn.yield
  }
}
