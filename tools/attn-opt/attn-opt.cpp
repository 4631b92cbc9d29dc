//===- attn-opt.cpp - run any pass or pipeline on any stage
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/InitAll.h"

#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Debug.h"

#ifndef NDEBUG // LLVM's own --debug-only is not in a release build of it; LDBG() in our code is.
static llvm::cl::list<std::string>
    debugOnly("attn-debug", llvm::cl::value_desc("pass"),
              llvm::cl::desc("Print what a pass thinks (LDBG), such as attn-tile-forward"),
              llvm::cl::callback([](const std::string &type) {
                llvm::DebugFlag = true;
                llvm::setCurrentDebugType(type.c_str());
              }));
#endif

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  attn::registerAllDialects(registry);
  attn::registerAllPasses();
  return mlir::asMainReturnCode(mlir::MlirOptMain(argc, argv, "attn: attention kernels, stage by stage\n", registry));
}
