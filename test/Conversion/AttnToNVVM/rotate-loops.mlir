// A loop is guarded once, tested at its end, and its back edge asks not to be unrolled.
// RUN: attn-opt %s --pass-pipeline='builtin.module(llvm.func(attn-rotate-loops))' | FileCheck %s

// CHECK: #[[$NEVER:.*]] = #llvm.loop_unroll<disable = true>
// CHECK: #[[$LOOP:.*]] = #llvm.loop_annotation<unroll = #[[$NEVER]]>
// CHECK-LABEL: llvm.func @sum(
// CHECK-SAME: %[[LO:.*]]: i32, %[[HI:.*]]: i32, %[[X:.*]]: f32)
// CHECK: %[[RUNS:.*]] = arith.cmpi slt, %[[LO]], %[[HI]] : i32
// CHECK: llvm.cond_br %[[RUNS]], ^[[BODY:.*]](%[[LO]], %[[X]] : i32, f32), ^[[AFTER:.*]](%[[X]] : f32)
// CHECK: ^[[BODY]](%[[I:.*]]: i32, %[[A:.*]]: f32):
// CHECK: %[[B:.*]] = arith.addf %[[A]], %[[X]] : f32
// CHECK: %[[NEXT:.*]] = arith.addi %[[I]], %{{.*}} : i32
// CHECK: %[[MORE:.*]] = arith.cmpi slt, %[[NEXT]], %[[HI]] : i32
// CHECK: llvm.cond_br %[[MORE]], ^[[BODY]](%[[NEXT]], %[[B]] : i32, f32), ^[[AFTER]](%[[B]] : f32) {loop_annotation = #[[$LOOP]]}
// CHECK: ^[[AFTER]](%[[R:.*]]: f32):
// CHECK: llvm.return %[[R]] : f32
llvm.func @sum(%lo: i32, %hi: i32, %x: f32) -> f32 {
  %c1 = arith.constant 1 : i32
  %r = scf.for %i = %lo to %hi step %c1 iter_args(%a = %x) -> (f32) : i32 {
    %b = arith.addf %a, %x : f32
    scf.yield %b : f32
  }
  llvm.return %r : f32
}

// The loop over a block's tiles has its test at the end already: one back edge, no copy of the test in front.
// CHECK-LABEL: llvm.func @tiles(
// CHECK-SAME: %[[ID:.*]]: i32, %[[STEP:.*]]: i32, %[[END:.*]]: i32)
// CHECK: cf.br ^[[BODY:.*]](%[[ID]] : i32)
// CHECK: ^[[BODY]](%[[I:.*]]: i32):
// CHECK: %[[NEXT:.*]] = arith.addi %[[I]], %[[STEP]] : i32
// CHECK: %[[MORE:.*]] = arith.cmpi ult, %[[NEXT]], %[[END]] : i32
// CHECK: cf.cond_br %[[MORE]], ^[[BODY]](%[[NEXT]] : i32), ^[[AFTER:bb[0-9]+]]
// CHECK: ^[[AFTER]]:
// CHECK: llvm.return %[[NEXT]] : i32
llvm.func @tiles(%id: i32, %step: i32, %end: i32) -> i32 {
  %r = scf.while (%i = %id) : (i32) -> i32 {
    %next = arith.addi %i, %step : i32
    %more = arith.cmpi ult, %next, %end : i32
    scf.condition(%more) %next : i32
  } do {
  ^bb0(%i: i32):
    scf.yield %i : i32
  }
  llvm.return %r : i32
}

// What a loop carries of 16-bit floats is pairs: a vector between blocks would be taken apart.
// CHECK-LABEL: llvm.func @pairs(
// CHECK-SAME: %[[LO:.*]]: i32, %[[HI:.*]]: i32, %[[X:.*]]: vector<4xi32>)
// CHECK: llvm.cond_br %{{.*}}, ^[[BODY:.*]](%[[LO]], %[[X]] : i32, vector<4xi32>), ^[[AFTER:.*]](%[[X]] : vector<4xi32>)
// CHECK: ^[[BODY]](%{{.*}}: i32, %[[P:.*]]: vector<4xi32>):
// CHECK-NOT: bitcast
// CHECK: %[[Q:.*]] = arith.addi %[[P]], %[[P]] : vector<4xi32>
// CHECK: llvm.cond_br %{{.*}}, ^[[BODY]](%{{.*}}, %[[Q]] : i32, vector<4xi32>), ^[[AFTER]](%[[Q]] : vector<4xi32>)
// CHECK: ^[[AFTER]](%[[R:.*]]: vector<4xi32>):
// CHECK: %[[B:.*]] = llvm.bitcast %[[R]] : vector<4xi32> to vector<8xbf16>
// CHECK: llvm.return %[[B]]
llvm.func @pairs(%lo: i32, %hi: i32, %x: vector<4xi32>) -> vector<8xbf16> {
  %c1 = arith.constant 1 : i32
  %first = llvm.bitcast %x : vector<4xi32> to vector<8xbf16>
  %r = scf.for %i = %lo to %hi step %c1 iter_args(%a = %first) -> (vector<8xbf16>) : i32 {
    %p = llvm.bitcast %a : vector<8xbf16> to vector<4xi32>
    %q = arith.addi %p, %p : vector<4xi32>
    %b = llvm.bitcast %q : vector<4xi32> to vector<8xbf16>
    scf.yield %b : vector<8xbf16>
  }
  llvm.return %r : vector<8xbf16>
}

// The same where the body has two parts.
// CHECK-LABEL: llvm.func @pairs_of_a_while(
// CHECK-SAME: %[[X:.*]]: vector<4xi32>, %[[MORE:.*]]: i1)
// CHECK: cf.br ^[[BEFORE:.*]](%[[X]] : vector<4xi32>)
// CHECK: ^[[BEFORE]](%[[P:.*]]: vector<4xi32>):
// CHECK: cf.cond_br %[[MORE]], ^[[BODY:.*]](%[[P]] : vector<4xi32>), ^[[AFTER:.*]]
// CHECK: ^[[BODY]](%[[Q:.*]]: vector<4xi32>):
// CHECK-NEXT: %[[R:.*]] = arith.addi %[[Q]], %[[Q]] : vector<4xi32>
// CHECK-NEXT: cf.br ^[[BEFORE]](%[[R]] : vector<4xi32>)
// CHECK: ^[[AFTER]]:
// CHECK-NEXT: llvm.bitcast %[[P]] : vector<4xi32> to vector<8xbf16>
llvm.func @pairs_of_a_while(%x: vector<4xi32>, %more: i1) -> vector<8xbf16> {
  %first = llvm.bitcast %x : vector<4xi32> to vector<8xbf16>
  %r = scf.while (%a = %first) : (vector<8xbf16>) -> vector<8xbf16> {
    scf.condition(%more) %a : vector<8xbf16>
  } do {
  ^bb0(%b: vector<8xbf16>):
    %p = llvm.bitcast %b : vector<8xbf16> to vector<4xi32>
    %q = arith.addi %p, %p : vector<4xi32>
    %c = llvm.bitcast %q : vector<4xi32> to vector<8xbf16>
    scf.yield %c : vector<8xbf16>
  }
  llvm.return %r : vector<8xbf16>
}
