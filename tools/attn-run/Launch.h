//===- Launch.h - runs the kernel and times it ------------------*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_RUN_LAUNCH_H
#define ATTN_RUN_LAUNCH_H

#include "Operands.h"

#include <memory>

namespace attn {
namespace run {

struct Timing {
  std::string device;               ///< "NVIDIA H200", or "cpu, 2 threads"
  std::vector<std::string> kernels; ///< those a launch starts
  std::vector<double> milliseconds; ///< of each timed launch
  std::string differs; ///< output and launch of --same whose bits are not those of the first; empty: all are
  double median() const;
};

struct Unload {
  void operator()(attn_kernel *kernel) const { attn_kernel_unload(kernel); }
};
using KernelOwner = std::unique_ptr<attn_kernel, Unload>;

/// Launches once to warm up, then options.repeat times; outputs end up in the
/// operands' host memory. A kernel that takes longer than options.timeout ends
/// the process with exit code 3: a GPU that hangs cannot be talked to.
/// What a launch would start: the choice needs sizes, strides and addresses, but no device.
std::vector<std::string> chooseKernels(attn_kernel *kernel, const Operands &operands);

Timing launch(KernelOwner kernel, Operands &operands, const Options &options);

} // namespace run
} // namespace attn

#endif // ATTN_RUN_LAUNCH_H
