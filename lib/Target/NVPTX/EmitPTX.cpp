//===- EmitPTX.cpp - nvvm to PTX text, in process
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// No middle-end runs: our IR is already what it should be, and IndVars is known to sink a softmax below a barrier loop.
//
//===----------------------------------------------------------------------===//

#include "attn/Target/EmitPTX.h"

#include "attn/Dialect/Attn/IR/Attn.h"
#include "attn/Dialect/Attn/IR/Target.h"
#include "attn/Facts/Facts.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/NVVM/NVVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/CrashRecoveryContext.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Target/TargetOptions.h"

using namespace mlir;
using namespace attn;

void attn::registerPTXTranslations(DialectRegistry &registry) {
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
  registerNVVMDialectTranslation(registry);
}

namespace {
/// What the back end said instead of returning. "Cannot select" ends the process unless somebody jumps out of it.
struct BackEndErrors {
  std::string text;

  static void onFatal(void *self, const char *reason, bool) {
    llvm::StringRef line = llvm::StringRef(reason).split('\n').first;
    static_cast<BackEndErrors *>(self)->text = line.str();
    if (llvm::CrashRecoveryContext *context = llvm::CrashRecoveryContext::GetCurrent())
      context->HandleExit(1);
  }
  void onDiagnostic(const llvm::DiagnosticInfo &info) {
    if (info.getSeverity() != llvm::DS_Error)
      return;
    llvm::raw_string_ostream os(text);
    llvm::DiagnosticPrinterRawOStream printer(os);
    info.print(printer);
  }
};
} // namespace

static llvm::Triple getTriple() { return llvm::Triple("nvptx64-nvidia-cuda"); }

/// What the back end can only be asked for by command line options.
///   nvptx-short-ptr  32-bit addresses for shared memory: without them every inline asm that takes one starts with a
///                    conversion.
///   disable-lsr      No loop strength reduction: its additional counters are registers that the main loop, which holds
///                    an accumulator in 128 of 255, does not have (it spilled), and it took a seventh of the time.
static void setBackEndOptions() {
  auto &all = llvm::cl::getRegisteredOptions();
  for (llvm::StringRef name : {"nvptx-short-ptr", "disable-lsr"})
    if (auto it = all.find(name); it != all.end())
      static_cast<llvm::cl::opt<bool> *>(it->second)->setValue(true);
}

static std::unique_ptr<llvm::TargetMachine> createMachine(const facts::Chip &chip, std::string &error) {
  static bool initialised = [] {
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
    setBackEndOptions();
    return true;
  }();
  (void)initialised;
  const llvm::Target *target = llvm::TargetRegistry::lookupTarget(getTriple(), error);
  if (!target)
    return nullptr;
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Standard;
  // Level 0 would break wgmma apart: thousands of moves between the instructions of one product.
  return std::unique_ptr<llvm::TargetMachine>(
      target->createTargetMachine(getTriple(), llvm::StringRef(chip.name), llvm::StringRef(chip.ptxFeature), options,
                                  std::nullopt, std::nullopt, llvm::CodeGenOptLevel::Aggressive));
}

/// Ops that reach the back end only to abort there.
static LogicalResult checkSelectable(Operation *root) {
  // No PTX instruction computes these, and there is no library to call.
  static const llvm::StringLiteral never[] = {"llvm.intr.exp",   "llvm.intr.exp10", "llvm.intr.log",  "llvm.intr.log2",
                                              "llvm.intr.log10", "llvm.intr.pow",   "llvm.intr.powi", "llvm.intr.tan",
                                              "llvm.intr.asin",  "llvm.intr.acos",  "llvm.intr.atan", "llvm.intr.atan2",
                                              "llvm.intr.sinh",  "llvm.intr.cosh"};
  // Approximate instructions only: they need the flag that allows approximation.
  static const llvm::StringLiteral approximate[] = {"llvm.intr.sin", "llvm.intr.cos", "llvm.intr.tanh"};
  WalkResult result = root->walk([&](Operation *op) -> WalkResult {
    llvm::StringRef name = op->getName().getStringRef();
    llvm::StringRef dialect = op->getName().getDialectNamespace();
    if (!isa<ModuleOp>(op) && dialect != "llvm" && dialect != "nvvm")
      return op->emitOpError("is left at the nvvm stage; only llvm and nvvm ops have a PTX form");
    if (llvm::is_contained(never, name))
      return op->emitOpError("has no PTX instruction");
    if (llvm::is_contained(approximate, name)) {
      auto flags = op->getAttrOfType<LLVM::FastmathFlagsAttr>("fastmathFlags");
      if (!flags || !bitEnumContainsAll(flags.getValue(), LLVM::FastmathFlags::afn))
        return op->emitOpError("has only an approximate PTX instruction; add the fastmath flag afn");
    }
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

FailureOr<std::string> attn::emitPTX(ModuleOp module, llvm::ArrayRef<llvm::StringRef> kernels) {
  TargetAttr target = requireTarget(module);
  if (!target)
    return failure();
  const facts::Chip *chip = facts::findChip(std::string_view(target.getChip()));
  if (!chip || !chip->ptxVersion)
    return module.emitError("no PTX can be emitted for chip '") << target.getChip() << "'";
  for (llvm::StringRef kernel : kernels)
    if (!module.lookupSymbol<LLVM::LLVMFuncOp>(kernel))
      return module.emitError("has no llvm.func '") << kernel << "' to emit";
  // What goes wrong behind the translation is told without saying where.
  Operation *blamed = kernels.size() == 1 ? module.lookupSymbol(kernels.front()) : module.getOperation();

  // The module beside the kernels holds their globals, kernels nobody launches and the host functions.
  OwningOpRef<ModuleOp> device = ModuleOp::create(module.getLoc());
  OpBuilder builder(device->getBodyRegion());
  for (Operation &op : *module.getBody()) {
    auto other = dyn_cast<LLVM::LLVMFuncOp>(op);
    bool otherKernel = other && other->hasAttr("nvvm.kernel") && !llvm::is_contained(kernels, other.getName());
    if (op.getName().getDialectNamespace() == "llvm" && !otherKernel)
      builder.clone(op);
    else if (op.getName().getDialectNamespace() != "func" && !otherKernel)
      return op.emitOpError("is left at the nvvm stage; only llvm and nvvm ops have a PTX form");
  }
  if (failed(checkSelectable(*device)))
    return failure();

  std::string error;
  std::unique_ptr<llvm::TargetMachine> machine = createMachine(*chip, error);
  if (!machine)
    return blamed->emitOpError("cannot be emitted: ") << error;
  llvm::DataLayout layout = machine->createDataLayout();
  // Before the translation: it takes the alignment of every load and store from here.
  (*device)->setAttr(LLVM::LLVMDialect::getDataLayoutAttrName(),
                     builder.getStringAttr(layout.getStringRepresentation()));

  llvm::LLVMContext context;
  BackEndErrors errors;
  context.setDiagnosticHandlerCallBack(
      [](const llvm::DiagnosticInfo *info, void *self) { static_cast<BackEndErrors *>(self)->onDiagnostic(*info); },
      &errors);
  std::unique_ptr<llvm::Module> llvmModule = translateModuleToLLVMIR(*device, context, kernels.front());
  if (!llvmModule) // An unknown nvvm.* attribute fails without a word.
    return blamed->emitOpError("has no LLVM IR form");
  llvmModule->setDataLayout(layout);
  llvmModule->setTargetTriple(getTriple());
  // Barriers, shuffles and matrix instructions written as text: nothing may make them conditional.
  for (llvm::Function &function : *llvmModule)
    for (llvm::Instruction &instruction : llvm::instructions(function))
      if (auto *call = llvm::dyn_cast<llvm::CallInst>(&instruction); call && call->isInlineAsm())
        if (llvm::cast<llvm::InlineAsm>(call->getCalledOperand())->hasSideEffects())
          call->setConvergent();

  llvm::SmallString<0> ptx;
  bool ran = false;
  {
    llvm::ScopedFatalErrorHandler handler(BackEndErrors::onFatal, &errors);
    llvm::CrashRecoveryContext::Enable();
    llvm::CrashRecoveryContext recovery;
    ran = recovery.RunSafely([&] {
      llvm::raw_svector_ostream os(ptx);
      llvm::legacy::PassManager passes;
      if (machine->addPassesToEmitFile(passes, os, nullptr, llvm::CodeGenFileType::AssemblyFile))
        errors.text = "the back end writes no assembly";
      else
        passes.run(*llvmModule);
    });
    llvm::CrashRecoveryContext::Disable();
  }
  if (!ran || !errors.text.empty()) {
    if (!ran)
      (void)llvmModule.release(); // Left in the middle of a pass: not safe to destroy.
    return blamed->emitOpError("cannot be emitted: ")
           << (errors.text.empty() ? llvm::StringRef("the back end crashed") : llvm::StringRef(errors.text));
  }
  return std::string(ptx);
}
