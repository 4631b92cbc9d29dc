// Out of a sweep's loop everything moves that does not change; out of a loop over tiles single numbers only.
// RUN: attn-opt %s -attn-hoist-invariants | FileCheck %s

// CHECK-LABEL: func.func @tiles
func.func @tiles(%n: i32, %steps: i32) -> i32 {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  // CHECK: arith.muli
  // CHECK: scf.while
  // CHECK:   tensor.splat
  // CHECK:   arith.cmpi slt{{.*}} tensor<8xi32>
  // CHECK:   scf.for
  // CHECK-NOT: arith.cmpi slt{{.*}} tensor<8xi32>
  %last = scf.while (%id = %c0) : (i32) -> i32 {
    %limit = arith.muli %n, %n : i32
    %end = scf.for %t = %c0 to %steps step %c1 iter_args(%sum = %c0) -> i32 : i32 {
      %limits = tensor.splat %limit : tensor<8xi32>
      %zeros = arith.constant dense<0> : tensor<8xi32>
      %mask = arith.cmpi slt, %zeros, %limits : tensor<8xi32>
      %next = func.call @step(%mask, %sum) : (tensor<8xi1>, i32) -> i32
      scf.yield %next : i32
    }
    %more = arith.cmpi slt, %end, %n : i32
    scf.condition(%more) %end : i32
  } do {
  ^bb0(%id: i32):
    scf.yield %id : i32
  }
  return %last : i32
}
func.func private @step(tensor<8xi1>, i32) -> i32
