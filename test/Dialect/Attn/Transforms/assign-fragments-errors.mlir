// RUN: attn-opt %s -split-input-file -attn-assign-fragments -verify-diagnostics

module attributes {attn.target = #attn.target<chip = "toy", family = mma_sync>} {
  attn.kernel @warps_along_columns attributes {schedule = #attn.schedule<tile = [16, 16], warps = [1, 2]>} {
  ^bb0(%n: i32, %f: f32):
    // expected-error @below {{expects schedules of [m, 1] warps on family mma_sync (every warp owns whole rows), got [1, 2]}}
    attn.role "compute" warps 0 + 2 groups 1 {
    ^bb0(%g: i32):
      attn.yield
    }
  }
}

// -----

!b = !attn.buf<tensor<16x16xf32>, 64>
module attributes {attn.target = #attn.target<chip = "toy", family = mma_sync>} {
  attn.kernel @no_instruction_for_type attributes {schedule = #attn.schedule<tile = [16, 16], warps = [1, 1]>} {
  ^bb0(%n: i32, %f: f32):
    %Q = attn.alloc as "Q" : !b
    attn.role "compute" warps 0 + 2 groups 1 {
    ^bb0(%g: i32):
      // expected-error @below {{has no matrix instruction for M = 16, N = 16, K = 16, A of 'f32', B of 'f32' on 1 x 1 warps; there are: m16n8k16 f16 (N in multiples of 16) m16n8k16 bf16 (N in multiples of 16)}}
      %s = attn.dot %Q, %Q trans_b : (!b, !b) -> tensor<16x16xf32>
      attn.yield
    }
  }
}

// -----

!a = !attn.buf<tensor<16x8xf16>, 0>
module attributes {attn.target = #attn.target<chip = "toy", family = mma_sync>} {
  attn.kernel @no_instruction_for_shape attributes {schedule = #attn.schedule<tile = [16, 16], warps = [1, 1]>} {
  ^bb0(%n: i32, %f: f32):
    %Q = attn.alloc as "Q" : !a
    attn.role "compute" warps 0 + 2 groups 1 {
    ^bb0(%g: i32):
      // expected-error @below {{has no matrix instruction for M = 16, N = 16, K = 8, A of 'f16', B of 'f16' on 1 x 1 warps}}
      %s = attn.dot %Q, %Q trans_b : (!a, !a) -> tensor<16x16xf32>
      attn.yield
    }
  }
}

// -----

// Column atoms are loaded in pairs, so N = 40 is refused here already.
!a = !attn.buf<tensor<16x16xf16>, 32>
!b = !attn.buf<tensor<40x16xf16>, 32>
module attributes {attn.target = #attn.target<chip = "toy", family = mma_sync>} {
  attn.kernel @odd_number_of_column_atoms attributes {schedule = #attn.schedule<tile = [16, 40], warps = [1, 1]>} {
  ^bb0(%n: i32, %f: f32):
    %Q = attn.alloc as "Q" : !a
    %K = attn.alloc as "K" : !b
    attn.role "compute" warps 0 + 2 groups 1 {
    ^bb0(%g: i32):
      // expected-error @below {{has no matrix instruction for M = 16, N = 40, K = 16}}
      %s = attn.dot %Q, %K trans_b : (!a, !b) -> tensor<16x40xf32>
      attn.yield
    }
  }
}

// -----

!a = !attn.buf<tensor<16x16xf16>, 32>
module attributes {attn.target = #attn.target<chip = "toy", family = mma_sync>} {
  attn.kernel @too_many_warps attributes {schedule = #attn.schedule<tile = [16, 16], warps = [2, 1]>} {
  ^bb0(%n: i32, %f: f32):
    %Q = attn.alloc as "Q" : !a
    attn.role "compute" warps 0 + 2 groups 1 {
    ^bb0(%g: i32):
      // expected-error @below {{has no matrix instruction for M = 16, N = 16, K = 16, A of 'f16', B of 'f16' on 2 x 1 warps}}
      %s = attn.dot %Q, %Q trans_b : (!a, !a) -> tensor<16x16xf32>
      attn.yield
    }
  }
}

// -----

module attributes {attn.target = #attn.target<chip = "toy", family = mma_sync>} {
  attn.kernel @not_whole_atoms attributes {schedule = #attn.schedule<tile = [16, 16], warps = [2, 1]>} {
  ^bb0(%n: i32, %f: f32):
    attn.role "compute" warps 0 + 2 groups 1 {
    ^bb0(%g: i32):
      // expected-error @below {{'tensor<48x16xf32>' cannot be spread over 2 x 1 warps: expects rows in multiples of 32 and columns in multiples of 8}}
      %s = tensor.splat %f : tensor<48x16xf32>
      %e = math.exp2 %s : tensor<48x16xf32>
      attn.yield
    }
  }
}

// -----

module attributes {attn.target = #attn.target<chip = "toy", family = mma_sync>} {
  attn.kernel @rows_and_columns attributes {schedule = #attn.schedule<tile = [16, 16], warps = [1, 1]>} {
  ^bb0(%n: i32, %f: f32):
    attn.role "compute" warps 0 + 2 groups 1 {
    ^bb0(%g: i32):
      %s = tensor.splat %f : tensor<16xf32>
      // expected-error @below {{a vector is used along the rows and along the columns of tiles; no fragment holds both}}
      %e = math.exp2 %s : tensor<16xf32>
      %x = attn.spread %e along 0 : tensor<16xf32> -> tensor<16x16xf32>
      %y = attn.spread %e along 1 : tensor<16xf32> -> tensor<16x16xf32>
      attn.yield
    }
  }
}

// -----

module attributes {attn.target = #attn.target<chip = "toy", family = mma_sync>} {
  attn.kernel @no_meaning_on_fragments attributes {schedule = #attn.schedule<tile = [16, 16], warps = [1, 1]>} {
  ^bb0(%n: i32, %f: f32):
    attn.role "compute" warps 0 + 2 groups 1 {
    ^bb0(%g: i32):
      %s = tensor.splat %f : tensor<16x16xf32>
      // expected-error @below {{'tensor.cast' cannot be spread over warps: a role computes on tiles by attn ops, by elementwise arith and math, tensor.splat, tensor.extract_slice, scf.for and scf.if}}
      %x = tensor.cast %s : tensor<16x16xf32> to tensor<?x16xf32>
      attn.yield
    }
  }
}

// -----

module attributes {attn.target = #attn.target<chip = "toy", family = mma_sync>} {
  attn.kernel @many_valued_constant attributes {schedule = #attn.schedule<tile = [16, 16], warps = [1, 1]>} {
  ^bb0(%n: i32, %f: f32):
    attn.role "compute" warps 0 + 2 groups 1 {
    ^bb0(%g: i32):
      // expected-error @below {{expects one value for all elements of a tile in a role}}
      %s = arith.constant dense<[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0, 12.0, 13.0, 14.0, 15.0]> : tensor<16xf32>
      %e = math.exp2 %s : tensor<16xf32>
      attn.yield
    }
  }
}

// -----

module attributes {attn.target = #attn.target<chip = "toy", family = mma_sync>} {
  attn.kernel @no_schedule {
  ^bb0(%n: i32):
    // expected-error @below {{needs a schedule on its kernel, got none}}
    attn.role "compute" warps 0 + 2 groups 1 {
    ^bb0(%g: i32):
      attn.yield
    }
  }
}

// -----

// Rows of other lanes; half an atom; a vector; columns of other warps.
module attributes {attn.target = #attn.target<chip = "toy", family = mma_sync>} {
  attn.kernel @slice_of_rows attributes {schedule = #attn.schedule<tile = [16, 16], warps = [1, 1]>} {
  ^bb0(%n: i32, %f: f32):
    attn.role "compute" warps 0 + 4 groups 1 {
    ^bb0(%g: i32):
      %s = tensor.splat %f : tensor<32x16xf32>
      // expected-error @below {{expects whole columns of a matrix, from a multiple of 8 on, and warps that own whole rows; got 'tensor<16x16xf32>' of 'tensor<32x16xf32>' on 1 x 1 warps}}
      %x = tensor.extract_slice %s[16, 0] [16, 16] [1, 1] : tensor<32x16xf32> to tensor<16x16xf32>
      attn.yield
    }
  }
}

// -----

module attributes {attn.target = #attn.target<chip = "toy", family = mma_sync>} {
  attn.kernel @slice_inside_atom attributes {schedule = #attn.schedule<tile = [16, 16], warps = [1, 1]>} {
  ^bb0(%n: i32, %f: f32):
    attn.role "compute" warps 0 + 4 groups 1 {
    ^bb0(%g: i32):
      %s = tensor.splat %f : tensor<16x16xf32>
      // expected-error @below {{expects whole columns of a matrix, from a multiple of 8 on, and warps that own whole rows; got 'tensor<16x8xf32>' of 'tensor<16x16xf32>' on 1 x 1 warps}}
      %x = tensor.extract_slice %s[0, 4] [16, 8] [1, 1] : tensor<16x16xf32> to tensor<16x8xf32>
      attn.yield
    }
  }
}

// -----

module attributes {attn.target = #attn.target<chip = "toy", family = mma_sync>} {
  attn.kernel @slice_of_vector attributes {schedule = #attn.schedule<tile = [16, 16], warps = [1, 1]>} {
  ^bb0(%n: i32, %f: f32):
    attn.role "compute" warps 0 + 4 groups 1 {
    ^bb0(%g: i32):
      %s = tensor.splat %f : tensor<32xf32>
      // expected-error @below {{expects whole columns of a matrix, from a multiple of 8 on, and warps that own whole rows; got 'tensor<16xf32>' of 'tensor<32xf32>' on 1 x 1 warps}}
      %x = tensor.extract_slice %s[16] [16] [1] : tensor<32xf32> to tensor<16xf32>
      attn.yield
    }
  }
}

// -----

module attributes {attn.target = #attn.target<chip = "toy", family = wgmma>} {
  attn.kernel @slice_across_warps attributes {schedule = #attn.schedule<tile = [16, 16], warps = [2, 2]>} {
  ^bb0(%n: i32, %f: f32):
    attn.role "compute" warps 0 + 4 groups 1 {
    ^bb0(%g: i32):
      %s = tensor.splat %f : tensor<32x32xf32>
      // expected-error @below {{expects whole columns of a matrix, from a multiple of 8 on, and warps that own whole rows; got 'tensor<32x16xf32>' of 'tensor<32x32xf32>' on 2 x 2 warps}}
      %x = tensor.extract_slice %s[0, 16] [32, 16] [1, 1] : tensor<32x32xf32> to tensor<32x16xf32>
      attn.yield
    }
  }
}
