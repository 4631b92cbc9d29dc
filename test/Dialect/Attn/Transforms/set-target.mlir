// RUN: attn-opt %s -split-input-file -attn-set-target=chip=sm_80 | FileCheck %s --check-prefix=SM80
// RUN: attn-opt %s -split-input-file -attn-set-target=chip=cpu | FileCheck %s --check-prefix=CPU

// SM80: module @plain attributes {attn.target = #attn.target<chip = "sm_80", family = mma_sync, smem = 166912, smem_sm = 167936, sms = 108>}
// CPU: module @plain attributes {attn.target = #attn.target<chip = "cpu", family = cpu, regs = 0>}
module @plain {}

// -----

// A module that names its machine keeps it, its own numbers included.
// RUN: attn-opt %s -split-input-file -attn-set-target=chip=sm_80 | attn-opt -split-input-file -attn-set-target=chip=sm_80 | FileCheck %s --check-prefix=AGAIN
// AGAIN: module @plain attributes {attn.target = #attn.target<chip = "sm_80", family = mma_sync, smem = 166912, smem_sm = 167936, sms = 108>}
