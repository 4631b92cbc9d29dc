//===- Dots.cpp - matrix products on vector registers
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// C[m, n] += A[m, k] * B[k, n] with m in the lanes: a block of C stays in registers over all of k.
//
//              n0  n1  n2 ...          per k: `vectors` loads of A, one broadcast of B for each n,
//   m0 .. m15  acc acc acc             vectors * columns multiply-adds
//   m16.. m31  acc acc acc
//
//===----------------------------------------------------------------------===//

#include "Lower.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace attn;
using namespace attn::cpu;

namespace {
/// Part of a dimension: `count` pieces of `size` from `begin` to `end`.
struct Run {
  int64_t begin, end;
  int64_t size, count; ///< Of one iteration.
};

struct DotEmitter {
  OpBuilder &b;
  Location loc;
  Value a, bTile, acc, out; ///< acc is null where the product starts from 0.
  bool kFirst;              ///< B's memory is [k][n], else [n][k].
  int64_t kBegin, kEnd;

  Value index(int64_t value) { return arith::ConstantIndexOp::create(b, loc, value); }
  Value offset(Value base, int64_t by) { return by ? Value(arith::AddIOp::create(b, loc, base, index(by))) : base; }

  /// One block: `rows.count` vectors of `rows.size` lanes from m, `columns.count` columns from n.
  void emitBlock(Value m, const Run &rows, Value n, const Run &columns) {
    auto vector = VectorType::get({rows.size}, b.getF32Type());
    SmallVector<Value> sums;
    for (int64_t j = 0; j < columns.count; ++j)
      for (int64_t i = 0; i < rows.count; ++i)
        sums.push_back(
            acc ? Value(vector::LoadOp::create(b, loc, vector, acc, ValueRange{offset(n, j), offset(m, i * rows.size)}))
                : Value(arith::ConstantOp::create(b, loc, b.getZeroAttr(vector))));
    auto loop = scf::ForOp::create(b, loc, index(kBegin), index(kEnd), index(1), sums);
    {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(loop.getBody());
      Value k = loop.getInductionVar();
      SmallVector<Value> lanes, next;
      for (int64_t i = 0; i < rows.count; ++i)
        lanes.push_back(vector::LoadOp::create(b, loc, vector, a, ValueRange{k, offset(m, i * rows.size)}));
      for (int64_t j = 0; j < columns.count; ++j) {
        Value column = offset(n, j);
        Value scalar = memref::LoadOp::create(b, loc, bTile, kFirst ? ValueRange{k, column} : ValueRange{column, k});
        Value all = vector::BroadcastOp::create(b, loc, vector, scalar);
        for (int64_t i = 0; i < rows.count; ++i)
          next.push_back(vector::FMAOp::create(b, loc, lanes[i], all, loop.getRegionIterArg(j * rows.count + i)));
      }
      scf::YieldOp::create(b, loc, next);
    }
    for (int64_t j = 0; j < columns.count; ++j)
      for (int64_t i = 0; i < rows.count; ++i)
        vector::StoreOp::create(b, loc, loop.getResult(j * rows.count + i), out,
                                ValueRange{offset(n, j), offset(m, i * rows.size)});
  }

  void forEach(const Run &run, llvm::function_ref<void(Value)> body) {
    int64_t step = run.size * run.count;
    if (run.end - run.begin == step)
      return body(index(run.begin));
    auto loop = scf::ForOp::create(b, loc, index(run.begin), index(run.end), index(step));
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    body(loop.getInductionVar());
  }
};
} // namespace

/// Cuts `extent` into runs of `count` vectors of `size`, then fewer vectors, then narrower ones.
static SmallVector<Run> cut(int64_t extent, int64_t size, int64_t count) {
  SmallVector<Run> runs;
  for (int64_t at = 0; at < extent;) {
    int64_t left = extent - at;
    while (size > left)
      size /= 2;
    count = std::min(count, left / size);
    int64_t end = at + left / (size * count) * (size * count);
    runs.push_back({at, end, size, count});
    at = end;
  }
  return runs;
}

LogicalResult KernelLowering::lowerDot(DotOp dot, unsigned index, const BlockPlan &plan) {
  Location loc = dot.getLoc();
  if (!isa<RankedTensorType>(dot.getA().getType()) || !isa<RankedTensorType>(dot.getB().getType()))
    return dot.emitOpError("is not supported on the CPU: operands are tiles there, not buffers");
  if (dot.getTransA() || dot.getA2())
    return dot.emitOpError("is not supported on the CPU: dQ is computed in a nest over queries there, where no first "
                           "operand is transposed and none has two parts");
  ArrayRef<int64_t> shape = dot.getTile().getShape();
  Buffer *a = getBuffer(dot.getA(), loc);
  Buffer *bTile = getBuffer(dot.getB(), loc);
  if (a->rowMajor) // A tile that is the first operand of one dot and the second of others.
    return dot.emitOpError("is not supported on the CPU: its first operand is laid out as a second one");
  Value acc = dot.getAcc() ? getBuffer(dot.getAcc(), loc)->memref : Value();
  Buffer *out = claim(dot.getResult(), index, plan);

  int64_t depth = cast<RankedTensorType>(dot.getA().getType()).getShape()[1];
  // In lane layout memory is transposed once more.
  bool kFirst = dot.getTransB() != bTile->rowMajor;
  // Accumulators fill three quarters of the registers: 24 of 32 as 4 x 6, 12 of 16 as 2 x 6.
  int64_t vectors = machine.registers / 8, columns = 6;
  // The part of A that every block of columns goes through again stays in the first-level cache: 128 x 64 values, 32
  // KiB.
  int64_t parts = llvm::divideCeil(depth, 128);
  for (int64_t part = 0; part < parts; ++part) {
    DotEmitter emitter{b,
                       loc,
                       a->memref,
                       bTile->memref,
                       part ? out->memref : acc,
                       out->memref,
                       kFirst,
                       depth * part / parts,
                       depth * (part + 1) / parts};
    for (const Run &rows : cut(shape[0], machine.lanes, vectors))
      for (const Run &cols : cut(shape[1], 1, columns))
        emitter.forEach(rows,
                        [&](Value m) { emitter.forEach(cols, [&](Value n) { emitter.emitBlock(m, rows, n, cols); }); });
  }
  return success();
}
