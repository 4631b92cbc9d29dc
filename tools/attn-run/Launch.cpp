//===- Launch.cpp - runs the kernel and times it --------------------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Launch.h"
#include "Failure.h"
#include "attn_rt/attn_device.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <mutex>
#include <thread>

namespace attn {
namespace run {
namespace {

/// Ends the process unless it is destroyed in time.
class Watchdog {
public:
  explicit Watchdog(double seconds)
      : thread([this, seconds] {
          std::unique_lock<std::mutex> lock(mutex);
          if (!done.wait_for(lock, std::chrono::duration<double>(seconds), [this] { return stopped; })) {
            std::fprintf(stderr, "attn-run: error: the kernel did not finish in %g s (--timeout)\n", seconds);
            std::fflush(stderr);
            std::_Exit(Machine);
          }
        }) {}
  ~Watchdog() {
    {
      std::lock_guard<std::mutex> lock(mutex);
      stopped = true;
    }
    done.notify_one();
    thread.join();
  }

private:
  std::mutex mutex;
  std::condition_variable done;
  bool stopped = false;
  std::thread thread; // last: it uses the others
};

/// A launch of `tensors`, which live as long as this does.
struct Arguments {
  std::vector<attn_tensor> tensors;
  std::vector<const attn_tensor *> pointers;
  attn_launch launch = {};

  void finish() {
    for (const attn_tensor &tensor : tensors)
      pointers.push_back(&tensor);
    launch.size = sizeof(launch);
    launch.num_operands = static_cast<uint32_t>(tensors.size());
    launch.operands = pointers.data();
  }
};

/// Of the operands as they lie on the host, with a workspace there.
struct HostArguments : Arguments {
  HostArguments(attn_kernel *kernel, const Operands &operands) {
    for (const Operand &operand : operands.all)
      tensors.push_back(operand.tensor(operand.buffer()));
    finish();
    uint64_t bytes = 0;
    require(attn_kernel_workspace_bytes(kernel, &launch, &bytes));
    workspace.resize(bytes + 256);
    launch.workspace = workspace.data() + (256 - reinterpret_cast<uintptr_t>(workspace.data()) % 256) % 256;
    launch.workspace_bytes = bytes;
  }
  std::vector<char> workspace;
};

std::vector<std::string> chosenKernels(attn_kernel *kernel, const attn_launch &launch) {
  std::vector<std::string> names;
  for (const char *name = nullptr;; names.push_back(name)) {
    require(attn_kernel_chosen(kernel, &launch, static_cast<uint32_t>(names.size()), &name));
    if (!name)
      return names;
  }
}

/// All bits set: NaN in every floating-point type.
constexpr char kPoison = '\xff';

/// Where a launch finds and leaves the bytes of an output, by its number among the operands.
struct OutputAccess {
  std::function<void(size_t, const std::vector<char> &)> write;
  std::function<void(size_t, std::vector<char> &)> read;
};

/// The launch that is judged, and `count` more that must leave its bits; names the first that does not. Each finds
/// outputs as they were at first (`fresh`), and a workspace of which `launchOnce` makes NaN: what an earlier launch
/// left there would hide that a kernel reads what none before it has written.
std::string compareLaunches(const Operands &operands, const std::vector<std::vector<char>> &fresh, int count,
                            const std::function<void()> &launchOnce, const OutputAccess &access) {
  std::vector<std::vector<char>> first(fresh);
  std::vector<char> now;
  auto launchOnFresh = [&] {
    for (size_t i = 0; i < fresh.size(); ++i)
      if (operands.all[i].isOutput())
        access.write(i, fresh[i]);
    launchOnce();
  };
  launchOnFresh();
  for (size_t i = 0; i < fresh.size(); ++i)
    if (operands.all[i].isOutput())
      access.read(i, first[i]);
  for (int launch = 1; launch <= count; ++launch) {
    launchOnFresh();
    for (size_t i = 0; i < fresh.size(); ++i) {
      if (!operands.all[i].isOutput())
        continue;
      now.resize(first[i].size());
      access.read(i, now);
      if (now != first[i])
        return operands.all[i].name + ": launch " + std::to_string(launch) + " of " + std::to_string(count) +
               " gave other bits than the first";
    }
  }
  return "";
}

/// The bytes of outputs before anything ran.
std::vector<std::vector<char>> freshOutputs(const Operands &operands) {
  std::vector<std::vector<char>> fresh(operands.all.size());
  for (size_t i = 0; i < fresh.size(); ++i)
    if (const Operand &operand = operands.all[i]; operand.isOutput())
      fresh[i].assign(operand.buffer(), operand.buffer() + operand.bufferBytes());
  return fresh;
}

Timing launchOnCpu(attn_kernel *kernel, Operands &operands, const Options &options) {
  attn_set_cpu_threads(static_cast<uint32_t>(options.threads));
  HostArguments arguments(kernel, operands);
  Timing timing;
  const std::vector<std::vector<char>> fresh = freshOutputs(operands);
  const uint32_t threads = attn_cpu_threads();
  timing.kernels = chosenKernels(kernel, arguments.launch);
  timing.device = "cpu, " + std::to_string(threads) + (threads == 1 ? " thread" : " threads");
  for (int i = -1; i < options.repeat; ++i) { // -1 warms up
    const auto begin = std::chrono::steady_clock::now();
    require(attn_kernel_launch(kernel, &arguments.launch));
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
    if (i >= 0)
      timing.milliseconds.push_back(took.count());
  }
  const OutputAccess access = {
      [&](size_t i, const std::vector<char> &bytes) {
        std::copy(bytes.begin(), bytes.end(), operands.all[i].buffer());
      },
      [&](size_t i, std::vector<char> &bytes) { std::copy_n(operands.all[i].buffer(), bytes.size(), bytes.begin()); }};
  timing.differs = compareLaunches(
      operands, fresh, options.same,
      [&] {
        std::fill(arguments.workspace.begin(), arguments.workspace.end(), kPoison);
        require(attn_kernel_launch(kernel, &arguments.launch));
      },
      access);
  return timing;
}

/// Device memory that is freed before the device is closed.
class Gpu {
public:
  explicit Gpu(int ordinal) { require(attn_device_open(ordinal, &device)); }
  ~Gpu() {
    for (void *pointer : memory)
      attn_device_free(device, pointer);
    attn_device_close(device);
  }
  void *allocate(size_t bytes) {
    void *pointer = nullptr;
    require(attn_device_alloc(device, bytes, &pointer));
    memory.push_back(pointer);
    return pointer;
  }

  attn_device *device = nullptr;

private:
  std::vector<void *> memory;
};

Timing launchOnGpu(KernelOwner owner, Operands &operands, const Options &options) {
  Gpu gpu(options.gpu);
  // Unloaded before the device is closed: its code lives in the device's context.
  const KernelOwner unloadsFirst = std::move(owner);
  attn_kernel *kernel = unloadsFirst.get();
  Timing timing;
  timing.device = attn_device_name(gpu.device);
  const std::vector<std::vector<char>> fresh = freshOutputs(operands);
  std::vector<void *> buffers;
  Arguments arguments;
  for (const Operand &operand : operands.all) {
    void *base = operand.buffer(); // a scalar's value is read on the host
    if (operand.role != ATTN_ROLE_SCALAR) {
      base = gpu.allocate(operand.bufferBytes());
      require(attn_device_copy_in(gpu.device, base, operand.buffer(), operand.bufferBytes()));
    }
    buffers.push_back(base);
    arguments.tensors.push_back(operand.tensor(base));
  }
  arguments.finish();
  uint64_t workspaceBytes = 0;
  require(attn_kernel_workspace_bytes(kernel, &arguments.launch, &workspaceBytes));
  if (workspaceBytes > 0)
    arguments.launch.workspace = gpu.allocate(workspaceBytes);
  arguments.launch.workspace_bytes = workspaceBytes;

  timing.kernels = chosenKernels(kernel, arguments.launch);
  require(attn_kernel_prepare(kernel));
  for (int i = -1; i < options.repeat; ++i) { // -1 warms up
    float milliseconds = 0;
    require(attn_device_timer_start(gpu.device));
    require(attn_kernel_launch(kernel, &arguments.launch));
    require(attn_device_timer_stop(gpu.device, &milliseconds));
    require(attn_device_synchronize(gpu.device));
    if (!timing.kernels.empty()) // nothing was cleared where nothing ran
      arguments.launch.flags = ATTN_LAUNCH_WORKSPACE_KEPT;
    if (i >= 0)
      timing.milliseconds.push_back(milliseconds);
  }
  const OutputAccess access = {[&](size_t i, const std::vector<char> &bytes) {
                                 require(attn_device_copy_in(gpu.device, buffers[i], bytes.data(), bytes.size()));
                               },
                               [&](size_t i, std::vector<char> &bytes) {
                                 require(attn_device_copy_out(gpu.device, bytes.data(), buffers[i], bytes.size()));
                               }};
  arguments.launch.flags = 0; // the runtime clears what has to begin with zeros
  const std::vector<char> poison(workspaceBytes, kPoison);
  timing.differs = compareLaunches(
      operands, fresh, options.same,
      [&] {
        if (workspaceBytes > 0)
          require(attn_device_copy_in(gpu.device, arguments.launch.workspace, poison.data(), poison.size()));
        require(attn_kernel_launch(kernel, &arguments.launch));
        require(attn_device_synchronize(gpu.device));
      },
      access);
  for (size_t i = 0; i < buffers.size(); ++i)
    if (Operand &operand = operands.all[i]; operand.isOutput())
      require(attn_device_copy_out(gpu.device, operand.buffer(), buffers[i], operand.bufferBytes()));
  return timing;
}

} // namespace

void require(attn_status status) {
  switch (status) {
  case ATTN_OK:
    return;
  case ATTN_ERROR_NO_DRIVER:
    throw Failure{Machine, std::string(attn_last_error()) + "; --dry-run needs none"};
  case ATTN_ERROR_DEVICE:
  case ATTN_ERROR_NO_DEVICE:
  case ATTN_ERROR_ARCH:
  case ATTN_ERROR_CODE:
  case ATTN_ERROR_RESOURCES:
  case ATTN_ERROR_LAUNCH:
  case ATTN_ERROR_OUT_OF_MEMORY:
    throw Failure{Machine, attn_last_error()};
  default:
    throw Failure{Refused, attn_last_error()};
  }
}

double Timing::median() const {
  std::vector<double> sorted = milliseconds;
  std::sort(sorted.begin(), sorted.end());
  return sorted.empty() ? 0 : (sorted[(sorted.size() - 1) / 2] + sorted[sorted.size() / 2]) / 2;
}

std::vector<std::string> chooseKernels(attn_kernel *kernel, const Operands &operands) {
  return chosenKernels(kernel, HostArguments(kernel, operands).launch);
}

Timing launch(KernelOwner kernel, Operands &operands, const Options &options) {
  Watchdog watchdog(options.timeout);
  if (attn_kernel_chip(kernel.get()) == std::string("cpu"))
    return launchOnCpu(kernel.get(), operands, options);
  return launchOnGpu(std::move(kernel), operands, options);
}

} // namespace run
} // namespace attn
