// No linker anywhere: what was looked for, and the object to go on from.
// RUN: rm -rf %t && mkdir -p %t/empty
// RUN: not env PATH=%t/empty CC=no-such-cc %attn_obj/bin/attn-compile %s --chip=cpu -o %t/none 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: error: no linker for the shared library: looked for $CC (no-such-cc), cc, clang-22, clang, gcc, ld.lld-22, ld.lld on PATH; name one with the linker option or $CC; the object is kept in {{.*}}attention_fwd.o
// NONE-NOT: error
// RUN: ls -A %t/none | FileCheck %s --check-prefix=OBJECT
// OBJECT: attention_fwd.o
// OBJECT-NOT: {{.}}
//
// A linker that was named is the only one tried; what it says is passed on.
// RUN: not attn-compile %s --chip=cpu --linker=no-such-linker -o %t/named 2>&1 | FileCheck %s --check-prefix=NAMED
// NAMED: error: linker 'no-such-linker' not found
// RUN: not attn-compile %s --chip=cpu --linker=false -o %t/fails 2>&1 | FileCheck %s --check-prefix=FAILS
// FAILS: error: {{.*}}false could not link {{.*}}attention_fwd.so
//
// RUN: not attn-compile %s --chip=cpu --linker=true -o %t/nothing 2>&1 | FileCheck %s --check-prefix=NOTHING
// NOTHING: error: {{.*}}true reported success but wrote no {{.*}}attention_fwd.so
// RUN: not attn-compile %s --chip=cpu --cpu=cyrix -o %t/cpu 2>&1 | FileCheck %s --check-prefix=CPU
// CPU: error: unknown CPU 'cyrix': expected native or a name LLVM knows, such as x86-64-v3
// RUN: not ls %t/cpu

func.func @attention(%q: tensor<?x?x?x8xf32>, %k: tensor<?x?x?x8xf32>, %v: tensor<?x?x?x8xf32>)
    -> (tensor<?x?x?x8xf32>, tensor<?x?x?xf32>) {
  %o, %lse = attn.sdpa(%q, %k, %v) scale 1.0
    : (tensor<?x?x?x8xf32>, tensor<?x?x?x8xf32>, tensor<?x?x?x8xf32>) -> (tensor<?x?x?x8xf32>, tensor<?x?x?xf32>)
  return %o, %lse : tensor<?x?x?x8xf32>, tensor<?x?x?xf32>
}
