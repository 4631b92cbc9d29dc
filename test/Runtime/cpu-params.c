// Code that says which parameters it takes is never given others: a manifest that lost an argument, or has two in the
// wrong order, is refused when it is loaded.
// RUN: %build_rt -lm
// RUN: rm -rf %t.dir && mkdir %t.dir
// Of q, k, v, slopes, cap, o, lse, section.
// RUN: %build_so -DPARAMS='"pllliiii" "pllliiii" "pllliiii" "pi" "f" "pllliiii" "plliii" "i"' \
// RUN:   %S/Inputs/cpu_kernel.c -o %t.dir/kernel.so -lm
// RUN: %t %t.dir
#include "check.h"

static void refused(const char *from, const char *to, const char *message) {
  attn_kernel *kernel;
  char *text = replaced(MANIFEST(CPU_KERNEL), from, to);
  EXPECT_FAIL(attn_kernel_load(write_file("manifest.json", text), &kernel), ATTN_ERROR_MANIFEST, message);
  EXPECT(!kernel);
  free(text);
}

int main(int argc, char **argv) {
  begin(argc, argv);
  attn_kernel *kernel;
  EXPECT_OK(attn_kernel_load(write_file("manifest.json", MANIFEST(CPU_KERNEL)), &kernel));
  attn_kernel_unload(kernel);

  refused(",\n   {\"value\": \"section\"}", "",
          "kernel attention_fwd: \"args\" stand for 41 parameters, its code takes 42");
  refused("{\"value\": \"section\"}", "{\"value\": \"section\"}, {\"i32\": 1}",
          "kernel attention_fwd: \"args\" stand for 43 parameters, its code takes 42");
  refused("{\"ptr\": \"q\"}, {\"strides\": \"q\"}", "{\"ptr\": \"q\"}",
          "kernel attention_fwd: \"args\"[1] passes an i32 as parameter 1, where its code takes an i64");
  refused("{\"f32\": \"cap\"}", "{\"i32\": \"q_len\"}",
          "kernel attention_fwd: \"args\"[12] passes an i32 as parameter 26, where its code takes an f32");
  return 0;
}
