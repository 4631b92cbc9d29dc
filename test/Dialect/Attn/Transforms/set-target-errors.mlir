// RUN: attn-opt %s -attn-set-target=chip=sm_90A -verify-diagnostics=only-expected
// RUN: not attn-opt %s -attn-set-target=chip=sm_90A 2>&1 | FileCheck %s --check-prefix=CASE
// RUN: not attn-opt %s -attn-set-target=chip=sm_70 2>&1 | FileCheck %s --check-prefix=OLD
// RUN: not attn-opt %s -attn-set-target=chip=sm_banana 2>&1 | FileCheck %s --check-prefix=BANANA
// RUN: not attn-opt %s -attn-set-target 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not attn-opt %S/Inputs/for-toy.mlir -attn-set-target=chip=sm_80 2>&1 | FileCheck %s --check-prefix=CONFLICT

// CASE: set-target-errors.mlir:[[#@LINE+7]]:1: error: unknown chip 'sm_90A' (did you mean 'sm_90a'?); known chips: sm_80, sm_86, {{.*}}, sm_90a, {{.*}}, cpu
// OLD: error: unknown chip 'sm_70' (did you mean 'sm_80'?); known chips: sm_80, {{.*}}cpu
// BANANA: error: unknown chip 'sm_banana'; known chips: sm_80, {{.*}}cpu
// NONE: error: no chip given; known chips: sm_80, {{.*}}cpu
// CONFLICT: for-toy.mlir:1:1: error: the module is for 'toy' (attn.target), but chip 'sm_80' was asked for; drop one of the two

// expected-error @below {{unknown chip 'sm_90A'}}
module {}
