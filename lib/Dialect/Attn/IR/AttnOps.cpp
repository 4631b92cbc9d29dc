//===- AttnOps.cpp - verifiers of the semantic level
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rule C<n> of attn.sdpa is tested by @sdpa_c<n> in test/Dialect/Attn/IR/ops-errors.mlir, what attn.sdpa_grad adds by
// @sdpa_grad_c<n> in grad-ops-errors.mlir. Rules of their regions are in SdpaRegions.cpp.
//
//===----------------------------------------------------------------------===//

#include "attn/Dialect/Attn/IR/Attn.h"

#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/TypeUtilities.h"

#include <limits>

using namespace mlir;
using namespace attn;

#define GET_OP_CLASSES
#include "attn/Dialect/Attn/IR/AttnOps.cpp.inc"

namespace {
/// The logical order of q, k, v and o.
enum Dim { kBatch = 0, kHeads = 1, kLength = 2, kHeadDim = 3 };

/// An operand or result with the name users know it by.
struct Named {
  StringRef name;
  Value value;
  RankedTensorType type() const { return cast<RankedTensorType>(value.getType()); }
  int64_t dim(unsigned i) const { return type().getDimSize(i); }
};

std::string sizeText(int64_t size) { return ShapedType::isDynamic(size) ? "?" : std::to_string(size); }

/// Whether two sizes may be equal at run time.
bool compatible(int64_t a, int64_t b) { return ShapedType::isDynamic(a) || ShapedType::isDynamic(b) || a == b; }
} // namespace

/// `message` at `op`, with a note where the operand that is at fault is made.
static LogicalResult refuse(AttentionOp op, const Named &culprit, const Twine &message) {
  InFlightDiagnostic error = op->emitOpError() << message;
  // A block argument's location is its function's; the note helps where another op makes the value.
  if (culprit.value.getDefiningOp() && culprit.value.getDefiningOp() != op.getOperation())
    error.attachNote(culprit.value.getLoc()) << culprit.name << " is made here";
  return error;
}

static LogicalResult verifyTensor(AttentionOp op, const Named &tensor, int64_t rank) {
  RankedTensorType type = tensor.type();
  if (type.getRank() != rank) // C1
    return refuse(op, tensor,
                  tensor.name + " has rank " + Twine(type.getRank()) + "; expects " +
                      (rank == 4 ? "4 (batch, heads, length, head dim)" : "3 (batch, heads, length)"));
  if (type.getEncoding()) // C1
    return refuse(op, tensor, tensor.name + " has an encoding; expects a plain tensor");
  for (auto [i, size] : llvm::enumerate(type.getShape()))
    if (size > std::numeric_limits<int32_t>::max()) // C2
      return refuse(op, tensor,
                    tensor.name + " has size " + Twine(size) + " in dimension " + Twine(i) +
                        "; sizes are at most 2147483647");
  return success();
}

static LogicalResult verifySameSize(AttentionOp op, const Named &a, const Named &b, Dim dim, StringRef what) {
  if (compatible(a.dim(dim), b.dim(dim)))
    return success();
  return refuse(op, b,
                a.name + " and " + b.name + " differ in " + what + " (" + Twine(a.dim(dim)) + " vs " +
                    Twine(b.dim(dim)) + ")");
}

/// D or Dv.
static LogicalResult verifyHeadDim(AttentionOp op, const Named &tensor) {
  int64_t size = tensor.dim(kHeadDim);
  if (ShapedType::isDynamic(size))
    return refuse(op, tensor, "head dim must be static; that of " + tensor.name + " is dynamic");
  if (size < 8 || size % 8)
    return refuse(op, tensor,
                  "head dim must be a positive multiple of 8; that of " + tensor.name + " is " + Twine(size));
  return success();
}

static LogicalResult verifyNamedMasks(AttentionOp op) {
  ArrayAttr masks = op.getMaskAttr();
  if (!masks)
    return success();
  bool causal = false, window = false;
  for (Attribute mask : masks) { // C10
    bool *seen = isa<CausalAttr>(mask) ? &causal : isa<WindowAttr>(mask) ? &window : nullptr;
    if (!seen)
      return op->emitOpError() << "unknown mask " << mask
                               << "; expects #attn.causal<align> or #attn.window<left, right, align>";
    if (*seen)
      return op->emitOpError() << "expects each kind of mask once, got a second " << mask;
    *seen = true;
  }
  return success();
}

/// D8: what a region may capture.
static bool isCapturable(Type type) {
  if (auto tensor = dyn_cast<RankedTensorType>(type)) {
    Type element = tensor.getElementType();
    return !tensor.getEncoding() && (element.isF32() || element.isF16() || element.isBF16() || element.isInteger(1) ||
                                     element.isInteger(8) || element.isInteger(32));
  }
  return type.isF32() || type.isInteger(32);
}

/// C1, C2: `matrices` have rank 4, `rows` rank 3.
static LogicalResult verifyTensors(AttentionOp op, ArrayRef<Named> matrices, ArrayRef<Named> rows) {
  for (const Named &tensor : matrices)
    if (failed(verifyTensor(op, tensor, 4)))
      return failure();
  for (const Named &tensor : rows)
    if (failed(verifyTensor(op, tensor, 3)))
      return failure();
  return success();
}

/// C3 to C7: what both directions ask of q, k and v; `alike` are the others that have their element type.
static LogicalResult verifyInputs(AttentionOp op, ArrayRef<Named> alike) {
  Named q{"q", op.getQ()}, k{"k", op.getK()}, v{"v", op.getV()};
  // C3: one batch
  if (failed(verifySameSize(op, q, k, kBatch, "batch")) || failed(verifySameSize(op, q, v, kBatch, "batch")))
    return failure();
  // C4: k and v are one set of keys
  if (failed(verifySameSize(op, k, v, kHeads, "heads")) || failed(verifySameSize(op, k, v, kLength, "length")))
    return failure();
  // C5: every key head serves the same number of query heads
  for (const Named &tensor : {q, k})
    if (tensor.dim(kHeads) == 0)
      return refuse(op, tensor, tensor.name + " has no heads");
  if (!q.type().isDynamicDim(kHeads) && !k.type().isDynamicDim(kHeads) && q.dim(kHeads) % k.dim(kHeads))
    return refuse(op, q, "query heads " + Twine(q.dim(kHeads)) + " not a multiple of kv heads " + Twine(k.dim(kHeads)));
  // C6: head dims
  for (const Named &tensor : {q, k, v})
    if (failed(verifyHeadDim(op, tensor)))
      return failure();
  if (q.dim(kHeadDim) != k.dim(kHeadDim))
    return refuse(op, k, "q and k head dims differ (" + Twine(q.dim(kHeadDim)) + " vs " + Twine(k.dim(kHeadDim)) + ")");
  // C7: element types
  Type element = q.type().getElementType();
  if (!element.isF16() && !element.isBF16() && !element.isF32())
    return op->emitOpError() << "q has element type " << element << "; expects f16, bf16 or f32";
  SmallVector<Named> others{k, v};
  llvm::append_range(others, alike);
  for (const Named &tensor : others)
    if (tensor.type().getElementType() != element)
      return op->emitOpError() << "q and " << tensor.name << " differ in element type (" << element << " vs "
                               << tensor.type().getElementType() << ")";
  return success();
}

/// C9 to C11.
static LogicalResult verifyModifiers(AttentionOp op) {
  // C9: a scale that keeps scores finite
  if (!op.getScale().isFinite())
    return op->emitOpError() << "scale must be finite, got " << op.getScaleAttr();
  if (failed(verifyNamedMasks(op))) // C10
    return failure();
  // C11: captures
  for (Value capture : op.getCaptures())
    if (!isCapturable(capture.getType()))
      return op->emitOpError() << "cannot capture " << capture.getType()
                               << "; expects a scalar f32 or i32, or a ranked tensor of f32, f16, bf16, i32, i8 or i1";
  return success();
}

namespace {
/// One size that must agree.
struct SizeRule {
  const Named &tensor;
  Dim dim;
  const Named &like;
  StringRef what;
};
} // namespace

/// C8, C19: `kind` is "result" or "operand".
static LogicalResult verifySizes(AttentionOp op, StringRef kind, ArrayRef<SizeRule> rules) {
  for (const SizeRule &rule : rules)
    if (!compatible(rule.tensor.dim(rule.dim), rule.like.dim(rule.dim)))
      return op->emitOpError() << kind << " " << rule.tensor.name << " has " << rule.what << " "
                               << sizeText(rule.tensor.dim(rule.dim)) << ", " << rule.like.name << " has "
                               << sizeText(rule.like.dim(rule.dim));
  return success();
}

static LogicalResult verifyF32(AttentionOp op, StringRef kind, const Named &tensor) {
  if (tensor.type().getElementType().isF32())
    return success();
  return op->emitOpError() << kind << " " << tensor.name << " has element type " << tensor.type().getElementType()
                           << "; expects f32";
}

LogicalResult SdpaOp::verify() {
  Named q{"q", getQ()}, k{"k", getK()}, v{"v", getV()}, o{"o", getO()}, lse{"lse", getLse()};
  if (failed(verifyTensors(*this, {q, k, v, o}, {lse})) || failed(verifyInputs(*this, {o})))
    return failure();
  // C8: results
  if (failed(verifySizes(*this, "result",
                         {{o, kBatch, q, "batch"},
                          {o, kHeads, q, "heads"},
                          {o, kLength, q, "length"},
                          {o, kHeadDim, v, "head dim"},
                          {lse, kBatch, q, "batch"},
                          {lse, kHeads, q, "heads"},
                          {lse, kLength, q, "length"}})) ||
      failed(verifyF32(*this, "result", lse)))
    return failure();
  return verifyModifiers(*this);
}

/// C21: each gradient is made by one nest.
static LogicalResult verifySchedules(SdpaGradOp op) {
  if (!op.getSchedulesAttr())
    return success();
  for (StringRef grad : {"dQ", "dK", "dV"}) {
    int64_t makers = llvm::count_if(op.getSchedulesAttr().getAsRange<ScheduleAttr>(),
                                    [&](ScheduleAttr schedule) { return schedule.makes(grad); });
    if (makers != 1)
      return op.emitOpError() << "expects one schedule whose 'grads' name \"" << grad << "\", got " << makers;
  }
  return success();
}

LogicalResult SdpaGradOp::verify() {
  Named q{"q", getQ()}, k{"k", getK()}, v{"v", getV()}, o{"o", getO()}, lse{"lse", getLse()}, dout{"do", getDout()},
      dq{"dq", getDq()}, dk{"dk", getDk()}, dv{"dv", getDv()};
  SmallVector<Named> rows{lse};
  if (getDlse())
    rows.push_back({"dlse", getDlse()});
  if (failed(verifyTensors(*this, {q, k, v, o, dout, dq, dk, dv}, rows)) ||
      failed(verifyInputs(*this, {o, dout, dq, dk, dv})))
    return failure();
  // C19: what the forward made, and the gradients of that
  SmallVector<SizeRule> operands;
  for (const Named &tensor : {std::cref(o), std::cref(dout)}) {
    operands.push_back({tensor, kBatch, q, "batch"});
    operands.push_back({tensor, kHeads, q, "heads"});
    operands.push_back({tensor, kLength, q, "length"});
    operands.push_back({tensor, kHeadDim, v, "head dim"});
  }
  for (const Named &tensor : rows) {
    operands.push_back({tensor, kBatch, q, "batch"});
    operands.push_back({tensor, kHeads, q, "heads"});
    operands.push_back({tensor, kLength, q, "length"});
    if (failed(verifyF32(*this, "operand", tensor)))
      return failure();
  }
  // C8: each gradient is like what it is the gradient of
  SmallVector<SizeRule> results;
  for (auto [gradient, like] : {std::pair(std::cref(dq), std::cref(q)), std::pair(std::cref(dk), std::cref(k)),
                                std::pair(std::cref(dv), std::cref(v))}) {
    results.push_back({gradient, kBatch, like, "batch"});
    results.push_back({gradient, kHeads, like, "heads"});
    results.push_back({gradient, kLength, like, "length"});
    results.push_back({gradient, kHeadDim, like, "head dim"});
  }
  if (failed(verifySizes(*this, "operand", operands)) || failed(verifySizes(*this, "result", results)) ||
      failed(verifyModifiers(*this)))
    return failure();
  if (!getScoreGrad().empty() && getScore().empty()) // C20
    return emitOpError() << "has the derivative of a score region, score_grad, but no score region";
  return verifySchedules(*this);
}

//===----------------------------------------------------------------------===//
// attn.gather
//===----------------------------------------------------------------------===//

LogicalResult GatherOp::verify() {
  auto source = dyn_cast<ShapedType>(getSource().getType());
  if (!source || !isa<RankedTensorType, MemRefType>(source)) // G1
    return emitOpError() << "expects a ranked tensor or memref to read from, got " << getSource().getType();
  if (source.getRank() != static_cast<int64_t>(getAt().size())) // G2
    return emitOpError() << "expects an index for each of the source's " << source.getRank() << " dimensions, got "
                         << getAt().size();
  // G3: i32, or tiles of i32 of one shape and encoding
  RankedTensorType tile;
  for (Type index : getAt().getTypes()) {
    auto tensor = dyn_cast<RankedTensorType>(index);
    if (!getElementTypeOrSelf(index).isInteger(32) || (!tensor && !index.isInteger(32)))
      return emitOpError() << "expects i32 indices, got " << index;
    if (tensor && tile && tensor != tile)
      return emitOpError() << "expects indices of one shape, got " << tile << " and " << tensor;
    if (tensor)
      tile = tensor;
  }
  // G4
  Type expected = source.getElementType();
  if (tile)
    expected = RankedTensorType::get(tile.getShape(), expected, tile.getEncoding());
  if (getResult().getType() != expected)
    return emitOpError() << "expects a result of type " << expected << ", got " << getResult().getType();
  return success();
}
