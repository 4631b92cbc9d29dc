//===- EmitObject.cpp - llvm to a shared library for the CPU
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Target/EmitObject.h"

#include "attn/Dialect/Attn/IR/Attn.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/Linker/Linker.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/SubtargetFeature.h"
#include "llvm/Transforms/Scalar/LoopIdiomRecognize.h"

using namespace mlir;
using namespace attn;

static std::unique_ptr<llvm::TargetMachine> createMachine(const CpuTarget &cpu, std::string &error) {
  static const bool ready = !llvm::InitializeNativeTarget() && !llvm::InitializeNativeTargetAsmPrinter();
  llvm::Triple triple(cpu.triple);
  const llvm::Target *target = ready ? llvm::TargetRegistry::lookupTarget(triple, error) : nullptr;
  if (!target)
    return nullptr;
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Standard;
  return std::unique_ptr<llvm::TargetMachine>(target->createTargetMachine(
      triple, cpu.cpu, cpu.features, options, llvm::Reloc::PIC_, std::nullopt, llvm::CodeGenOptLevel::Aggressive));
}

/// The highest level of the x86-64 ABI that the features of this machine reach.
static StringRef getHostLevel() {
  static constexpr struct {
    StringLiteral level, needs;
  } levels[] = {{"x86-64-v2", "cx16 popcnt sse3 ssse3 sse4.1 sse4.2"},
                {"x86-64-v3", "avx avx2 bmi bmi2 f16c fma lzcnt movbe xsave"},
                {"x86-64-v4", "avx512f avx512bw avx512cd avx512dq avx512vl"}};
  llvm::StringMap<bool> features = llvm::sys::getHostCPUFeatures();
  StringRef best = "x86-64";
  for (auto &[level, needs] : levels) {
    if (!llvm::all_of(llvm::split(needs, ' '), [&](StringRef need) { return features.lookup(need); }))
      break;
    best = level;
  }
  return best;
}

llvm::Expected<CpuTarget> attn::getCpuTarget(StringRef name) {
  CpuTarget cpu{name.str(), llvm::sys::getHostCPUName().str(), llvm::sys::getProcessTriple(), "", 4, 16};
  bool x86 = llvm::Triple(cpu.triple).getArch() == llvm::Triple::x86_64;
  if (name == "native")
    cpu.cpu = x86 ? getHostLevel().str() : cpu.tune;
  std::string error;
  std::unique_ptr<llvm::TargetMachine> machine = createMachine(cpu, error);
  if (!machine)
    return llvm::createStringError("no code generator for this machine (%s): %s", cpu.triple.c_str(), error.c_str());
  const llvm::MCSubtargetInfo &info = *machine->getMCSubtargetInfo();
  if (!info.isCPUStringValid(cpu.cpu))
    return llvm::createStringError("unknown CPU '%s': expected native or a name LLVM knows, such as x86-64-v3",
                                   cpu.cpu.c_str());
  if (machine->getTargetTriple().isAArch64()) {
    cpu.vectorRegisters = 32;
  } else if (info.checkFeatures("+avx512f")) {
    cpu.vectorLanes = 16;
    cpu.vectorRegisters = 32;
    // Our vectors are long and many: 512 bits pay, whatever short loops prefer.
    cpu.features = "-prefer-256-bit";
  } else if (info.checkFeatures("+avx")) {
    cpu.vectorLanes = 8;
  }
  return cpu;
}

static void optimize(llvm::Module &module, llvm::TargetMachine &machine) {
  // The search for CRC loops walks every path of operands back to a loop's phi: minutes for a region with a few
  // polynomials. No kernel computes a CRC.
  llvm::DisableLIRP::HashRecognize = true;
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager sccs;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder(&machine);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(sccs);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, sccs, modules);
  builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O3).run(module, modules);
}

void attn::registerObjectTranslations(DialectRegistry &registry) {
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
}

/// All kernels of the module in one LLVM module; null, with a diagnostic, if some op is not of the llvm stage.
static std::unique_ptr<llvm::Module> translate(ModuleOp module, llvm::LLVMContext &context) {
  std::unique_ptr<llvm::Module> all;
  for (auto kernel : module.getOps<ModuleOp>()) {
    std::unique_ptr<llvm::Module> code = translateModuleToLLVMIR(kernel, context);
    if (!code) {
      kernel.emitError("could not be translated to LLVM IR");
      return nullptr;
    }
    if (all && llvm::Linker::linkModules(*all, std::move(code))) {
      kernel.emitError("defines a function that another kernel of the module defines");
      return nullptr;
    }
    if (!all)
      all = std::move(code);
  }
  if (!all)
    module.emitError("has no kernel to compile");
  return all;
}

FailureOr<SmallVector<char, 0>> attn::emitObject(ModuleOp module) {
  auto name = module->getAttrOfType<StringAttr>(AttnDialect::kCpuAttr);
  llvm::Expected<CpuTarget> target = getCpuTarget(name ? name.getValue() : "native");
  if (!target)
    return module.emitError(toString(target.takeError()));
  std::string error;
  std::unique_ptr<llvm::TargetMachine> machine = createMachine(*target, error);
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> code = translate(module, context);
  if (!code)
    return failure();
  code->setDataLayout(machine->createDataLayout());
  code->setTargetTriple(machine->getTargetTriple());
  for (llvm::Function &function : *code)
    if (!function.isDeclaration()) {
      function.addFnAttr("target-cpu", target->cpu);
      function.addFnAttr("tune-cpu", target->tune);
      function.addFnAttr("target-features", target->features);
    }
  optimize(*code, *machine);

  SmallVector<char, 0> object;
  llvm::raw_svector_ostream stream(object);
  llvm::legacy::PassManager passes;
  if (machine->addPassesToEmitFile(passes, stream, nullptr, llvm::CodeGenFileType::ObjectFile))
    return module.emitError("the code generator for ") << target->triple << " writes no object files";
  passes.run(*code);
  return object;
}
