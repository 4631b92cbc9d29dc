//===- Machine.h - which chip this machine has ---------------------*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_COMPILE_MACHINE_H
#define ATTN_COMPILE_MACHINE_H

#include <string>

namespace attn {
/// The chip of the first GPU, asked of the driver; "cpu" without a driver, without a GPU or with one that Facts does
/// not know.
std::string detectChip();
} // namespace attn

#endif // ATTN_COMPILE_MACHINE_H
