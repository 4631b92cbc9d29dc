//===- attn-compile.cpp - an attention spec to kernels and their manifest
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Exit code: 0 compiled, 1 the input (or the command line) is refused, 3 this machine lacks something asked for.
//
//===----------------------------------------------------------------------===//

#include "Compile.h"
#include "Machine.h"

#include "attn/Facts/Facts.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/raw_ostream.h"

using namespace attn;
namespace cl = llvm::cl;

static cl::OptionCategory category("attn-compile options");

namespace {
/// Members, not globals: LLVM's code generator has a --stop-after of its own, which must go first.
struct Options {
  cl::opt<std::string> input{cl::Positional, cl::desc("<spec.mlir>"), cl::cat(category)};
  cl::opt<std::string> output{"o", cl::cat(category), cl::value_desc("path"),
                              cl::desc("Directory of the results (default: out); with --stop-after the file of the "
                                       "text (default: -, standard output), but for object")};
  cl::opt<std::string> chip{"chip", cl::cat(category), cl::value_desc("name"),
                            cl::desc("Machine to compile for, see --list-chips (default: the module's attn.target, "
                                     "else the GPU of this machine, else cpu)")};
  cl::opt<std::string> cpu{
      "cpu", cl::cat(category), cl::value_desc("name"), cl::init("native"),
      cl::desc("With --chip=cpu, the processor: native (default: this machine's level of the x86-64 "
               "ABI), or a name LLVM knows, such as x86-64-v3")};
  cl::opt<std::string> linker{"linker", cl::cat(category), cl::value_desc("command"),
                              cl::desc("With --chip=cpu, what links the shared library (default: $CC, cc, clang-22, "
                                       "clang, gcc, ld.lld-22, ld.lld)")};
  cl::opt<std::string> schedule{
      "schedule", cl::cat(category), cl::value_desc("fields"),
      cl::desc("Schedule of ops that have none, instead of the table's, such as "
               "'tile = [128, 64], warps = [4, 1]', and for sm_90a 'tile = [128, 128], "
               "warps = [4, 1], groups = 2, regs = [24, 240], depth = {q = 1, k = 2, v = "
               "2}, order = [\"S\", \"PV@1\", \"await S\", \"max\", \"P\", \"await PV\", "
               "\"PV.acc\"]' (--list-schedules prints more); backward one for each nest: '<tile = [64, 128], "
               "warps = [4, 1], grads = [\"dK\", \"dV\"]>, <..., grads = [\"dQ\"]>'")};
  cl::opt<bool> backward{"backward", cl::cat(category),
                         cl::desc("Compile the gradients of the spec: from q, k, v, the captures, o, lse and do to dq, "
                                  "dk and dv")};
  cl::opt<bool> deterministic{"deterministic", cl::cat(category),
                              cl::desc("Gradients that are the same, bit by bit, from run to run, where the table's "
                                       "choice adds them up in no order")};
  cl::opt<bool> noRanges{"no-ranges", cl::cat(category),
                         cl::desc("Visit and mask every key tile: slow, but right whatever the mask analysis says")};
  cl::opt<Stage> stopAfter{"stop-after", cl::cat(category),
                           cl::desc("Print the IR at a stage and stop (ptx: the text, without a manifest):"),
                           stageValues()};
  cl::opt<std::string> saveStages{"save-stages", cl::cat(category), cl::value_desc("dir"),
                                  cl::desc("Write the IR of every stage reached into a directory")};
  cl::opt<CubinMode> cubin{"cubin", cl::cat(category), cl::init(CubinMode::Off),
                           cl::desc("Assemble the PTX as well (slower to compile, faster to load):"),
                           cl::values(clEnumValN(CubinMode::Off, "off", "never (default)"),
                                      clEnumValN(CubinMode::Auto, "auto", "if ptxas is found"),
                                      clEnumValN(CubinMode::On, "on", "always; exit code 3 without ptxas"))};
  cl::opt<std::string> ptxas{"ptxas", cl::cat(category), cl::value_desc("path"),
                             cl::desc("The assembler (default: PATH, $CUDA_HOME/bin, /usr/local/cuda/bin)")};
  cl::opt<bool> report{"report", cl::cat(category),
                       cl::desc("Print registers, spills, shared memory and blocks per SM of every kernel")};
  cl::opt<bool> timePhases{"time", cl::cat(category), cl::desc("Print how long each phase took")};
  cl::opt<std::string> remarks{"remarks", cl::cat(category), cl::value_desc("regex"), cl::ValueOptional,
                               cl::desc("Print the remarks of passes whose name matches (default: all)")};
  cl::opt<bool> listChips{"list-chips", cl::cat(category), cl::desc("Print the machines known")};
  cl::opt<bool> listSchedules{"list-schedules", cl::cat(category), cl::desc("Print the schedule table")};
};
} // namespace

int main(int argc, char **argv) {
  cl::getRegisteredOptions().lookup("stop-after")->removeArgument();
  Options options;
  cl::HideUnrelatedOptions(category);
  cl::ParseCommandLineOptions(argc, argv,
                              "attn-compile: an attention spec, or IR at any later stage, to kernels and a manifest\n");
  if (options.listChips || options.listSchedules) {
    llvm::outs() << (options.listChips ? facts::listChips() : "")
                 << (options.listSchedules ? facts::listSchedules() : "");
    return 0;
  }
  if (options.input.empty()) {
    llvm::errs() << "attn-compile: error: no input file; see --help\n";
    return 1;
  }
  CompileJob job;
  job.input = options.input;
  job.output = options.output;
  job.chip = options.chip;
  job.cpu = options.cpu;
  job.linker = options.linker;
  job.defaultChip = detectChip;
  if (options.stopAfter.getNumOccurrences())
    job.stopAfter = options.stopAfter;
  job.saveStages = options.saveStages;
  job.schedule = options.schedule;
  job.noRanges = options.noRanges;
  job.backward = options.backward;
  job.deterministic = options.deterministic;
  job.cubin = options.cubin;
  job.ptxas = options.ptxas;
  job.report = options.report;
  job.time = options.timePhases;
  if (options.remarks.getNumOccurrences())
    job.remarks = options.remarks.empty() ? ".*" : options.remarks.getValue();
  return compile(job);
}
