// A backward: operands and what an empty call leaves, workspaces with their formulas, several kernels in order; and
// another way of computing it, with a kernel more, for operands that no tensor map can describe.
// RUN: rm -rf %t && attn-compile %s -o %t && FileCheck %s --input-file %t/manifest.json --match-full-lines
// RUN: FileCheck %s --input-file %t/f_pre.ptx --check-prefix PTX && ls %t | count 2

!q = memref<?x?x?x64xf16, strided<[?, ?, ?, 1], offset: ?>>
!l = memref<?x?x?xf32, strided<[?, ?, 1], offset: ?>>
!w = memref<?x?x?xf32>
!a = memref<?x?x?x64xf32>
!m = !attn.map<tensor<64x64xf16>, 128>
#meaning = {op = "sdpa_grad", operands = {q = "q", k = "k", v = "v", o = "o", lse = "lse", do = "do", dlse = "dl", dq = "dq", dk = "dk", dv = "dv"}, scale = 0.5 : f32, masks = []}
module attributes {attn.target = #attn.target<chip = "sm_90a", family = wgmma, smem = 232448, smem_sm = 233472, sms = 132>} {
  // CHECK:     "operands": {"dk":"dk","dlse":"dl","do":"do","dq":"dq","dv":"dv","k":"k","lse":"lse","o":"o","q":"q","v":"v"},
  // CHECK:   "sizes": {"batch":["q",0],"k_heads":["k",1],"k_len":["k",2],"q_heads":["q",1],"q_len":["q",2]},
  // Inputs, then captures, then outputs.
  // CHECK-NEXT:   "operands": [
  // CHECK-NEXT:     {"dims":["batch","q_heads","q_len",64],"name":"q","role":"in","type":"f16"},
  // CHECK-NEXT:     {"dims":["batch","k_heads","k_len",64],"name":"k","role":"in","type":"f16"},
  // CHECK-NEXT:     {"dims":["batch","k_heads","k_len",64],"name":"v","role":"in","type":"f16"},
  // CHECK-NEXT:     {"dims":["batch","q_heads","q_len",64],"name":"o","role":"in","type":"f16"},
  // CHECK-NEXT:     {"dims":["batch","q_heads","q_len"],"name":"lse","role":"in","type":"f32"},
  // CHECK-NEXT:     {"dims":["batch","q_heads","q_len",64],"name":"do","role":"in","type":"f16"},
  // CHECK-NEXT:     {"dims":["batch","q_heads","q_len"],"name":"dl","role":"in","type":"f32"},
  // CHECK-NEXT:     {"dims":[],"name":"cap","role":"scalar","type":"f32"},
  // CHECK-NEXT:     {"dims":["batch","q_heads","q_len",64],"name":"dq","role":"out","type":"f16"},
  // CHECK-NEXT:     {"dims":["batch","k_heads","k_len",64],"name":"dk","role":"out","type":"f16"},
  // CHECK-NEXT:     {"dims":["batch","k_heads","k_len",64],"name":"dv","role":"out","type":"f16"}
  // CHECK-NEXT:   ],
  // CHECK-NEXT:   "require": [{"divides":["k_heads","q_heads"]}],
  // CHECK-NEXT:   "empty": [{"fill":{"dk":0,"dq":0,"dv":0},"zero":["batch","q_heads","q_len","k_len"]}],
  // What launches leave for each other stands in front. Both ways use the same "sums"; "acc" is larger in one, and
  // "cap" is an operand.
  // CHECK-NEXT:   "workspace": [
  // CHECK-NEXT:     {"dims":[1],"name":"counter","type":"i32","zero":"restored"},
  // CHECK-NEXT:     {"dims":["batch","q_heads",[{"by":64,"ceil":"q_len"},64]],"name":"sums","type":"f32","zero":"by_kernel"},
  // CHECK-NEXT:     {"dims":["batch","q_heads",[{"by":64,"ceil":"q_len"},64],64],"name":"acc","type":"f32","zero":"by_kernel"},
  // CHECK-NEXT:     {"dims":["batch","q_heads","q_len",64],"name":"acc1","type":"f32","zero":"by_kernel"},
  // CHECK-NEXT:     {"dims":["batch","k_heads","k_len"],"name":"cap1","type":"f32","zero":"by_kernel"}
  // CHECK-NEXT:   ],
  // CHECK-NEXT:   "values": {
  // CHECK-NEXT:     "section": {
  // CHECK-NEXT:       "budget": 1000,
  // CHECK-NEXT:       "of": ["batch","k_heads"],
  // CHECK-NEXT:       "rule": "largest_divisor",
  // CHECK-NEXT:       "unit_bytes": ["q_len",256,{"by":"k_heads","ceil":"q_heads"}]
  // CHECK:        "kernels": [
  // CHECK-NEXT:     {
  // CHECK-NEXT:       "first_of": [
  // CHECK-NEXT:         {
  // CHECK-NEXT:           "kernels": [
  // CHECK-NEXT:             {
  // CHECK-NEXT:               "args": [
  // CHECK-NEXT:                 {"ptr":"o"},
  // CHECK-NEXT:                 {"strides":"o"},
  // CHECK-NEXT:                 {"sizes":"o"},
  // CHECK-NEXT:                 {"ptr":"sums"},
  // CHECK-NEXT:                 {"strides":"sums"},
  // CHECK-NEXT:                 {"sizes":"sums"},
  // CHECK-NEXT:                 {"ptr":"acc"},
  // CHECK-NEXT:                 {"strides":"acc"},
  // CHECK-NEXT:                 {"sizes":"acc"}
  // CHECK-NEXT:               ],
  // CHECK:                    "name": "f_pre",
  // CHECK-NEXT:               "ptx": "f_pre.ptx",
  // CHECK:                    "tiles": [{"by":64,"ceil":"q_len"},"q_heads","batch"]
  // CHECK-NEXT:             },
  // CHECK-NEXT:             {
  // CHECK:                        {"layout":"rows4","map":"q","rows":64,"swizzle":128}
  // CHECK:                    "name": "f_dkvq",
  // CHECK:                ],
  // CHECK-NEXT:           "when": {"aligned":["q"]}
  // CHECK-NEXT:         },
  // CHECK-NEXT:         {
  // CHECK-NEXT:           "kernels": [
  // CHECK:                    "name": "f_unaligned_pre",
  // CHECK:                    "name": "f_unaligned_dkv",
  // CHECK:                    "name": "f_unaligned_dq",
  // CHECK-NEXT:               "ptx": "f_pre.ptx",

  func.func @f(%q: !q {attn.name = "q", attn.role = "in"}, %k: !q {attn.name = "k", attn.role = "in"},
               %v: !q {attn.name = "v", attn.role = "in"}, %cap: f32 {attn.name = "cap", attn.role = "scalar"},
               %o: !q {attn.name = "o", attn.role = "in"}, %lse: !l {attn.name = "lse", attn.role = "in"},
               %do: !q {attn.name = "do", attn.role = "in"}, %dl: !l {attn.name = "dl", attn.role = "in"},
               %dq: !q {attn.name = "dq", attn.role = "out"}, %dk: !q {attn.name = "dk", attn.role = "out"},
               %dv: !q {attn.name = "dv", attn.role = "out"})
      attributes {attn.meaning = #meaning, attn.when = {aligned = ["q"]}} {
    %x0 = arith.constant 0 : index
    %x1 = arith.constant 1 : index
    %x2 = arith.constant 2 : index
    %x64 = arith.constant 64 : index
    %x256 = arith.constant 256 : index
    %B = memref.dim %q, %x0 : !q
    %H = memref.dim %q, %x1 : !q
    %Sq = memref.dim %q, %x2 : !q
    %Hk = memref.dim %k, %x1 : !q
    %nq = arith.ceildivui %Sq, %x64 : index
    %Sp = arith.muli %nq, %x64 : index
    %sums = memref.alloc(%B, %H, %Sp) {attn.name = "sums"} : !w
    %acc = memref.alloc(%B, %H, %Sp) {attn.name = "acc"} : !a
    %cnt = memref.alloc() : memref<1xi32>
    attn.launch @f_pre tiles(%nq, %H, %B) args(%o, %sums, %acc : !q, !w, !a)
    %G = arith.divui %H, %Hk : index
    %one = arith.muli %Sq, %x256 : index
    %bytes = arith.muli %one, %G : index
    %sec = attn.section of(%B, %Hk) unit(%bytes) budget 1000
    %qm = attn.tensor_map %q : !q -> !m
    attn.launch @f_dkvq tiles(%nq, %Hk, %B) args(%cap, %sums, %acc, %sec, %cnt, %qm : f32, !w, !a, i32, memref<1xi32>, !m)
    return
  }
  func.func @f_unaligned(%q: !q {attn.name = "q", attn.role = "in"}, %k: !q {attn.name = "k", attn.role = "in"},
               %v: !q {attn.name = "v", attn.role = "in"}, %cap: f32 {attn.name = "cap", attn.role = "scalar"},
               %o: !q {attn.name = "o", attn.role = "in"}, %lse: !l {attn.name = "lse", attn.role = "in"},
               %do: !q {attn.name = "do", attn.role = "in"}, %dl: !l {attn.name = "dl", attn.role = "in"},
               %dq: !q {attn.name = "dq", attn.role = "out"}, %dk: !q {attn.name = "dk", attn.role = "out"},
               %dv: !q {attn.name = "dv", attn.role = "out"})
      attributes {attn.meaning = #meaning, attn.alternative = @f} {
    %x0 = arith.constant 0 : index
    %x1 = arith.constant 1 : index
    %x2 = arith.constant 2 : index
    %x64 = arith.constant 64 : index
    %B = memref.dim %q, %x0 : !q
    %H = memref.dim %q, %x1 : !q
    %Sq = memref.dim %q, %x2 : !q
    %Hk = memref.dim %k, %x1 : !q
    %Sk = memref.dim %k, %x2 : !q
    %nq = arith.ceildivui %Sq, %x64 : index
    %Sp = arith.muli %nq, %x64 : index
    %sums = memref.alloc(%B, %H, %Sp) {attn.name = "sums"} : !w
    %acc = memref.alloc(%B, %H, %Sq) {attn.name = "acc"} : !a
    %cap1 = memref.alloc(%B, %Hk, %Sk) {attn.name = "cap"} : !w
    attn.launch @f_unaligned_pre tiles(%nq, %H, %B) args(%o, %sums, %cap1 : !q, !w, !w)
    attn.launch @f_unaligned_dkv tiles(%nq, %Hk, %B) args(%dk, %sums : !q, !w)
    attn.launch @f_unaligned_dq tiles(%nq, %H, %B) args(%acc, %dq : !a, !q)
    return
  }

  // PTX: .visible .entry f_pre(
  llvm.func @f_pre() attributes {nvvm.kernel} { llvm.return }
  // PTX: .visible .entry f_dkvq(
  llvm.func @f_dkvq() attributes {nvvm.kernel} { llvm.return }
  // PTX: .visible .entry f_unaligned_pre(
  llvm.func @f_unaligned_pre() attributes {nvvm.kernel} { llvm.return }
  // PTX: .visible .entry f_unaligned_dkv(
  llvm.func @f_unaligned_dkv() attributes {nvvm.kernel} { llvm.return }
  // PTX: .visible .entry f_unaligned_dq(
  llvm.func @f_unaligned_dq() attributes {nvvm.kernel} { llvm.return }
}
