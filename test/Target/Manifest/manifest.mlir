// The manifest is a print-out of the host function: this is all of it.
// RUN: rm -rf %t && attn-compile %s -o %t && FileCheck %s --input-file %t/manifest.json --match-full-lines

!q = memref<?x?x?x128xbf16, strided<[?, ?, ?, 1], offset: ?>>
!v = memref<?x2x?x64xbf16, strided<[?, ?, ?, 1], offset: ?>>
!l = memref<?x?x?xf32, strided<[?, ?, ?], offset: ?>>
!s = memref<?xf32, strided<[1], offset: ?>>
module attributes {attn.target = #attn.target<chip = "sm_80", family = mma_sync, smem = 166912, smem_sm = 167936, sms = 108>} {
  // CHECK: {
  // CHECK-NEXT:   "attn_manifest": 1,
  // CHECK-NEXT:   "meaning": {
  // CHECK-NEXT:     "masks": [{"align":"bottom_right","kind":"causal"},{"align":"top_left","kind":"window","left":1023,"right":-1}],
  // CHECK-NEXT:     "op": "sdpa",
  // CHECK-NEXT:     "operands": {"k":"k","lse":"lse","o":"o","q":"q","v":"v"},
  // CHECK-NEXT:     "scale": 0.5,
  // CHECK-NEXT:     "score": {
  // CHECK-NEXT:       "values": [
  // CHECK-NEXT:         {"op":"arith.constant","type":"f32","value":"-inf"},
  // CHECK-NEXT:         {"in":[2],"op":"attn.gather","source":"slopes","type":"f32"},
  // CHECK-NEXT:         {"op":"capture","source":"cap","type":"f32"},
  // CHECK-NEXT:         {"in":[3,4],"op":"arith.cmpi","predicate":"sle","type":"i1"}
  // CHECK-NEXT:       ],
  // CHECK-NEXT:       "yield": 0
  // CHECK-NEXT:     }
  // CHECK-NEXT:   },
  // CHECK-NEXT:   "sizes": {"batch":["q",0],"k_heads":["k",1],"k_len":["k",2],"q_heads":["q",1],"q_len":["q",2]},
  // CHECK-NEXT:   "operands": [
  // CHECK-NEXT:     {"dims":["batch","q_heads","q_len",128],"name":"q","role":"in","type":"bf16"},
  // CHECK-NEXT:     {"dims":["batch","k_heads","k_len",128],"name":"k","role":"in","type":"bf16"},
  // A size that the spec fixes is printed as the number it must be.
  // CHECK-NEXT:     {"dims":["batch",2,"k_len",64],"name":"v","role":"in","type":"bf16"},
  // CHECK-NEXT:     {"dims":[null],"name":"slopes","role":"capture","type":"f32"},
  // CHECK-NEXT:     {"dims":[],"name":"cap","role":"scalar","type":"f32"},
  // CHECK-NEXT:     {"dims":["batch","q_heads","q_len",128],"name":"o","role":"out","type":"bf16"},
  // CHECK-NEXT:     {"dims":["batch","q_heads","q_len"],"name":"lse","role":"out","type":"f32"}
  // CHECK-NEXT:   ],
  // CHECK-NEXT:   "require": [{"divides":["k_heads","q_heads"]}],
  // CHECK-NEXT:   "empty": [{"do":"nothing","zero":["batch","q_heads","q_len"]},{"fill":{"lse":"-inf","o":0},"zero":["k_len"]}],
  // CHECK-NEXT:   "workspace": [],
  // CHECK-NEXT:   "values": {"section":{"budget":25165824,"of":["batch","q_heads"],"rule":"largest_divisor","unit_bytes":["k_len",512]}},
  // CHECK-NEXT:   "kernels": [
  // CHECK-NEXT:     {
  // CHECK-NEXT:       "args": [
  // CHECK-NEXT:         {"ptr":"q"},
  // CHECK-NEXT:         {"strides":"q"},
  // CHECK-NEXT:         {"sizes":"q"},
  // A rank-1 operand has a unit stride and passes none.
  // CHECK-NEXT:         {"ptr":"slopes"},
  // CHECK-NEXT:         {"sizes":"slopes"},
  // CHECK-NEXT:         {"f32":"cap"},
  // CHECK-NEXT:         {"ptr":"lse"},
  // CHECK-NEXT:         {"strides":"lse"},
  // CHECK-NEXT:         {"sizes":"lse"},
  // CHECK-NEXT:         {"value":"section"}
  // CHECK-NEXT:       ],
  // CHECK-NEXT:       "chip": "sm_80",
  // CHECK-NEXT:       "grid": "one_per_tile",
  // CHECK-NEXT:       "name": "k",
  // CHECK-NEXT:       "ptx": "k.ptx",
  // CHECK-NEXT:       "smem_bytes": 98304,
  // CHECK-NEXT:       "threads": 128,
  // CHECK-NEXT:       "tiles": [{"by":128,"ceil":"q_len"},"q_heads","batch"]
  // CHECK-NEXT:     }
  // CHECK-NEXT:   ]
  // CHECK-NEXT: }
  func.func @attention(
      %q: !q {attn.name = "q", attn.role = "in"}, %k: !q {attn.name = "k", attn.role = "in"},
      %v: !v {attn.name = "v", attn.role = "in"}, %slopes: !s {attn.name = "slopes", attn.role = "capture"},
      %cap: f32 {attn.name = "cap", attn.role = "scalar"}, %o: !q {attn.name = "o", attn.role = "out"},
      %lse: !l {attn.name = "lse", attn.role = "out"})
      attributes {attn.meaning = {op = "sdpa", operands = {q = "q", k = "k", v = "v", o = "o", lse = "lse"}, scale = 0.5 : f32,
        masks = [#attn.causal<bottom_right>, #attn.window<1023, -1, top_left>],
        score = {values = [{op = "arith.constant", type = f32, value = 0xFF800000 : f32},
                           {op = "attn.gather", type = f32, source = "slopes", in = array<i64: 2>},
                           {op = "capture", type = f32, source = "cap"},
                           {op = "arith.cmpi", type = i1, predicate = "sle", in = array<i64: 3, 4>}], yield = 0 : i64}}} {
    %x0 = arith.constant 0 : index
    %x1 = arith.constant 1 : index
    %x2 = arith.constant 2 : index
    %x128 = arith.constant 128 : index
    %x512 = arith.constant 512 : index
    %B = memref.dim %q, %x0 : !q
    %H = memref.dim %q, %x1 : !q
    %Sq = memref.dim %q, %x2 : !q
    %Sk = memref.dim %k, %x2 : !q
    %nq = arith.ceildivui %Sq, %x128 : index
    %bytes = arith.muli %Sk, %x512 : index
    %sec = attn.section of(%B, %H) unit(%bytes) budget 25165824
    attn.launch @k tiles(%nq, %H, %B) args(%q, %slopes, %cap, %lse, %sec : !q, !s, f32, !l, i32)
    return
  }
  llvm.func @k() attributes {nvvm.kernel, nvvm.reqntid = array<i32: 128, 1, 1>, attn.smem_bytes = 98304 : i64} { llvm.return }
}
