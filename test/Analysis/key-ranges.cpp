// Key ranges by brute force: on random small shapes the visited tiles hold every visible key, plain tiles hold visible
// keys only, no range is empty, and the compiled arithmetic says the same as the evaluator. The same with the two sides
// swapped, for tiles of keys that look for queries.
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
    if (auto compare = dyn_cast<arith::CmpIOp>(op))
      EXPECT(compare.getPredicate() == arith::CmpIPredicate::sgt);
    if (isa<arith::AddIOp>(op))
      result = int32_t(x + y);
    else if (isa<arith::SubIOp>(op))
      result = int32_t(x - y);
    else if (isa<arith::MinSIOp>(op))
      result = std::min(x, y);
    else if (isa<arith::MaxSIOp>(op))
      result = std::max(x, y);
    else if (isa<arith::MulIOp>(op))
      result = int32_t(x * y);
    else if (isa<arith::CmpIOp>(op))
      result = x > y;
    else if (isa<arith::SelectOp>(op))
      result = x ? y : interpret(op->getOperand(2), known);
    else if (isa<arith::FloorDivSIOp>(op))
      result = x / y - (x % y < 0);
    else if (isa<arith::CeilDivSIOp>(op))
      result = x / y + (x % y > 0);
    else
      std::printf("unexpected %s\n", op->getName().getStringRef().data()), std::exit(1);
  }
  return known[value.getAsOpaquePointer()] = result;
}

/// Tiles of queries that look for keys, or of keys that look for queries.
struct Side {
  bool ofKeys = false;
  MaskedEnds ends = {};
};

/// The compiled range of one tile, which starts at `first`.
static KeyRange<int64_t> runBuilt(MLIRContext *context, ArrayRef<MaskAtom> atoms, RangeMode mode, TileShape tile,
                                  Side side, int64_t first, int64_t sq, int64_t sk) {
  Block block;
  OpBuilder builder(context);
  builder.setInsertionPointToEnd(&block);
  Location loc = UnknownLoc::get(context);
  Type i32 = builder.getI32Type();
  block.addArguments({i32, i32, i32}, {loc, loc, loc});
  Value begin = block.getArgument(0), queries = block.getArgument(1), keys = block.getArgument(2);
  KeyRange<Value> built = side.ofKeys
                              ? buildQueryRange(builder, loc, atoms, mode, tile, side.ends, begin, queries, keys)
                              : buildKeyRange(builder, loc, atoms, mode, tile, begin, queries, keys);
  std::map<void *, int64_t> known{
      {begin.getAsOpaquePointer(), first}, {queries.getAsOpaquePointer(), sq}, {keys.getAsOpaquePointer(), sk}};
  // Loops that nobody needs are not there: their bounds are one value.
  bool above = llvm::any_of(atoms, [](const MaskAtom &atom) { return atom.isUpper(); });
  bool below = llvm::any_of(atoms, [](const MaskAtom &atom) { return !atom.isUpper(); });
  if (side.ofKeys)
    std::swap(above, below);
  EXPECT(mode != RangeMode::Full || (built.lo == built.plainLo) == (!below && !(side.ofKeys && side.ends.keys)));
  if (side.ofKeys && !side.ends.keys && mode == RangeMode::Full)
    EXPECT((built.hi == built.plainHi) == (!above && !side.ends.queries));
  EXPECT(mode == RangeMode::Full || built.plainLo == built.plainHi);
  return {interpret(built.lo, known), interpret(built.hi, known), interpret(built.plainLo, known),
          interpret(built.plainHi, known)};
}

struct Counts {
  int tiles = 0, visited = 0, plain = 0, dead = 0;
};

static void checkShape(MLIRContext *context, ArrayRef<Attribute> masks, TileShape tile, Side side, int64_t sq,
                       int64_t sk, Counts &counts) {
  SmallVector<MaskAtom> atoms = getMaskAtoms(ArrayAttr::get(context, masks));
  // `own`: the side of the tile that asks; `other`: the side it looks for.
  auto [own, other] = side.ofKeys ? std::pair(tile.keys, tile.queries) : std::pair(tile.queries, tile.keys);
  auto [ownEnd, otherEnd] = side.ofKeys ? std::pair(sk, sq) : std::pair(sq, sk);
  MaskedEnds ends = side.ofKeys ? side.ends.transposed() : MaskedEnds();
  int64_t numTiles = (otherEnd + other - 1) / other;
  for (int64_t first = 0; first < ownEnd; first += own) {
    for (RangeMode mode : {RangeMode::Full, RangeMode::NoPlain, RangeMode::Off}) {
      std::optional<KeyRange<int64_t>> range = side.ofKeys
                                                   ? evaluateQueryRange(atoms, mode, tile, side.ends, first, sq, sk)
                                                   : evaluateKeyRange(atoms, mode, tile, first, sq, sk);
      EXPECT(range);
      KeyRange<int64_t> built = runBuilt(context, atoms, mode, tile, side, first, sq, sk);
      EXPECT(built.lo == range->lo && built.hi == range->hi && built.plainLo == range->plainLo &&
             built.plainHi == range->plainHi);
      EXPECT(0 <= range->lo && range->lo < range->hi && range->hi <= numTiles);
      EXPECT(range->lo <= range->plainLo && range->plainLo <= range->plainHi && range->plainHi <= range->hi);
      EXPECT(mode == RangeMode::Full || range->plainLo == range->plainHi);

      bool anyVisible = false;
      for (int64_t j = 0; j < numTiles; ++j) {
        // `all`: nothing in the tile needs a mask.
        bool some = false, all = !ends.queries || first + own <= ownEnd;
        for (int64_t x = first; x < std::min(first + own, ownEnd); ++x) {
          for (int64_t y = j * other; y < (j + 1) * other; ++y) {
            int64_t q = side.ofKeys ? y : x, k = side.ofKeys ? x : y;
            bool there = y < otherEnd;
            bool visible = there && llvm::all_of(masks, [&](Attribute m) { return isVisible(m, q, k, sq, sk); });
            some |= visible;
            all &= visible || !(there || ends.keys);
          }
        }
        anyVisible |= some;
        bool visited = range->lo <= j && j < range->hi, plain = range->plainLo <= j && j < range->plainHi;
        EXPECT(visited || !some);
        EXPECT(!plain || all);
        if (mode != RangeMode::Full)
          continue;
        // One mask alone is analysed exactly, but for a cut last tile that only ends with the bound.
        bool cut = !ends.keys && (j + 1) * other > otherEnd;
        EXPECT(plain || !all || cut || masks.size() > 1);
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
            int64_t lastRow = (sq - 1) / tile.queries * tile.queries, lastKey = (sk - 1) / tile.keys * tile.keys;
            SmallVector<MaskAtom> atoms =
                getMaskAtoms(ArrayAttr::get(context, {WindowAttr::get(context, left, right, align)}));
            for (int64_t row : {int64_t(0), lastRow}) {
              std::optional<KeyRange<int64_t>> range = evaluateKeyRange(atoms, RangeMode::Full, tile, row, sq, sk);
              EXPECT(range);
              EXPECT(runBuilt(context, atoms, RangeMode::Full, tile, {}, row, sq, sk).plainHi == range->plainHi);
            }
            for (int64_t key : {int64_t(0), lastKey}) {
              for (MaskedEnds ends : {MaskedEnds{true, true}, MaskedEnds{false, false}}) {
                std::optional<KeyRange<int64_t>> range =
                    evaluateQueryRange(atoms, RangeMode::Full, tile, ends, key, sq, sk);
                EXPECT(range);
                KeyRange<int64_t> built = runBuilt(context, atoms, RangeMode::Full, tile, {true, ends}, key, sq, sk);
                EXPECT(built.plainLo == range->plainLo && built.plainHi == range->plainHi);
              }
            }
          }
}

int main() {
  MLIRContext context;
  context.loadDialect<AttnDialect, arith::ArithDialect>();
  Counts counts, ofKeys;
  for (int round = 0; round < 3000; ++round) {
    SmallVector<Attribute> masks(pick(0, 2));
    for (Attribute &mask : masks)
      mask = randomMask(&context);
    checkShape(&context, masks, {pick(1, 8), pick(1, 8)}, {}, pick(1, 30), pick(1, 30), counts);
    Side side{true, {pick(0, 1) == 1, pick(0, 1) == 1}};
    checkShape(&context, masks, {pick(1, 8), pick(1, 8)}, side, pick(1, 30), pick(1, 30), ofKeys);
  }
  checkLong(&context);
  // CHECK: right
  std::printf("right\n");
  // Some of everything was seen.
  for (const Counts &c : {counts, ofKeys}) {
    EXPECT(c.dead > 100 && c.plain > 1000 && c.visited > c.plain && c.tiles > c.visited);
    std::fprintf(stderr, "%d tiles, %d visited, %d plain; %d see nothing\n", c.tiles, c.visited, c.plain, c.dead);
  }
}
