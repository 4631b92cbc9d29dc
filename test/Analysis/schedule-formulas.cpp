// What the formulas let pass: for wgmma the edges that were found by compiling kernels of each size.
// RUN: %cxx -std=c++17 -I%attn_src/include %s -o %t && %t | FileCheck %s

#include "attn/Analysis/RegisterEstimate.h"
#include "attn/Analysis/SharedPlan.h"

#include <cstdio>
#include <initializer_list>

using namespace attn;

/// The most keys of a tile whose accumulators fit `regs`.
static int mostKeys(int64_t valueDim, int64_t regs) {
  int64_t keys = 0;
  while (wgmmaForwardRegs(keys + 16, valueDim) <= regs)
    keys += 16;
  return int(keys);
}

int main() {
  // Without spills: at D = 128 up to 192 keys in two groups and 80 in three, at D = 64 128 in three.
  // CHECK: D 128: 192 80, D 64: 128
  std::printf("D 128: %d %d, D 64: %d\n", mostKeys(128, 240), mostKeys(128, 160), mostKeys(64, 160));
  // CHECK: D 192: 144, D 256: 112
  std::printf("D 192: %d, D 256: %d\n", mostKeys(192, 240), mostKeys(256, 240));

  // Registers at launch, and whether the groups may have 240.
  // CHECK: 1: 256 yes
  // CHECK-NEXT: 2: 168 yes
  // CHECK-NEXT: 3: 128 no
  // CHECK-NEXT: 7: 64 no
  for (int64_t groups : {1, 2, 3, 7})
    std::printf("%d: %d %s\n", int(groups), int(launchRegs(65536, wgmmaThreads(groups))),
                poolHolds(65536, groups, 24, 240) ? "yes" : "no");

  // Head dimensions fill whole panels on wgmma.
  // CHECK: 16 48 128, 64 64 128
  std::printf("%d %d %d, %d %d %d\n", int(paddedHeadDim(8)), int(paddedHeadDim(40)), int(paddedHeadDim(128)),
              int(paddedHeadDim(8, true)), int(paddedHeadDim(40, true)), int(paddedHeadDim(128, true)));

  // O over Q takes the larger of both; barriers are 16 bytes a slot, rounded to 128.
  ForwardShape narrow{128, 64, 64, 128, 1, 1, 1};
  // CHECK: over 57472, own 73856, dynamic 73856
  std::printf("over %d, own %d, dynamic %d\n", int(wgmmaSharedBytes(narrow, 2, 0, false)),
              int(wgmmaSharedBytes(narrow, 2, 1, false)), int(wgmmaSharedBytes(narrow, 2, 1, true)));

  // O in its own bytes is whole if all fits, else in the fewest pieces that do, else a panel at a time.
  ForwardShape wide{128, 64, 256, 256, 1, 2, 2};
  // CHECK: pieces 1 2 4 4, of three panels 1 3
  std::printf("pieces %d %d %d %d, of three panels %d %d\n", int(fewestOutPieces(wide, 2, true, 0)),
              int(fewestOutPieces(wide, 2, true, 229504)), int(fewestOutPieces(wide, 2, true, 229503)),
              int(fewestOutPieces(wide, 2, true, 1)), int(outPieces(3, 2)), int(outPieces(3, 3)));

  // Backward: dV alone takes a tile of S and packs it; a score region one tile more, what is held 4 registers a step.
  // CHECK: dK dV 220, dV 204, scored 252, held 236, mma 232
  std::printf("dK dV %d, dV %d, scored %d, held %d, mma %d\n", int(wgmmaBackwardRegs({64, 64, 256, true})),
              int(wgmmaBackwardRegs({64, 64, 256, false})), int(wgmmaBackwardRegs({64, 64, 256, true, true})),
              int(wgmmaBackwardRegs({64, 64, 256, true, false, false, 0, 4})),
              int(mmaSyncBackwardRegs({128, 64, 256, true}, 256)));

  // dV alone reads no V; results of their own bytes go in pieces where they do not fit whole.
  BackwardShape both{64, 128, 128, 128, 2, 2, 1, 1}, onlyV = both;
  onlyV.readsV = false;
  // CHECK: bytes 131072 98304, whole 198912, halves 166144
  std::printf("bytes %d %d, whole %d, halves %d\n", int(backwardSharedBytes(both)), int(backwardSharedBytes(onlyV)),
              int(wgmmaBackwardFewest({both, 2, true, true, 128, 128}, 232448)),
              int(wgmmaBackwardFewest({both, 2, true, true, 128, 128}, 198911)));
  return 0;
}
