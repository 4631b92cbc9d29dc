//===- Compile.cpp - one compilation, from a file to files
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Compile.h"

#include "Crash.h"
#include "Input.h"
#include "Output.h"
#include "Report.h"

#include "attn/Dialect/Attn/IR/Attn.h"
#include "attn/Dialect/Attn/IR/Target.h"
#include "attn/InitAll.h"
#include "attn/Pipelines/Pipelines.h"
#include "attn/Target/Assemble.h"
#include "attn/Target/EmitObject.h"
#include "attn/Target/EmitPTX.h"
#include "attn/Target/Manifest.h"
#include "attn_rt/manifest_keys.h"
#include "mlir/IR/Remarks.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Regex.h"

using namespace mlir;
using namespace attn;

namespace {
/// Text to standard error; the code is what the process returns.
int complain(const Twine &message, int code = 1) {
  llvm::errs() << "attn-compile: error: " << message << "\n";
  return code;
}

class Compilation {
public:
  explicit Compilation(const CompileJob &job);
  int run();

private:
  int runPasses(Stage from, Stage to);
  int saveStage(Stage stage);
  int print(Stage stage);
  LogicalResult checkNames(ArrayRef<StringRef> kernels);
  int emit(bool cpu);
  FailureOr<KernelFiles> emitKernels(ArrayRef<StringRef> kernels, OutputDirectory &out);
  int emitCpuKernels(StringRef first, OutputDirectory &out, KernelFiles &files);
  LogicalResult assembleKernels(ArrayRef<StringRef> kernels, OutputDirectory &out, KernelFiles &files);
  void printDiagnostic(Diagnostic &diagnostic);
  std::string text();

  const CompileJob &job;
  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  PhaseTimes times;
  bool hadError = false;
  std::string ptxas;   ///< Empty: no cubin is made.
  std::string reports; ///< What --report prints.
};
} // namespace

/// What a crash is blamed on while a stage is made.
static constexpr const char *stagePhases[] = {
#define STAGE(enumerator, name, where, meaning) "making stage " name,
#include "attn/Dialect/Attn/Transforms/Stages.def"
};

static DialectRegistry createRegistry() {
  DialectRegistry registry;
  registerAllDialects(registry);
  registerPTXTranslations(registry);
  registerObjectTranslations(registry);
  return registry;
}

Compilation::Compilation(const CompileJob &job)
    // One kernel has nothing to do in parallel, and a thread pool takes longer to start than a pass to run.
    : job(job), context(createRegistry(), MLIRContext::Threading::DISABLED), times(job.time) {
  context.getDiagEngine().registerHandler([this](Diagnostic &diagnostic) { printDiagnostic(diagnostic); });
  context.printOpOnDiagnostic(false);
}

/// `file:line:column: error: message`, one line each: no excerpt of the source, which may be one line of megabytes.
void Compilation::printDiagnostic(Diagnostic &diagnostic) {
  bool isError = diagnostic.getSeverity() == DiagnosticSeverity::Error;
  // A conversion's echo of the error that made it fail.
  if (isError && hadError && StringRef(diagnostic.str()).starts_with("failed to legalize operation"))
    return;
  hadError |= isError;
  auto print = [&](Diagnostic &d) {
    auto at = d.getLocation()->findInstanceOf<FileLineColLoc>();
    llvm::errs() << (at ? at.getFilename().getValue() : StringRef(job.input)) << ":";
    if (at && at.getLine())
      llvm::errs() << at.getLine() << ":" << at.getColumn() << ":";
    llvm::errs() << " ";
    static constexpr StringLiteral kinds[] = {"note", "warning", "error", "remark"};
    llvm::errs() << kinds[static_cast<int>(d.getSeverity())] << ": ";
    std::string message = d.str();
    llvm::errs() << StringRef(message).take_front(2000) << "\n";
  };
  print(diagnostic);
  for (Diagnostic &note : diagnostic.getNotes())
    print(note);
}

std::string Compilation::text() {
  std::string result;
  llvm::raw_string_ostream os(result);
  module->print(os);
  os << "\n";
  return result;
}

int Compilation::saveStage(Stage stage) {
  if (job.saveStages.empty())
    return 0;
  if (std::error_code error = llvm::sys::fs::create_directories(job.saveStages))
    return complain("cannot make directory '" + job.saveStages + "': " + error.message());
  const StageInfo &info = getStageInfo(stage);
  std::string path = job.saveStages + "/" + std::to_string(static_cast<int>(stage)) + "-" + info.name.str() + ".mlir";
  if (llvm::Error error = writeFile(path, text()))
    return complain(toString(std::move(error)));
  return 0;
}

int Compilation::runPasses(Stage from, Stage to) {
  CompileOptions options;
  options.schedule = job.schedule;
  options.noRanges = job.noRanges;
  options.deterministic = job.deterministic;
  options.chip = job.chip;
  options.cpu = job.cpu;
  if (from == Stage::Spec && options.chip.empty() && !(*module)->hasAttr(AttnDialect::kTargetAttr))
    options.chip = job.defaultChip();
  bool cpu = options.chip == ATTN_CHIP_CPU;
  if (auto target = (*module)->getAttrOfType<TargetAttr>(AttnDialect::kTargetAttr))
    cpu = target.getFamily() == Family::Cpu;
  if (!job.stopAfter)
    to = cpu ? Stage::Object : Stage::PTX;
  if (getStageInfo(to).where == (cpu ? StageWhere::GPU : StageWhere::CPU))
    return complain("stage '" + getStageInfo(to).name + "' does not exist for " + (cpu ? "the CPU" : "a GPU"));
  { // Somebody may have written it by hand.
    PhaseTimes::Scope time(times, "check");
    setCrashPhase("checking it");
    PassManager passes(&context);
    buildStageCheck(passes, from);
    if (failed(passes.run(*module)))
      return 1;
  }
  if (job.backward) {
    PhaseTimes::Scope time(times, "gradients");
    setCrashPhase("deriving its gradients");
    PassManager passes(&context);
    buildGradients(passes);
    if (failed(passes.run(*module)))
      return 1;
  }
  if (int code = saveStage(from))
    return code;
  for (Stage stage : getStagesBetween(from, to, cpu)) {
    if (stage == Stage::PTX || stage == Stage::Object)
      break;
    PhaseTimes::Scope time(times, getStageInfo(stage).name);
    setCrashPhase(stagePhases[static_cast<int>(stage)]);
    PassManager passes(&context);
    buildStage(passes, stage, options);
    if (failed(passes.run(*module)))
      return 1;
    if (int code = saveStage(stage))
      return code;
  }
  return 0;
}

LogicalResult Compilation::assembleKernels(ArrayRef<StringRef> kernels, OutputDirectory &out, KernelFiles &files) {
  PhaseTimes::Scope time(times, "ptxas");
  std::string ptxPath = out.finalPath(files.ptx);
  auto chip = (*module)->getAttrOfType<TargetAttr>(AttnDialect::kTargetAttr).getChip();
  files.cubin = (kernels.front() + ".cubin").str();
  llvm::Expected<Assembly> result = assemble(ptxas, out.temporaryPath(files.ptx), chip, out.add(files.cubin));
  if (!result) {
    // The text stays for whoever reads the complaint.
    llvm::consumeError(out.keep(files.ptx));
    complain(toString(result.takeError()) + "; the PTX is kept in " + ptxPath);
    return failure();
  }
  for (const std::string &complaint : result->complaints)
    llvm::errs() << ptxPath << ": warning: " << complaint << "\n";
  for (StringRef kernel : kernels) {
    const AssemblerReport report = result->kernels.lookup(kernel);
    reports += reportKernel(*module, kernel, &report);
  }
  if (job.cubin == CubinMode::Off) { // Assembled for the report only.
    out.forget(files.cubin);
    files.cubin.clear();
  }
  return success();
}

/// One file for all of them, named after the first: they are loaded together, and are alternatives mostly.
FailureOr<KernelFiles> Compilation::emitKernels(ArrayRef<StringRef> kernels, OutputDirectory &out) {
  std::string ptx;
  {
    PhaseTimes::Scope time(times, "ptx");
    FailureOr<std::string> emitted = emitPTX(*module, kernels);
    if (failed(emitted))
      return failure();
    ptx = std::move(*emitted);
  }
  KernelFiles files;
  files.ptx = (kernels.front() + ".ptx").str();
  if (llvm::Error error = out.write(files.ptx, ptx)) {
    complain(toString(std::move(error)));
    return failure();
  }
  if (!ptxas.empty() && failed(assembleKernels(kernels, out, files)))
    return failure();
  if (ptxas.empty())
    for (StringRef kernel : kernels)
      reports += reportKernel(*module, kernel, nullptr);
  return files;
}

/// The same on the CPU: one shared library.
int Compilation::emitCpuKernels(StringRef first, OutputDirectory &out, KernelFiles &files) {
  PhaseTimes::Scope time(times, "object");
  FailureOr<SmallVector<char, 0>> object = emitObject(*module);
  if (failed(object))
    return 1;
  files.code = (first + ".so").str();
  llvm::Error error = linkSharedLibrary(*object, out.temporaryPath(files.code), job.linker);
  if (!error) {
    out.add(files.code);
    return 0;
  }
  // Whoever has a linker elsewhere can go on from the object.
  std::string name = (first + ".o").str(), message = toString(std::move(error));
  if (llvm::Error unwritten = out.write(name, StringRef(object->data(), object->size())))
    return complain(message + "; " + toString(std::move(unwritten)), 3);
  if (llvm::Error unwritten = out.keep(name))
    return complain(message + "; " + toString(std::move(unwritten)), 3);
  return complain(message + "; the object is kept in " + out.finalPath(name), 3);
}

LogicalResult Compilation::checkNames(ArrayRef<StringRef> kernels) {
  for (StringRef kernel : kernels)
    if (!isIdentifier(kernel))
      return module->lookupSymbol(kernel)->emitError("kernel name '")
             << kernel << "' is not an identifier; files and symbols are named after it";
  return success();
}

/// What --stop-after is for.
int Compilation::print(Stage stage) {
  std::string result;
  if (stage == Stage::PTX) {
    setCrashPhase("writing the kernels");
    SmallVector<StringRef> kernels = getLaunchedKernels(*module);
    if (failed(checkNames(kernels)))
      return 1;
    FailureOr<std::string> ptx = emitPTX(*module, kernels);
    if (failed(ptx))
      return 1;
    result = std::move(*ptx);
  } else {
    result = text();
  }
  if (llvm::Error error = writeFile(job.output.empty() ? "-" : job.output, result))
    return complain(toString(std::move(error)));
  return 0;
}

int Compilation::emit(bool cpu) {
  setCrashPhase("writing the kernels");
  if (!cpu && (job.cubin != CubinMode::Off || job.report)) {
    llvm::Expected<std::string> found = findPtxas(job.ptxas);
    if (found)
      ptxas = *found;
    else if (job.cubin == CubinMode::On)
      return complain(toString(found.takeError()), 3);
    else
      llvm::consumeError(found.takeError());
  }
  llvm::Expected<OutputDirectory> out = OutputDirectory::create(job.output.empty() ? "out" : job.output);
  if (!out)
    return complain(toString(out.takeError()));
  SmallVector<StringRef> kernels = getLaunchedKernels(*module);
  if (failed(checkNames(kernels)))
    return 1;
  KernelFiles files;
  if (cpu && !kernels.empty()) {
    if (int code = emitCpuKernels(kernels.front(), *out, files))
      return code;
    for (StringRef kernel : kernels)
      reports += reportKernel(*module, kernel, nullptr);
  } else if (!kernels.empty()) {
    FailureOr<KernelFiles> made = emitKernels(kernels, *out);
    if (failed(made))
      return 1;
    files = *made;
  }
  PhaseTimes::Scope time(times, "manifest");
  std::string manifest;
  llvm::raw_string_ostream os(manifest);
  if (failed(writeManifest(*module, [&](StringRef) { return files; }, os)))
    return 1;
  if (llvm::Error error = out->write(ATTN_MANIFEST_FILE, manifest))
    return complain(toString(std::move(error)));
  if (llvm::Error error = out->commit())
    return complain(toString(std::move(error)));
  return 0;
}

int Compilation::run() {
  if (!job.remarks.empty()) {
    std::string wrong;
    if (!llvm::Regex(job.remarks).isValid(wrong))
      return complain("--remarks: '" + job.remarks + "' is not a regular expression: " + wrong);
    remark::RemarkCategories all;
    all.passed = all.missed = all.analysis = all.failed = job.remarks;
    if (failed(remark::enableOptimizationRemarks(context, nullptr, std::make_unique<remark::RemarkEmittingPolicyAll>(),
                                                 all, /*printAsEmitRemarks=*/true)))
      return 1;
  }
  {
    PhaseTimes::Scope time(times, "parse");
    setCrashPhase("reading it");
    module = readModule(job.input, &context);
  }
  if (!module)
    return 1;
  // Passes work on the functions of one module; what lies deeper would stay as it is.
  for (ModuleOp inner : module->getOps<ModuleOp>()) {
    inner.emitError("stands inside another module; a manifest describes one function: write two files");
    return 1;
  }
  std::optional<Stage> from = detectStage(*module);
  if (!from) {
    module->emitError("there is nothing to compile: expects a function with attn.sdpa, or the IR of a later stage");
    return 1;
  }
  Stage to = job.stopAfter.value_or(Stage::Object);
  if (to < *from)
    return complain("'" + job.input + "' is at stage " + getStageInfo(*from).name + " already; it cannot stop after " +
                    getStageInfo(to).name);
  auto target = (*module)->getAttrOfType<TargetAttr>(AttnDialect::kTargetAttr);
  // A script may name the chip at every stage: it changes nothing where it is the module's own.
  bool otherChip = !job.chip.empty() && !(target && target.getChip() == job.chip);
  bool shapes = otherChip || !job.schedule.empty() || job.noRanges || job.backward || job.deterministic;
  if (*from != Stage::Spec && shapes)
    return complain("--chip, --schedule, --backward, --deterministic and --no-ranges shape the spec; '" + job.input +
                    "' is at stage " + getStageInfo(*from).name + " already");
  bool prints = job.stopAfter && to != Stage::Object;
  if (int code = runPasses(*from, to))
    return code;
  if (prints)
    return print(to);
  target = requireTarget(*module);
  if (!target)
    return 1;
  if (int code = emit(target.getFamily() == Family::Cpu))
    return code;
  if (job.report)
    llvm::outs() << reports;
  times.print();
  return 0;
}

int attn::compile(const CompileJob &job) {
  catchCrashes(job.input.c_str());
  return Compilation(job).run();
}
