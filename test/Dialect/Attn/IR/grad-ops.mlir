// RUN: attn-opt %s | attn-opt | FileCheck %s
// RUN: attn-opt %s -mlir-print-op-generic | attn-opt | FileCheck %s

!t = tensor<?x?x?x64xf16>
!l = tensor<?x?x?xf32>

// CHECK-LABEL: func.func @plain
// CHECK: attn.sdpa_grad(%arg0, %arg1, %arg2, %arg3, %arg4, %arg5) scale 1.250000e-01 mask [#attn.causal<bottom_right>] : (
func.func @plain(%q: !t, %k: !t, %v: !t, %o: !t, %lse: !l, %do: !t) -> (!t, !t, !t) {
  %dq, %dk, %dv = attn.sdpa_grad(%q, %k, %v, %o, %lse, %do) scale 0.125 mask [#attn.causal<bottom_right>]
    : (!t, !t, !t, !t, !l, !t) -> (!t, !t, !t)
  return %dq, %dk, %dv : !t, !t, !t
}

// A gradient of lse, a score region with its derivative, a nest for each gradient.
// CHECK-LABEL: func.func @everything
// CHECK: attn.sdpa_grad(%arg0, %arg1, %arg2, %arg3, %arg4, %arg5, %arg6) scale 1.250000e-01 captures(%arg7 : f32) score {
// CHECK: } score_grad {
// CHECK: } schedule [#attn.schedule<tile = [64, 128], warps = [4, 1], grads = ["dK", "dV"], depth = {q = 2, do = 2}, hold = {v = 4}, tiles = single>, #attn.schedule<{{.*}}grads = ["dQ"]{{.*}}>] :
func.func @everything(%q: !t, %k: !t, %v: !t, %o: !t, %lse: !l, %do: !t, %dlse: !l, %c: f32) -> (!t, !t, !t) {
  %dq, %dk, %dv = attn.sdpa_grad(%q, %k, %v, %o, %lse, %do, %dlse) scale 0.125 captures(%c : f32)
    score {
    ^bb0(%s: f32, %b: i32, %h: i32, %i: i32, %j: i32):
      %x = arith.mulf %s, %c : f32
      attn.yield %x : f32
    } score_grad {
    ^bb0(%s: f32, %b: i32, %h: i32, %i: i32, %j: i32, %dz: f32):
      %x = arith.mulf %dz, %c : f32
      attn.yield %x : f32
    } schedule [#attn.schedule<tile = [64, 128], warps = [4, 1], grads = ["dK", "dV"], depth = {q = 2, do = 2}, hold = {v = 4}>,
                #attn.schedule<tile = [128, 64], warps = [4, 1], grads = ["dQ"]>]
    : (!t, !t, !t, !t, !l, !t, !l) -> (!t, !t, !t)
  return %dq, %dk, %dv : !t, !t, !t
}
