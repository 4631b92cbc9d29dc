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

// A mask in front of a loop over tiles is made again inside, from single numbers; what is no integer stays.
// CHECK-LABEL: func.func @sunk
// CHECK-SAME: %[[N:[^:]*]]: i32
// CHECK: arith.cmpi slt{{.*}} tensor<8xi32>
// CHECK: %[[F:.*]] = tensor.splat %{{.*}} : tensor<8xf32>
// CHECK: scf.while
// CHECK:   %[[LIMITS:.*]] = tensor.splat %[[N]] : tensor<8xi32>
// CHECK:   %[[MASK:.*]] = arith.cmpi slt, %{{.*}}, %[[LIMITS]] : tensor<8xi32>
// CHECK:   func.call @both(%[[MASK]], %[[F]]
func.func @sunk(%n: i32, %x: f32) -> i32 {
  %c0 = arith.constant 0 : i32
  %zeros = arith.constant dense<0> : tensor<8xi32>
  %limits = tensor.splat %n : tensor<8xi32>
  %mask = arith.cmpi slt, %zeros, %limits : tensor<8xi32>
  %floats = tensor.splat %x : tensor<8xf32>
  %start = func.call @both(%mask, %floats, %c0) : (tensor<8xi1>, tensor<8xf32>, i32) -> i32
  %last = scf.while (%id = %start) : (i32) -> i32 {
    %end = func.call @both(%mask, %floats, %id) : (tensor<8xi1>, tensor<8xf32>, i32) -> i32
    %more = arith.cmpi slt, %end, %n : i32
    scf.condition(%more) %end : i32
  } do {
  ^bb0(%id: i32):
    scf.yield %id : i32
  }
  return %last : i32
}
func.func private @both(tensor<8xi1>, tensor<8xf32>, i32) -> i32
