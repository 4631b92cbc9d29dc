//===- SharedAllocs.cpp - who shares which bytes
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Analysis/SharedAllocs.h"

#include "attn/Analysis/SharedPlan.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace attn;

/// Bytes one group needs. The last buf of the last slot is not rounded up: a word at the end takes four bytes.
static int64_t getOwnBytes(AllocOp alloc) {
  auto ring = dyn_cast<RingType>(alloc.getResult().getType());
  if (!ring)
    return llvm::alignTo(cast<BufType>(alloc.getResult().getType()).getBytes(), facts::kBankBytes);
  int64_t last = ring.getBufs().empty() ? 0 : cast<BufType>(ring.getBufs().back()).getBytes();
  return ring.getDepth() * ring.getSlotBytes() - (llvm::alignTo(last, facts::kBankBytes) - last);
}

int64_t attn::getGroupStride(AllocOp alloc) { return llvm::alignTo(getOwnBytes(alloc), getSharedAlignment(alloc)); }

int64_t attn::getSharedBytes(AllocOp alloc) {
  auto role = alloc->getParentOfType<RoleOp>();
  int64_t others = role ? role.getGroups() - 1 : 0;
  return others * getGroupStride(alloc) + getOwnBytes(alloc);
}

bool attn::isExchange(AllocOp alloc) {
  RoleOp fills, reads;
  for (Operation *user : alloc->getUsers()) {
    if (isa<AcquireOp>(user))
      fills = user->getParentOfType<RoleOp>();
    if (isa<WaitOp>(user))
      reads = user->getParentOfType<RoleOp>();
  }
  return fills && fills == reads && !fills.getElect();
}

int64_t attn::getBarrierBytes(AllocOp alloc) {
  auto ring = dyn_cast<RingType>(alloc.getResult().getType());
  return ring && !alloc->getParentOfType<RoleOp>() && !isExchange(alloc) ? kSlotBarrierBytes * ring.getDepth() : 0;
}

int64_t attn::getSharedAlignment(AllocOp alloc) {
  auto swizzled = [](Type buf) { return cast<BufType>(buf).getSwizzle() != 0; };
  Type type = alloc.getResult().getType();
  if (auto ring = dyn_cast<RingType>(type))
    return llvm::any_of(ring.getBufs(), swizzled) ? kSwizzleBytes : facts::kBankBytes;
  return swizzled(type) ? kSwizzleBytes : facts::kBankBytes;
}

std::string attn::describeAlloc(AllocOp alloc) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << '"' << alloc.getLabel().value_or("unnamed") << "\": ";
  if (auto ring = dyn_cast<RingType>(alloc.getResult().getType()))
    llvm::interleave(
        ring.getBufs(), os, [&](Type buf) { os << ring.getDepth() << " x " << cast<BufType>(buf).getTile(); }, " + ");
  else
    os << cast<BufType>(alloc.getResult().getType()).getTile();
  return text;
}

SharedAllocs::SharedAllocs(Operation *kernel) {
  kernel->walk([&](AllocOp alloc) {
    if (alloc.getLabel())
      byLabel.try_emplace(*alloc.getLabel(), alloc);
  });
}

AllocOp SharedAllocs::getRoot(AllocOp alloc) const {
  llvm::SmallPtrSet<Operation *, 4> seen;
  while (alloc.getOver()) {
    if (!seen.insert(alloc).second)
      return {};
    alloc = byLabel.lookup(*alloc.getOver());
    if (!alloc)
      return {};
  }
  return alloc;
}
