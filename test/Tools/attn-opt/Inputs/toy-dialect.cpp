// The smallest dialect there can be, for plugins.test.
#include "mlir/IR/Dialect.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Tools/Plugins/DialectPlugin.h"

struct ToyDialect : mlir::Dialect {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ToyDialect)
  explicit ToyDialect(mlir::MLIRContext *context) : Dialect("toy", context, mlir::TypeID::get<ToyDialect>()) {
    allowUnknownOperations();
  }
  static llvm::StringRef getDialectNamespace() { return "toy"; }
};

extern "C" LLVM_ATTRIBUTE_WEAK mlir::DialectPluginLibraryInfo mlirGetDialectPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "Toy", "1", [](mlir::DialectRegistry *registry) { registry->insert<ToyDialect>(); }};
}
