// The tables as the tools print them, and their look-ups. Facts needs nothing but a C++ compiler.
// RUN: %cxx -std=c++17 -I %attn_src/include %s %attn_src/lib/Facts/Facts.cpp -o %t
// RUN: %t | FileCheck %s

#include "attn/Facts/Facts.h"

#include <cassert>
#include <cstdio>

using namespace attn::facts;

int main() {
  // CHECK: chip    family    smem/block  smem/SM  SMs  PTX   source
  // CHECK-NEXT: sm_80   mma_sync  166912      167936   108  7.4   CUDA guide, 8.0; A100
  // CHECK: sm_90   mma_sync  232448      233472   132  8.0
  // CHECK-NEXT: sm_90a  wgmma     232448      233472   132  8.1
  // CHECK: cpu     cpu       0           0        1    -
  std::fputs(listChips().c_str(), stdout);

  // CHECK: family    pass     head dim  mask  score  q_len    schedule (source)
  // CHECK-NEXT: mma_sync  forward  <= 64     any   any    any      tile = [128, 128], warps = [4, 1],
  // CHECK: wgmma     forward  <= 128    none  any    >= 1536  tile = [192, 80], warps = [4, 1], groups = 3,
  // CHECK: cpu       forward  <= 256    any   any    any      tile = [64, 64]
  std::fputs(listSchedules().c_str(), stdout);

  // CHECK: sm_80 +ptx74, cpu '', sm_70 unknown
  std::printf("sm_80 %s, cpu '%s', sm_70 %s\n", findChip("sm_80")->ptxFeature.data(),
              findChip("cpu")->ptxFeature.data(), findChip("sm_70") ? "known" : "unknown");

  // CHECK: resident threads: sm_80 2048, sm_86 1536, sm_90a 2048, sm_120 1536
  std::printf("resident threads:");
  const char *separator = " ";
  for (const char *chip : {"sm_80", "sm_86", "sm_90a", "sm_120"}) {
    std::printf("%s%s %d", separator, chip, int(findChip(chip)->threadsPerSM));
    separator = ", ";
  }
  std::puts("");

  // Every head dimension has at least one row; a class does not run into the next one.
  // CHECK: rows: 2 2 2 4, beyond: 0
  auto rows = [](int64_t d) { return schedulesFor(Family::MmaSync, Pass::Forward, d, false).size(); };
  std::printf("rows: %zu %zu %zu %zu, beyond: %zu\n", rows(8), rows(72), rows(192), rows(256), rows(264));

  // Rows may be for ops with a mask or without, with a score region, and for some lengths.
  // CHECK: full: head dim <= 128, no mask, q_len >= 1536; head dim <= 128, no mask;
  // CHECK-NEXT: masked: head dim <= 128, masked, q_len >= 6144; {{.*}} masked, q_len 1536 .. < 6144; {{.*}} masked;
  for (bool masked : {false, true}) {
    std::printf("%s:", masked ? "masked" : "full");
    for (const ScheduleRow *row : schedulesFor(Family::Wgmma, Pass::Forward, 128, masked))
      std::printf(" %s;", describeRow(*row).c_str());
    std::puts("");
  }
  // CHECK: scored: head dim <= 256, masked, score region; {{.*}} masked, q_len >= 3072; head dim <= 256, masked;
  std::printf("scored:");
  for (const ScheduleRow *row : schedulesFor(Family::Wgmma, Pass::Forward, 256, /*masked=*/true, /*scored=*/true))
    std::printf(" %s;", describeRow(*row).c_str());
  std::puts("");
  // CHECK: head dim <= 64, masked, q_len 512 .. < 1024
  ScheduleRow row{Family::Wgmma, Pass::Forward, 64, MaskClass::Some, {512, 1024}, "", ""};
  std::puts(describeRow(row).c_str());

  // CHECK: bf16 16x8x16, f32 none
  const MmaShape *mma = findMmaShape(Family::MmaSync, "bf16");
  std::printf("bf16 %dx%dx%d, f32 %s\n", int(mma->m), int(mma->n), int(mma->k),
              findMmaShape(Family::MmaSync, "f32") ? "some" : "none");
  return 0;
}
