//===- Slots.h - slots of rings that threads fill and read ------------*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Exchanges (SharedAllocs.h) and what threads load from slots, on family wgmma; and tiles in the order in which threads
// hold them, on all families.
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_LIB_CONVERSION_ATTNTONVVM_SLOTS_H
#define ATTN_LIB_CONVERSION_ATTNTONVVM_SLOTS_H

#include "Lowering.h"

namespace attn::nvvm {

/// Notes on the ops of a kernel which ones are about exchanges: once rings are converted nobody can tell.
void markExchanges(KernelOp kernel);
bool isOfExchange(mlir::Operation *op);
/// What this thread has stored to shared memory is there for the matrix unit and the tensor memory accelerator.
void fenceStores(const Emit &);
/// All groups of a role meet.
void meetGroups(const Emit &, const KernelState &);

mlir::LogicalResult checkSlotLoad(mlir::Operation *op);
void populateSlotLoadPatterns(mlir::TypeConverter &, KernelStates &, mlir::RewritePatternSet &);

mlir::LogicalResult checkRawTile(mlir::Operation *op);
void populateRawTilePatterns(mlir::TypeConverter &, KernelStates &, mlir::RewritePatternSet &);

} // namespace attn::nvvm

#endif // ATTN_LIB_CONVERSION_ATTNTONVVM_SLOTS_H
