//===- KernelRemark.h - remarks that say which kernel they are about --*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_TRANSFORMS_KERNELREMARK_H
#define ATTN_TRANSFORMS_KERNELREMARK_H

#include "attn/Dialect/Attn/IR/Attn.h"
#include "mlir/IR/Remarks.h"

namespace attn {

/// A remark's options, with the kernel `op` is or lies in: the kernels of one spec share its locations.
inline mlir::remark::RemarkOpts inKernel(mlir::Operation *op, llvm::StringRef name, llvm::StringRef category) {
  auto kernel = llvm::dyn_cast<KernelOp>(op);
  if (!kernel)
    kernel = op->getParentOfType<KernelOp>();
  return mlir::remark::RemarkOpts::name(name).category(category).function(kernel ? kernel.getName()
                                                                                 : llvm::StringRef());
}

} // namespace attn

#endif // ATTN_TRANSFORMS_KERNELREMARK_H
