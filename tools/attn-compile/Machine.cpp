//===- Machine.cpp - which chip this machine has
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Machine.h"

#include "attn/Facts/Facts.h"

#include <dlfcn.h>

std::string attn::detectChip() {
  // Stays open: a driver that was initialised does not like to be unloaded.
  void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!driver)
    return "cpu";
  auto init = reinterpret_cast<int (*)(unsigned)>(dlsym(driver, "cuInit"));
  auto getAttribute = reinterpret_cast<int (*)(int *, int, int)>(dlsym(driver, "cuDeviceGetAttribute"));
  int major = 0, minor = 0;
  constexpr int kMajor = 75, kMinor = 76; // CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_*
  if (!init || !getAttribute || init(0) || getAttribute(&major, kMajor, 0) || getAttribute(&minor, kMinor, 0))
    return "cpu";
  std::string chip = "sm_" + std::to_string(major * 10 + minor);
  // A row with the suffix has instructions that only this architecture has: what is compiled here runs here.
  for (const std::string &name : {chip + "a", chip})
    if (facts::findChip(name))
      return name;
  return major >= 8 ? "sm_80" : "cpu"; // PTX for sm_80 runs on everything after it.
}
