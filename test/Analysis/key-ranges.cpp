// Key ranges by brute force: on random small shapes the visited tiles hold every visible key, plain tiles hold visible
// keys only, no range is empty, and the compiled arithmetic says the same as the evaluator.
// RUN: attn-test-key-ranges | FileCheck %s

#include "attn/Analysis/KeyRanges.h"
#include "attn/Dialect/Attn/IR/Attn.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/MLIRContext.h"

#include <cstdio>
#include <cstdlib>
#include <map>
#include <random>

using namespace mlir;
using namespace attn;

#define EXPECT(what)                                                                                                   \
  do {                                                                                                                 \
    if (!(what)) {                                                                                                     \
      std::printf("line %d: expected %s\n", __LINE__, #what);                                                          \
      std::exit(1);                                                                                                    \
    }                                                                                                                  \
  } while (false)

static std::mt19937 rng(20261129);
static int64_t pick(int64_t lo, int64_t hi) { return std::uniform_int_distribution<int64_t>(lo, hi)(rng); }

/// What the attributes promise, in their own words.
static bool isVisible(Attribute mask, int64_t q, int64_t k, int64_t sq, int64_t sk) {
  auto offset = [&](Align align) { return align == Align::BottomRight ? sk - sq : 0; };
  if (auto causal = dyn_cast<CausalAttr>(mask))
    return k <= q + offset(causal.getAlign());
  auto window = cast<WindowAttr>(mask);
  int64_t self = q + offset(window.getAlign());
  return (window.getLeft() < 0 || k >= self - window.getLeft()) &&
         (window.getRight() < 0 || k <= self + window.getRight());
}

static Attribute randomMask(MLIRContext *context) {
  Align align = pick(0, 1) ? Align::BottomRight : Align::TopLeft;
  if (pick(0, 2) == 0)
    return CausalAttr::get(context, align);
  auto bound = [] { return pick(0, 3) == 0 ? -1 : pick(0, 3) == 0 ? kMaxLength + pick(0, 5) : pick(0, 12); };
  return WindowAttr::get(context, bound(), bound(), align);
}

/// Runs i32 arithmetic.
static int64_t interpret(Value value, std::map<void *, int64_t> &known) {
  auto it = known.find(value.getAsOpaquePointer());
  if (it != known.end())
    return it->second;
  Operation *op = value.getDefiningOp();
  int64_t result;
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    result = cast<IntegerAttr>(constant.getValue()).getInt();
  } else {
    int64_t x = interpret(op->getOperand(0), known), y = interpret(op->getOperand(1), known);
    if (isa<arith::AddIOp>(op))
      result = int32_t(x + y);
    else if (isa<arith::SubIOp>(op))
      result = int32_t(x - y);
    else if (isa<arith::MinSIOp>(op))
      result = std::min(x, y);
    else if (isa<arith::MaxSIOp>(op))
      result = std::max(x, y);
    else if (isa<arith::FloorDivSIOp>(op))
      result = x / y - (x % y < 0);
    else if (isa<arith::CeilDivSIOp>(op))
      result = x / y + (x % y > 0);
    else
      std::printf("unexpected %s\n", op->getName().getStringRef().data()), std::exit(1);
  }
  return known[value.getAsOpaquePointer()] = result;
}

/// The compiled range of one tile.
static KeyRange<int64_t> runBuilt(MLIRContext *context, ArrayRef<MaskAtom> atoms, RangeMode mode, TileShape tile,
                                  int64_t row, int64_t sq, int64_t sk) {
  Block block;
  OpBuilder builder(context);
  builder.setInsertionPointToEnd(&block);
  Location loc = UnknownLoc::get(context);
  Type i32 = builder.getI32Type();
  block.addArguments({i32, i32, i32}, {loc, loc, loc});
  KeyRange<Value> built =
      buildKeyRange(builder, loc, atoms, mode, tile, block.getArgument(0), block.getArgument(1), block.getArgument(2));
  std::map<void *, int64_t> known{{block.getArgument(0).getAsOpaquePointer(), row},
                                  {block.getArgument(1).getAsOpaquePointer(), sq},
                                  {block.getArgument(2).getAsOpaquePointer(), sk}};
  bool lower = llvm::any_of(atoms, [](const MaskAtom &atom) { return !atom.isUpper(); });
  EXPECT(mode != RangeMode::Full || (built.lo == built.plainLo) == !lower);
  EXPECT(mode == RangeMode::Full || built.plainLo == built.plainHi);
  return {interpret(built.lo, known), interpret(built.hi, known), interpret(built.plainLo, known),
          interpret(built.plainHi, known)};
}

struct Counts {
  int tiles = 0, visited = 0, plain = 0, dead = 0;
};

static void checkShape(MLIRContext *context, ArrayRef<Attribute> masks, TileShape tile, int64_t sq, int64_t sk,
                       Counts &counts) {
  SmallVector<MaskAtom> atoms = getMaskAtoms(ArrayAttr::get(context, masks));
  int64_t numTiles = (sk + tile.keys - 1) / tile.keys;
  for (int64_t row = 0; row < sq; row += tile.queries) {
    for (RangeMode mode : {RangeMode::Full, RangeMode::NoPlain, RangeMode::Off}) {
      std::optional<KeyRange<int64_t>> range = evaluateKeyRange(atoms, mode, tile, row, sq, sk);
      EXPECT(range);
      KeyRange<int64_t> built = runBuilt(context, atoms, mode, tile, row, sq, sk);
      EXPECT(built.lo == range->lo && built.hi == range->hi && built.plainLo == range->plainLo &&
             built.plainHi == range->plainHi);
      EXPECT(0 <= range->lo && range->lo < range->hi && range->hi <= numTiles);
      EXPECT(range->lo <= range->plainLo && range->plainLo <= range->plainHi && range->plainHi <= range->hi);
      EXPECT(mode == RangeMode::Full || range->plainLo == range->plainHi);

      bool anyVisible = false;
      for (int64_t j = 0; j < numTiles; ++j) {
        bool some = false, all = true;
        for (int64_t q = row; q < std::min(row + tile.queries, sq); ++q) {
          for (int64_t k = j * tile.keys; k < (j + 1) * tile.keys; ++k) {
            bool visible = k < sk && llvm::all_of(masks, [&](Attribute m) { return isVisible(m, q, k, sq, sk); });
            some |= visible;
            all &= visible;
          }
        }
        anyVisible |= some;
        bool visited = range->lo <= j && j < range->hi, plain = range->plainLo <= j && j < range->plainHi;
        EXPECT(visited || !some);
        EXPECT(!plain || all);
        if (mode != RangeMode::Full)
          continue;
        // One mask alone is analysed exactly.
        EXPECT(plain || !all || masks.size() > 1);
        EXPECT(!visited || some || masks.size() > 1 || range->hi - range->lo == 1);
        counts.tiles++, counts.visited += visited, counts.plain += plain;
      }
      counts.dead += mode == RangeMode::Full && !anyVisible;
    }
  }
}

/// Lengths up to 2^30 do not leave i32, whatever the mask.
static void checkLong(MLIRContext *context) {
  for (int64_t left : {int64_t(-1), int64_t(0), kMaxLength - 1, kMaxLength, INT64_MAX})
    for (int64_t right : {int64_t(-1), int64_t(0), kMaxLength - 1, kMaxLength, INT64_MAX})
      for (Align align : {Align::TopLeft, Align::BottomRight})
        for (int64_t sq : {int64_t(1), kMaxLength - 1, kMaxLength})
          for (int64_t sk : {int64_t(1), kMaxLength - 1, kMaxLength}) {
            TileShape tile{192, 128};
            int64_t lastRow = (sq - 1) / tile.queries * tile.queries;
            SmallVector<MaskAtom> atoms =
                getMaskAtoms(ArrayAttr::get(context, {WindowAttr::get(context, left, right, align)}));
            for (int64_t row : {int64_t(0), lastRow}) {
              std::optional<KeyRange<int64_t>> range = evaluateKeyRange(atoms, RangeMode::Full, tile, row, sq, sk);
              EXPECT(range);
              EXPECT(runBuilt(context, atoms, RangeMode::Full, tile, row, sq, sk).plainHi == range->plainHi);
            }
          }
}

int main() {
  MLIRContext context;
  context.loadDialect<AttnDialect, arith::ArithDialect>();
  Counts counts;
  for (int round = 0; round < 3000; ++round) {
    SmallVector<Attribute> masks(pick(0, 2));
    for (Attribute &mask : masks)
      mask = randomMask(&context);
    checkShape(&context, masks, {pick(1, 8), pick(1, 8)}, pick(1, 30), pick(1, 30), counts);
  }
  checkLong(&context);
  // CHECK: right
  std::printf("right\n");
  // Some of everything was seen.
  EXPECT(counts.dead > 100 && counts.plain > 1000 && counts.visited > counts.plain && counts.tiles > counts.visited);
  std::fprintf(stderr, "%d tiles, %d visited, %d plain; %d query tiles without a key\n", counts.tiles, counts.visited,
               counts.plain, counts.dead);
}
