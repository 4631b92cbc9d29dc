// The fragment map: every element of a tile has one place, the operands of mma.sync.m16n8k16 (PTX ISA) are where it
// says, and reduced forms index the same rows and columns.
// RUN: %cxx -std=c++17 -I%attn_src/include %s -o %t && %t | FileCheck %s

#include "attn/Analysis/FragmentCoords.h"

#include <cstdio>
#include <set>
#include <utility>

using namespace attn;
using Form = Fragment::Form;

static int failures = 0;
static void expect(bool ok, const char *what, const Fragment &f) {
  if (!ok)
    std::printf("%ldx%ld on %ldx%ld warps: %s\n", long(f.rows), long(f.cols), long(f.warpsM), long(f.warpsN), what);
  failures += !ok;
}

static void everyElementOnce(const Fragment &f) {
  std::set<std::pair<int64_t, int64_t>> seen;
  for (int64_t w = 0; w < f.warpsM * f.warpsN; ++w)
    for (int64_t lane = 0; lane < kWarpLanes; ++lane)
      for (int64_t i = 0; i < f.size(); ++i) {
        int64_t r = rowOf(f, w % f.warpsM, lane, i), c = colOf(f, w / f.warpsM, lane, i);
        expect(r >= 0 && r < f.rows && c >= 0 && c < f.cols, "an element is outside", f);
        expect(seen.insert({r, c}).second, "an element has two places", f);
        expect(f.element(f.rowIndex(i), f.colIndex(i)) == i, "element() does not undo rowIndex, colIndex", f);
      }
  expect(int64_t(seen.size()) == f.rows * f.cols, "an element has no place", f);
}

static void reducedFormsAgree(const Fragment &f) {
  const Fragment rows{f.rows, 0, f.warpsM, f.warpsN, Form::Rows}, cols{0, f.cols, f.warpsM, f.warpsN, Form::Cols};
  for (int64_t i = 0; i < f.size(); ++i) {
    expect(f.rowIndex(i) < rows.size() && rows.rowOffset(f.rowIndex(i)) == f.rowOffset(i), "rows disagree", f);
    expect(f.colIndex(i) < cols.size() && cols.colOffset(f.colIndex(i)) == f.colOffset(i), "columns disagree", f);
  }
}

// PTX ISA, "Matrix Fragments for mma.m16n8k16", A of 16-bit type: a_i is at row groupID (i = 0, 1, 4, 5) or groupID +
// 8, column threadID_in_group * 2 + (i & 1), + 8 for i >= 4.
static void operandA(const Fragment &f) {
  for (int64_t a = 0; a < f.rowAtoms(); ++a)
    for (int64_t s = 0; 2 * s + 1 < f.colAtoms(); ++s)
      for (int64_t lane = 0; lane < kWarpLanes; ++lane)
        for (int64_t i = 0; i < 8; ++i) {
          int64_t at = f.operandA(a, s) + i;
          int64_t row = lane / 4 + (i % 4 < 2 ? 0 : 8), k = lane % 4 * 2 + i % 2 + (i < 4 ? 0 : 8);
          expect(rowOf(f, 0, lane, at) == 16 * a + row && colOf(f, 0, lane, at) == 16 * s + k, "A operand", f);
        }
}

int main() {
  for (Fragment f : {Fragment{16, 8, 1, 1}, Fragment{128, 64, 4, 1}, Fragment{64, 48, 4, 1}, Fragment{128, 128, 8, 1},
                     Fragment{64, 128, 2, 2}, Fragment{128, 32, 2, 4}}) {
    everyElementOnce(f);
    reducedFormsAgree(f);
    operandA(f);
  }
  // CHECK: 0 failures
  std::printf("%d failures\n", failures);
  return failures != 0;
}
