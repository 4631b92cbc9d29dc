// One function and two other ways of computing it: one manifest, a choice in place of a kernel, one file of code.
// Persistent launches, a counter, tensor maps: what kernels for the tensor memory accelerator take.
// RUN: rm -rf %t && attn-compile %s -o %t && FileCheck %s --input-file %t/manifest.json --match-full-lines
// RUN: FileCheck %s --input-file %t/f_fwd.ptx --check-prefix PTX && ls %t | count 2

!q = memref<?x?x?x72xbf16, strided<[?, ?, ?, 1], offset: ?>>
!l = memref<?x?x?xf32, strided<[?, ?, 1], offset: ?>>
!m = !attn.map<tensor<64x128xbf16>, 128>
!km = !attn.map<tensor<80x128xbf16>, 64>
#meaning = {op = "sdpa", operands = {q = "q", k = "k", v = "v", o = "o", lse = "lse"}, scale = 0.5 : f32, masks = []}
module attributes {attn.target = #attn.target<chip = "sm_90a", family = wgmma, smem = 232448, smem_sm = 233472, sms = 132>} {
  // The counter is one buffer: of the three functions a call runs one, and each leaves it 0.
  // CHECK:   "workspace": [{"dims":[1],"name":"counter","type":"i32","zero":"restored"}],
  // Equal rules are one value.
  // CHECK-NEXT:   "values": {
  // CHECK-NEXT:     "section": {"budget":1000,"of":["batch","q_heads"],"rule":"largest_divisor","unit_bytes":["k_len",288],"whole":66},
  // CHECK-NEXT:     "section1": {"budget":1,"of":["batch","q_heads"],"rule":"largest_divisor","unit_bytes":["k_len",288],"whole":66},
  // CHECK-NEXT:     "section2": {"budget":1000,"of":["batch","q_heads"],"rule":"largest_divisor","unit_bytes":["k_len",288]}
  // CHECK-NEXT:   },
  // CHECK-NEXT:   "kernels": [
  // CHECK-NEXT:     {
  // CHECK-NEXT:       "first_of": [
  // CHECK-NEXT:         {
  // CHECK-NEXT:           "args": [
  // CHECK-NEXT:             {"ptr":"q"},
  // CHECK-NEXT:             {"strides":"q"},
  // CHECK-NEXT:             {"sizes":"q"},
  // CHECK-NEXT:             {"value":"section"},
  // A memref is its pointer and its sizes, workspace too.
  // CHECK-NEXT:             {"ptr":"counter"},
  // CHECK-NEXT:             {"sizes":"counter"},
  // CHECK-NEXT:             {"layout":"rows4","map":"q","rows":64,"swizzle":128},
  // CHECK-NEXT:             {"layout":"rows4","map":"k","rows":80,"swizzle":64}
  // CHECK-NEXT:           ],
  // CHECK-NEXT:           "blocks_per_sm": 2,
  // CHECK-NEXT:           "chip": "sm_90a",
  // CHECK-NEXT:           "grid": "min_sms",
  // CHECK-NEXT:           "name": "f_fwd",
  // CHECK-NEXT:           "ptx": "f_fwd.ptx",
  // CHECK-NEXT:           "smem_bytes": 2048,
  // CHECK-NEXT:           "threads": 384,
  // CHECK-NEXT:           "tiles": [{"by":128,"ceil":"q_len"},"q_heads","batch"],
  // CHECK-NEXT:           "when": [{"aligned":["q","k"]},{"from":512,"size":"q_len"}]
  // CHECK-NEXT:         },
  // CHECK-NEXT:         {
  // CHECK-NEXT:           "args": [
  // CHECK-NEXT:             {"value":"section1"},
  // CHECK-NEXT:             {"ptr":"counter"},
  // CHECK-NEXT:             {"sizes":"counter"},
  // CHECK-NEXT:             {"layout":"rows4","map":"q","rows":64,"swizzle":128}
  // CHECK-NEXT:           ],
  // CHECK-NEXT:           "blocks_per_sm": 1,
  // CHECK-NEXT:           "chip": "sm_90a",
  // CHECK-NEXT:           "grid": "min_sms",
  // CHECK-NEXT:           "name": "f_short_fwd",
  // CHECK-NEXT:           "ptx": "f_fwd.ptx",
  // CHECK-NEXT:           "smem_bytes": 1024,
  // CHECK-NEXT:           "threads": 256,
  // CHECK-NEXT:           "tiles": [{"by":64,"ceil":"q_len"},"q_heads","batch"],
  // CHECK-NEXT:           "when": {"aligned":["q"]}
  // CHECK-NEXT:         },
  // CHECK-NEXT:         {
  // CHECK-NEXT:           "args": [{"ptr":"q"},{"strides":"q"},{"sizes":"q"},{"value":"section2"}],
  // CHECK-NEXT:           "chip": "sm_90a",
  // CHECK-NEXT:           "grid": "one_per_tile",
  // CHECK-NEXT:           "name": "f_unaligned_fwd",
  // CHECK-NEXT:           "ptx": "f_fwd.ptx",
  // CHECK-NEXT:           "smem_bytes": 0,
  // CHECK-NEXT:           "threads": 128,
  // CHECK-NEXT:           "tiles": ["q_len","q_heads","batch"]
  // CHECK-NEXT:         }
  // CHECK-NEXT:       ]
  // CHECK-NEXT:     }
  // CHECK-NEXT:   ]

  // The function itself comes first wherever it stands.
  func.func @f_short(%q: !q {attn.name = "q", attn.role = "in"}, %k: !q {attn.name = "k", attn.role = "in"},
                     %v: !q {attn.name = "v", attn.role = "in"}, %o: !q {attn.name = "o", attn.role = "out"},
                     %lse: !l {attn.name = "lse", attn.role = "out"})
      attributes {attn.meaning = #meaning, attn.alternative = @f, attn.when = {aligned = ["q"]}} {
    %x0 = arith.constant 0 : index
    %x1 = arith.constant 1 : index
    %x2 = arith.constant 2 : index
    %x64 = arith.constant 64 : index
    %x288 = arith.constant 288 : index
    %B = memref.dim %q, %x0 : !q
    %H = memref.dim %q, %x1 : !q
    %Sq = memref.dim %q, %x2 : !q
    %Sk = memref.dim %k, %x2 : !q
    %nq = arith.ceildivui %Sq, %x64 : index
    %bytes = arith.muli %Sk, %x288 : index
    %sec = attn.section of(%B, %H) unit(%bytes) budget 1 whole 66
    %cnt = memref.alloc() : memref<1xi32>
    %qm = attn.tensor_map %q : !q -> !m
    attn.launch @f_short_fwd persistent tiles(%nq, %H, %B) args(%sec, %cnt, %qm : i32, memref<1xi32>, !m)
    return
  }
  func.func @f(%q: !q {attn.name = "q", attn.role = "in"}, %k: !q {attn.name = "k", attn.role = "in"},
               %v: !q {attn.name = "v", attn.role = "in"}, %o: !q {attn.name = "o", attn.role = "out"},
               %lse: !l {attn.name = "lse", attn.role = "out"})
      attributes {attn.meaning = #meaning, attn.when = {aligned = ["q", "k"], size = "q_len", from = 512}} {
    %x0 = arith.constant 0 : index
    %x1 = arith.constant 1 : index
    %x2 = arith.constant 2 : index
    %x128 = arith.constant 128 : index
    %x288 = arith.constant 288 : index
    %B = memref.dim %q, %x0 : !q
    %H = memref.dim %q, %x1 : !q
    %Sq = memref.dim %q, %x2 : !q
    %Sk = memref.dim %k, %x2 : !q
    %nq = arith.ceildivui %Sq, %x128 : index
    %bytes = arith.muli %Sk, %x288 : index
    %sec = attn.section of(%B, %H) unit(%bytes) budget 1000 whole 66
    %cnt = memref.alloc() : memref<1xi32>
    %qm = attn.tensor_map %q : !q -> !m
    %km = attn.tensor_map %k : !q -> !km
    attn.launch @f_fwd persistent tiles(%nq, %H, %B) args(%q, %sec, %cnt, %qm, %km : !q, i32, memref<1xi32>, !m, !km)
    return
  }
  func.func @f_unaligned(%q: !q {attn.name = "q", attn.role = "in"}, %k: !q {attn.name = "k", attn.role = "in"},
                         %v: !q {attn.name = "v", attn.role = "in"}, %o: !q {attn.name = "o", attn.role = "out"},
                         %lse: !l {attn.name = "lse", attn.role = "out"})
      attributes {attn.meaning = #meaning, attn.alternative = @f,
                  attn.target = #attn.target<chip = "sm_90a", family = mma_sync, smem = 232448>} {
    %x0 = arith.constant 0 : index
    %x1 = arith.constant 1 : index
    %x2 = arith.constant 2 : index
    %x288 = arith.constant 288 : index
    %B = memref.dim %q, %x0 : !q
    %H = memref.dim %q, %x1 : !q
    %Sq = memref.dim %q, %x2 : !q
    %Sk = memref.dim %k, %x2 : !q
    %bytes = arith.muli %Sk, %x288 : index
    %sec = attn.section of(%B, %H) unit(%bytes) budget 1000
    attn.launch @f_unaligned_fwd tiles(%Sq, %H, %B) args(%q, %sec : !q, i32)
    return
  }

  // Shared memory is one symbol for all; a map is 128 bytes of the kernel's own parameters.
  // PTX: .extern .shared .align 1024 .b8 attn_smem[];
  // PTX-NOT: .extern
  llvm.mlir.global external @attn_smem() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
  // PTX: .visible .entry f_short_fwd(
  // PTX: .param .align 64 .b8 f_short_fwd_param_3[128]
  llvm.func @f_short_fwd(%sec: i32, %cnt: !llvm.ptr<1>, %n: i32, %qm: !llvm.ptr {llvm.align = 64 : i64, llvm.byval = !llvm.array<128 x i8>, nvvm.grid_constant})
      attributes {nvvm.kernel, nvvm.reqntid = array<i32: 256, 1, 1>, nvvm.minctasm = 1 : i32, attn.smem_bytes = 1024 : i64} {
    %s = llvm.mlir.addressof @attn_smem : !llvm.ptr<3>
    llvm.store %sec, %s : i32, !llvm.ptr<3>
    llvm.return
  }
  // PTX: .visible .entry f_fwd(
  // PTX: .param .align 64 .b8 f_fwd_param_11[128]
  // PTX: .minnctapersm 2
  llvm.func @f_fwd(%q: !llvm.ptr<1>, %s0: i64, %s1: i64, %s2: i64, %n0: i32, %n1: i32, %n2: i32, %n3: i32, %sec: i32, %cnt: !llvm.ptr<1>, %n: i32,
                   %qm: !llvm.ptr {llvm.align = 64 : i64, llvm.byval = !llvm.array<128 x i8>, nvvm.grid_constant},
                   %km: !llvm.ptr {llvm.align = 64 : i64, llvm.byval = !llvm.array<128 x i8>, nvvm.grid_constant})
      attributes {nvvm.kernel, nvvm.reqntid = array<i32: 384, 1, 1>, nvvm.minctasm = 2 : i32, attn.smem_bytes = 2048 : i64} {
    %s = llvm.mlir.addressof @attn_smem : !llvm.ptr<3>
    llvm.store %sec, %s : i32, !llvm.ptr<3>
    llvm.return
  }
  // PTX: .visible .entry f_unaligned_fwd(
  llvm.func @f_unaligned_fwd(%q: !llvm.ptr<1>, %s0: i64, %s1: i64, %s2: i64, %n0: i32, %n1: i32, %n2: i32, %n3: i32, %sec: i32)
      attributes {nvvm.kernel, nvvm.reqntid = array<i32: 128, 1, 1>} { llvm.return }
  // PTX-NOT: .entry
  llvm.func @nobody_launches_it() attributes {nvvm.kernel} { llvm.return }
}
