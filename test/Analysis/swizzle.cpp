// The swizzle: every byte has one address, and no access the kernels make touches a bank twice, for spans 128, 64, 32:
// ldmatrix in both lane orders and all block columns, st.shared of accumulator pairs, 16-byte copies row by row.
// RUN: %cxx -std=c++17 -I%attn_src/include %s -o %t && %t | FileCheck %s

#include "attn/Analysis/Swizzle.h"
#include "attn/Analysis/FragmentCoords.h"

#include <cstdio>
#include <set>

using namespace attn;

static int failures = 0;
static void expect(bool ok, const char *what, const TileLayout &t) {
  if (!ok)
    std::printf("%ld rows of %ld bytes, span %ld: %s\n", long(t.rows), long(t.rowBytes), long(t.span), what);
  failures += !ok;
}

static void everyByteOnce(const TileLayout &t) {
  std::set<int64_t> seen;
  for (int64_t r = 0; r < t.rows; ++r)
    for (int64_t b = 0; b < t.rowBytes; ++b)
      seen.insert(t.address(r, b));
  expect(int64_t(seen.size()) == t.bytes() && *seen.begin() == 0 && *seen.rbegin() == t.bytes() - 1, "not a bijection",
         t);
}

// One phase of ldmatrix is eight lanes of 16 bytes: the eight rows of one 8 x 8 matrix, at any chunk.
static void ldmatrixIsFree(const TileLayout &t) {
  for (int64_t r = 0; r + 8 <= t.rows; r += 8)
    for (int64_t chunk = 0; chunk < t.rowBytes / kChunkBytes; ++chunk)
      expect(bankPasses(8, 16, [&](int64_t lane) { return t.address(r + lane, chunk * kChunkBytes); }) == 1,
             "ldmatrix meets itself in a bank", t);
}

// A warp stores one pair of an atom: lane l the word of row l / 4, columns 2 (l % 4).
static void storeOfPairs(const TileLayout &t) {
  for (int64_t r = 0; r + 8 <= t.rows; r += 8)
    for (int64_t atom = 0; atom < t.rowBytes / 16; ++atom)
      expect(bankPasses(32, 4,
                        [&](int64_t lane) { return t.address(r + laneRow(lane), atom * 16 + laneCol(lane) * 2); }) == 1,
             "st.shared of pairs meets itself in a bank", t);
}

// Copies: a phase is eight lanes of 16 bytes, which stand on whole rows of a panel.
static void copiesOfRows(const TileLayout &t) {
  int64_t chunks = t.chunksPerRow();
  for (int64_t p = 0; p < t.panels(); ++p)
    for (int64_t first = 0; first + 8 <= t.rows * chunks; first += 8)
      expect(bankPasses(8, 16,
                        [&](int64_t lane) {
                          int64_t at = first + lane;
                          return t.address(at / chunks, p * t.panelBytesPerRow() + at % chunks * kChunkBytes);
                        }) == 1,
             "a 16-byte row access meets itself in a bank", t);
}

// What the lowering relies on: rows a swizzle pattern apart differ by a constant, chunks of a row by an XOR.
static void addressesAreConstantsApart(const TileLayout &t) {
  for (int64_t r = 0; r + 8 < t.rows; ++r)
    for (int64_t c = 0; c < t.chunksPerRow(); ++c) {
      expect(t.address(r + 8, c * 16) == t.address(r, c * 16) + 8 * t.panelBytesPerRow(), "rows", t);
      expect(t.address(r, c * 16) == (t.address(r, 0) ^ (c * 16)), "chunks", t);
    }
}

int main() {
  for (TileLayout t :
       {TileLayout{64, 256, 128}, TileLayout{128, 128, 128}, TileLayout{64, 192, 64}, TileLayout{64, 64, 64},
        TileLayout{128, 96, 32}, TileLayout{64, 32, 32}, TileLayout{16, 512, 128}}) {
    everyByteOnce(t);
    ldmatrixIsFree(t);
    storeOfPairs(t);
    copiesOfRows(t);
    addressesAreConstantsApart(t);
  }
  // The count counts: without a swizzle eight rows of 128 bytes share one bank group.
  const TileLayout plain{64, 128, 0};
  expect(bankPasses(8, 16, [&](int64_t lane) { return plain.address(lane, 0); }) == 8, "conflicts are not counted",
         plain);
  // CHECK: 0 failures
  std::printf("%d failures\n", failures);
  return failures != 0;
}
