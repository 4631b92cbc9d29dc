// RUN: attn-opt %s --convert-attn-to-cpu --split-input-file --verify-diagnostics

// expected-error @below {{expects begin and end (i64) as its last arguments}}
attn.kernel @no_range {
^bb0(%o: memref<?x8xf32, strided<[?, 1], offset: ?>>):
}

// -----

// expected-error @below {{argument 0 of type 'memref<?x8xf32, strided<[?, 2], offset: ?>>' is not supported on the CPU: expected a number, or a memref whose last dimension has unit stride}}
attn.kernel @strided {
^bb0(%o: memref<?x8xf32, strided<[?, 2], offset: ?>>, %begin: i64, %end: i64):
}

// -----

attn.kernel @transposes {
^bb0(%o: memref<?x8xf32, strided<[?, 1], offset: ?>>, %begin: i64, %end: i64):
  %c0 = arith.constant 0 : i32
  %t = attn.load %o[%c0] : memref<?x8xf32, strided<[?, 1], offset: ?>> -> tensor<8x8xf32>
  // expected-error @+2 {{'tensor.reshape' op is not supported on the CPU}}
  %shape = arith.constant dense<[64]> : tensor<1xi32>
  %u = tensor.reshape %t(%shape) : (tensor<8x8xf32>, tensor<1xi32>) -> tensor<64xf32>
}

// -----

attn.kernel @no_splat {
^bb0(%o: memref<?x2xf32, strided<[?, 1], offset: ?>>, %begin: i64, %end: i64):
  %c0 = arith.constant 0 : i32
  // expected-error @below {{is not supported on the CPU: its elements differ}}
  %t = arith.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %u = arith.addf %t, %t : tensor<2x2xf32>
  attn.store %u, %o[%c0] : tensor<2x2xf32>, memref<?x2xf32, strided<[?, 1], offset: ?>>
}

// -----

attn.kernel @sweeps {
^bb0(%o: memref<?x8xf32, strided<[?, 1], offset: ?>>, %begin: i64, %end: i64):
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  // expected-error @below {{is split into loops by attn-split-sweeps before it is converted for the CPU}}
  attn.sweep ascending %c0 to %c1 plain %c0 to %c1 {
  ^bb0(%t: i32, %j: i32):
  }
}

// -----

attn.kernel @unknown_function {
^bb0(%o: memref<?x8xf32, strided<[?, 1], offset: ?>>, %begin: i64, %end: i64):
  %c0 = arith.constant 0 : i32
  %t = attn.load %o[%c0] : memref<?x8xf32, strided<[?, 1], offset: ?>> -> tensor<8x8xf32>
  // expected-error @below {{has no lowering on the CPU; supported are math.absf, math.absi, math.atan,}}
  %u = math.acosh %t : tensor<8x8xf32>
  attn.store %u, %o[%c0] : tensor<8x8xf32>, memref<?x8xf32, strided<[?, 1], offset: ?>>
}

// -----

attn.kernel @across_tiles {
^bb0(%o: memref<?x8xf32, strided<[?, 1], offset: ?>>, %begin: i64, %end: i64):
  %c0 = arith.constant 0 : i32
  %t = attn.load %o[%c0] : memref<?x8xf32, strided<[?, 1], offset: ?>> -> tensor<8x8xf32>
  // expected-error @below {{is not supported on the CPU: nothing is added up across tiles there}}
  attn.store add %t, %o[%c0] : tensor<8x8xf32>, memref<?x8xf32, strided<[?, 1], offset: ?>>
}

// -----

attn.kernel @transposed_first {
^bb0(%o: memref<?x8xf32, strided<[?, 1], offset: ?>>, %begin: i64, %end: i64):
  %c0 = arith.constant 0 : i32
  %t = attn.load %o[%c0] : memref<?x8xf32, strided<[?, 1], offset: ?>> -> tensor<16x8xf32>
  // expected-error @below {{is not supported on the CPU: dQ is computed in a nest over queries there}}
  %d = attn.dot %t trans_a, %t : (tensor<16x8xf32>, tensor<16x8xf32>) -> tensor<8x8xf32>
  attn.store %d, %o[%c0] : tensor<8x8xf32>, memref<?x8xf32, strided<[?, 1], offset: ?>>
}
