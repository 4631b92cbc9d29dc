//===- AttnRoleOps.cpp - verifiers of roles and rings
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rules: U role, A alloc, G acquire, Y copy, V wait, I await, B put and get, E any. @<op>_<rule> in
// test/Dialect/Attn/IR/role-ops-errors.mlir.
//
//===----------------------------------------------------------------------===//

#include "attn/Dialect/Attn/IR/Attn.h"

using namespace mlir;
using namespace attn;

LogicalResult RoleOp::verify() {
  int64_t first = getFirstWarp(), warps = getWarps(), groups = getGroups();
  if (first < 0 || warps < 1 || groups < 1 || first + warps > 32) // U2
    return emitOpError() << "expects warps from 0 to 31 and at least one group, got " << warps << " from " << first
                         << " in " << groups << " groups";
  if (warps % groups) // U3
    return emitOpError() << "expects groups of equal size, got " << warps << " warps in " << groups << " groups";
  if (std::optional<uint64_t> regs = getRegs(); regs && (*regs < 24 || *regs > 256 || *regs % 8)) // U5: PTX, setmaxnreg
    return emitOpError() << "expects 'regs' in multiples of 8 from 24 to 256, got " << static_cast<int64_t>(*regs);
  if (getElect() && groups != 1) // U6
    return emitOpError() << "elects one thread, so it is one group; got " << groups;
  if (getBody().getArgumentTypes() != ArrayRef<Type>{IntegerType::get(getContext(), 32)}) // U4
    return emitOpError() << "body takes the group's number, one i32; got " << getBody().getNumArguments()
                         << " arguments";
  return success();
}

/// Whether bytes of `type` are placed in 16-byte chunks that trade places.
static bool isSwizzled(Type type) {
  if (auto ring = dyn_cast<RingType>(type))
    return llvm::any_of(ring.getBufs(), isSwizzled);
  return cast<BufType>(type).getSwizzle() != 0;
}

LogicalResult AllocOp::verify() {
  if (std::optional<uint64_t> readers = getReaders(); readers && static_cast<int64_t>(*readers) < 1) // A3
    return emitOpError() << "expects at least one reader, got " << static_cast<int64_t>(*readers);
  if (std::optional<uint64_t> offset = getOffset()) { // A1
    int64_t alignment = isSwizzled(getType()) ? 1024 : 16;
    if (static_cast<int64_t>(*offset) < 0 || *offset % alignment)
      return emitOpError() << "expects an offset in multiples of " << alignment << " bytes, got "
                           << static_cast<int64_t>(*offset);
  }
  if (std::optional<uint64_t> barriers = getBarriers(); barriers && *barriers % 8) // A4
    return emitOpError() << "expects barriers at a multiple of 8 bytes, got " << static_cast<int64_t>(*barriers);
  if (std::optional<StringRef> over = getOver()) { // A2: the bytes to reuse are an alloc's of this kernel
    auto kernel = (*this)->getParentOfType<KernelOp>();
    bool found = false;
    if (kernel)
      kernel.walk([&](AllocOp other) { found |= other != *this && other.getLabel() == over; });
    if (!found)
      return emitOpError() << "finds no alloc labelled \"" << *over << "\" to lie over";
  }
  return success();
}

LogicalResult SliceOp::verify() {
  BufType from = getSource().getType(), to = getResult().getType();
  RankedTensorType whole = from.getTile(), part = to.getTile();
  if (!from.getSwizzle() || to.getSwizzle() != from.getSwizzle() || part.getRank() != 2 ||
      part.getElementType() != whole.getElementType() || part.getDimSize(0) != whole.getDimSize(0)) // N1
    return emitOpError() << "expects a swizzled buf and some of its columns, got " << from << " and " << to;
  if (part.getDimSize(1) > whole.getDimSize(1)) // N2
    return emitOpError() << "expects at most " << whole.getDimSize(1) << " columns, got " << to;
  return success();
}

/// `op` returns the bufs of one slot of `ring`.
static LogicalResult verifySlot(Operation *op, RingType ring, TypeRange bufs) {
  if (llvm::equal(ring.getBufs(), bufs))
    return success();
  InFlightDiagnostic error = op->emitOpError() << "expects the bufs of a slot, ";
  llvm::interleaveComma(ring.getBufs(), error);
  error << "; got ";
  llvm::interleaveComma(bufs, error);
  return error;
}

LogicalResult AcquireOp::verify() { return verifySlot(*this, getRing().getType(), getBufs().getTypes()); } // G3

LogicalResult WaitOp::verify() {
  if (std::optional<uint64_t> leaves = getLeaves(); leaves && static_cast<int64_t>(*leaves) < 0) // V1
    return emitOpError() << "expects 'leaves' of at least 0, got " << static_cast<int64_t>(*leaves);
  return verifySlot(*this, getRing().getType(), getBufs().getTypes()); // V2
}

LogicalResult CopyOp::verify() {
  bool toShared = isa<BufType>(getDest().getType());
  Type outside = (toShared ? getSource() : getDest()).getType();
  auto buf = dyn_cast<BufType>((toShared ? getDest() : getSource()).getType());
  if (!buf || isa<BufType>(outside)) // Y2
    return emitOpError() << "moves between a memref or a tensor map and a buf, got " << getSource().getType() << " to "
                         << getDest().getType();
  RankedTensorType tile = buf.getTile();
  auto map = dyn_cast<MapType>(outside);
  if ((getVia() == Transport::Tma) != bool(map)) // Y6
    return emitOpError() << "goes through a tensor map if and only if it goes via tma, got " << outside << " via "
                         << stringifyTransport(getVia());
  if (map && (map.getTile() != tile || map.getSwizzle() != buf.getSwizzle())) // Y7
    return emitOpError() << "expects the map of its buf, " << buf << "; got " << map;
  if (getVia() == Transport::Bulk && (!toShared || tile.getRank() != 1 || !getRing())) // Y8
    return emitOpError() << "via bulk fills an item with a tile of rank 1, got " << tile;
  int64_t rank = map ? 4 : cast<MemRefType>(outside).getRank();
  Type element = map ? tile.getElementType() : cast<MemRefType>(outside).getElementType();
  ValueRange coordinates = toShared ? getFrom() : getInto(), none = toShared ? getInto() : getFrom();
  int64_t leading = rank - tile.getRank(), given = coordinates.size();
  if (!none.empty() || leading < 0 || given < leading || given > rank) // Y3
    return emitOpError() << "expects coordinates into the memref only, for its leading "
                         << std::max<int64_t>(leading, 0) << " dimensions at least and its rank at most; got " << given
                         << " and " << none.size() << " into the buf";
  if (element != tile.getElementType()) // Y4
    return emitOpError() << "moves one element type, got " << element << " and " << tile.getElementType();
  if (!toShared && getVia() == Transport::CpAsync) // Y5
    return emitOpError() << "cp_async moves from a memref to a buf only";
  // Y1: a slot of a ring, and only that, is filled
  if (!getRing() != !getItem())
    return emitOpError() << "expects 'fills' with a ring and an item";
  auto slot = getDest().getDefiningOp<AcquireOp>();
  if (!slot && !getRing())
    return success();
  if (slot && slot.getRing() == getRing() && slot.getItem() == getItem())
    return success();
  InFlightDiagnostic error = emitOpError();
  if (!slot)
    error << "fills an item of a ring, but its destination is not a slot of that ring";
  else if (!getRing())
    error << "writes into a slot of a ring without filling its item";
  else
    error << "fills another item than the slot it writes into";
  error.attachNote(getDest().getLoc()) << "the destination comes from here";
  return error;
}

//===----------------------------------------------------------------------===//
// Words, products in flight
//===----------------------------------------------------------------------===//

static LogicalResult verifyWord(Operation *op, BufType buf) { // B1
  RankedTensorType tile = buf.getTile();
  if (tile.getRank() == 1 && tile.getDimSize(0) == 1 && tile.getElementType().isInteger(32))
    return success();
  return op->emitOpError() << "expects a buf of one i32, got " << buf;
}

LogicalResult PutOp::verify() { return verifyWord(*this, getDest().getType()); }
LogicalResult GetOp::verify() { return verifyWord(*this, getSource().getType()); }

LogicalResult AwaitOp::verify() {
  bool match = getPendings().size() == getResults().size() && !getPendings().empty();
  for (auto [pending, tile] : llvm::zip(getPendings().getTypes(), getResults().getTypes()))
    match &= cast<PendingType>(pending).getTile() == tile;
  if (!match) // I1
    return emitOpError() << "returns the tile of every pending, got " << getPendings().getTypes() << " and "
                         << getResults().getTypes();
  if (int64_t leaves = getLeaves(); leaves < 0) // I1
    return emitOpError() << "expects 'leaves' of at least 0, got " << leaves;
  return success();
}

LogicalResult AnyOp::verify() { // E6
  auto tile = cast<RankedTensorType>(getX().getType());
  if (tile.getElementType().isInteger(1))
    return success();
  return emitOpError() << "asks for a tile of i1, got " << tile;
}
