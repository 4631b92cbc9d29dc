// One refusal a rule: the name in the comment is the op and the rule of that number in the verifiers.
// RUN: attn-opt %s -split-input-file -verify-diagnostics

// @role_u1
attn.kernel @k {
^bb0(%m: memref<?x?x?x64xf16>, %n: i32):
  // expected-note @below {{that one takes 0 to 3}}
  attn.role "load" warps 0 + 4 groups 1 {
  ^bb0(%g: i32):
  }
  // expected-error @below {{'attn.role' op takes warps 3 to 6, some of which another role has}}
  attn.role "compute" warps 3 + 4 groups 1 {
  ^bb0(%g: i32):
  }
}

// -----

// @role_u1_cover
// expected-error @below {{'attn.kernel' op has 256 threads, its roles need 128}}
attn.kernel @k attributes {threads = 256 : i64} {
  attn.role "compute" warps 0 + 4 groups 1 {
  ^bb0(%g: i32):
  }
}

// -----

// @role_u2
attn.kernel @k {
^bb0(%m: memref<?x?x?x64xf16>, %n: i32):
  // expected-error @below {{'attn.role' op expects warps from 0 to 31 and at least one group, got 8 from 28 in 1 groups}}
  attn.role "compute" warps 28 + 8 groups 1 {
  ^bb0(%g: i32):
  }
}

// -----

// @role_u3
attn.kernel @k {
^bb0(%m: memref<?x?x?x64xf16>, %n: i32):
  // expected-error @below {{'attn.role' op expects groups of equal size, got 4 warps in 3 groups}}
  attn.role "compute" warps 0 + 4 groups 3 {
  ^bb0(%g: i32):
  }
}

// -----

// @role_u4
attn.kernel @k {
^bb0(%m: memref<?x?x?x64xf16>, %n: i32):
  // expected-error @below {{'attn.role' op body takes the group's number, one i32; got 2 arguments}}
  attn.role "compute" warps 0 + 4 groups 1 {
  ^bb0(%g: i32, %h: i32):
  }
}

// -----

// @alloc_a1
attn.kernel @k {
^bb0(%m: memref<?x?x?x64xf16>, %n: i32):
  // expected-error @below {{'attn.alloc' op expects an offset in multiples of 1024 bytes, got 512}}
  %0 = attn.alloc at 512 : !attn.ring<2, !attn.buf<tensor<32x64xf16>, 128>>
}

// -----

// @alloc_a1_plain
attn.kernel @k {
^bb0(%m: memref<?x?x?x64xf16>, %n: i32):
  // expected-error @below {{'attn.alloc' op expects an offset in multiples of 16 bytes, got -16}}
  %0 = attn.alloc at -16 : !attn.buf<tensor<32xf32>, 0>
}

// -----

// @alloc_a2
attn.kernel @k {
^bb0(%m: memref<?x?x?x64xf16>, %n: i32):
  // expected-error @below {{'attn.alloc' op finds no alloc labelled "Q" to lie over}}
  %0 = attn.alloc as "Q" over "Q" : !attn.buf<tensor<32x64xf16>, 128>
}

// -----

// @alloc_a3
attn.kernel @k {
^bb0(%m: memref<?x?x?x64xf16>, %n: i32):
  // expected-error @below {{'attn.alloc' op expects at least one reader, got 0}}
  %0 = attn.alloc readers 0 : !attn.ring<2, !attn.buf<tensor<32x64xf16>, 128>>
}

// -----

// @acquire_g3
attn.kernel @k {
^bb0(%m: memref<?x?x?x64xf16>, %n: i32):
  %K = attn.alloc : !attn.ring<2, !attn.buf<tensor<32x64xf16>, 128>>
  // expected-error @below {{'attn.acquire' op expects the bufs of a slot, '!attn.buf<tensor<32x64xf16>, 128>'; got '!attn.buf<tensor<32x64xf16>, 64>'}}
  %0 = attn.acquire %K[%n] : !attn.ring<2, !attn.buf<tensor<32x64xf16>, 128>> -> !attn.buf<tensor<32x64xf16>, 64>
}

// -----

// @wait_v1
attn.kernel @k {
^bb0(%m: memref<?x?x?x64xf16>, %n: i32):
  %K = attn.alloc : !attn.ring<2, !attn.buf<tensor<32x64xf16>, 128>>
  // expected-error @below {{'attn.wait' op expects 'leaves' of at least 0, got -1}}
  %0 = attn.wait %K[%n] leaves -1 : !attn.ring<2, !attn.buf<tensor<32x64xf16>, 128>> -> !attn.buf<tensor<32x64xf16>, 128>
}

// -----

// @wait_v2
attn.kernel @k {
^bb0(%m: memref<?x?x?x64xf16>, %n: i32):
  %K = attn.alloc : !attn.ring<2, !attn.buf<tensor<32x64xf16>, 128>>
  // expected-error @below {{'attn.wait' op expects the bufs of a slot, '!attn.buf<tensor<32x64xf16>, 128>'; got }}
  %0 = attn.wait %K[%n] : !attn.ring<2, !attn.buf<tensor<32x64xf16>, 128>> -> !attn.buf<tensor<8xf32>, 0>
}

// -----

// @copy_y1_no_slot
attn.kernel @k {
^bb0(%m: memref<?x?x?x64xf16>, %n: i32):
  %K = attn.alloc : !attn.ring<2, !attn.buf<tensor<32x64xf16>, 128>>
  // expected-note @below {{the destination comes from here}}
  %s = attn.alloc : !attn.buf<tensor<32x64xf16>, 128>
  // expected-error @below {{'attn.copy' op fills an item of a ring, but its destination is not a slot of that ring}}
  attn.copy %m[%n, %n, %n] to %s fills %K[%n] via cp_async : memref<?x?x?x64xf16>, !attn.buf<tensor<32x64xf16>, 128>, !attn.ring<2, !attn.buf<tensor<32x64xf16>, 128>>
}

// -----

// @copy_y1_not_filled
attn.kernel @k {
^bb0(%m: memref<?x?x?x64xf16>, %n: i32):
  %K = attn.alloc : !attn.ring<2, !attn.buf<tensor<32x64xf16>, 128>>
  // expected-note @below {{the destination comes from here}}
  %s = attn.acquire %K[%n] : !attn.ring<2, !attn.buf<tensor<32x64xf16>, 128>> -> !attn.buf<tensor<32x64xf16>, 128>
  // expected-error @below {{'attn.copy' op writes into a slot of a ring without filling its item}}
  attn.copy %m[%n, %n, %n] to %s via cp_async : memref<?x?x?x64xf16>, !attn.buf<tensor<32x64xf16>, 128>
}

// -----

// @copy_y1_other_item
attn.kernel @k {
^bb0(%m: memref<?x?x?x64xf16>, %n: i32):
  %K = attn.alloc : !attn.ring<2, !attn.buf<tensor<32x64xf16>, 128>>
  %c = arith.constant 0 : i32
  // expected-note @below {{the destination comes from here}}
  %s = attn.acquire %K[%n] : !attn.ring<2, !attn.buf<tensor<32x64xf16>, 128>> -> !attn.buf<tensor<32x64xf16>, 128>
  // expected-error @below {{'attn.copy' op fills another item than the slot it writes into}}
  attn.copy %m[%n, %n, %n] to %s fills %K[%c] via cp_async : memref<?x?x?x64xf16>, !attn.buf<tensor<32x64xf16>, 128>, !attn.ring<2, !attn.buf<tensor<32x64xf16>, 128>>
}

// -----

// @copy_y2
attn.kernel @k {
^bb0(%m: memref<?x?x?x64xf16>, %n: i32):
  // expected-error @below {{'attn.copy' op moves between a memref or a tensor map and a buf, got 'memref<?x?x?x64xf16>' to 'memref<?x?x?x64xf16>'}}
  attn.copy %m[%n, %n, %n] to %m[%n, %n, %n] via vector : memref<?x?x?x64xf16>, memref<?x?x?x64xf16>
}

// -----

// @copy_y3
attn.kernel @k {
^bb0(%m: memref<?x?x?x64xf16>, %n: i32):
  %K = attn.alloc : !attn.ring<2, !attn.buf<tensor<32x64xf16>, 128>>
  %s = attn.acquire %K[%n] : !attn.ring<2, !attn.buf<tensor<32x64xf16>, 128>> -> !attn.buf<tensor<32x64xf16>, 128>
  // expected-error @below {{'attn.copy' op expects coordinates into the memref only, for its leading 2 dimensions at least and its rank at most; got 1 and 0 into the buf}}
  attn.copy %m[%n] to %s fills %K[%n] via cp_async : memref<?x?x?x64xf16>, !attn.buf<tensor<32x64xf16>, 128>, !attn.ring<2, !attn.buf<tensor<32x64xf16>, 128>>
}

// -----

// @copy_y4
attn.kernel @k {
^bb0(%m: memref<?x?x?x64xf16>, %n: i32):
  %s = attn.alloc : !attn.buf<tensor<32x64xbf16>, 128>
  // expected-error @below {{'attn.copy' op moves one element type, got 'f16' and 'bf16'}}
  attn.copy %s to %m[%n, %n, %n] via vector : !attn.buf<tensor<32x64xbf16>, 128>, memref<?x?x?x64xf16>
}

// -----

// @copy_y5
attn.kernel @k {
^bb0(%m: memref<?x?x?x64xf16>, %n: i32):
  %s = attn.alloc : !attn.buf<tensor<32x64xf16>, 128>
  // expected-error @below {{'attn.copy' op cp_async moves from a memref to a buf only}}
  attn.copy %s to %m[%n, %n, %n] via cp_async : !attn.buf<tensor<32x64xf16>, 128>, memref<?x?x?x64xf16>
}

// -----

// @copy_y6
attn.kernel @k {
^bb0(%m: memref<?x?x?x64xf16>, %n: i32):
  %s = attn.alloc : !attn.buf<tensor<32x64xf16>, 128>
  // expected-error @below {{'attn.copy' op goes through a tensor map if and only if it goes via tma, got 'memref<?x?x?x64xf16>' via tma}}
  attn.copy %s to %m[%n, %n, %n] via tma : !attn.buf<tensor<32x64xf16>, 128>, memref<?x?x?x64xf16>
}

// -----

// @copy_y7
attn.kernel @k {
^bb0(%m: !attn.map<tensor<64x64xf16>, 128>, %n: i32):
  %s = attn.alloc : !attn.buf<tensor<32x64xf16>, 128>
  // expected-error @below {{'attn.copy' op expects the map of its buf, '!attn.buf<tensor<32x64xf16>, 128>'; got '!attn.map<tensor<64x64xf16>, 128>'}}
  attn.copy %s to %m[%n, %n, %n] via tma : !attn.buf<tensor<32x64xf16>, 128>, !attn.map<tensor<64x64xf16>, 128>
}

// -----

// @map_n1
// expected-error @below {{expects a swizzled tile of rank 2, got 'tensor<64x64xf16>' with a swizzle span of 0}}
func.func private @f(!attn.map<tensor<64x64xf16>, 0>)

// -----

// @pending_p1
// expected-error @below {{expects an f32 tile with #attn.frag of form tile, got 'tensor<64x64xf32>'}}
func.func private @f(!attn.pending<tensor<64x64xf32>>)

// -----

// @dot_d8
attn.kernel @k {
^bb0(%a: i32):
  %p = arith.constant dense<0.0> : tensor<64x64xbf16, #attn.frag<4, 1>>
  %b = attn.alloc : !attn.buf<tensor<64x64xbf16>, 128>
  // expected-error @below {{'attn.dot' op is async, so its result is pending; got 'tensor<64x64xf32, #attn.frag<4, 1>>'}}
  %s = attn.dot async %p, %b : (tensor<64x64xbf16, #attn.frag<4, 1>>, !attn.buf<tensor<64x64xbf16>, 128>) -> tensor<64x64xf32, #attn.frag<4, 1>>
}

// -----

// @await_i1
attn.kernel @k {
^bb0(%a: i32):
  %p = arith.constant dense<0.0> : tensor<64x64xbf16, #attn.frag<4, 1>>
  %b = attn.alloc : !attn.buf<tensor<64x64xbf16>, 128>
  %s = attn.dot async %p, %b : (tensor<64x64xbf16, #attn.frag<4, 1>>, !attn.buf<tensor<64x64xbf16>, 128>) -> !attn.pending<tensor<64x64xf32, #attn.frag<4, 1>>>
  // expected-error @below {{'attn.await' op returns the tile of every pending, got}}
  %t = attn.await %s leaves 0 : !attn.pending<tensor<64x64xf32, #attn.frag<4, 1>>> -> tensor<64x32xf32, #attn.frag<4, 1>>
}

// -----

// @await_i1
attn.kernel @k {
^bb0(%a: i32):
  %p = arith.constant dense<0.0> : tensor<64x64xbf16, #attn.frag<4, 1>>
  %b = attn.alloc : !attn.buf<tensor<64x64xbf16>, 128>
  %s = attn.dot async %p, %b : (tensor<64x64xbf16, #attn.frag<4, 1>>, !attn.buf<tensor<64x64xbf16>, 128>) -> !attn.pending<tensor<64x64xf32, #attn.frag<4, 1>>>
  // expected-error @below {{'attn.await' op expects 'leaves' of at least 0, got -1}}
  %t = attn.await %s leaves -1 : !attn.pending<tensor<64x64xf32, #attn.frag<4, 1>>> -> tensor<64x64xf32, #attn.frag<4, 1>>
}

// -----

// @any_e6
attn.kernel @k {
^bb0(%a: i32):
  %p = arith.constant dense<0.0> : tensor<64xf32, #attn.frag<4, 1, rows>>
  // expected-error @below {{'attn.any' op asks for a tile of i1, got 'tensor<64xf32, #attn.frag<4, 1, rows>>'}}
  %s = attn.any %p : tensor<64xf32, #attn.frag<4, 1, rows>>
}

// -----

// @put_b1
attn.kernel @k {
^bb0(%a: i32):
  %b = attn.alloc : !attn.buf<tensor<2xi32>, 0>
  // expected-error @below {{'attn.put' op expects a buf of one i32, got '!attn.buf<tensor<2xi32>, 0>'}}
  attn.put %a, %b : !attn.buf<tensor<2xi32>, 0>
}

// -----

// @get_b1
attn.kernel @k {
^bb0(%a: i32):
  %b = attn.alloc : !attn.buf<tensor<1xf32>, 0>
  // expected-error @below {{'attn.get' op expects a buf of one i32, got '!attn.buf<tensor<1xf32>, 0>'}}
  %x = attn.get %b : !attn.buf<tensor<1xf32>, 0>
}

// -----

// @role_u5
attn.kernel @k {
  // expected-error @below {{'attn.role' op expects 'regs' in multiples of 8 from 24 to 256, got 20}}
  attn.role "r" warps 0 + 4 groups 1 regs 20 {
  ^bb0(%g: i32):
  }
}

// -----

// @role_u6
attn.kernel @k {
  // expected-error @below {{'attn.role' op elects one thread, so it is one group; got 2}}
  attn.role "r" warps 0 + 8 groups 2 elect {
  ^bb0(%g: i32):
  }
}

// -----

// @alloc_a4
attn.kernel @k {
  // expected-error @below {{'attn.alloc' op expects barriers at a multiple of 8 bytes, got 4}}
  %K = attn.alloc barriers 4 : !attn.ring<2, !attn.buf<tensor<32x64xf16>, 128>>
}

// -----

func.func @slice_n1(%b: !attn.buf<tensor<64x128xbf16>, 128>, %i: i32) {
  // expected-error @below {{'attn.slice' op expects a swizzled buf and some of its columns, got}}
  %s = attn.slice %b[%i] : !attn.buf<tensor<64x128xbf16>, 128> -> !attn.buf<tensor<32x64xbf16>, 128>
  return
}

// -----

func.func @slice_n2(%b: !attn.buf<tensor<64x64xbf16>, 128>, %i: i32) {
  // expected-error @below {{'attn.slice' op expects at most 64 columns, got}}
  %s = attn.slice %b[%i] : !attn.buf<tensor<64x64xbf16>, 128> -> !attn.buf<tensor<64x128xbf16>, 128>
  return
}

// -----

func.func @copy_y8(%m: memref<?x?xf32>, %b: !attn.buf<tensor<64xf32>, 0>, %i: i32) {
  // expected-error @below {{'attn.copy' op via bulk fills an item with a tile of rank 1, got 'tensor<64xf32>'}}
  attn.copy %m[%i, %i] to %b via bulk : memref<?x?xf32>, !attn.buf<tensor<64xf32>, 0>
  return
}
